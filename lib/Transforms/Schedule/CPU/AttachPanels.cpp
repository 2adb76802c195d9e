//===- AttachPanels.cpp - Packing inside of a contraction's loops ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The outer levels of a contraction, parallel ones and blocks of the sum, are
// blocks of its vectors. A kernel before it that computes these vectors element
// by element, for nobody else, becomes a stage of the contraction's kernel that
// shares those levels (Halide's compute_at): each block is packed into memory
// of its own just before it is used, and is in the second cache then.
//
//   P = kernel { stage over (n1, k, n0) }
//   C = kernel { stage over (m, n1, k, n0) : [parallel(n1, 8), step(k, 256),
//                                             step(m, 14), ...] }
//
// becomes one kernel, whose stages have the schedules
//
//   P: [parallel(n1, 8), step(k, 256), step(n1), step(k), step(n0, 16)]
//   C: [parallel(n1, 8), step(k, 256), step(m, 14), ...], shared = 2
//
// Panels are so made if all of the levels that are shared are loops of P, so
// that nothing is packed twice, and where a block fits.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedBlock.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_ATTACHPANELSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct AttachPanelsPass : metaop::impl::AttachPanelsPassBase<AttachPanelsPass> {
  using AttachPanelsPassBase::AttachPanelsPassBase;

  void runOnOperation() override;

private:
  LogicalResult attach(KernelOp kernel);
  /// Returns true if the producer became a stage of the kernel.
  FailureOr<bool> attach(KernelOp kernel, FusedOp reader, KernelOp producer,
                         FusedOp writer);
  std::optional<std::pair<ScheduleAttr, ScheduleAttr>>
  chooseLevels(const Stage &writer, const Stage &reader,
               const StageRead &read) const;
};
} // namespace

/// Returns the only stage of a kernel, if it has one result.
static FusedOp getOnlyStage(KernelOp kernel) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  if (kernel->getNumResults() != 1 || !llvm::hasSingleElement(stages))
    return nullptr;
  FusedOp stage = *stages.begin();
  bool isPlain = !stage.getInputRowsAttr() && !stage.getResultRowsAttr() &&
                 kernel.getYield().getOperands() == stage.getResults();
  return isPlain ? stage : nullptr;
}

/// Counts the levels that are parallel, or blocks of the sum with tiles inside,
/// of loops that the block's tensor has.
static unsigned countBlockLevels(const Stage &reader, ScheduleAttr blocked,
                                 const SharedBlock &block) {
  const StageWrite &write = reader.writes.front();
  ArrayRef<LoopLevel> levels = blocked.getLevels();
  unsigned depth = 0;
  for (; depth < levels.size(); ++depth) {
    bool hasTiles =
        llvm::any_of(levels.drop_front(depth), [&](const LoopLevel &level) {
          return write.loops.test(level.dim);
        });
    bool isBlock = levels[depth].kind == LevelKind::Parallel ||
                   (!write.loops.test(levels[depth].dim) && hasTiles);
    if (!isBlock || block.translate(levels[depth]).empty())
      break;
  }
  return depth;
}

/// Returns the loops of the packing inside of the shared ones. What is read is
/// far and what is written near: along rows of the former.
static SmallVector<LoopLevel> orderPacking(const Stage &writer,
                                           ScheduleAttr flat) {
  SmallVector<LoopLevel> own(flat.getLevels());
  auto *tiles =
      llvm::find_if(own, [](const LoopLevel &level) { return level.step > 1; });
  auto getDistance = [&](const LoopLevel &level) {
    AffineExpr place = writer.reads.front().place.offset;
    return std::abs(writer.getStep(place, level.dim).value_or(INT64_MAX));
  };
  llvm::sort(own.begin(), tiles, [&](const LoopLevel &a, const LoopLevel &b) {
    int64_t distanceA = getDistance(a), distanceB = getDistance(b);
    return std::tie(distanceB, a.dim) < std::tie(distanceA, b.dim);
  });
  for (LoopLevel &level : own)
    level.kind = LevelKind::Step;
  return own;
}

/// Returns the schedules of both stages, where the writer's loops allow it.
std::optional<std::pair<ScheduleAttr, ScheduleAttr>>
AttachPanelsPass::chooseLevels(const Stage &writer, const Stage &reader,
                               const StageRead &read) const {
  FusedOp op = reader.op;
  if (!isTiledContraction(op) || writer.writes.size() != 1 ||
      writer.writes.front().kind || writer.isEmpty() || writer.reads.empty() ||
      read.place.isGuarded())
    return std::nullopt;
  ScheduleAttr blocked = op.getScheduleAttr();
  auto block =
      SharedBlock::match(reader, read.map, writer, writer.writes.front().map);
  if (!block)
    return std::nullopt;
  unsigned shared = countBlockLevels(reader, blocked, *block);
  ArrayRef<LoopLevel> outer = blocked.getLevels().take_front(shared);
  int64_t bytes = getElementBytes(read.value.getType());
  // Threads would pack the same where a parallel loop is not the writer's.
  if (shared == 0 || shared < blocked.getParallel() || !block->narrow(outer) ||
      block->numElements > kMaxPanelBytes / bytes)
    return std::nullopt;
  ScheduleAttr flat = chooseNest(writer, processor);
  if (!flat.isFlat())
    return std::nullopt;
  ScheduleFields packing = flat.getFields();
  packing.levels = block->translate(outer);
  for (const LoopLevel &level : orderPacking(writer, flat)) {
    // A block is a multiple of what is done side by side in it.
    for (const LoopLevel &outside : ArrayRef(packing.levels).take_front(shared))
      if (outside.dim == level.dim && outside.step % level.step != 0)
        return std::nullopt;
    packing.levels.push_back(level);
  }
  packing.unrollDims.clear();
  packing.stream.clear();
  packing.pairwise = 0;
  return std::make_pair(ScheduleAttr::get(flat.getContext(), packing),
                        blocked.withShared(shared));
}

FailureOr<bool> AttachPanelsPass::attach(KernelOp kernel, FusedOp reader,
                                         KernelOp producer, FusedOp writer) {
  FailureOr<Stage> from = Stage::build(writer), to = Stage::build(reader);
  if (failed(from) || failed(to))
    return failure();
  Value inner;
  for (auto [argument, input] :
       llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs()))
    if (input == producer.getResult(0))
      inner = argument;
  const StageRead *read = nullptr;
  for (const StageRead &candidate : to->reads)
    if (getOuterValue(reader, candidate.source) == inner)
      read = read ? nullptr : &candidate;
  auto schedules = read ? chooseLevels(*from, *to, *read) : std::nullopt;
  if (!schedules)
    return false;
  if (report)
    reader.emitRemark("packs ") << read->source.getType() << " inside of "
                                << schedules->second.getShared() << " loops";

  OpBuilder b(kernel);
  IRMapping mapping;
  KernelOp joined = mergeKernels(b, kernel.getLoc(), {producer, kernel},
                                 kernel.getOutputs(), mapping);
  auto getStage = [&](FusedOp stage) {
    return mapping.lookup(stage.getResult(0)).getDefiningOp<FusedOp>();
  };
  getStage(writer).setScheduleAttr(schedules->first);
  getStage(writer).setRole(StageRole::Packing);
  getStage(reader).setScheduleAttr(schedules->second);
  inheritRewrites(kernel, joined, /*andForced=*/true);
  redirectOutputs(kernel.getOutputs(), joined);
  eraseMerged({producer, kernel});
  return true;
}

LogicalResult AttachPanelsPass::attach(KernelOp kernel) {
  FusedOp reader = getOnlyStage(kernel);
  if (!reader)
    return success();
  for (Value input : kernel.getInputs()) {
    auto producer = input.getDefiningOp<KernelOp>();
    bool isForKernel = producer && input.hasOneUse() &&
                       producer->getBlock() == kernel->getBlock();
    FusedOp writer = isForKernel ? getOnlyStage(producer) : nullptr;
    if (!writer || writer.getScheduleAttr())
      continue;
    FailureOr<bool> attached = attach(kernel, reader, producer, writer);
    if (failed(attached) || *attached)
      return attached;
  }
  if (isForced(kernel, kAttachPanels))
    return emitCannotForce(kernel, kAttachPanels)
           << "no kernel computes vectors for it alone, in blocks that its "
              "outer loops go through";
  return success();
}

void AttachPanelsPass::runOnOperation() {
  // A stage that is taken up reduces nothing, so that it is none of these.
  SmallVector<KernelOp> kernels;
  for (auto kernel : collectOps<KernelOp>(getOperation().getBody())) {
    FusedOp stage = getOnlyStage(kernel);
    if (stage && !stage.getBody().front().getOps<ReindexReduceOp>().empty() &&
        !isForbidden(kernel, kAttachPanels)) {
      kernels.push_back(kernel);
    } else if (isForced(kernel, kAttachPanels)) {
      emitCannotForce(kernel, kAttachPanels) << "it is no contraction";
      return signalPassFailure();
    }
  }
  for (KernelOp kernel : kernels)
    if (failed(attach(kernel)))
      return signalPassFailure();
}
