//===- PrefetchReads.cpp - Reads asked for ahead --------------------------===//
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
// of a sum and one or two of a function. So a stage asks for each line half a
// page before it is read.
//
// An instruction for each line is little beside the line's way from memory, and
// more than nothing beside that from a near cache: reads of less than half of a
// core's second one are left to the processor. So are those of short bodies
// whose results are written element by element, which are waited for by the
// stores, if by anything. Of stages in one kernel, the first one brings what
// they share.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"

using namespace mlir;
using namespace mlir::metaop;

/// Bytes from what is read to what is asked for.
static constexpr int64_t kAheadBytes = kPageBytes / 2;
/// Instructions of an element that leave some lines in a processor's sight.
static constexpr int64_t kShortBody = 24;

bool metaop::goesAlongMemory(ScheduleAttr schedule) {
  return schedule.getVectorWidth() > 1 && schedule.getTranspose() < 0 &&
         schedule.getLevels().back().dim == schedule.getVectorDim();
}

bool metaop::isPrefetched(const Stage &stage, const StageRead &read,
                          ScheduleAttr schedule) {
  return !stage.isIndirect(read.place) && !read.place.isGuarded() &&
         stage.getStep(read.place.offset, schedule.getVectorDim()) == 1;
}

/// Returns the bytes that a read takes from all of its tensor.
static int64_t countReadBytes(const Stage &stage, const StageRead &read) {
  llvm::SmallBitVector loops = stage.getLoopsOf(read.value);
  loops.resize(stage.getNumLoops());
  int64_t elements = stage.scaleToPlan(countIterations(stage, loops), loops);
  return multiplyCounts(elements, getElementBytes(read.value.getType()));
}

ScheduleAttr metaop::choosePrefetch(const Stage &stage, ScheduleAttr schedule,
                                    int64_t cacheBytes) {
  if (!goesAlongMemory(schedule) || schedule.getShared() > 0 || stage.carry ||
      (!stage.hasReduction() && stage.getCodeSize() < kShortBody))
    return schedule;
  int64_t widest = 0;
  for (const StageRead &read : stage.reads)
    if (isPrefetched(stage, read, schedule) &&
        countReadBytes(stage, read) >= cacheBytes)
      widest = std::max(widest, getElementBytes(read.value.getType()));
  if (widest == 0)
    return schedule;
  int64_t stepBytes = schedule.getLevels().back().step * widest;
  return schedule.withPrefetch(std::max<int64_t>(kAheadBytes / stepBytes, 1));
}
