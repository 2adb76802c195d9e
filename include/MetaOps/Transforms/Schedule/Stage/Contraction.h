//===- Contraction.h - Sums of products ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contractions: stages that sum products of two factors over loops that the
// result does not keep, as matrix products, convolutions and all of their
// gradients do. One is known by its space, maps and body, not by names of ops.
// This is the analysis of its loops and factors. Stages around it, which pack
// its factors or go on with its sums, are known by their roles (StageRoles.h).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

#include <array>
#include <string>

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

    /// Returns true if the value is an element of a tensor as it lies in
    /// memory: there is nothing to compute and nothing to check.
    bool isInPlace(const Stage &stage) const;
  };

  /// Returns the contraction that a stage is, if it is one. Each factor has
  /// loops of its own, so that elements of both are used several times.
  static std::optional<Contraction> match(const Stage &stage);

  std::array<Factor, 2> factors;
  /// Kept loops of both factors.
  llvm::SmallBitVector batch;
  /// Loops that are summed over.
  llvm::SmallBitVector reduced;
  /// Those of them that a factor is read at together with a kept loop, as the
  /// offsets of a convolution's filter are: `x[i + r]`. The others are the k of
  /// a product.
  llvm::SmallBitVector window;

  /// Returns the loops by what they are, in words: `m d0, n d2, k d1`.
  std::string describe() const;
};

/// Returns true if the stage is a contraction, whatever its role and schedule.
/// Fails, with a diagnostic, where it has no model.
FailureOr<bool> isContraction(FusedOp op);

/// Returns true if the loops of a sum of products are blocks or a tile, as only
/// those of contractions are: several loops of a dimension, a tile of several
/// dimensions, or one of sums that is transposed.
bool isTiled(ScheduleAttr schedule);

/// Returns true if the stage has the role of a contraction and such loops.
bool isTiledContraction(FusedOp op);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_CONTRACTION_H
