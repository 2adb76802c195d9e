//===- Processor.h - What schedules depend on -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_PROCESSOR_H
#define METAOPS_TRANSFORMS_SCHEDULE_PROCESSOR_H

#include <cstdint>

namespace mlir::metaop {

/// What heuristics know of the processor that they choose schedules for.
struct Processor {
  /// Of vector registers; 0 for scalar code.
  unsigned vectorBits = 512;
  /// How many vector registers there are.
  int64_t registers = 32;
  /// The data that a core finds in its second cache, in bytes.
  int64_t secondCacheBytes = int64_t(1) << 20;

  /// The usual processor whose vectors have so many bits: x86 with AVX-512 has
  /// 32 registers, with AVX2 or SSE 16; NEON's 32 are as many as half of the
  /// width needs.
  static Processor withVectors(unsigned vectorBits) {
    Processor processor;
    processor.vectorBits = vectorBits;
    processor.registers = vectorBits >= 512 ? 32 : 16;
    return processor;
  }
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_PROCESSOR_H
