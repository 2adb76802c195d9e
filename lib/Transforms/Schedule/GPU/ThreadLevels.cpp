//===- ThreadLevels.cpp - Levels as grid, loops and threads ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along one dimension an element is at
//
//   grid and loops + threads + copy * sweep + lane,
//
// of which the first part is the same for all threads of a block unless a loop
// stands inside of the threads. Loops end at the dimension's end, so what they
// number is inside; the threads and copies of one iteration together, the
// cover, may reach behind it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/ThreadLevels.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

ThreadLevels::ThreadLevels(const Stage &stage, ScheduleAttr schedule)
    : stage(stage), schedule(schedule) {
  int64_t stride = 1;
  for (unsigned depth = getNumLevels(); depth-- > 0;) {
    const LoopLevel &level = getLevel(depth);
    if (!level.isDistributed())
      continue;
    int64_t count = schedule.getCount(depth);
    distributed.insert(distributed.begin(),
                       {level.dim, level.step, count, stride});
    stride *= count;
  }
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

unsigned ThreadLevels::getThreadDepth() const {
  ArrayRef<LoopLevel> levels = schedule.getLevels();
  return llvm::find_if(
             levels,
             [](const LoopLevel &level) { return level.isDistributed(); }) -
         levels.begin();
}

bool ThreadLevels::isLoop(unsigned depth) const {
  return metaop::isLoop(stage, schedule, depth);
}

unsigned ThreadLevels::getDepth(const llvm::SmallBitVector &dims,
                                unsigned least) const {
  unsigned depth = std::max(least, getGridDepth());
  for (unsigned level = depth; level < getNumLevels(); ++level)
    if (isLoop(level) && dims.test(getLevel(level).dim))
      depth = level + 1;
  while (depth < getNumLevels() && !isLoop(depth))
    ++depth;
  return depth;
}

unsigned ThreadLevels::getSumDepth(const StageWrite &write,
                                   unsigned opened) const {
  unsigned depth = getNumLevels();
  while (depth > opened &&
         !(isLoop(depth - 1) && write.loops.test(getLevel(depth - 1).dim)))
    --depth;
  return depth;
}

bool ThreadLevels::isInsideThreads(unsigned depth) const {
  for (auto outer = schedule.getEnclosing(depth); outer;
       outer = schedule.getEnclosing(*outer))
    if (getLevel(*outer).isDistributed())
      return true;
  return false;
}

int64_t ThreadLevels::getGridCount(unsigned depth) const {
  if (schedule.getEnclosing(depth))
    return schedule.getCount(depth);
  int64_t extent = stage.getStaticExtent(getLevel(depth).dim);
  return ShapedType::isDynamic(extent)
             ? extent
             : llvm::divideCeil(extent, getLevel(depth).step);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

std::optional<unsigned> ThreadLevels::findFirst(int64_t dim) const {
  for (unsigned depth = 0; depth < getNumLevels(); ++depth)
    if (getLevel(depth).dim == dim)
      return depth;
  return std::nullopt;
}

unsigned ThreadLevels::findLast(int64_t dim) const {
  unsigned depth = getNumLevels();
  while (getLevel(depth - 1).dim != dim)
    --depth;
  return depth - 1;
}

bool ThreadLevels::endsInThreads(int64_t dim) const {
  return getLevel(findLast(dim)).isDistributed();
}

int64_t ThreadLevels::getSweep(int64_t dim) const {
  unsigned last = findLast(dim);
  int64_t threads =
      getLevel(last).isDistributed() ? schedule.getCount(last) : 1;
  return getLanes(dim) * threads;
}

int64_t ThreadLevels::getCover(int64_t dim) const {
  unsigned last = findLast(dim);
  if (!getLevel(last).isDistributed())
    return schedule.getTileSize(dim);
  unsigned depth = last;
  while (getLevel(depth).isDistributed())
    depth = *schedule.getEnclosing(depth);
  return getLevel(depth).step;
}

int64_t ThreadLevels::getDivisor(int64_t dim) const {
  int64_t divisor = getNumCopies(dim) > 1 ? getSweep(dim) : 0;
  for (const LoopLevel &level : schedule.getLevels())
    if (static_cast<int64_t>(level.dim) == dim)
      divisor = std::gcd(divisor, static_cast<int64_t>(level.step));
  return divisor;
}

bool ThreadLevels::mayExceed(int64_t dim) const {
  int64_t extent = stage.getStaticExtent(dim), cover = getCover(dim);
  bool isKnown = !ShapedType::isDynamic(extent);
  if (isKnown && extent % getLevel(*findFirst(dim)).step == 0)
    return false;
  // Threads that loop on their own, and blocks of a cluster that share a level,
  // may begin behind the end.
  unsigned last = findLast(dim);
  if (!getLevel(last).isDistributed() && isInsideThreads(last))
    return true;
  for (unsigned depth = 0; depth < getGridDepth(); ++depth)
    if (getLevel(depth).dim == dim && schedule.getEnclosing(depth))
      return true;
  return cover != 1 && !(isKnown && extent % cover == 0);
}

int64_t ThreadLevels::getReach(int64_t dim) const {
  int64_t extent = stage.getStaticExtent(dim);
  if (ShapedType::isDynamic(extent))
    return extent;
  return llvm::alignTo(extent, getLevel(*findFirst(dim)).step);
}

bool ThreadLevels::isInside(unsigned depth) const {
  int64_t dim = getLevel(depth).dim;
  int64_t extent = stage.getStaticExtent(dim);
  // Loops end with the dimension, but each cluster has all its blocks.
  const LoopLevel &first = getLevel(*findFirst(dim));
  int64_t step =
      first.kind == LevelKind::Cluster ? first.step : getLevel(depth).step;
  return !ShapedType::isDynamic(extent) && extent % step == 0;
}

bool ThreadLevels::alwaysExceeds(int64_t dim) const {
  int64_t extent = stage.getStaticExtent(dim);
  return !ShapedType::isDynamic(extent) && extent < getCover(dim);
}

bool ThreadLevels::hasWholeVectors(int64_t dim) const {
  int64_t extent = stage.getStaticExtent(dim);
  return getLanes(dim) == 1 ||
         (!ShapedType::isDynamic(extent) && extent % getLanes(dim) == 0);
}
