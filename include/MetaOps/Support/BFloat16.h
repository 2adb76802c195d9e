//===- BFloat16.h - Rounding to bf16 ----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_BFLOAT16_H
#define METAOPS_SUPPORT_BFLOAT16_H

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdint>

namespace metaops {

/// From f32 to bf16, to the nearest: what LLVM calls as `__truncsfbf2` where it
/// moves bf16 through registers of f32 and the processor has no instruction for
/// the way back. GCC's library has it from 13 on only. A bf16 is returned where
/// a float is, in its lower half.
inline float truncateToBFloat16(float x) {
  auto bits = llvm::bit_cast<uint32_t>(x);
  if (std::isnan(x))
    return llvm::bit_cast<float>((bits >> 16) | 0x40);
  return llvm::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

} // namespace metaops

#endif // METAOPS_SUPPORT_BFLOAT16_H
