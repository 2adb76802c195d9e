//===- SchedulePass.cpp - Schedules of every stage ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks over all stages and writes the schedule that the heuristics choose
// (LoopOrder.cpp) where none is given: contractions with a tile have theirs. A
// file's schedule for the stage, if it has one, stands in place of either, and
// may give stages roles; what is wrong with it is said at its line when all
// stages of its kernel have theirs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Transforms/Schedule/CPU/VerifyCpuKernel.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleOverrides.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct SchedulePass : metaop::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override;

private:
  LogicalResult schedule(FusedOp op);
};
} // namespace

LogicalResult SchedulePass::schedule(FusedOp op) {
  if (op.getScheduleAttr())
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  bool isAlone = llvm::hasSingleElement(op->getBlock()->getOps<FusedOp>());
  ScheduleAttr chosen = isAlone ? chooseSchedule(*stage, processor)
                                : chooseNest(*stage, processor);
  chosen = choosePrefetch(*stage, chosen, processor);
  op.setScheduleAttr(chooseStream(op, *stage, chosen, processor.streamBytes));
  return success();
}

/// Checks a kernel of which a stage has the schedule of a file.
static LogicalResult verifyGiven(KernelOp kernel) {
  bool isGiven =
      llvm::any_of(kernel.getBody().front().getOps<FusedOp>(), [](FusedOp op) {
        return getOverrideLine(op.getLoc()) != 0;
      });
  return isGiven ? verifyCpuKernel(kernel) : success();
}

void SchedulePass::runOnOperation() {
  auto overrides = ScheduleOverrides::read(file, text, &getContext());
  if (!overrides) {
    getOperation()->emitError("metaop-schedule: ")
        << toString(overrides.takeError());
    return signalPassFailure();
  }
  getOperation()->walk([](KernelOp kernel) { kernel.removeRewritesAttr(); });
  getOperation()->walk([&](FusedOp op) {
    if (const ScheduleEntry *entry = overrides->find(op))
      overrides->apply(*entry, op);
  });
  WalkResult result = getOperation()->walk(
      [](KernelOp kernel) { return WalkResult(giveRoles(kernel)); });
  // Loops of what is around a contraction are known once that has its role.
  if (!result.wasInterrupted())
    result = getOperation()->walk(
        [&](FusedOp op) { return WalkResult(schedule(op)); });
  if (!result.wasInterrupted())
    result = getOperation()->walk(
        [](KernelOp kernel) { return WalkResult(verifyGiven(kernel)); });
  if (result.wasInterrupted())
    return signalPassFailure();
  overrides->warnOfUnused(getOperation());
}
