//===- SharedBlock.h - Blocks that pass between stages ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDBLOCK_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDBLOCK_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The part of a tensor that is in memory at a time, where a contraction and
/// another stage share the contraction's outer levels: a factor that the other
/// one packs, or the sums of which it computes its results.
struct SharedBlock {
  /// A loop of the contraction that numbers places `stride` apart.
  struct Digit {
    unsigned dim;
    int64_t stride, extent;
  };
  /// A dimension of the tensor, or several that are one loop of the other
  /// stage.
  struct Index {
    /// The loop of the other stage.
    unsigned loop;
    /// The same in the contraction's loops: one of them, or digits.
    AffineExpr place;
    /// These, the lowest one first.
    SmallVector<Digit, 2> digits;
    /// Elements of the tensor along it; of the part; and from one element of
    /// the part to the next.
    int64_t whole = 1, extent = 1, stride = 1;
  };
  SmallVector<Index> indices;
  int64_t numElements = 1;

  /// The whole tensor, which the contraction reaches through one map and the
  /// other stage through another one, which numbers each dimension by a loop;
  /// or several by one, if the tensor's shape is given. None where that is not
  /// so, or extents are not known.
  static std::optional<SharedBlock> match(const Stage &contraction,
                                          AffineMap inContraction,
                                          const Stage &other, AffineMap inOther,
                                          ArrayRef<AffineExpr> shape = {});

  /// The same for a stage that reads what the other one, whose block this is,
  /// computes from it. Dimensions that are lost on the way are left out.
  SharedBlock follow(const StageWrite &write, const Stage &reader,
                     const StageRead &read) const;

  /// Of the contraction's levels those that the tensor depends on, as levels of
  /// the other stage.
  SmallVector<LoopLevel> translate(ArrayRef<LoopLevel> levels) const;

  /// Leaves the part that one iteration of these levels of the contraction
  /// reaches. False if that is no box.
  bool narrow(ArrayRef<LoopLevel> levels);
};

/// Returns the contraction of a kernel if its loops are blocks, which stages
/// around it share; null if there is none.
FusedOp findContractionInBlocks(Block &kernel);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDBLOCK_H
