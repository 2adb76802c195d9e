//===- LoopTree.h - The loops that stages of a kernel share -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOOPTREE_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOOPTREE_H

#include "ContractionEmitter.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "StageEmitter.h"

namespace mlir::metaop {

/// One stage of a kernel, in the kernel's loop tree.
struct ScheduledStage {
  Stage stage;
  ScheduleAttr schedule;
  /// Leading loops that are opened around the stage: parallel or shared ones.
  unsigned openedLoops = 0;
  /// What emits the stage's loops, unless the kernel is a contraction in
  /// blocks.
  std::unique_ptr<StageEmitter> emitter;
  /// Of each write, how many shared loops it is local to: its memory is that of
  /// one iteration of these. Empty where no write is.
  SmallVector<unsigned> localLoops = {};
};

/// Whether the two innermost loops are the rows and the lanes of a square tile,
/// in any order.
bool hasSquareTiles(ScheduleAttr schedule);

/// Fails, with a diagnostic, where the schedule is no plain nest of loops and
/// not one that a contraction can have.
LogicalResult verifyContraction(const ScheduledStage &scheduled, bool isAlone);

/// Fails, with a diagnostic, where the stages, of which some share loops, are
/// no plain nests, or one reads what another one has not computed yet.
LogicalResult verifyNests(MutableArrayRef<ScheduledStage> stages);

/// Sets which loops are opened around each stage: `parallel` ones, and those
/// that it shares with a neighbour.
void openSharedLoops(MutableArrayRef<ScheduledStage> stages, unsigned parallel);

/// Fails, with a diagnostic, where the loops that the schedules ask for cannot
/// be made, or would compute something else than the stages one after another.
LogicalResult verifyLoopTree(MutableArrayRef<ScheduledStage> stages);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_LOOPTREE_H
