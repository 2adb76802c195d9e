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

#include "MetaOps/Dialect/MetaOp/Rewrites.h"
#include "MetaOps/Transforms/Schedule/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "MetaOps/Transforms/Schedule/StreamResults.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct SchedulePass : metaop::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override;

private:
  struct Override {
    ScheduleEntry entry;
    bool isUsed = false;
  };

  LogicalResult readFile();
  LogicalResult schedule(FusedOp op);
  LogicalResult apply(const ScheduleEntry &entry, const Stage &stage);

  llvm::StringMap<Override> overrides;
};
} // namespace

LogicalResult SchedulePass::readFile() {
  overrides.clear();
  auto entries = readScheduleFile(file, text, &getContext());
  if (!entries)
    return getOperation()->emitError("metaop-schedule: ")
           << toString(entries.takeError());
  for (ScheduleEntry &entry : *entries) {
    // The rewrites have been decided.
    if (!entry.schedule)
      continue;
    std::string identity = entry.identity;
    overrides[identity].entry = std::move(entry);
  }
  return success();
}

/// A parallel iteration, or a lane, that writes what another one writes would
/// make wrong code; the lowering checks the same, and what stages share.
LogicalResult SchedulePass::apply(const ScheduleEntry &entry,
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
  if (failed(verifyStream(op, stage, schedule, fail)))
    return failure();
  op.setScheduleAttr(schedule);
  op->setLoc(markOverride(op.getLoc(), file, entry.line));
  return success();
}

LogicalResult SchedulePass::schedule(FusedOp op) {
  auto found = overrides.empty() ? overrides.end()
                                 : overrides.find(getStageIdentity(op));
  if (found == overrides.end() && op.getScheduleAttr())
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  if (found != overrides.end()) {
    found->second.isUsed = true;
    return apply(found->second.entry, *stage);
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
  if (failed(readFile()))
    return signalPassFailure();
  getOperation()->walk(
      [](KernelOp kernel) { kernel->removeAttr(kRewritesAttr); });
  WalkResult result = getOperation()->walk(
      [&](FusedOp op) { return WalkResult(schedule(op)); });
  if (result.wasInterrupted())
    return signalPassFailure();
  if (!text.empty())
    return;
  SmallVector<const ScheduleEntry *> unused;
  for (auto &override : overrides)
    if (!override.second.isUsed)
      unused.push_back(&override.second.entry);
  llvm::sort(unused, [](auto *a, auto *b) { return a->line < b->line; });
  for (const ScheduleEntry *entry : unused)
    getOperation()->emitWarning(file + ":" + llvm::Twine(entry->line))
        << ": there is no stage " << entry->identity;
}
