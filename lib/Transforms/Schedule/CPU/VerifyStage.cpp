//===- VerifyStage.cpp - Rules of one stage in plain loops ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// P1 to P14 of docs/Schedule.md: parallel iterations write different elements;
// so do the lanes of a vector and copies of an unrolled loop, where results are
// kept in memory; sizes are sane; what only contractions can have, no other
// stage has. Contractions in blocks have rules of their own for most of these
// fields (VerifyContraction.cpp).
//
//===----------------------------------------------------------------------===//

#include "CpuRules.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/CpuLimits.h"
#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Checks P1 and P2.
static LogicalResult verifySizes(FusedOp op, ScheduleAttr schedule,
                                 const Stage &stage) {
  if (schedule.isForGpu())
    return refuse(op, "P1",
                  "schedule is for a GPU: only there are `cluster`, "
                  "`block`, `warp`, `thread`, `staged` and `place`");
  if (schedule.getVectorWidth() > kMaxVectorWidth)
    return refuse(op, "P2", "schedule has vectors of ")
           << schedule.getVectorWidth() << " lanes, but at most "
           << kMaxVectorWidth << " can be compiled";
  if (schedule.getUnroll() > kMaxCopies)
    return refuse(op, "P2", "schedule unrolls ")
           << schedule.getUnroll() << " iterations, but at most " << kMaxCopies
           << " can be compiled";
  int64_t places = 1;
  for (int64_t dim : schedule.getUnrollDims())
    if (int64_t extent = stage.getStaticExtent(dim);
        !ShapedType::isDynamic(extent))
      places = multiplyCounts(places, extent);
  if (places > kMaxEmitted)
    return refuse(op, "P2", "schedule emits ")
           << places << " iterations of `unroll`, but at most " << kMaxEmitted
           << " can be compiled";
  int64_t copies = schedule.getUnroll() * places;
  int64_t code = multiplyCounts(stage.getCodeSize(), copies);
  if (code > kMaxGivenCode)
    return refuse(op, "P2", "schedule unrolls ")
           << copies << " iterations, about " << code
           << " instructions, but at most " << kMaxGivenCode
           << " can be compiled";
  return success();
}

/// Checks P10 and P9: plain loops prefetch along lanes, whose rest they mask.
static LogicalResult verifyFlat(FusedOp op, ScheduleAttr schedule) {
  if (schedule.getPrefetch() > 0 && !isVectorInnermost(schedule))
    return refuse(op, "P10",
                  "schedule has `prefetch`, but its innermost loop is not that "
                  "of `lanes`, or it has `transpose`");
  for (const LoopLevel &level : schedule.getLevels()) {
    if (level.tail == LevelTail::Sizes)
      return refuse(op, "P9", "has a tail of `sizes` in loop ")
             << level.dim << ", which is for tiles of contractions";
    if (level.tail != LevelTail::Mask &&
        (level.dim == schedule.getVectorDim() ||
         level.dim == schedule.getTranspose()))
      return refuse(op, "P9", "has a body of its own for the rest of loop ")
             << level.dim << ", but lanes and the rows of tiles are masked";
  }
  return success();
}

/// Checks P11. Integers, and the largest of floats, are the same in any order.
static LogicalResult verifyPairwise(FusedOp op, ScheduleAttr schedule,
                                    const Stage &stage) {
  bool anySum = llvm::any_of(
      stage.writes, [](const StageWrite &write) { return write.isFloatSum(); });
  if (schedule.getPairwise() > 0 && !anySum)
    return refuse(op, "P11",
                  "schedule has `pairwise`, but no result is a sum of "
                  "floats");
  return success();
}

/// Checks P7: a dimension has one loop, or one over strips and another through
/// a strip.
static LogicalResult verifyStrips(const ScheduledStage &scheduled,
                                  bool isAlone) {
  const Stage &stage = scheduled.stage;
  ScheduleAttr schedule = scheduled.schedule;
  FusedOp op = stage.op;
  SmallVector<int64_t> dims = schedule.getDims();
  for (auto [depth, level] : llvm::enumerate(schedule.getLevels())) {
    if (!schedule.isOuter(depth))
      continue;
    int64_t loop = level.dim;
    if (!isAlone)
      return refuse(op, "P7", "cuts loop ")
             << loop << " into strips, but shares its kernel";
    if (llvm::count(dims, loop) > 2)
      return refuse(op, "P7", "has ")
             << llvm::count(dims, loop) << " loops of dimension " << loop
             << ", but only contractions have more than two";
    if (llvm::count(schedule.getDims(schedule.getParallel()), loop) > 1)
      return refuse(op, "P7", "has two parallel loops of dimension ") << loop;
    if (level.tail != LevelTail::Mask)
      return refuse(op, "P7",
                    "has a body of its own for the last strip of loop ")
             << loop << ", which is only shorter";
    for (const StageWrite &write : stage.writes)
      if (!write.loops.test(loop))
        return refuse(op, "P7", "cuts loop ")
               << loop << " into strips, but result " << write.result
               << " is reduced over it";
  }
  return success();
}

/// Checks P3.
static LogicalResult verifyParallel(FusedOp op, ScheduleAttr schedule,
                                    const Stage &stage) {
  for (int64_t loop : schedule.getDims(schedule.getParallel()))
    for (const StageWrite &write : stage.writes)
      if (!write.disjoint.test(loop))
        return refuse(op, "P3", "loop ")
               << loop << " is not parallel: its iterations write the same "
               << "elements of result " << write.result;
  return success();
}

/// Returns true if the loop that numbers a dimension is opened around the
/// stage; one over its strips may be.
static bool isOpened(const ScheduledStage &scheduled, int64_t loop) {
  ScheduleAttr schedule = scheduled.schedule;
  unsigned opened = std::min(scheduled.openedLoops, schedule.getNumLevels());
  for (unsigned depth = 0; depth < opened; ++depth)
    if (schedule.getLevels()[depth].dim == loop && !schedule.isOuter(depth))
      return true;
  return false;
}

/// Checks P4.
static LogicalResult verifyVector(const ScheduledStage &scheduled,
                                  bool isAlone) {
  const Stage &stage = scheduled.stage;
  FusedOp op = stage.op;
  ScheduleAttr schedule = scheduled.schedule;
  int64_t loop = schedule.getVectorDim();
  if (schedule.getVectorWidth() == 1)
    return success();
  for (const StageWrite &write : stage.writes) {
    auto step = stage.getStep(write.place.offset, loop);
    if (write.kind && !(step && (*step || !write.loops.test(loop))))
      return refuse(op, "P4", "loop ")
             << loop << " cannot be a vector: its lanes may write one "
             << "element of result " << write.result;
  }
  if (!isOpened(scheduled, loop))
    return success();
  return refuse(op, "P4", "loop ")
         << loop
         << (isAlone ? " is parallel and cannot be the vector loop, unless a "
                       "further loop of it stands inside"
                     : " is shared with another stage and cannot be the vector "
                       "loop");
}

/// Checks P8: a tile's rows are copies of one iteration each, which are stored
/// and not combined.
static LogicalResult verifyTile(const ScheduledStage &scheduled, bool isAlone) {
  ScheduleAttr schedule = scheduled.schedule;
  FusedOp op = scheduled.stage.op;
  int64_t loop = schedule.getTranspose();
  if (loop < 0)
    return success();
  if (!hasSquareTiles(schedule))
    return refuse(op, "P8",
                  "transposes tiles that are not square, of the width "
                  "of vectors, or whose loops, of the rows and of the "
                  "lanes, are not the innermost");
  if (schedule.getVectorWidth() > kMaxTransposedRows)
    return refuse(op, "P2", "schedule has tiles of ")
           << schedule.getVectorWidth() << " rows, but at most "
           << kMaxTransposedRows << " can be compiled";
  for (const StageWrite &write : scheduled.stage.writes)
    if (write.kind)
      return refuse(op, "P8", "loop ")
             << loop << " cannot be the rows of a tile: result " << write.result
             << " is reduced";
  if (scheduled.openedLoops + 1 >= schedule.getNumLevels())
    return refuse(op, "P8", "loop ")
           << loop
           << (isAlone
                   ? " is parallel and cannot be the rows of a tile, unless "
                     "a further loop of it stands inside"
                   : " is shared with another stage and cannot be the rows "
                     "of a tile");
  return success();
}

/// Checks P12: a result of f16 or bf16 that rounds accumulates in f32, so in
/// registers. (Those through other maps have been widened:
/// metaop-widen-reductions.)
static LogicalResult verifyRounding(const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  for (const StageWrite &write : scheduled.stage.writes) {
    Type element = getElementTypeOrSelf(write.value.getType());
    bool isRounded = write.kind && roundsHalves(*write.kind, element);
    if (isRounded && write.isProjection &&
        combinesInMemory(write, scheduled.schedule, scheduled.openedLoops))
      return refuse(op, "P12", "result ")
             << write.result << " would be rounded to " << element
             << " in memory at each step; order the loops that it is reduced "
             << "over inside of those that it keeps";
  }
  return success();
}

/// Checks P13: each iteration of the loop that carries prefixes has what the
/// one before it left, in registers. It is the innermost loop, and whole.
static LogicalResult verifyCarry(const ScheduledStage &scheduled) {
  const Stage &stage = scheduled.stage;
  ScheduleAttr schedule = scheduled.schedule;
  FusedOp op = stage.op;
  if (!stage.carry)
    return success();
  int64_t loop = stage.carry->loop;
  auto fail = [&] {
    return refuse(op, "P13", "loop ") << loop << " carries prefixes, and ";
  };
  if (schedule.getLevels().back().dim != loop ||
      llvm::count(schedule.getDims(), loop) != 1)
    return fail() << "has to be the innermost loop, and one loop";
  if (scheduled.openedLoops == schedule.getNumLevels())
    return fail() << "cannot be parallel or shared with another stage";
  if (schedule.getVectorWidth() > 1 && schedule.getVectorDim() == loop)
    return fail() << "cannot be the vector loop";
  if (schedule.getUnroll() > 1 && schedule.getUnrollDim() == loop &&
      schedule.getTranspose() != loop)
    return fail() << "cannot have copies side by side, but for the rows of "
                     "a tile";
  return success();
}

LogicalResult metaop::verifyStreamed(const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  return verifyStream(op, scheduled.stage, scheduled.schedule,
                      [&] { return refuse(op, "P14"); });
}

/// Checks the part of P5 that is of masked copies, which are computed again at
/// the last iteration.
static LogicalResult verifyMasked(FusedOp op, ScheduleAttr schedule,
                                  const Stage &stage) {
  int64_t loop = schedule.getUnrollDim();
  if (!masksUnroll(schedule))
    return success();
  if (ShapedType::isDynamic(stage.getStaticExtent(loop)))
    return refuse(op, "P5", "masks copies of loop ")
           << loop << ", whose extent is not known";
  for (const StageWrite &write : stage.writes)
    if (!write.loops.test(loop))
      return refuse(op, "P5", "masks copies of loop ")
             << loop << ", but result " << write.result
             << " is reduced over it";
  return success();
}

/// Checks P6: dimensions without a loop are the stage's own, and reduced.
static LogicalResult verifyUnrollDims(const ScheduledStage &scheduled) {
  const Stage &stage = scheduled.stage;
  FusedOp op = stage.op;
  for (int64_t dim : scheduled.schedule.getUnrollDims()) {
    if (ShapedType::isDynamic(stage.getStaticExtent(dim)))
      return refuse(op, "P6", "emits the iterations of loop ")
             << dim << ", whose extent is not known";
    if (isOpened(scheduled, dim))
      return refuse(op, "P6", "emits the iterations of loop ")
             << dim << ", which is parallel or shared";
    for (const StageWrite &write : stage.writes)
      if (write.loops.test(dim))
        return refuse(op, "P6", "emits the iterations of loop ")
               << dim << ", which result " << write.result << " keeps";
  }
  return success();
}

/// Checks P5.
static LogicalResult verifyUnroll(const ScheduledStage &scheduled,
                                  bool isAlone) {
  const Stage &stage = scheduled.stage;
  FusedOp op = stage.op;
  ScheduleAttr schedule = scheduled.schedule;
  int64_t loop = schedule.getUnrollDim();
  if (failed(verifyMasked(op, schedule, stage)))
    return failure();
  if (loop < 0 || loop == schedule.getTranspose() || !isOpened(scheduled, loop))
    return success();
  if (!isAlone)
    return refuse(op, "P5", "loop ")
           << loop << " is shared with another stage and cannot be unrolled";
  int64_t extent = stage.getStaticExtent(loop);
  bool hasRest =
      ShapedType::isDynamic(extent) || extent % schedule.getUnroll() != 0;
  if (hasRest && !masksUnroll(schedule))
    return refuse(op, "P5", "unrolls parallel loop ")
           << loop << " by " << schedule.getUnroll()
           << ", which does not divide its extent";
  for (const StageWrite &write : stage.writes)
    if (combinesInMemory(write, schedule, scheduled.openedLoops))
      return refuse(op, "P5", "unrolls parallel loop ")
             << loop << ", but result " << write.result
             << " is combined in memory";
  return success();
}

LogicalResult metaop::verifyAnyStage(const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  return failure(
      failed(verifySizes(op, scheduled.schedule, scheduled.stage)) ||
      failed(verifyParallel(op, scheduled.schedule, scheduled.stage)));
}

LogicalResult metaop::verifyNest(const ScheduledStage &scheduled,
                                 bool isAlone) {
  FusedOp op = scheduled.stage.op;
  return failure(
      failed(verifySizes(op, scheduled.schedule, scheduled.stage)) ||
      failed(verifyFlat(op, scheduled.schedule)) ||
      failed(verifyPairwise(op, scheduled.schedule, scheduled.stage)) ||
      failed(verifyStrips(scheduled, isAlone)) ||
      failed(verifyVector(scheduled, isAlone)) ||
      failed(verifyTile(scheduled, isAlone)) ||
      failed(verifyUnroll(scheduled, isAlone)) ||
      failed(verifyUnrollDims(scheduled)) ||
      failed(verifyRounding(scheduled)) || failed(verifyCarry(scheduled)) ||
      failed(verifyStreamed(scheduled)));
}
