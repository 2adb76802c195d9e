//===- Contraction.h - Sums of products ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction is a stage that sums products of two factors over loops that
// its result does not keep: matrix products, convolutions and all of their
// gradients. It is known by its space, maps and body, not by names of ops.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

#include <array>

namespace mlir::metaop {

struct Contraction {
  /// One of the two values that are multiplied.
  struct Factor {
    Value value;
    /// Kept loops that only this factor depends on: the m of one factor, the n
    /// of the other.
    llvm::SmallBitVector own;
    /// The reads that the value is computed from.
    SmallVector<const StageRead *, 1> reads;

    /// Whether the value is an element of a tensor as it lies in memory: there
    /// is nothing to compute and nothing to check.
    bool isInPlace(const Stage &stage) const;
  };

  /// The contraction that a stage is, if it is one. Each factor has loops of
  /// its own, so that elements of both are used several times.
  static std::optional<Contraction> match(const Stage &stage);

  std::array<Factor, 2> factors;
  /// Kept loops of both factors.
  llvm::SmallBitVector batch;
  /// Loops that are summed over.
  llvm::SmallBitVector reduced;
};

/// Whether the schedule is one that only contractions can have: with several
/// loops of a dimension, with a tile of several dimensions, or with a tile of
/// sums that is transposed.
bool isTiled(const Stage &stage, ScheduleAttr schedule);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H
