//===- ScheduledStage.cpp - Stages of a kernel with their schedules -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"

using namespace mlir;
using namespace mlir::metaop;

FailureOr<SmallVector<ScheduledStage, 1>>
metaop::readScheduledStages(KernelOp kernel) {
  SmallVector<ScheduledStage, 1> stages;
  StageModels models;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<const Stage *> stage = models.get(op);
    if (failed(stage) ||
        failed(verifySchedule(op, **stage, /*isFirst=*/stages.empty())))
      return failure();
    stages.push_back({**stage, op.getScheduleAttr()});
  }
  return std::move(stages);
}

unsigned metaop::countParallelLoops(ArrayRef<ScheduledStage> stages) {
  if (stages.empty() ||
      llvm::any_of(stages, [](auto &each) { return each.stage.isEmpty(); }))
    return 0;
  unsigned parallel = stages.front().schedule.getParallel();
  for (const ScheduledStage &each : stages.drop_front())
    parallel =
        std::min<unsigned>({parallel, (unsigned)each.schedule.getParallel(),
                            (unsigned)each.schedule.getShared()});
  return parallel;
}

void metaop::openSharedLoops(MutableArrayRef<ScheduledStage> stages,
                             unsigned parallel) {
  for (auto [i, scheduled] : llvm::enumerate(stages)) {
    scheduled.openedLoops =
        std::max<unsigned>(parallel, scheduled.schedule.getShared());
    if (i + 1 < stages.size())
      scheduled.openedLoops = std::max<unsigned>(
          scheduled.openedLoops, stages[i + 1].schedule.getShared());
  }
}

unsigned metaop::getAccumulatorDepth(const StageWrite &write,
                                     ScheduleAttr schedule,
                                     unsigned openedLoops) {
  unsigned depth = schedule.getNumLevels();
  while (write.kind && depth > openedLoops &&
         !write.loops.test(schedule.getLevels()[depth - 1].dim))
    --depth;
  return depth;
}

bool metaop::combinesInMemory(const StageWrite &write, ScheduleAttr schedule,
                              unsigned openedLoops) {
  unsigned start = getAccumulatorDepth(write, schedule, openedLoops);
  if (!write.kind)
    return false;
  if (!write.isProjection)
    return true;
  for (int64_t loop : schedule.getDims(start))
    if (!write.loops.test(loop))
      return true;
  return false;
}

bool metaop::masksUnroll(ScheduleAttr schedule) {
  int64_t dim = schedule.getUnrollDim();
  if (dim < 0 || dim == schedule.getVectorDim() || schedule.getTranspose() >= 0)
    return false;
  ArrayRef<LoopLevel> levels = schedule.getLevels();
  for (unsigned depth = 0; depth < levels.size(); ++depth)
    if (levels[depth].dim == dim && !schedule.isOuter(depth))
      return levels[depth].tail == LevelTail::Mask;
  return false;
}

bool metaop::hasSquareTiles(ScheduleAttr schedule) {
  SmallVector<int64_t> order = schedule.getDims();
  if (order.size() < 2)
    return false;
  int64_t last = order.pop_back_val(), before = order.pop_back_val();
  int64_t rows = schedule.getTranspose(), lanes = schedule.getVectorDim();
  return (std::pair(before, last) == std::pair(rows, lanes) ||
          std::pair(before, last) == std::pair(lanes, rows)) &&
         schedule.getTileSize(rows) == schedule.getVectorWidth() &&
         schedule.getTileSize(lanes) == schedule.getVectorWidth();
}

unsigned metaop::getTileDepth(const Stage &stage, ScheduleAttr schedule) {
  unsigned depth = schedule.getNumLevels();
  while (depth > 0 &&
         !stage.writes.front().loops.test(schedule.getLevels()[depth - 1].dim))
    --depth;
  return depth;
}
