//===- StagePlanner.h - Plans of one stage for a GPU ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEPLANNER_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEPLANNER_H

#include "MetaOps/Target/Description/Chip.h"
#include "StageTraffic.h"
#include "ThreadPlan.h"

namespace mlir::metaop {

/// Instructions of a tile: with more, work hides behind memory anyway, or takes
/// longer, and the assembler needs as long for each again.
inline constexpr int64_t kMaxTileCode = 512;
/// The same where a tile is to hold what would be read again: more do not fit
/// the caches for them.
inline constexpr int64_t kMostTileCode = 2048;

/// Threads of a block where nothing speaks for another number.
inline constexpr int64_t kUsualThreads = 256;

/// Steps of a column that a thread has side by side.
inline constexpr int64_t kColumnSteps = 8;

/// The fewest iterations that a block of a cluster has of a row.
inline constexpr int64_t kMinPart = 1 << 12;

/// The next power of two; 1 of less.
int64_t ceilPowerOf2(int64_t value);

/// Common part of the plans of all kinds of stages.
struct StagePlanner {
  StagePlanner(const Stage &stage, const Chip &chip)
      : stage(stage), chip(chip), traffic(stage), plan(stage.getNumLoops()) {}

  /// Returns whether a thread would have too much of so many elements.
  bool isTooLarge(int64_t tile, int64_t maxCode = kMaxTileCode) const;
  /// The elements of vectors along a loop: what takes longer to compute than to
  /// move has few.
  int64_t chooseLanes(int64_t loop) const;
  /// Vectors that a thread has side by side, at most: fewer where operands are
  /// many, or code or registers would be.
  int64_t chooseCopies(int64_t lanes, int64_t most,
                       int64_t maxCode = kMaxTileCode) const;
  void putOnGrid(const llvm::SmallBitVector &loops);
  /// Divides threads among some loops, the inner ones first. Returns how many
  /// times as many there could be.
  int64_t fillThreads(llvm::SmallBitVector loops, int64_t threads);
  /// Blocks of the grid.
  int64_t countBlocks() const;
  /// Pieces that a block should do one after another, of a grid that would have
  /// so many blocks, which move so many bytes: several where pieces are small
  /// and many, else one.
  int64_t chooseRun(int64_t blocks, int64_t bytes) const;
  /// Has blocks do runs of pieces, which lie one after another in memory.
  void formRuns();
  DimPlan &at(int64_t dim) { return plan.dims[dim]; }

  const Stage &stage;
  const Chip &chip;
  StageTraffic traffic;
  ThreadPlan plan;
  /// Elements of a tile, each of which has a register or more.
  int64_t maxTile = 32;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEPLANNER_H
