//===- PrefetchReads.cpp - Software prefetch of reads ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A processor foresees what a loop reads along memory, but no further than to
// the end of a page, and begins anew in each. It hides that where it looks so
// far ahead in the loop itself: some hundred instructions, which are many lines
// of a sum and one or two of a function. So a stage prefetches each line half a
// page before it is read.
//
// A prefetch is an instruction for each line: little beside a line's way from
// memory, much beside its way from a near cache. Left to the processor are
//  * reads of less than half of a core's second cache;
//  * tensors that are read several times, as windows are, mostly from a cache;
//  * short runs, as slices of rows are: what is behind them is never read;
//  * short bodies whose results are written element by element: there stores
//    take longer than reads.
// Of stages in one kernel, the first one brings what they share.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"

using namespace mlir;
using namespace mlir::metaop;

/// Bytes from what is read to what is prefetched, and those of a run that is
/// worth it.
static constexpr int64_t kAheadBytes = kPageBytes / 2;
static constexpr int64_t kMinRunBytes = 4 * kAheadBytes;
/// Instructions of an element that leave some lines in a processor's sight.
static constexpr int64_t kShortBody = 24;

bool metaop::isVectorInnermost(ScheduleAttr schedule) {
  return schedule.getVectorWidth() > 1 && schedule.getTranspose() < 0 &&
         schedule.getLevels().back().dim == schedule.getVectorDim();
}

/// Returns the loops that a read depends on.
static llvm::SmallBitVector getLoops(const Stage &stage,
                                     const StageRead &read) {
  llvm::SmallBitVector loops = stage.getLoopsOf(read.value);
  loops.resize(stage.getNumLoops());
  return loops;
}

/// Returns the loops that go on where the vector loop ends, with that.
static llvm::SmallBitVector findRun(const Stage &stage, const StageRead &read,
                                    int64_t vectorDim) {
  llvm::SmallBitVector run(stage.getNumLoops());
  run.set(vectorDim);
  int64_t length = stage.getStaticExtent(vectorDim);
  for (bool goesOn = true; goesOn && !ShapedType::isDynamic(length);) {
    goesOn = false;
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
      int64_t extent = stage.getStaticExtent(loop);
      if (run.test(loop) || ShapedType::isDynamic(extent) ||
          stage.getStep(read.place.offset, loop) != length)
        continue;
      run.set(loop);
      length = multiplyCounts(length, extent);
      goesOn = true;
    }
  }
  return run;
}

/// Returns the bytes that a read takes in some loops, at usual lengths.
static int64_t countReadBytes(const Stage &stage, const StageRead &read,
                              const llvm::SmallBitVector &loops) {
  int64_t elements = stage.scaleToPlan(countIterations(stage, loops), loops);
  return multiplyCounts(elements, getElementBytes(read.value.getType()));
}

bool metaop::isPrefetched(const Stage &stage, const StageRead &read,
                          ScheduleAttr schedule) {
  return !stage.isIndirect(read.place) && !read.place.isGuarded() &&
         stage.getStep(read.place.offset, schedule.getVectorDim()) == 1;
}

/// Returns whether a read goes along memory for long, and takes each element
/// once.
static bool isLongRun(const Stage &stage, const StageRead &read,
                      int64_t vectorDim) {
  auto source = cast<RankedTensorType>(read.source.getType());
  bool isReadOnce = !source.hasStaticShape() ||
                    countIterations(stage, getLoops(stage, read)) <=
                        countElements(source.getShape());
  return isReadOnce &&
         countReadBytes(stage, read, findRun(stage, read, vectorDim)) >=
             kMinRunBytes;
}

ScheduleAttr metaop::choosePrefetch(const Stage &stage, ScheduleAttr schedule,
                                    const Processor &processor) {
  if (!isVectorInnermost(schedule) || schedule.getShared() > 0 || stage.carry ||
      (!stage.hasReduction() && stage.getCodeSize() < kShortBody))
    return schedule;
  int64_t widest = 0;
  for (const StageRead &read : stage.reads) {
    if (!isPrefetched(stage, read, schedule) ||
        countReadBytes(stage, read, getLoops(stage, read)) <
            processor.getSecondCacheShare())
      continue;
    // The schedule is for all reads that can be.
    if (!isLongRun(stage, read, schedule.getVectorDim()))
      return schedule;
    widest = std::max(widest, getElementBytes(read.value.getType()));
  }
  if (widest == 0)
    return schedule;
  int64_t stepBytes = schedule.getLevels().back().step * widest;
  return schedule.withPrefetch(std::max<int64_t>(kAheadBytes / stepBytes, 1));
}
