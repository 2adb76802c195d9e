//===- SchedulePass.cpp - Schedules every stage ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks over all stages and writes the schedule that the heuristics choose
// (LoopOrder.cpp) where none is given. A file's schedule for the stage, if it
// has one, stands in place of either. What is wrong with it is found here as
// far as the stage alone tells, and by the lowering where stages share loops.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
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
  LogicalResult schedule(FusedOp op, ScheduleOverrides &overrides);
  LogicalResult verify(const ScheduleEntry &entry, const Stage &stage);
};
} // namespace

/// A parallel iteration, or a lane, that writes what another one writes would
/// make wrong code; the lowering checks the same, and what stages share.
LogicalResult SchedulePass::verify(const ScheduleEntry &entry,
                                   const Stage &stage) {
  FusedOp op = stage.op;
  ScheduleAttr schedule = entry.schedule;
  auto fail = [&] {
    return op.emitError(file + ":" + llvm::Twine(entry.line) + ": ");
  };
  if (schedule.getNumDims() != stage.getNumLoops())
    return fail() << "the schedule orders " << schedule.getNumDims()
                  << " loops, but stage " << entry.identity << " has "
                  << stage.getNumLoops();
  for (int64_t loop : schedule.getDims(schedule.getParallel()))
    for (const StageWrite &write : stage.writes)
      if (!write.disjoint.test(loop))
        return fail() << "loop " << loop << " of stage " << entry.identity
                      << " is not parallel: its iterations write the same "
                         "elements of result "
                      << write.result;
  return verifyStream(op, stage, schedule, fail);
}

LogicalResult SchedulePass::schedule(FusedOp op, ScheduleOverrides &overrides) {
  const ScheduleEntry *entry = overrides.find(op);
  if (!entry && op.getScheduleAttr())
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  if (entry) {
    if (failed(verify(*entry, *stage)))
      return failure();
    overrides.apply(*entry, op);
    return success();
  }
  if (auto tiles = chooseContraction(*stage, processor)) {
    op.setScheduleAttr(*tiles);
    return success();
  }
  bool isAlone = llvm::hasSingleElement(op->getBlock()->getOps<FusedOp>());
  ScheduleAttr chosen = isAlone ? chooseSchedule(*stage, processor)
                                : chooseNest(*stage, processor);
  op.setScheduleAttr(chooseStream(op, *stage, chosen, processor.streamBytes));
  return success();
}

void SchedulePass::runOnOperation() {
  auto overrides = ScheduleOverrides::read(file, text, &getContext());
  if (!overrides) {
    getOperation()->emitError("metaop-schedule: ")
        << toString(overrides.takeError());
    return signalPassFailure();
  }
  getOperation()->walk(
      [](KernelOp kernel) { kernel->removeAttr(kRewritesAttr); });
  WalkResult result = getOperation()->walk(
      [&](FusedOp op) { return WalkResult(schedule(op, *overrides)); });
  if (result.wasInterrupted())
    return signalPassFailure();
  overrides->warnOfUnused(getOperation());
}
