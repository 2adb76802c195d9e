//===- RoundToBFloat16.h - From f32 to bf16 ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_ROUNDTOBFLOAT16_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_ROUNDTOBFLOAT16_H

#include "mlir/IR/Operation.h"

namespace mlir::metaop {

/// Replaces each `arith.truncf` from f32 to bf16 below `root` by arithmetic of
/// integers: no more than its operand asks for.
void expandRoundingToBFloat16(Operation *root);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_ROUNDTOBFLOAT16_H
