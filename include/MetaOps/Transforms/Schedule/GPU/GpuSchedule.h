//===- GpuSchedule.h - Schedules for GPUs -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSCHEDULE_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSCHEDULE_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Decides which blocks and threads of a GPU do what of a stage that is alone
/// in its kernel.
ScheduleAttr chooseGpuSchedule(const Stage &stage, const Chip &chip);

/// The blocks of a stage's grid; what is known only at run time counts as one.
int64_t countBlocks(const Stage &stage, ScheduleAttr schedule);

/// Returns whether these blocks have threads enough for all multiprocessors to
/// wait for memory as seldom as they can.
bool keepsBusy(const Stage &stage, ScheduleAttr schedule, const Chip &chip);

/// Returns whether metaop-split-reductions-gpu makes two kernels of the stage,
/// which is alone in its kernel: its blocks are few, and its sums are long.
bool isSplitOnGpu(const Stage &stage, const Chip &chip);

/// Decides the same of stages that do a row of the loops `slots` at a time, one
/// list of them for each stage, outermost first. Null where rows are too large
/// to stay with those who compute them.
SmallVector<ScheduleAttr>
chooseRowSchedules(ArrayRef<const Stage *> stages,
                   ArrayRef<SmallVector<int64_t>> slots, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSCHEDULE_H
