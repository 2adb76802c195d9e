//===- ScheduleGpuPass.cpp - Schedules stages for GPUs --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks over all stages and writes the schedule that is chosen for a GPU where
// none is given, or that of a file. Kernels are verified as a whole then: what
// a file says may not fit the stage, its neighbours or the chip. Those that may
// add floats in any order are marked.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleOverrides.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SCHEDULEGPUPASS
#include "MetaOps/Transforms/Schedule/GPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct ScheduleGpuPass : metaop::impl::ScheduleGpuPassBase<ScheduleGpuPass> {
  using ScheduleGpuPassBase::ScheduleGpuPassBase;

  void runOnOperation() override;

private:
  LogicalResult schedule(FusedOp op, ScheduleOverrides &overrides);
  LogicalResult finish(KernelOp kernel);
};
} // namespace

LogicalResult ScheduleGpuPass::schedule(FusedOp op,
                                        ScheduleOverrides &overrides) {
  const ScheduleEntry *entry = overrides.find(op);
  if (entry)
    overrides.apply(*entry, op);
  if (op.getScheduleAttr())
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  op.setScheduleAttr(chooseGpuSchedule(*stage, *chip));
  return success();
}

LogicalResult ScheduleGpuPass::finish(KernelOp kernel) {
  FailureOr<GpuKernelStages> read = readGpuStages(kernel);
  if (failed(read))
    return failure();
  bool addsInAnyOrder = llvm::any_of(read->stages, [](const GpuStage &each) {
    return llvm::any_of(each.stage.writes, addsFloatsInAnyOrder);
  });
  // Others stay as they are, and share their code with runs without the option.
  if (floatAtomics && addsInAnyOrder)
    kernel.setFloatAtomics(true);
  return verifyGpuStages(read->stages, *chip);
}

void ScheduleGpuPass::runOnOperation() {
  auto overrides = ScheduleOverrides::read(file, text, &getContext());
  if (!overrides) {
    getOperation()->emitError("metaop-schedule-gpu: ")
        << toString(overrides.takeError());
    return signalPassFailure();
  }
  getOperation()->walk([](KernelOp kernel) { kernel.removeRewritesAttr(); });
  WalkResult result = getOperation()->walk(
      [&](FusedOp op) { return WalkResult(schedule(op, *overrides)); });
  if (!result.wasInterrupted())
    result = getOperation()->walk(
        [&](KernelOp kernel) { return WalkResult(finish(kernel)); });
  if (result.wasInterrupted())
    return signalPassFailure();
  overrides->warnOfUnused(getOperation());
}
