//===- BlockStage.h - A stage in the threads of a block ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKSTAGE_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKSTAGE_H

#include "LocalValues.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Conversion/StageBody/Prefixes.h"
#include "StagedReads.h"
#include "ThreadSums.h"

namespace mlir::metaop {

/// Emits what a block of threads does of one stage. Levels are opened either by
/// the emitter itself (`emitNest`) or, where stages share them, by the caller
/// (`enter`, then `openLevel` inside of the loop).
class BlockStage {
public:
  /// `opened` levels are the caller's, the grid's among them.
  BlockStage(GpuFunction &function, LocalValues &locals,
             const ThreadLevels &levels, StageBindings bindings,
             StagedReads staged, unsigned number, unsigned opened);

  /// Says at which iteration of a grid's level the block is.
  void openGrid(unsigned depth, Value number);
  /// Emits what stands between the levels at depth - 1 and depth.
  void enter(unsigned depth);
  /// Says that the caller has opened the loop at `depth`.
  void openLevel(unsigned depth, Value at);
  /// Emits all levels from `depth` on.
  void emitNest(unsigned depth);
  /// The range of the loop at `depth`, and how far one iteration goes.
  LoopRange getRange(unsigned depth);
  int64_t getStep(unsigned depth) const { return levels.getLevel(depth).step; }
  const ThreadLevels &getLevels() const { return levels; }

private:
  void findDepths();
  void findThreads();

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//
  bool isInLoop(unsigned depth) const;
  int64_t getTrips(unsigned depth) const;
  int64_t getNestedTrips(unsigned depth) const;
  void emitLoop(unsigned depth);
  void emitCarried(unsigned depth, const LoopRange &range);
  bool isInGlobalMemory(const StageRead &read) const;
  bool mayUnroll(unsigned depth) const;
  void emitSteps(unsigned depth, LoopRange range);
  void emitBlocks(unsigned depth, const LoopRange &range, unsigned numBlocks);

  //===--------------------------------------------------------------------===//
  // The tile
  //===--------------------------------------------------------------------===//
  void emitValues(unsigned depth);
  void emitBody();
  void emitBoth(const llvm::SmallBitVector &dims);
  void emitTile(bool isWhole);
  llvm::SmallBitVector getGuardedDims() const;
  Value emitIsWhole(const llvm::SmallBitVector &dims);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//
  SmallVector<Value *> getKept();
  void store(const StageWrite &write, const ThreadTile::Copies &copies,
             const ThreadTile::Dims &dims);
  Value emitIsFirst(const StageWrite &write, bool isInBlock);

  GpuFunction &function;
  OpBuilder &b;
  Location loc;
  LocalValues &locals;
  const ThreadLevels &levels;
  const Stage &stage;
  ScheduleAttr schedule;
  StageBindings bindings;
  ThreadTile tile;
  ThreadSums sums;
  StagedReads staged;
  Prefixes prefixes;

  /// The part of a position that the threads are, by dimension.
  SmallVector<Value> threadParts;
  /// The part that is the same for all threads of a block.
  SmallVector<Value> blockParts;
  /// At which iteration of a level of blocks the block is.
  llvm::DenseMap<unsigned, Value> gridNumbers;
  /// Copies that the threads keep of results that are not reduced.
  llvm::DenseMap<unsigned, ThreadTile::Copies> kept;
  /// Depth at which each value is evaluated: inside of all loops that it
  /// depends on and of no other.
  llvm::DenseMap<Value, unsigned> depthOf;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKSTAGE_H
