//===- CpuLimits.h - Limits of schedules for processors ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The most that schedules for processors may ask for. Heuristics stay far below
// most of these: they are for schedules of users and of searches.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_CPULIMITS_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_CPULIMITS_H

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"

namespace mlir::metaop {

/// Lanes of a vector, and iterations side by side: with more, code takes
/// minutes to compile and is slower than a loop.
inline constexpr int64_t kMaxVectorWidth = 256;
inline constexpr int64_t kMaxCopies = 64;

/// Instructions of a stage with a schedule from elsewhere, which compile in
/// seconds.
inline constexpr int64_t kMaxGivenCode = 16 * kMaxKernelCode;

/// Rows of a tile that is transposed: its shuffles grow with their square.
inline constexpr int64_t kMaxTransposedRows = 32;

/// Multiplications of vectors in a tile of a contraction, with what is
/// unrolled: a few thousand instructions.
inline constexpr int64_t kMaxTileProducts = 1024;

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_CPULIMITS_H
