//===- VerifyLevels.cpp - What threads can be asked to do -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this lowering relies on, whoever wrote the schedule:
//   1. Each stage: levels name its loops, by kinds of a GPU. Sums are in
//      registers: no kept loop stands inside of a reduced one, and no levels of
//      the grid are reduced but those of a cluster. What threads keep from one
//      stage to the next stands in no loop of its own.
//   2. Neighbours: shared levels are equal, go through equal extents, and are
//      those of the grid at least. Stages have the same threads, or one.
//
//===----------------------------------------------------------------------===//

#include "VerifyLevels.h"
#include "AtomicResults.h"
#include "ThreadSums.h"

using namespace mlir;
using namespace mlir::metaop;

static constexpr int64_t kMaxThreads = 1024;
static constexpr int64_t kMaxCluster = 16;

static LogicalResult verifyFields(FusedOp op, ScheduleAttr schedule,
                                  const Stage &stage) {
  if (schedule.getNumDims() != stage.getNumLoops())
    return op.emitOpError("schedule orders ")
           << schedule.getNumDims() << " loops, but the stage has "
           << stage.getNumLoops();
  for (const LoopLevel &level : schedule.getLevels())
    if (level.kind == LevelKind::Parallel)
      return op.emitOpError("schedule has `parallel` loops, which are a CPU's");
  if (schedule.getTranspose() >= 0 || schedule.getPrefetch() > 0 ||
      !schedule.getStream().empty() || !schedule.getUnrollDims().empty())
    return op.emitOpError("schedule has `transpose`, `unroll`, `prefetch` or "
                          "`stream`, which are a CPU's");
  return success();
}

static LogicalResult verifySums(FusedOp op, const ThreadLevels &levels,
                                const StageWrite &write) {
  if (!write.kind || isAtomic(write))
    return success();
  ScheduleAttr schedule = levels.getSchedule();
  for (unsigned depth = 0; depth < levels.getGridDepth(); ++depth) {
    int64_t dim = levels.getLevel(depth).dim;
    bool isCluster = levels.getLevel(depth).kind == LevelKind::Cluster;
    if (!write.loops.test(dim) && !isCluster && !schedule.getEnclosing(depth))
      return op.emitOpError("result ")
             << write.result << " is reduced over dimension " << dim
             << ", which blocks that cannot wait for each other have parts of";
  }
  unsigned depth = getSumDepth(write, levels, levels.getGridDepth());
  for (unsigned outer = levels.getGridDepth(); outer < depth; ++outer)
    if (levels.isLoop(outer) && !write.loops.test(levels.getLevel(outer).dim))
      return op.emitOpError("has a loop of dimension ")
             << levels.getLevel(outer).dim << ", which result " << write.result
             << " is reduced over, outside of one of dimension "
             << levels.getLevel(depth - 1).dim << ", which it keeps";
  return success();
}

static LogicalResult verifyCarry(FusedOp op, const ThreadLevels &levels) {
  const Stage &stage = levels.getStage();
  if (!stage.carry)
    return success();
  ScheduleAttr schedule = levels.getSchedule();
  int64_t loop = stage.carry->loop;
  unsigned count =
      llvm::count_if(schedule.getLevels(),
                     [&](const LoopLevel &level) { return level.dim == loop; });
  const LoopLevel &last = schedule.getLevels().back();
  if (count != 1 || last.dim != loop || last.kind != LevelKind::Step ||
      last.step != 1)
    return op.emitOpError("loop ")
           << loop
           << " carries prefixes, and has to be the innermost one, a `step` of "
              "one iteration";
  return success();
}

/// Whether a level of both stages is the same loop.
static bool isSameLevel(const GpuStage &lhs, const GpuStage &rhs,
                        unsigned depth) {
  auto levels = std::pair(lhs.schedule.getLevels(), rhs.schedule.getLevels());
  if (depth >= levels.first.size() || depth >= levels.second.size())
    return false;
  const LoopLevel &left = levels.first[depth], &right = levels.second[depth];
  return left.kind == right.kind && left.step == right.step &&
         lhs.schedule.getEnclosing(depth) == rhs.schedule.getEnclosing(depth) &&
         lhs.schedule.getCount(depth) == rhs.schedule.getCount(depth) &&
         lhs.stage.getStaticExtent(left.dim) ==
             rhs.stage.getStaticExtent(right.dim);
}

static LogicalResult verifyShared(const GpuStage &before,
                                  const GpuStage &after) {
  FusedOp op = after.stage.op;
  unsigned shared = after.schedule.getShared();
  unsigned grid = std::max(before.schedule.getNumGridLevels(),
                           after.schedule.getNumGridLevels());
  if (shared < grid)
    return op.emitOpError("shares ")
           << shared << " levels with the stage before, but the grid has "
           << grid;
  for (unsigned depth = 0; depth < shared; ++depth)
    if (!isSameLevel(before, after, depth))
      return op.emitOpError("shares level ")
             << depth << ", which is another one in the stage before";
  return success();
}

LogicalResult metaop::verifyLevels(ArrayRef<GpuStage> stages) {
  int64_t threads = 1;
  for (const GpuStage &each : stages)
    threads = std::max(threads, each.schedule.getNumThreads());
  if (stages.empty())
    return success();
  FusedOp first = stages.front().stage.op;
  if (threads > kMaxThreads)
    return first.emitOpError("schedule has ")
           << threads << " threads, but a block has at most " << kMaxThreads;
  if (int64_t size = stages.front().schedule.getClusterSize();
      size > kMaxCluster)
    return first.emitOpError("schedule has clusters of ")
           << size << " blocks, but at most " << kMaxCluster << " make one";
  for (auto [number, each] : llvm::enumerate(stages)) {
    FusedOp op = each.stage.op;
    if (failed(verifyFields(op, each.schedule, each.stage)))
      return failure();
    ThreadLevels levels(each.stage, each.schedule);
    if (levels.getNumThreads() != 1 && levels.getNumThreads() != threads)
      return op.emitOpError("has ") << levels.getNumThreads()
                                    << " threads, but the kernel " << threads;
    for (const StageWrite &write : each.stage.writes)
      if (failed(verifySums(op, levels, write)))
        return failure();
    if (failed(verifyCarry(op, levels)))
      return failure();
    for (const StageWrite &write : each.stage.writes) {
      bool isKept =
          each.schedule.getPlaceOf(write.result) == ResultPlace::Registers;
      unsigned opened = std::max<unsigned>(
          levels.getGridDepth(), number + 1 < stages.size()
                                     ? stages[number + 1].schedule.getShared()
                                     : 0);
      for (unsigned depth = opened; isKept && depth < levels.getNumLevels();
           ++depth)
        if (levels.isLoop(depth) &&
            (!write.kind || write.loops.test(levels.getLevel(depth).dim)))
          return op.emitOpError("keeps result ")
                 << write.result << " in registers, but computes it in a loop "
                 << "of dimension " << levels.getLevel(depth).dim;
    }
    if (number > 0 && failed(verifyShared(stages[number - 1], each)))
      return failure();
  }
  return success();
}
