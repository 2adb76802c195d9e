//===- VerifyContraction.cpp - Legal schedules of contractions ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks, and tiles of several dimensions, are for contractions of known
// extents that stand alone in their kernel, or with a stage that packs a factor
// and an epilogue (BlockedKernel.h). What is asked of such a schedule:
//   1. Tiles consist of kept dimensions, of vectors along one of them, along
//      which everything is contiguous or the same; results may be contiguous
//      along another one that the schedule names (`transpose`).
//   2. Places of the tile's elements are constant distances apart, and nothing
//      about them is checked but whether lanes exist.
//   3. A parallel level of a dimension in the tile has a further level inside:
//      what does not fill a tile is a loop's affair.
//   4. Unrolled dimensions are reduced ones, whole, inside of the tile.
//
//===----------------------------------------------------------------------===//

#include "BlockedKernel.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Elements and vectors of a tile, times what is unrolled: a few thousand
/// instructions.
static constexpr int64_t kMaxTileCode = 1024;

namespace {
class ContractionVerifier {
public:
  ContractionVerifier(const ScheduledStage &scheduled)
      : stage(scheduled.stage), schedule(scheduled.schedule), op(stage.op),
        write(stage.writes.front()) {}

  LogicalResult verify();

private:
  LogicalResult verifyTile();
  LogicalResult verifyRead(const StageRead &read);
  LogicalResult verifyWrite();
  LogicalResult verifyLevels();
  LogicalResult verifyUnrolled();

  const Stage &stage;
  ScheduleAttr schedule;
  FusedOp op;
  const StageWrite &write;
};
} // namespace

LogicalResult ContractionVerifier::verifyTile() {
  if (schedule.getVectorWidth() == 1)
    return op.emitOpError("schedule has blocks or a tile, but no `lanes`");
  int64_t code = 1;
  for (TileDim tile : schedule.getTile()) {
    if (!write.loops.test(tile.dim))
      return op.emitOpError("has dimension ")
             << tile.dim << " in its tile, which the result does not keep";
    code = multiplyCounts(code, tile.size);
  }
  code /= schedule.getVectorWidth();
  for (int64_t dim : schedule.getUnrollDims())
    code = multiplyCounts(code, stage.getStaticExtent(dim));
  if (code > kMaxTileCode)
    return op.emitOpError("has a tile of ")
           << code << " multiplications, but at most " << kMaxTileCode
           << " can be compiled";
  return success();
}

LogicalResult ContractionVerifier::verifyRead(const StageRead &read) {
  if (read.place.isGuarded())
    return op.emitOpError("has a tile, but reads a tensor at places that are "
                          "checked: ")
           << read.source.getType();
  for (TileDim tile : schedule.getTile())
    if (!stage.getStep(read.place.offset, tile.dim))
      return op.emitOpError("reads ")
             << read.source.getType()
             << " in no constant steps along dimension " << tile.dim
             << " of its tile";
  int64_t lanesDim = schedule.getVectorDim();
  int64_t step = *stage.getStep(read.place.offset, lanesDim);
  if (step != 1 && stage.getLoopsOf(read.value).test(lanesDim))
    return op.emitOpError("reads ") << read.source.getType() << " in steps of "
                                    << step << " along its lanes";
  return success();
}

LogicalResult ContractionVerifier::verifyWrite() {
  int64_t lanesDim = schedule.getVectorDim();
  auto verifySteps = [&](AffineExpr expr) -> LogicalResult {
    for (TileDim tile : schedule.getTile())
      if (!stage.getStep(expr, tile.dim))
        return op.emitOpError("writes its result in no constant steps along "
                              "dimension ")
               << tile.dim << " of its tile";
    return success();
  };
  if (failed(verifySteps(write.place.offset)))
    return failure();
  if (stage.getStep(write.place.offset, lanesDim) == 0)
    return op.emitOpError("writes one element of its result by all lanes");
  for (AffineExpr check : write.place.rangeChecks) {
    if (failed(verifySteps(check)))
      return failure();
    for (TileDim tile : schedule.getTile())
      if (schedule.getTranspose() >= 0 && tile.dim != lanesDim &&
          check.isFunctionOfDim(tile.dim))
        return op.emitOpError("transposes a tile whose rows are checked");
  }
  for (AffineExpr condition : write.place.conditions)
    for (TileDim tile : schedule.getTile())
      if (condition.isFunctionOfDim(tile.dim))
        return op.emitOpError("has a condition on dimension ")
               << tile.dim << " of its tile";
  return success();
}

LogicalResult ContractionVerifier::verifyLevels() {
  ArrayRef<LoopLevel> levels = schedule.getLevels();
  if (schedule.getPairwise() > 0)
    return op.emitOpError("has `pairwise`, which is for plain nests of loops: "
                          "levels of its sum are blocks");
  for (auto [depth, level] : llvm::enumerate(levels)) {
    if (level.kind != LevelKind::Parallel)
      continue;
    if (!schedule.isOuter(depth) && level.step != 1)
      return op.emitOpError("has a parallel loop of dimension ")
             << level.dim << " in steps of a tile: expects a further loop "
             << "of that dimension inside";
    for (LoopLevel outer : levels.take_front(depth))
      if (outer.dim == level.dim)
        return op.emitOpError("has two parallel loops of dimension ")
               << level.dim;
  }
  // Blocks of the sum are added in memory.
  Type element = getElementTypeOrSelf(write.value.getType());
  if (!element.isF16() && !element.isBF16())
    return success();
  for (LoopLevel level : levels.take_front(getTileDepth(stage, schedule)))
    if (!write.loops.test(level.dim))
      return op.emitOpError("result 0 would be rounded to ")
             << element << " in memory after each block of dimension "
             << level.dim;
  return success();
}

LogicalResult ContractionVerifier::verifyUnrolled() {
  unsigned start = getTileDepth(stage, schedule);
  for (int64_t dim : schedule.getUnrollDims()) {
    SmallVector<int64_t> outside = schedule.getDims(start);
    if (write.loops.test(dim) || llvm::is_contained(outside, dim))
      return op.emitOpError("unrolls dimension ")
             << dim << ", which is not reduced, or not inside of the tile";
    if (llvm::count(schedule.getDims(), dim) != 1)
      return op.emitOpError("unrolls dimension ")
             << dim << ", which has several loops";
  }
  return success();
}

LogicalResult ContractionVerifier::verify() {
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
    if (ShapedType::isDynamic(stage.getStaticExtent(dim)))
      return op.emitOpError("schedule has blocks or a tile, but the extent of "
                            "dimension ")
             << dim << " is not known";
  if (failed(verifyTile()) || failed(verifyWrite()) || failed(verifyLevels()) ||
      failed(verifyUnrolled()))
    return failure();
  for (const StageRead &read : stage.reads)
    if (failed(verifyRead(read)))
      return failure();
  return success();
}

LogicalResult metaop::verifyContraction(const ScheduledStage &scheduled,
                                        bool isAlone) {
  FusedOp op = scheduled.stage.op;
  if (!Contraction::match(scheduled.stage))
    return op.emitOpError("schedule has a tile of several dimensions, but the "
                          "stage is no sum of products");
  if (!isAlone)
    return op.emitOpError(
        "schedule has several loops of one dimension, or a tile of several, "
        "but the stage shares its kernel");
  return ContractionVerifier(scheduled).verify();
}

//===----------------------------------------------------------------------===//
// Its neighbours
//===----------------------------------------------------------------------===//

/// Inside of the shared blocks each dimension of a neighbour has one loop.
static LogicalResult verifyInside(FusedOp op, ArrayRef<LoopLevel> inside,
                                  unsigned numLoops) {
  llvm::SmallBitVector seen(numLoops);
  for (LoopLevel level : inside) {
    if (seen.test(level.dim) || level.kind == LevelKind::Parallel)
      return op.emitOpError("has two loops of dimension ")
             << level.dim << " inside of the blocks that it shares with a "
             << "contraction";
    seen.set(level.dim);
  }
  if (!seen.all())
    return op.emitOpError("has no loop of some dimension inside of the blocks "
                          "that it shares with a contraction");
  return success();
}

static LogicalResult verifyPacking(const BlockedStages &stages,
                                   const ScheduledStage &writer) {
  const ScheduledStage &reader = *stages.contraction;
  FusedOp op = writer.stage.op;
  FailureOr<SharedBlock> panel = stages.buildPanel(writer);
  if (failed(panel))
    return failure();
  // Packing stands inside of all parallel loops and outside of the tile.
  ScheduleAttr schedule = writer.schedule;
  ArrayRef<LoopLevel> outer = stages.getPackingLevels(writer);
  if (outer.size() < reader.schedule.getParallel() ||
      outer.size() > getTileDepth(reader.stage, reader.schedule))
    return op.emitOpError("packs a factor outside of a parallel loop, or "
                          "inside of a tile");
  if (failed(verifyInside(
          op, schedule.getLevels().drop_front(panel->translate(outer).size()),
          writer.stage.getNumLoops())))
    return failure();
  // It is copied by vectors, or by square tiles that are transposed.
  int64_t rows = schedule.getTranspose();
  if (schedule.getUnrollDim() != rows ||
      (rows >= 0 && !hasSquareTiles(schedule)) ||
      !schedule.getUnrollDims().empty())
    return op.emitOpError("packs a factor and has a tile that is not one "
                          "vector, or square and transposed, and innermost");
  return success();
}

/// Loops over a part of a dimension have no copies, and are shared with loops
/// over the same part.
static LogicalResult verifyParts(const EpilogueChain &chain,
                                 ArrayRef<ScheduledStage> inside) {
  auto getPart = [&](size_t epilogue, int64_t loop) {
    for (const SharedBlock::Index &index : chain.blocks[epilogue].indices)
      if (index.loop == loop && index.extent != index.whole)
        return index.place;
    return AffineExpr();
  };
  for (auto [i, scheduled] : llvm::enumerate(inside)) {
    FusedOp op = scheduled.stage.op;
    ScheduleAttr schedule = scheduled.schedule;
    if (schedule.getUnrollDim() >= 0 && getPart(i, schedule.getUnrollDim()))
      return op.emitOpError("is an epilogue of a contraction and does several "
                            "iterations side by side of loop ")
             << schedule.getUnrollDim() << ", of which it shares blocks";
    for (const StageWrite &write : scheduled.stage.writes)
      if (combinesInMemory(write, schedule, scheduled.openedLoops))
        return op.emitOpError("is an epilogue of a contraction and combines "
                              "result ")
               << write.result << " in memory";
    for (int64_t depth = 0; depth < schedule.getShared(); ++depth)
      if (getPart(i, schedule.getLevels()[depth].dim) !=
          getPart(i - 1, inside[i - 1].schedule.getLevels()[depth].dim))
        return op.emitOpError("shares loop ")
               << depth << " inside of a block with an epilogue that goes "
               << "through another part of it there";
  }
  return success();
}

static LogicalResult verifyEpilogues(const BlockedStages &stages) {
  const ScheduledStage &writer = *stages.contraction;
  FailureOr<EpilogueChain> chain = stages.buildChain();
  if (failed(chain))
    return failure();
  ArrayRef<LoopLevel> outer = stages.getEpilogueLevels();
  int64_t numOuter = chain->blocks.front().translate(outer).size();
  for (const ScheduledStage *epilogue : stages.epilogues) {
    FusedOp op = epilogue->stage.op;
    ScheduleAttr schedule = epilogue->schedule;
    if (outer.size() < writer.schedule.getParallel() ||
        outer.size() > getTileDepth(writer.stage, writer.schedule))
      return op.emitOpError("is the epilogue of a contraction outside of a "
                            "parallel loop, or inside of a tile");
    if (schedule.getTranspose() >= 0 || !schedule.getUnrollDims().empty() ||
        !schedule.getStream().empty())
      return op.emitOpError("is the epilogue of a contraction and transposes, "
                            "emits loops of a sum, or streams a result");
    if (schedule.getShared() < numOuter)
      return op.emitOpError("is the epilogue of a contraction and shares fewer "
                            "loops than the epilogue before it");
    if (failed(verifyInside(op, schedule.getLevels().drop_front(numOuter),
                            epilogue->stage.getNumLoops())))
      return failure();
  }
  SmallVector<ScheduledStage, 1> inside = stages.getInside(*chain);
  if (inside.front().schedule.getShared() != 0)
    return inside.front().stage.op.emitOpError(
        "is the epilogue of a contraction and shares more of its loops than "
        "those outside of the tile");
  if (failed(verifyParts(*chain, inside)))
    return failure();
  return verifyNests(inside);
}

LogicalResult BlockedStages::verify() const {
  if (failed(verifyContraction(*contraction, /*isAlone=*/true)))
    return failure();
  // What packs or follows may have no loop to share.
  if (!packings.empty() && contraction->schedule.getShared() == 0)
    return verifyContraction(*contraction, /*isAlone=*/false);
  if (!epilogues.empty() && epilogues.front()->schedule.getShared() == 0)
    return verifyContraction(*contraction, /*isAlone=*/false);
  for (const ScheduledStage *packing : packings)
    if (failed(verifyPacking(*this, *packing)))
      return failure();
  return epilogues.empty() ? success() : verifyEpilogues(*this);
}
