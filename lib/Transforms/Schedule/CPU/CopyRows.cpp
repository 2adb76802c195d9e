//===- CopyRows.cpp - Copies of rows that are far apart -------------------===//
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
// (Libraries copy the factor always, or pad leading dimensions.) Where rows are
// neighbours instead, as in A^T * B, it is the steps of the sum that may be far
// apart: at distances of which a power of two from 1024 on is a factor, they
// have fewer places than there are steps; or each is on a page of its own, and
// they are more pages than a core remembers.
//
// If many panels pass by, a stage before the contraction copies what the loops
// inside of the tile's rows read, as dense as it is. It shares the levels
// outside:
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

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedBlock.h"
#include <numeric>

namespace mlir::metaop {
#define GEN_PASS_DEF_COPYROWSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Steps of a sum that are as far apart as this, in bytes, use a cache line
/// each, and few of the cache's sets.
static constexpr int64_t kFarBytes = 1024;
/// Pages that are translated without looking further.
static constexpr int64_t kNearPages = 64;
/// Fewer rows have places enough.
static constexpr int64_t kMinCopiedRows = 8;
/// Panels for which the rows are read, that pay for a copy.
static constexpr int64_t kMinReaders = 4;

namespace {
struct CopyRowsPass : metaop::impl::CopyRowsPassBase<CopyRowsPass> {
  using CopyRowsPassBase::CopyRowsPassBase;

  void runOnOperation() override;

private:
  LogicalResult copyRows(KernelOp kernel, FusedOp contraction);
};

/// A copy of what the contraction reads, inside of so many levels.
struct RowCopy {
  const StageRead *read = nullptr;
  unsigned depth = 0;
};
} // namespace

/// Counts iterations of the contraction's levels behind `depth` of loops on
/// which the read does not depend: how often an element is read once it is
/// copied.
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

/// Returns true if the rows of a tile, or the steps of the sum in a block of
/// it, are so far apart that they are not in the first cache for the next
/// panel. `depth` levels are outside of the tile's rows.
static bool isScattered(const Stage &stage, ScheduleAttr schedule,
                        unsigned depth, const StageRead &read, TileDim row,
                        const Processor &processor) {
  int64_t bytes = getElementBytes(read.value.getType());
  auto distance = stage.getStep(read.place.offset, row.dim);
  if (!distance || *distance == 0)
    return false;
  if (*distance * bytes % kPageBytes == 0)
    return true;
  if (*distance != 1)
    return false;
  SmallVector<int64_t> block;
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
    block.push_back(dim == row.dim ? 1 : stage.getStaticExtent(dim));
  for (auto [i, level] : llvm::enumerate(schedule.getLevels()))
    if (i < depth || level.step > 1)
      block[level.dim] = std::min(block[level.dim], level.step);
  int64_t lines = 1, pages = 1, apart = kPageBytes;
  for (auto [dim, steps] : llvm::enumerate(block)) {
    auto step = stage.getStep(read.place.offset, dim);
    if (steps == 1 || step == 0)
      continue;
    int64_t stepBytes = std::abs(step.value_or(1)) * bytes;
    lines = multiplyCounts(lines, steps);
    apart = std::gcd(apart, stepBytes);
    if (stepBytes >= kPageBytes)
      pages = multiplyCounts(pages, steps);
  }
  // Lines that are a multiple of so many bytes apart have these places.
  int64_t places = processor.firstCacheBytes / std::max(apart, kLineBytes);
  return (lines > places && apart >= kFarBytes) || pages > kNearPages;
}

static std::optional<RowCopy> findRows(const Stage &stage,
                                       ScheduleAttr schedule,
                                       const Processor &processor) {
  RowCopy copy;
  for (TileDim row : schedule.getTile()) {
    if (row.dim == schedule.getVectorDim() || row.size < kMinCopiedRows)
      continue;
    for (auto [i, level] : llvm::enumerate(schedule.getLevels()))
      if (level.dim == row.dim)
        copy.depth = i + 1;
    for (const StageRead &read : stage.reads)
      if (!read.place.isGuarded() &&
          isScattered(stage, schedule, copy.depth, read, row, processor))
        copy.read = &read;
  }
  if (!copy.read || !isa<BlockArgument>(copy.read->source) ||
      copy.depth <= static_cast<unsigned>(schedule.getShared()) ||
      countReuse(stage, schedule, *copy.read, copy.depth) < kMinReaders)
    return std::nullopt;
  // The copy takes the place of the tensor, which in A^T * A is both factors.
  if (llvm::count_if(stage.reads, [&](const StageRead &read) {
        return read.source == copy.read->source;
      }) != 1)
    return std::nullopt;
  return copy;
}

/// Returns the schedule of the copy, whose loops are `block`'s.
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
      block->numElements * bytes > processor.firstCacheBytes * 2 / 3)
    return std::nullopt;
  ScheduleAttr flat = chooseNest(packing, processor);
  if (!flat.isFlat() || flat.getVectorWidth() == 1 || flat.getTranspose() >= 0)
    return std::nullopt;
  ScheduleFields fields;
  fields.levels = block->translate(outer);
  TileDim lanes = flat.getLanes();
  for (const LoopLevel &level : fields.levels)
    if (level.dim == lanes.dim)
      lanes.size = std::gcd(lanes.size, level.step);
  if (lanes.size == 1)
    lanes = TileDim();
  for (const LoopLevel &level : flat.getLevels())
    fields.levels.push_back({LevelKind::Step, level.dim,
                             level.dim == lanes.dim ? lanes.size : int64_t(1)});
  if (lanes.size > 1)
    fields.tile.push_back(lanes);
  fields.lanes = lanes;
  return ScheduleAttr::get(flat.getContext(), fields);
}

/// Returns the contraction in blocks that makes all results of a kernel, as
/// they lie; null if there is none.
static FusedOp findLastContraction(KernelOp kernel) {
  FusedOp contraction = findContractionInBlocks(kernel.getBody().front());
  bool isPlain = contraction &&
                 kernel.getYield().getOperands() == contraction.getResults() &&
                 !contraction.getInputRowsAttr() &&
                 !contraction.getResultRowsAttr();
  return isPlain ? contraction : FusedOp();
}

LogicalResult CopyRowsPass::copyRows(KernelOp kernel, FusedOp contraction) {
  FailureOr<Stage> stage = Stage::build(contraction);
  if (failed(stage))
    return failure();
  ScheduleAttr schedule = contraction.getScheduleAttr();
  std::optional<RowCopy> copy = findRows(*stage, schedule, processor);
  if (!copy)
    return success();

  // The copy stands between what is read and the contraction; its loops are
  // those beside a contraction in blocks.
  unsigned number = cast<BlockArgument>(copy->read->source).getArgNumber();
  Value source = contraction.getInputs()[number];
  // Panels of another stage are as dense as can be.
  if (source.getDefiningOp<FusedOp>())
    return success();
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
    contraction.setScheduleAttr(schedule);
    packing.erase();
    return success();
  }
  packing.setScheduleAttr(*levels);
  packing.setRole(StageRole::Packing);
  if (report)
    contraction.emitRemark("copies rows of ")
        << source.getType() << " inside of " << copy->depth << " loops";
  return success();
}

void CopyRowsPass::runOnOperation() {
  for (auto kernel : collectOps<KernelOp>(getOperation().getBody())) {
    FusedOp contraction = findLastContraction(kernel);
    if (contraction && !isForbidden(kernel, kCopyRows) &&
        failed(copyRows(kernel, contraction)))
      return signalPassFailure();
  }
}
