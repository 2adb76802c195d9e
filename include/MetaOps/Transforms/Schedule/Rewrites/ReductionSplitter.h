//===- ReductionSplitter.h - Reductions in two steps ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REWRITES_REDUCTIONSPLITTER_H
#define METAOPS_TRANSFORMS_SCHEDULE_REWRITES_REDUCTIONSPLITTER_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

#include <cstdint>
#include <functional>

namespace mlir::metaop {

/// Threads or blocks that share the steps of a reduction.
struct Sharers {
  /// So many steps are enough for all of them.
  int64_t enoughSteps;
  int64_t minIterations;
  int64_t maxBlocks;
  /// The steps that a stage has as it is.
  std::function<int64_t(const Stage &)> countSteps;
  /// Nothing is joined with partial sums: what shared loops with their sum
  /// would have too few of them again.
  bool areAlone = false;
};

/// Replaces the kernels below an operation that have few steps to share and
/// much to reduce by two each: one of partial results, one that combines them.
LogicalResult splitReductions(Operation *root, const Sharers &sharers,
                              bool report);

/// Returns true if `splitReductions` makes two kernels of the stage, which is
/// alone in its kernel.
bool isSplit(const Stage &stage, const Sharers &sharers);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REWRITES_REDUCTIONSPLITTER_H
