//===- LoopLevel.h - The loops of a schedule, as data -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_LOOPLEVEL_H
#define METAOPS_DIALECT_METAOP_IR_LOOPLEVEL_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// One loop of a schedule: `kind(dim, step, tail)`.
struct LoopLevel {
  LevelKind kind = LevelKind::Step;
  /// The dimension of the stage that the loop runs over.
  int64_t dim = 0;
  /// Elements of one iteration. A further level of the same dimension divides
  /// that; at the dimension's last level it is done side by side.
  int64_t step = 1;
  /// Treatment of iterations that do not fill a step.
  LevelTail tail = LevelTail::Mask;

  /// Returns whether the threads of a block have an iteration each.
  bool isDistributed() const {
    return kind == LevelKind::Warp || kind == LevelKind::Thread;
  }
  /// Returns whether the loop is a part of a GPU's grid.
  bool isGrid() const {
    return kind == LevelKind::Cluster || kind == LevelKind::Block;
  }

  bool operator==(const LoopLevel &other) const {
    return kind == other.kind && dim == other.dim && step == other.step &&
           tail == other.tail;
  }
};

/// Returns the sizes of the bodies that a tail of `sizes` has for what is left
/// over, which is `most` iterations or vectors at most: 4, 8 and `most`, or
/// each up to a `most` of 7. The smallest that holds what is left is run, and
/// masks.
llvm::SmallVector<int64_t> getTailSizes(int64_t most);

/// So many iterations, or lanes, of a dimension side by side: `dim: size`.
struct TileDim {
  int64_t dim = -1;
  int64_t size = 1;

  bool operator==(const TileDim &other) const {
    return dim == other.dim && size == other.size;
  }
};

/// A read, by its number, that goes through the shared memory of a block, where
/// `pad` unused elements are behind rows: `read: pad`.
struct StagedRead {
  int64_t read = 0;
  int64_t pad = 0;

  bool operator==(const StagedRead &other) const {
    return read == other.read && pad == other.pad;
  }
};

/// The fields of a schedule, to be changed.
struct ScheduleFields {
  int64_t getTileSize(int64_t dim) const {
    for (TileDim entry : tile)
      if (entry.dim == dim)
        return entry.size;
    return 1;
  }
  /// The places of results, or none where all are in memory.
  llvm::ArrayRef<ResultPlace> getNormalPlace() const;

  llvm::SmallVector<LoopLevel> levels;
  llvm::SmallVector<TileDim> tile;
  TileDim lanes;
  int64_t transpose = -1;
  llvm::SmallVector<int64_t> unrollDims;
  int64_t prefetch = 0;
  int64_t pairwise = 0;
  llvm::SmallVector<int64_t> stream;
  llvm::SmallVector<StagedRead> staged;
  llvm::SmallVector<ResultPlace> place;
  int64_t shared = 0;
};

llvm::hash_code hash_value(const LoopLevel &level);
llvm::hash_code hash_value(const TileDim &tile);
llvm::hash_code hash_value(const StagedRead &staged);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_LOOPLEVEL_H
