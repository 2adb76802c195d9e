//===- ScheduledStage.h - Stages of a kernel with their schedules -*- C++
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_SCHEDULEDSTAGE_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_SCHEDULEDSTAGE_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// One stage of a kernel, in the kernel's loop tree.
struct ScheduledStage {
  Stage stage;
  ScheduleAttr schedule;
  /// Leading loops that are opened around the stage: parallel or shared ones.
  unsigned openedLoops = 0;
  /// Of each write, how many shared loops it is local to: its memory is that of
  /// one iteration of these. Empty where no write is.
  SmallVector<unsigned> localLoops = {};
};

/// Returns the stages of a kernel, with no loop opened. Fails, with a
/// diagnostic, where one breaks a rule of all targets.
FailureOr<SmallVector<ScheduledStage, 1>> readScheduledStages(KernelOp kernel);

/// Returns how many leading loops all stages have and mark as parallel, which
/// are the kernel's range.
unsigned countParallelLoops(ArrayRef<ScheduledStage> stages);

/// Sets which loops are opened around each stage: `parallel` ones, and those
/// that it shares with a neighbour.
void openSharedLoops(MutableArrayRef<ScheduledStage> stages, unsigned parallel);

/// Returns the depth, inside of the loops that the caller opens, below which
/// every loop is reduced by the write, so that it has accumulators in
/// registers; the number of loops if there is none.
unsigned getAccumulatorDepth(const StageWrite &write, ScheduleAttr schedule,
                             unsigned openedLoops);

/// Returns true if some reduced loop stands outside of the accumulators, or
/// elements are reached several times: results are then combined with memory.
bool combinesInMemory(const StageWrite &write, ScheduleAttr schedule,
                      unsigned openedLoops);

/// Returns true if the last copies of the unrolled loop may lie behind its end:
/// they then compute the last iteration again and do not store it.
bool masksUnroll(ScheduleAttr schedule);

/// Returns true if the two innermost loops are the rows and the lanes of a
/// square tile, in any order.
bool hasSquareTiles(ScheduleAttr schedule);

/// Returns the depth from which on every loop of a contraction is reduced:
/// there the sums of a tile begin, in registers.
unsigned getTileDepth(const Stage &stage, ScheduleAttr schedule);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_SCHEDULEDSTAGE_H
