//===- CopyRows.cpp - Rows of a contraction that collide in a cache -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile of a contraction reads its broadcast factor in some rows at a time,
// and again for each panel of vectors. A first cache places lines by some bits
// of their address: rows whose distance is a multiple of 4096 bytes all want
// the same few places, and push each other out before the next panel comes.
// (Libraries copy the factor always, or pad leading dimensions.)
//
// Where rows are so far apart, and many panels pass by, a stage before the
// contraction copies what the loops inside of the tile's rows read, as dense as
// it is. It shares the levels outside:
//
//   C: [parallel(n1, 8), step(k, 256), step(m, 13), step(n1), step(n0, 32),
//   ...]
//
// becomes
//
//   A: [step(k, 256), step(m, 13), step(m), step(k, 16)]
//   C: [parallel(n1, 8), step(k, 256), step(m, 13), ...], shared = 3
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/SharedBlock.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_COPYROWSPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Distances, in bytes, of lines that have the same place in a first cache.
static constexpr int64_t kCollidingBytes = 4096;
/// Fewer rows have places enough.
static constexpr int64_t kMinRows = 8;
/// Panels for which the rows are read, that pay for a copy.
static constexpr int64_t kMinPanels = 4;

namespace {
struct CopyRowsPass : metaop::impl::CopyRowsPassBase<CopyRowsPass> {
  using CopyRowsPassBase::CopyRowsPassBase;

  void runOnOperation() override;

private:
  LogicalResult copyRows(KernelOp kernel, FusedOp contraction);
};

/// What is copied: a read of the contraction, inside of so many levels.
struct RowCopy {
  const StageRead *read = nullptr;
  unsigned depth = 0;
};
} // namespace

/// Iterations of the contraction's levels behind `depth` of loops on which the
/// read does not depend: how often an element is read once it is copied.
static int64_t countReuse(const Stage &stage, ScheduleAttr schedule,
                          const StageRead &read, unsigned depth) {
  llvm::SmallBitVector loops = stage.getLoopsOf(read.value);
  loops.resize(stage.getNumLoops());
  SmallVector<int64_t> sizes;
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
    sizes.push_back(stage.getStaticExtent(dim));
  int64_t reuse = 1;
  for (auto [i, level] : llvm::enumerate(schedule.getLevels())) {
    if (i >= depth && !loops.test(level.dim))
      reuse = multiplyCounts(
          reuse, llvm::divideCeilSigned(sizes[level.dim], level.step));
    sizes[level.dim] = std::min(sizes[level.dim], level.step);
  }
  return reuse;
}

static std::optional<RowCopy> findRows(const Stage &stage,
                                       ScheduleAttr schedule) {
  RowCopy copy;
  for (TileDim row : schedule.getTile()) {
    if (row.dim == schedule.getVectorDim() || row.size < kMinRows)
      continue;
    for (const StageRead &read : stage.reads) {
      auto step = stage.getStep(read.place.offset, row.dim);
      int64_t bytes = getElementBytes(read.value.getType());
      if (step && *step != 0 && *step * bytes % kCollidingBytes == 0)
        copy.read = &read;
    }
    ArrayRef<LoopLevel> levels = schedule.getLevels();
    for (auto [depth, level] : llvm::enumerate(levels))
      if (level.dim == row.dim)
        copy.depth = depth + 1;
  }
  if (!copy.read || !isa<BlockArgument>(copy.read->source) ||
      copy.depth <= static_cast<unsigned>(schedule.getShared()) ||
      countReuse(stage, schedule, *copy.read, copy.depth) < kMinPanels)
    return std::nullopt;
  return copy;
}

/// The schedule of the copy, whose loops are `block`'s.
static std::optional<ScheduleAttr> schedulePacking(const Stage &contraction,
                                                   ScheduleAttr schedule,
                                                   const RowCopy &copy,
                                                   const Stage &packing,
                                                   const Processor &processor) {
  auto block = SharedBlock::match(contraction, copy.read->map, packing,
                                  packing.writes.front().map);
  ArrayRef<LoopLevel> outer = schedule.getLevels().take_front(copy.depth);
  int64_t bytes = getElementBytes(copy.read->value.getType());
  if (!block || !block->narrow(outer) ||
      block->numElements > processor.getFirstCacheShare() / bytes)
    return std::nullopt;
  ScheduleAttr flat = chooseNest(packing, processor);
  if (!flat.isFlat() || flat.getVectorWidth() == 1 || flat.getTranspose() >= 0)
    return std::nullopt;
  SmallVector<LoopLevel> levels = block->translate(outer);
  for (const LoopLevel &level : levels)
    if (level.dim == flat.getVectorDim() &&
        level.step % flat.getVectorWidth() != 0)
      return std::nullopt;
  for (const LoopLevel &level : flat.getLevels()) {
    bool isVector = level.dim == flat.getVectorDim();
    levels.push_back({LevelKind::Step, level.dim,
                      isVector ? flat.getVectorWidth() : int64_t(1)});
  }
  return ScheduleAttr::get(flat.getContext(), levels, flat.getLanes(),
                           flat.getLanes(), /*transpose=*/-1, /*unrollDims=*/{},
                           /*prefetch=*/0, /*pairwise=*/0, /*stream=*/{},
                           /*shared=*/0);
}

LogicalResult CopyRowsPass::copyRows(KernelOp kernel, FusedOp contraction) {
  FailureOr<Stage> stage = Stage::build(contraction);
  if (failed(stage))
    return failure();
  ScheduleAttr given = contraction.getScheduleAttr(), schedule = given;
  if (!schedule)
    schedule = chooseContraction(*stage, processor).value_or(nullptr);
  if (!schedule || schedule.isFlat() || !isTiled(*stage, schedule))
    return success();
  std::optional<RowCopy> copy = findRows(*stage, schedule);
  if (!copy)
    return success();

  // The copy stands between what is read and the contraction; its loops are
  // those beside a contraction in blocks.
  unsigned number = cast<BlockArgument>(copy->read->source).getArgNumber();
  Value source = contraction.getInputs()[number];
  OpBuilder b(contraction);
  FusedOp packing = buildStage(
      b, copy->read->value.getLoc(), source.getType(), source,
      [&](ValueRange arguments) {
        auto type = cast<RankedTensorType>(source.getType());
        IndexAccess access;
        access.map = b.getMultiDimIdentityMap(type.getRank());
        access.fill = b.getZeroAttr(type.getElementType());
        return SmallVector<Value>{ReindexOp::create(
            b, copy->read->value.getLoc(), type, arguments[0], access)};
      });
  contraction.setScheduleAttr(schedule.withShared(copy->depth));
  contraction->setOperand(number, packing.getResult(0));
  FailureOr<Stage> copied = Stage::build(packing);
  if (failed(copied))
    return failure();
  auto levels = schedulePacking(*stage, schedule, *copy, *copied, processor);
  if (!levels) {
    contraction->setOperand(number, source);
    if (given)
      contraction.setScheduleAttr(given);
    else
      contraction.removeScheduleAttr();
    packing.erase();
    return success();
  }
  packing.setScheduleAttr(*levels);
  if (report)
    contraction.emitRemark("copies rows of ")
        << source.getType() << " inside of " << copy->depth << " loops";
  return success();
}

void CopyRowsPass::runOnOperation() {
  for (auto kernel : getOperation().getOps<KernelOp>()) {
    FusedOp contraction = findContractionStage(kernel);
    if (contraction && !isForbidden(kernel, kCopyRows) &&
        failed(copyRows(kernel, contraction)))
      return signalPassFailure();
  }
}
