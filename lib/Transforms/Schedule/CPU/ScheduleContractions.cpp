//===- ScheduleContractions.cpp - Schedules of contractions ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of contractions, decided once. Packing is over: each contraction is
// planned as it is (ContractionPlan.cpp), and the loops of the plan are its
// schedule (ContractionSchedule.cpp). Its role says that it has been planned,
// so that a schedule without one is a user's; one of blocks or tiles gets the
// role here. Stages around it share these loops later.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SCHEDULECONTRACTIONSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct ScheduleContractionsPass
    : metaop::impl::ScheduleContractionsPassBase<ScheduleContractionsPass> {
  using ScheduleContractionsPassBase::ScheduleContractionsPassBase;

  void runOnOperation() override;

private:
  LogicalResult schedule(FusedOp op);
};
} // namespace

/// Keeps rewrites that change the schedule of a contraction from a kernel whose
/// only stage has a user's, which comes without a role.
static LogicalResult protectSchedule(KernelOp kernel) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  if (!llvm::hasSingleElement(stages) || !(*stages.begin()).getScheduleAttr() ||
      (*stages.begin()).getRole())
    return success();
  if (failed(keepKernel(kernel, kAttachPanels, "it has a schedule")))
    return failure();
  forbid(kernel, kAttachPanels);
  forbid(kernel, kCopyRows);
  return success();
}

/// Gives the stages of a kernel roles if all have a schedule.
static LogicalResult giveScheduledRoles(KernelOp kernel) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  return llvm::all_of(stages, [](FusedOp op) { return op.getScheduleAttr(); })
             ? giveRoles(kernel)
             : success();
}

/// Schedules a stage, which shares its kernel with no other.
LogicalResult ScheduleContractionsPass::schedule(FusedOp op) {
  // Most stages are no contractions by their bodies alone.
  if (op.getScheduleAttr() || !sumsProducts(op))
    return success();
  FailureOr<Stage> stage = Stage::build(op);
  if (failed(stage))
    return failure();
  if (auto chosen = chooseContraction(*stage, processor)) {
    op.setScheduleAttr(*chosen);
    op.setRole(StageRole::Contraction);
  }
  return success();
}

void ScheduleContractionsPass::runOnOperation() {
  for (auto kernel : collectOps<KernelOp>(getOperation().getBody()))
    if (failed(protectSchedule(kernel)) || failed(giveScheduledRoles(kernel)))
      return signalPassFailure();
  WalkResult result = getOperation().walk([&](FusedOp op) {
    bool isAlone = !isa<KernelOp>(op->getParentOp()) ||
                   llvm::hasSingleElement(op->getBlock()->getOps<FusedOp>());
    return isAlone ? WalkResult(schedule(op)) : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
