//===- PackedLoops.h - Loops of packed contractions -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A packed contraction has the loops of its stage, but two kinds are several:
//
//   * The lanes' loop n becomes n1 * width + n0: the panel, and the place in
//     it. Where its extent varies it stays one, and lies innermost: all extents
//     have one code then, and no lanes but the last vector's are in vain.
//   * Rows that are several dimensions, as of a batch and of a sequence, are
//     these again where they are read in place: the result has the type that it
//     had, and what follows can become an epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDLOOPS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDLOOPS_H

#include "CollapsedTensor.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"

namespace mlir::metaop {

/// The loops of the contraction that replaces a stage by a plan.
class PackedLoops {
public:
  PackedLoops(const Stage &stage, const Contraction &contraction,
              const ContractionPlan &plan);

  /// The extents of the loops.
  ArrayRef<int64_t> getSpace() const { return space; }
  unsigned size() const { return space.size(); }
  /// The stage's loops in terms of these.
  ArrayRef<AffineExpr> getOld() const { return oldLoops; }

  /// Returns true if the lanes' loop is one over panels, and one in a panel.
  bool splitsLanes() const {
    return plan.packsVectors && !stage.isVarying(plan.lanesDim);
  }
  /// Returns the loops that the vectors depend on, in the order in which panels
  /// hold them, the lanes' last.
  SmallVector<unsigned> getPanel() const;

  /// Gives each loop of the same rows a dimension of its own in a tensor whose
  /// indices are of these loops, if `whole`, its shape before loops were
  /// collapsed, has that.
  void separateRows(CollapsedTensor &tensor, ArrayRef<int64_t> whole) const;
  /// Gives lanes that do not fill their panels a dimension of the result: what
  /// goes beyond the filters of one group is none of the next one. Its indices
  /// are of the stage's loops.
  CollapsedTensor separateLanes(const CollapsedTensor &tensor) const;

private:
  AffineExpr dim(unsigned number) const {
    return getAffineDimExpr(number, stage.getContext());
  }
  SmallVector<int64_t> getRowExtents(unsigned loop) const;

  const Stage &stage;
  const Contraction &contraction;
  const ContractionPlan &plan;
  SmallVector<int64_t> space;
  SmallVector<AffineExpr> oldLoops;
  /// The loops that each of the stage's has become, outermost first.
  SmallVector<SmallVector<unsigned, 2>> newLoops;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDLOOPS_H
