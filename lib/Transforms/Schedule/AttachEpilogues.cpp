//===- AttachEpilogues.cpp - What follows a contraction, in its loops -----===//
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
// The epilogue stands inside of as many levels as leave it a block worth a
// loop. Behind blocks of the sum it runs in the last one only, and sums that
// are not complete lie where its result will: there has to be one of their
// type. Else a block of sums has memory of its own. Sums that others read, or
// that are kept for gradients, are a result of the kernel as well.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/SharedBlock.h"
#include "MetaOps/Transforms/Schedule/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/StreamResults.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_ATTACHEPILOGUESPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Sums of fewer bytes are in the second cache when the next kernel reads them,
/// and two small kernels are found again more often than one larger one.
static constexpr int64_t kMinSumsBytes = 1 << 18;
/// Elements of a block that are worth the start of its loops, and of one that
/// is in the first cache still.
static constexpr int64_t kMinBlock = 1 << 10, kFirstCacheElements = 1 << 13;

namespace {
struct AttachEpiloguesPass
    : metaop::impl::AttachEpiloguesPassBase<AttachEpiloguesPass> {
  using AttachEpiloguesPassBase::AttachEpiloguesPassBase;

  void runOnOperation() override;

private:
  LogicalResult attach(KernelOp kernel);
  /// Whether the epilogue became a stage of the kernel that it reads.
  FailureOr<bool> attach(KernelOp producer, KernelOp kernel, FusedOp epilogue);
  std::optional<ScheduleAttr> chooseLevels(const Stage &contraction,
                                           ScheduleAttr schedule,
                                           const Stage &epilogue, Value sums,
                                           bool isForced) const;
};
} // namespace

/// The stage of a kernel that computes element by element and has no schedule.
static FusedOp getElementwiseStage(KernelOp kernel) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  if (!llvm::hasSingleElement(stages))
    return nullptr;
  FusedOp stage = *stages.begin();
  bool isPlain = !stage.getScheduleAttr() && !stage.getInputRowsAttr() &&
                 !stage.getResultRowsAttr() &&
                 kernel.getYield().getOperands() == stage.getResults();
  bool reduces = llvm::any_of(stage.getBody().front(), [](Operation &op) {
    return isa<ReindexReduceOpInterface>(op);
  });
  return isPlain && !reduces ? stage : nullptr;
}

/// What the epilogue reads of the contraction: each element once, at the place
/// of the iteration that all its results have.
static const StageRead *findSums(const Stage &epilogue, Value sums) {
  const StageRead *found = nullptr;
  FusedOp op = epilogue.op;
  for (const StageRead &read : epilogue.reads) {
    if (!isa<BlockArgument>(read.source) ||
        getOuterValue(op, read.source) != sums)
      continue;
    if (read.place.isGuarded() || (found && found->map != read.map))
      return nullptr;
    found = &read;
  }
  return found;
}

/// The number of levels to share: those that leave a block which fits the first
/// cache, or else the smallest one that is worth a loop; 0 for none.
static int64_t chooseShared(const Stage &contraction, ScheduleAttr schedule,
                            const Stage &epilogue, TileDim lanes,
                            SharedBlock block, bool isForced) {
  const StageWrite &write = contraction.writes.front();
  int64_t bytes = getElementBytes(write.value.getType());
  bool isResult = leavesKernel(contraction.op, write.result);
  bool canAccumulate =
      isResult || findResultForSums(contraction.op, epilogue.op).has_value();
  ArrayRef<LoopLevel> levels = schedule.getLevels();
  int64_t shared = 0, best = 0;
  for (unsigned depth = 1; depth <= levels.size(); ++depth) {
    if (!write.loops.test(levels[depth - 1].dim))
      continue;
    ++shared;
    ArrayRef<LoopLevel> outer = levels.take_front(depth);
    bool isBox = block.narrow(contraction, outer);
    if (isBox && block.numElements < kMinBlock && (best > 0 || !isForced))
      break;
    bool isAllowed = canAccumulate || !haveReducedBlocks(contraction, outer);
    for (const LoopLevel &level : block.translate(outer))
      isAllowed &= level.dim != lanes.dim || level.step % lanes.size == 0;
    if (isBox && isAllowed && depth >= schedule.getParallel() &&
        (isResult || block.numElements <= kMaxSumsBytes / bytes))
      best = shared;
    if (best > 0 && block.numElements <= kFirstCacheElements)
      break;
  }
  return best;
}

/// The schedule of the epilogue, where its loops allow that it shares some.
std::optional<ScheduleAttr>
AttachEpiloguesPass::chooseLevels(const Stage &contraction,
                                  ScheduleAttr schedule, const Stage &epilogue,
                                  Value sums, bool isForced) const {
  const StageRead *read = findSums(epilogue, sums);
  if (!read || epilogue.isEmpty() || !epilogue.symbols.empty())
    return std::nullopt;
  const StageWrite &write = contraction.writes.front();
  auto whole = SharedBlock::match(contraction, write.map, epilogue, read->map);
  if (!whole)
    return std::nullopt;
  ScheduleAttr flat = chooseSchedule(epilogue, processor);
  if (!flat.isFlat() || flat.getVectorWidth() == 1 || flat.getTranspose() >= 0)
    return std::nullopt;
  int64_t shared = chooseShared(contraction, schedule, epilogue,
                                flat.getLanes(), *whole, isForced);
  if (shared == 0)
    return std::nullopt;
  SmallVector<LoopLevel> own = whole->translate(schedule.getLevels().take_front(
      getEpilogueDepth(contraction, schedule, shared)));
  for (const LoopLevel &level : flat.getLevels()) {
    bool isVector = level.dim == flat.getVectorDim();
    own.push_back({LevelKind::Step, level.dim,
                   isVector ? flat.getVectorWidth() : int64_t(1)});
  }
  return ScheduleAttr::get(flat.getContext(), own, flat.getLanes(),
                           flat.getLanes(), /*transpose=*/-1, /*unrollDims=*/{},
                           /*prefetch=*/0, /*stream=*/{}, shared);
}

/// Joins both kernels at the place of the second, and takes that back where no
/// schedule is found: the epilogue's loops are those beside a contraction in
/// blocks.
FailureOr<bool> AttachEpiloguesPass::attach(KernelOp producer, KernelOp kernel,
                                            FusedOp epilogue) {
  FusedOp contraction = findContractionStage(producer);
  FailureOr<Stage> stage = Stage::build(contraction);
  if (failed(stage))
    return failure();
  ScheduleAttr schedule = contraction.getScheduleAttr();
  if (!schedule)
    schedule = chooseContraction(*stage, processor).value_or(nullptr);
  if (!schedule || schedule.isFlat() || !isTiled(*stage, schedule))
    return false;

  // Sums that others read as well leave the kernel.
  Value sums = producer.getResult(0);
  SmallVector<Value> outputs(kernel.getOutputs());
  if (!sums.hasOneUse())
    outputs.push_back(sums);
  OpBuilder b(kernel);
  IRMapping mapping;
  KernelOp joined =
      mergeKernels(b, kernel.getLoc(), {producer, kernel}, outputs, mapping);
  Value inside = mapping.lookup(sums);
  auto contracting = inside.getDefiningOp<FusedOp>();
  contracting.setScheduleAttr(schedule);
  auto behind = mapping.lookup(epilogue.getResult(0)).getDefiningOp<FusedOp>();

  FailureOr<Stage> first = Stage::build(contracting);
  FailureOr<Stage> second = Stage::build(behind);
  if (failed(first) || failed(second)) {
    joined.erase();
    return failure();
  }
  auto levels = chooseLevels(*first, schedule, *second, inside,
                             isForced(kernel, kAttachEpilogues));
  if (!levels) {
    joined.erase();
    return false;
  }
  behind.setScheduleAttr(*levels);
  if (report)
    behind.emitRemark("is an epilogue of a contraction inside of ")
        << levels->getShared() << " of its loops";
  inheritRewrites(producer, joined, /*andForced=*/false);
  inheritRewrites(kernel, joined, /*andForced=*/true);
  redirectOutputs(outputs, joined);
  eraseMerged({producer, kernel});
  return true;
}

LogicalResult AttachEpiloguesPass::attach(KernelOp kernel) {
  if (isForbidden(kernel, kAttachEpilogues))
    return success();
  bool isForced = metaop::isForced(kernel, kAttachEpilogues);
  FusedOp epilogue = getElementwiseStage(kernel);
  if (!epilogue && isForced)
    return emitCannotForce(kernel, kAttachEpilogues)
           << "it does more than to compute element by element";
  if (!epilogue)
    return success();
  // The latest of several has the others behind it.
  for (Value input : llvm::reverse(kernel.getInputs())) {
    auto producer = input.getDefiningOp<KernelOp>();
    auto type = dyn_cast<RankedTensorType>(input.getType());
    // The joined kernel stands where this one does.
    bool isFirst = llvm::all_of(input.getUsers(), [&](Operation *user) {
      return user == kernel || kernel->isBeforeInBlock(user);
    });
    if (!producer || !type || !type.hasStaticShape() || !isFirst ||
        (countBytes(type) < kMinSumsBytes && !isForced) ||
        isForbidden(producer, kAttachEpilogues) ||
        !findContractionStage(producer))
      continue;
    FailureOr<bool> attached = attach(producer, kernel, epilogue);
    if (failed(attached))
      return failure();
    if (*attached)
      return success();
  }
  if (isForced)
    return emitCannotForce(kernel, kAttachEpilogues)
           << "it is not the first to read sums of a contraction in blocks";
  return success();
}

void AttachEpiloguesPass::runOnOperation() {
  SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
  for (KernelOp kernel : kernels)
    if (failed(attach(kernel)))
      return signalPassFailure();
}
