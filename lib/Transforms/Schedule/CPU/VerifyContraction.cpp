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
// and an epilogue (BlockedStages.h). What is asked of such a schedule, P18 to
// P20 of docs/Schedule.md:
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

#include "CpuRules.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/CpuLimits.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

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
    return refuse(op, "P18", "schedule has blocks or a tile, but no `lanes`");
  int64_t code = 1;
  for (TileDim tile : schedule.getTile()) {
    if (!write.loops.test(tile.dim))
      return refuse(op, "P19", "has dimension ")
             << tile.dim << " in its tile, which the result does not keep";
    code = multiplyCounts(code, tile.size);
  }
  code /= schedule.getVectorWidth();
  for (int64_t dim : schedule.getUnrollDims())
    code = multiplyCounts(code, stage.getStaticExtent(dim));
  if (code > kMaxTileProducts)
    return refuse(op, "P2", "has a tile of ")
           << code << " multiplications, but at most " << kMaxTileProducts
           << " can be compiled";
  return success();
}

LogicalResult ContractionVerifier::verifyRead(const StageRead &read) {
  if (read.place.isGuarded())
    return refuse(op, "P19",
                  "has a tile, but reads a tensor at places that are "
                  "checked: ")
           << read.source.getType();
  for (TileDim tile : schedule.getTile())
    if (!stage.getStep(read.place.offset, tile.dim))
      return refuse(op, "P19", "reads ")
             << read.source.getType()
             << " in no constant steps along dimension " << tile.dim
             << " of its tile";
  int64_t lanesDim = schedule.getVectorDim();
  int64_t step = *stage.getStep(read.place.offset, lanesDim);
  if (step != 1 && stage.getLoopsOf(read.value).test(lanesDim))
    return refuse(op, "P19", "reads ")
           << read.source.getType() << " in steps of " << step
           << " along its lanes";
  return success();
}

/// Checks the part of P19 that is of the result. Its loops are digits of its
/// indices (Contraction.h), so each steps by a constant, and none by zero.
LogicalResult ContractionVerifier::verifyWrite() {
  for (AffineExpr check : write.place.rangeChecks)
    for (TileDim tile : schedule.getTile())
      if (schedule.getTranspose() >= 0 && tile.dim != schedule.getVectorDim() &&
          check.isFunctionOfDim(tile.dim))
        return refuse(op, "P19", "transposes a tile whose rows are checked");
  for (AffineExpr condition : write.place.conditions)
    for (TileDim tile : schedule.getTile())
      if (condition.isFunctionOfDim(tile.dim))
        return refuse(op, "P19", "has a condition on dimension ")
               << tile.dim << " of its tile";
  return success();
}

LogicalResult ContractionVerifier::verifyLevels() {
  ArrayRef<LoopLevel> levels = schedule.getLevels();
  if (schedule.getPairwise() > 0)
    return refuse(op, "P11",
                  "has `pairwise`, which is for plain nests of loops: "
                  "levels of its sum are blocks");
  for (auto [depth, level] : llvm::enumerate(levels)) {
    if (level.tail == LevelTail::Sizes &&
        (schedule.isOuter(depth) || level.step == 1 ||
         !write.loops.test(level.dim)))
      return refuse(op, "P20", "has a tail of `sizes` in a loop of dimension ")
             << level.dim
             << ": expects it in the last one of a kept dimension, in steps of "
                "a tile";
    if (level.kind != LevelKind::Parallel)
      continue;
    if (!schedule.isOuter(depth) && level.step != 1)
      return refuse(op, "P20", "has a parallel loop of dimension ")
             << level.dim << " in steps of a tile: expects a further loop "
             << "of that dimension inside";
    for (LoopLevel outer : levels.take_front(depth))
      if (outer.dim == level.dim)
        return refuse(op, "P20", "has two parallel loops of dimension ")
               << level.dim;
  }
  // Blocks of the sum are added in memory.
  Type element = getElementTypeOrSelf(write.value.getType());
  if (!element.isF16() && !element.isBF16())
    return success();
  for (LoopLevel level : levels.take_front(getTileDepth(stage, schedule)))
    if (!write.loops.test(level.dim))
      return refuse(op, "P12", "result 0 would be rounded to ")
             << element << " in memory after each block of dimension "
             << level.dim;
  return success();
}

LogicalResult ContractionVerifier::verifyUnrolled() {
  unsigned start = getTileDepth(stage, schedule);
  for (int64_t dim : schedule.getUnrollDims()) {
    // All that the result keeps is outside.
    if (llvm::is_contained(schedule.getDims(start), dim))
      return refuse(op, "P20", "unrolls dimension ")
             << dim << ", which is not reduced, or not inside of the tile";
    if (llvm::count(schedule.getDims(), dim) != 1)
      return refuse(op, "P20", "unrolls dimension ")
             << dim << ", which has several loops";
  }
  return success();
}

LogicalResult ContractionVerifier::verify() {
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
    if (ShapedType::isDynamic(stage.getStaticExtent(dim)))
      return refuse(op, "P18",
                    "schedule has blocks or a tile, but the extent of "
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
    return refuse(op, "P18",
                  "schedule has a tile of several dimensions, but the "
                  "stage is no sum of products");
  if (isAlone && !op.hasRole(StageRole::Contraction))
    return refuse(
        op, "P18",
        "schedule has several loops of one dimension, a tile of several or "
        "a tail of `sizes`, but the stage has not the role `contraction`");
  if (!isAlone)
    return refuse(
        op, "P18",
        "schedule has several loops of one dimension, a tile of several or a "
        "tail of `sizes`, but the stage shares its kernel");
  return ContractionVerifier(scheduled).verify();
}
