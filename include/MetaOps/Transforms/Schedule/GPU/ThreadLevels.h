//===- ThreadLevels.h - Levels as grid, loops and threads -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_THREADLEVELS_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_THREADLEVELS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Levels and dimensions of a stage's schedule for a GPU.
class ThreadLevels {
public:
  /// A level that the threads of a block have iterations of. Thread t is at
  /// iteration t / stride % count.
  struct Distributed {
    int64_t dim;
    int64_t step;
    int64_t count;
    int64_t stride;
  };

  ThreadLevels(const Stage &stage, ScheduleAttr schedule);

  const Stage &getStage() const { return stage; }
  ScheduleAttr getSchedule() const { return schedule; }
  unsigned getNumLevels() const { return schedule.getNumLevels(); }
  const LoopLevel &getLevel(unsigned depth) const {
    return schedule.getLevels()[depth];
  }
  int64_t getNumDims() const { return stage.getNumLoops(); }

  //===--------------------------------------------------------------------===//
  // Levels
  //===--------------------------------------------------------------------===//
  /// Levels in front of this depth are the grid.
  unsigned getGridDepth() const { return schedule.getNumGridLevels(); }
  /// The threads of a block, by level.
  ArrayRef<Distributed> getDistributed() const { return distributed; }
  int64_t getNumThreads() const { return schedule.getNumThreads(); }
  /// Returns how many levels whole blocks do: those in front of the first
  /// distributed level, which threads then divide.
  unsigned getThreadDepth() const;
  /// Returns whether the level is a loop: a step that is not known to be the
  /// only one, or that carries prefixes.
  bool isLoop(unsigned depth) const;
  /// The depth at which what depends on these dimensions is evaluated, but not
  /// before `least`: all loops that they stand in are open, and the next level
  /// is a further loop, if there is one.
  unsigned getDepth(const llvm::SmallBitVector &dims, unsigned least) const;
  /// The depth, behind the first `opened` levels, inside of which no loop is
  /// kept by the write.
  unsigned getSumDepth(const StageWrite &write, unsigned opened) const;
  /// Returns whether threads divide the dimension outside of the level at this
  /// depth.
  bool isInsideThreads(unsigned depth) const;
  /// The iterations of a grid's level; ShapedType::kDynamic if not known.
  int64_t getGridCount(unsigned depth) const;

  //===--------------------------------------------------------------------===//
  // Dimensions
  //===--------------------------------------------------------------------===//
  /// The elements of a vector along a dimension.
  int64_t getLanes(int64_t dim) const {
    return dim == schedule.getVectorDim() ? schedule.getVectorWidth() : 1;
  }
  /// The vectors, or elements, along it that a thread has side by side.
  int64_t getNumCopies(int64_t dim) const {
    return schedule.getTileSize(dim) / getLanes(dim);
  }
  /// The elements from one of these to the next.
  int64_t getSweep(int64_t dim) const;
  /// Returns how much of it one iteration of the loops covers, by all threads
  /// together.
  int64_t getCover(int64_t dim) const;
  /// Returns a divisor of what any thread begins at.
  int64_t getDivisor(int64_t dim) const;
  /// Returns whether the last level is distributed among threads.
  bool endsInThreads(int64_t dim) const;
  /// Returns whether there may be iterations behind the end.
  bool mayExceed(int64_t dim) const;
  /// Behind the last iteration that a thread gets to, whether it exists or not;
  /// ShapedType::kDynamic if not known.
  int64_t getReach(int64_t dim) const;
  /// Returns whether all iterations of a level around the threads are known to
  /// begin and to end inside of the dimension.
  bool isInside(unsigned depth) const;
  /// Returns whether each cover reaches behind the end.
  bool alwaysExceeds(int64_t dim) const;
  /// Returns whether each vector is wholly before the end or behind it.
  bool hasWholeVectors(int64_t dim) const;

private:
  std::optional<unsigned> findFirst(int64_t dim) const;
  unsigned findLast(int64_t dim) const;

  const Stage &stage;
  ScheduleAttr schedule;
  SmallVector<Distributed> distributed;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_THREADLEVELS_H
