//===- AttachEpilogues.cpp - Epilogues of contractions -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that computes element by element from the sums of a contraction (a
// bias and an activation, a residual, the derivative of an activation, the
// update of a weight) becomes a stage of the contraction's kernel: behind each
// block of sums, while they are in cache (Halide's compute_at, seen from the
// other side). Where the sums have no other reader they are not written to
// memory at all.
//
//   C = kernel { stage over (m, n, k) : [parallel(m, 64), step(m, 14),
//                                        step(n, 32), step(k)] }
//   Y = kernel { stage over (m, n) }
//
// becomes one kernel, whose stages have the schedules
//
//   C: [parallel(m, 64), step(m, 14), step(n, 32), step(k)]
//   Y: [parallel(m, 64), step(m, 14), step(m), step(n, 16)], shared = 2
//
// So does a kernel that reduces rows of the sums (the maximum of a softmax, the
// moments of a normalisation) where a block holds these rows whole, and then
// what is computed from both: a chain of epilogues, which share the loop over
// the rows of the block as well. What only they read is memory of one row.
//
//   M = kernel { stage over (m, n), maximum over n }
//   E = kernel { stage over (m, n), exp(C - M) }
//
//   M: [parallel(m, 64), step(m, 14), step(m), step(n, 64)], shared = 2
//   E: [parallel(m, 64), step(m, 14), step(m), step(n, 16)], shared = 3
//
// Kernels are taken in program order; each that is attached may make the chain
// share fewer levels than before (EpilogueSchedule.cpp). Sums that others read,
// or that are kept for gradients, are a result of the kernel as well.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_ATTACHEPILOGUESPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct AttachEpiloguesPass
    : metaop::impl::AttachEpiloguesPassBase<AttachEpiloguesPass> {
  using AttachEpiloguesPassBase::AttachEpiloguesPassBase;

  void runOnOperation() override;

private:
  LogicalResult attach(KernelOp kernel);
  /// Returns true if the kernel became an epilogue in the one that it reads.
  FailureOr<bool> attach(KernelOp producer, KernelOp kernel);
};
} // namespace

/// Returns the stage of a kernel that may become an epilogue, or else null and
/// the reason.
static FusedOp findEpilogue(KernelOp kernel, StringRef &reason) {
  auto stages = llvm::to_vector(kernel.getBody().front().getOps<FusedOp>());
  if (!stages.empty() && stages.back().hasRole(StageRole::Contraction)) {
    reason = "it is a contraction itself";
    return nullptr;
  }
  FusedOp stage = findStageToRewrite(kernel, reason);
  if (!stage)
    return nullptr;
  if (!stage.getInputRowsAttr() && !stage.getResultRowsAttr() &&
      kernel.getYield().getOperands() == stage.getResults())
    return stage;
  reason = "its tensors have pitched rows, or it is not all of its kernel";
  return nullptr;
}

/// Returns the contraction whose sums the stages of a kernel may go on with.
static FusedOp findSums(KernelOp kernel) {
  return findContractionInBlocks(kernel.getBody().front());
}

/// Joins both kernels at the place of the second, and takes that back where no
/// schedules are found: the epilogues' loops are those beside a contraction in
/// blocks.
FailureOr<bool> AttachEpiloguesPass::attach(KernelOp producer,
                                            KernelOp kernel) {
  FusedOp contraction = findSums(producer);

  // A value that others read as well leaves the kernel.
  SmallVector<Value> outputs(kernel.getOutputs());
  for (Value output : producer.getOutputs())
    if (llvm::any_of(output.getUsers(),
                     [&](Operation *user) { return user != kernel; }))
      outputs.push_back(output);
  OpBuilder b(kernel);
  IRMapping mapping;
  Location loc =
      FusedLoc::get(b.getContext(), {producer.getLoc(), kernel.getLoc()});
  KernelOp joined = mergeKernels(b, loc, {producer, kernel}, outputs, mapping);
  auto contracting =
      mapping.lookup(contraction.getResult(0)).getDefiningOp<FusedOp>();
  SmallVector<FusedOp> behind;
  StageModels models;
  SmallVector<Stage, 0> stages;
  int64_t code = 0;
  auto giveUp = [&](auto result) -> FailureOr<bool> {
    joined.erase();
    return result;
  };
  for (auto other : joined.getBody().front().getOps<FusedOp>()) {
    if (!contracting->isBeforeInBlock(other))
      continue;
    other.removeScheduleAttr();
    behind.push_back(other);
  }
  for (FusedOp other : behind) {
    FailureOr<const Stage *> stage = models.get(other);
    if (failed(stage))
      return giveUp(failure());
    code += (*stage)->getCodeSize();
    stages.push_back(**stage);
  }
  FailureOr<const Stage *> sums = models.get(contracting);
  if (failed(sums))
    return giveUp(failure());
  bool isForced = metaop::isForced(kernel, kAttachEpilogues);
  auto schedules = chooseEpilogues(**sums, contraction.getScheduleAttr(),
                                   stages, processor, isForced);
  // There are two copies: behind whole tiles, and behind what is left over.
  if (!schedules || (2 * code > kMaxKernelCode && !isForced))
    return giveUp(false);
  for (auto [other, chosen] : llvm::zip_equal(behind, *schedules)) {
    other.setScheduleAttr(chosen);
    other.setRole(StageRole::Epilogue);
  }
  if (report)
    behind.back().emitRemark("is an epilogue of a contraction inside of ")
        << schedules->front().getShared() << " of its loops";
  inheritRewrites(producer, joined, /*andForced=*/false);
  inheritRewrites(kernel, joined, /*andForced=*/true);
  redirectOutputs(outputs, joined);
  eraseMerged({producer, kernel});
  return true;
}

/// Returns true if what passes between the kernels is worth it: sums that are
/// more than the second cache holds, or little that is made of these.
static bool isWorthIt(KernelOp producer, FusedOp sums, KernelOp kernel) {
  auto isLarge = [](Value value) {
    return countBytes(value.getType()) > kNearSumsBytes;
  };
  bool readsLarge = llvm::any_of(kernel.getInputs(), [&](Value input) {
    return input.getDefiningOp() == producer && isLarge(input);
  });
  return readsLarge || (isLarge(sums.getResult(0)) &&
                        llvm::none_of(kernel->getOperands(), isLarge) &&
                        llvm::none_of(kernel.getOutputs(), isLarge));
}

LogicalResult AttachEpiloguesPass::attach(KernelOp kernel) {
  if (isForbidden(kernel, kAttachEpilogues))
    return success();
  bool isForced = metaop::isForced(kernel, kAttachEpilogues);
  StringRef reason;
  FusedOp epilogue = findEpilogue(kernel, reason);
  if (!epilogue)
    return keepKernel(kernel, kAttachEpilogues, reason);
  // The latest of several has the others behind it.
  SmallVector<KernelOp> producers;
  for (Value input : llvm::reverse(kernel.getInputs())) {
    auto producer = input.getDefiningOp<KernelOp>();
    if (!producer || isForbidden(producer, kAttachEpilogues))
      continue;
    FusedOp sums =
        isFirstReader(kernel, producer) ? findSums(producer) : FusedOp();
    if (!sums ||
        !cast<RankedTensorType>(sums.getResult(0).getType()).hasStaticShape() ||
        (!isForced && !isWorthIt(producer, sums, kernel)))
      continue;
    producers.push_back(producer);
  }
  if (producers.empty() && !isForced)
    return success();
  FailureOr<bool> sumsAgain = isContraction(epilogue);
  if (failed(sumsAgain))
    return failure();
  if (*sumsAgain)
    return keepKernel(kernel, kAttachEpilogues, "it is a contraction itself");
  for (KernelOp producer : producers) {
    FailureOr<bool> attached = attach(producer, kernel);
    if (failed(attached))
      return failure();
    if (*attached)
      return success();
  }
  return keepKernel(
      kernel, kAttachEpilogues,
      "it is not the first to read sums of a contraction in blocks");
}

void AttachEpiloguesPass::runOnOperation() {
  auto kernels = collectOps<KernelOp>(getOperation().getBody());
  for (KernelOp kernel : kernels)
    if (failed(attach(kernel)))
      return signalPassFailure();
}
