//===- LoopTree.cpp - Which loop trees are legal --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules come from users and files as well as from the heuristics, so each
// is checked before code is made of it:
//   1. Each stage alone: its levels name its loops; parallel iterations write
//      different elements; so do the lanes of a vector and copies of an
//      unrolled loop, where results are kept in memory; sizes are sane.
//      Sums of half floats are not kept in memory, which would round each step.
//      Results that are stored past the caches are stored by aligned vectors.
//      The loop of prefixes is the innermost, whole and in order.
//      Dimensions without a loop are reduced, of known extents.
//      A dimension that all results keep may have two loops, over strips and
//      through one, in a stage that is alone in its kernel.
//      Blocks, and tiles of several dimensions, are for contractions
//      (VerifyContraction.cpp); no other stage has any field of theirs.
//   2. Neighbours: a shared loop has one extent.
//   3. A stage that reads what an earlier stage computes inside of the loops
//      that both share finds it complete only if both number the same
//      dimensions of the tensor by those loops: in each iteration, one writes
//      what the other reads.
//
//===----------------------------------------------------------------------===//

#include "LoopTree.h"
#include "BlockedKernel.h"
#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Wider vectors and more copies make code that takes minutes to compile and is
/// slower than a loop.
static constexpr int64_t kMaxVectorWidth = 256;
static constexpr int64_t kMaxUnroll = 64;
/// Instructions of a stage with a schedule from elsewhere: seconds.
static constexpr int64_t kMaxGivenCode = 16 * kMaxKernelCode;
static constexpr int64_t kMaxTileWidth = 32;

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

static LogicalResult verifySizes(FusedOp op, ScheduleAttr schedule,
                                 const Stage &stage) {
  if (schedule.isForGpu())
    return op.emitOpError("schedule is for a GPU: only there are `cluster`, "
                          "`block`, `warp`, `thread`, `staged` and `place`");
  if (schedule.getNumDims() != stage.getNumLoops())
    return op.emitOpError("schedule orders ")
           << schedule.getNumDims() << " loops, but the stage has "
           << stage.getNumLoops();
  if (schedule.getVectorWidth() > kMaxVectorWidth)
    return op.emitOpError("schedule has vectors of ")
           << schedule.getVectorWidth() << " lanes, but at most "
           << kMaxVectorWidth << " can be compiled";
  if (schedule.getUnroll() > kMaxUnroll)
    return op.emitOpError("schedule unrolls ")
           << schedule.getUnroll() << " iterations, but at most " << kMaxUnroll
           << " can be compiled";
  int64_t places = 1;
  for (int64_t dim : schedule.getUnrollDims())
    if (int64_t extent = stage.getStaticExtent(dim);
        !ShapedType::isDynamic(extent))
      places = multiplyCounts(places, extent);
  if (places > kMaxEmitted)
    return op.emitOpError("schedule emits ")
           << places << " iterations of `unroll`, but at most " << kMaxEmitted
           << " can be compiled";
  int64_t copies = schedule.getUnroll() * places;
  int64_t code = multiplyCounts(stage.getCodeSize(), copies);
  if (code > kMaxGivenCode)
    return op.emitOpError("schedule unrolls ")
           << copies << " iterations, about " << code
           << " instructions, but at most " << kMaxGivenCode
           << " can be compiled";
  return success();
}

/// What these loops do not do is not asked of them.
static LogicalResult verifyFlat(FusedOp op, ScheduleAttr schedule) {
  if (schedule.getPrefetch() > 0)
    return op.emitOpError("schedule has `prefetch`, which is for contractions "
                          "in blocks or tiles");
  for (const LoopLevel &level : schedule.getLevels())
    if (level.tail == LevelTail::Body &&
        (level.dim == schedule.getVectorDim() ||
         level.dim == schedule.getTranspose()))
      return op.emitOpError("has a body of its own for the rest of loop ")
             << level.dim << ", but lanes and the rows of tiles are masked";
  return success();
}

/// Integers, and the largest of floats, are the same in any order.
static LogicalResult verifyPairwise(FusedOp op, ScheduleAttr schedule,
                                    const Stage &stage) {
  bool anySum = llvm::any_of(
      stage.writes, [](const StageWrite &write) { return write.isFloatSum(); });
  if (schedule.getPairwise() > 0 && !anySum)
    return op.emitOpError("schedule has `pairwise`, but no result is a sum of "
                          "floats");
  return success();
}

/// A dimension has one loop, or one over strips and another through a strip.
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
      return op.emitOpError("cuts loop ")
             << loop << " into strips, but shares its kernel";
    if (llvm::count(dims, loop) > 2)
      return op.emitOpError("has ")
             << llvm::count(dims, loop) << " loops of dimension " << loop
             << ", but only contractions have more than two";
    if (llvm::count(schedule.getDims(schedule.getParallel()), loop) > 1)
      return op.emitOpError("has two parallel loops of dimension ") << loop;
    if (level.tail == LevelTail::Body)
      return op.emitOpError("has a body of its own for the last strip of loop ")
             << loop << ", which is only shorter";
    for (const StageWrite &write : stage.writes)
      if (!write.loops.test(loop))
        return op.emitOpError("cuts loop ")
               << loop << " into strips, but result " << write.result
               << " is reduced over it";
  }
  return success();
}

static LogicalResult verifyParallel(FusedOp op, ScheduleAttr schedule,
                                    const Stage &stage) {
  for (int64_t loop : schedule.getDims(schedule.getParallel()))
    for (const StageWrite &write : stage.writes)
      if (!write.disjoint.test(loop))
        return op.emitOpError("loop ")
               << loop << " is not parallel: its iterations write the same "
               << "elements of result " << write.result;
  return success();
}

/// Whether the loop that numbers a dimension is opened around the stage; one
/// over its strips may be.
static bool isOpened(const ScheduledStage &scheduled, int64_t loop) {
  ScheduleAttr schedule = scheduled.schedule;
  unsigned opened = std::min(scheduled.openedLoops, schedule.getNumLevels());
  for (unsigned depth = 0; depth < opened; ++depth)
    if (schedule.getLevels()[depth].dim == loop && !schedule.isOuter(depth))
      return true;
  return false;
}

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
      return op.emitOpError("loop ")
             << loop << " cannot be a vector: its lanes may write one "
             << "element of result " << write.result;
  }
  if (!isOpened(scheduled, loop))
    return success();
  return op.emitOpError("loop ")
         << loop
         << (isAlone ? " is parallel and cannot be the vector loop, unless a "
                       "further loop of it stands inside"
                     : " is shared with another stage and cannot be the vector "
                       "loop");
}

bool metaop::hasSquareTiles(ScheduleAttr schedule) {
  SmallVector<int64_t> order = schedule.getDims();
  if (order.size() < 2)
    return false;
  int64_t last = order.pop_back_val(), before = order.pop_back_val();
  int64_t rows = schedule.getTranspose(), lanes = schedule.getVectorDim();
  return (std::pair(before, last) == std::pair(rows, lanes) ||
          std::pair(before, last) == std::pair(lanes, rows)) &&
         schedule.getTileSize(rows) == schedule.getVectorWidth() &&
         schedule.getTileSize(lanes) == schedule.getVectorWidth();
}

/// A tile's rows are copies of one iteration each, which are stored and not
/// combined.
static LogicalResult verifyTile(const ScheduledStage &scheduled, bool isAlone) {
  ScheduleAttr schedule = scheduled.schedule;
  FusedOp op = scheduled.stage.op;
  int64_t loop = schedule.getTranspose();
  if (loop < 0)
    return success();
  if (!hasSquareTiles(schedule))
    return op.emitOpError("transposes tiles that are not square, of the width "
                          "of vectors, or whose loops, of the rows and of the "
                          "lanes, are not the innermost");
  if (schedule.getVectorWidth() > kMaxTileWidth)
    return op.emitOpError("schedule has tiles of ")
           << schedule.getVectorWidth() << " rows, but at most "
           << kMaxTileWidth << " can be compiled";
  for (const StageWrite &write : scheduled.stage.writes)
    if (write.kind)
      return op.emitOpError("loop ")
             << loop << " cannot be the rows of a tile: result " << write.result
             << " is reduced";
  if (scheduled.openedLoops + 1 >= schedule.getNumLevels())
    return op.emitOpError("loop ")
           << loop
           << (isAlone
                   ? " is parallel and cannot be the rows of a tile, unless "
                     "a further loop of it stands inside"
                   : " is shared with another stage and cannot be the rows "
                     "of a tile");
  return success();
}

/// Sums and products of f16 and bf16 accumulate in f32, so in registers. (Those
/// through other maps have been widened: metaop-widen-reductions.)
static LogicalResult verifyRounding(const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  for (const StageWrite &write : scheduled.stage.writes) {
    Type element = getElementTypeOrSelf(write.value.getType());
    bool isRounded =
        (element.isF16() || element.isBF16()) &&
        (write.kind == ReduceKind::Add || write.kind == ReduceKind::Mul);
    if (isRounded && write.isProjection &&
        combinesInMemory(write, scheduled.schedule, scheduled.openedLoops))
      return op.emitOpError("result ")
             << write.result << " would be rounded to " << element
             << " in memory at each step; order the loops that it is reduced "
             << "over inside of those that it keeps";
  }
  return success();
}

/// Each iteration of the loop that carries prefixes has what the one before it
/// left, in registers: it is the innermost loop, and whole.
static LogicalResult verifyCarry(const ScheduledStage &scheduled) {
  const Stage &stage = scheduled.stage;
  ScheduleAttr schedule = scheduled.schedule;
  FusedOp op = stage.op;
  if (!stage.carry)
    return success();
  int64_t loop = stage.carry->loop;
  auto refuse = [&] {
    return op.emitOpError("loop ") << loop << " carries prefixes, and ";
  };
  if (!schedule.isNest() || schedule.getNumLevels() == 0 ||
      schedule.getLevels().back().dim != loop ||
      llvm::count(schedule.getDims(), loop) != 1)
    return refuse() << "has to be the innermost loop, and one loop";
  if (scheduled.openedLoops == schedule.getNumLevels())
    return refuse() << "cannot be parallel or shared with another stage";
  if (schedule.getVectorWidth() > 1 && schedule.getVectorDim() == loop)
    return refuse() << "cannot be the vector loop";
  if (schedule.getUnroll() > 1 && schedule.getUnrollDim() == loop &&
      schedule.getTranspose() != loop)
    return refuse() << "cannot have copies side by side, but for the rows of "
                       "a tile";
  return success();
}

static LogicalResult verifyStreamed(const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  return verifyStream(op, scheduled.stage, scheduled.schedule,
                      [&] { return op.emitOpError(); });
}

/// Copies that are masked are computed again at the last iteration.
static LogicalResult verifyMasked(FusedOp op, ScheduleAttr schedule,
                                  const Stage &stage) {
  int64_t loop = schedule.getUnrollDim();
  if (!masksUnroll(schedule))
    return success();
  if (ShapedType::isDynamic(stage.getStaticExtent(loop)))
    return op.emitOpError("masks copies of loop ")
           << loop << ", whose extent is not known";
  for (const StageWrite &write : stage.writes)
    if (!write.loops.test(loop))
      return op.emitOpError("masks copies of loop ")
             << loop << ", but result " << write.result
             << " is reduced over it";
  return success();
}

/// Dimensions without a loop are the stage's own, and reduced.
static LogicalResult verifyUnrollDims(const ScheduledStage &scheduled) {
  const Stage &stage = scheduled.stage;
  FusedOp op = stage.op;
  for (int64_t dim : scheduled.schedule.getUnrollDims()) {
    if (ShapedType::isDynamic(stage.getStaticExtent(dim)))
      return op.emitOpError("emits the iterations of loop ")
             << dim << ", whose extent is not known";
    if (isOpened(scheduled, dim) || dim == scheduled.schedule.getVectorDim())
      return op.emitOpError("emits the iterations of loop ")
             << dim << ", which is parallel, shared, or of the lanes";
    for (const StageWrite &write : stage.writes)
      if (write.loops.test(dim))
        return op.emitOpError("emits the iterations of loop ")
               << dim << ", which result " << write.result << " keeps";
  }
  return success();
}

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
    return op.emitOpError("loop ")
           << loop << " is shared with another stage and cannot be unrolled";
  int64_t extent = stage.getStaticExtent(loop);
  bool hasRest =
      ShapedType::isDynamic(extent) || extent % schedule.getUnroll() != 0;
  if (hasRest && !masksUnroll(schedule))
    return op.emitOpError("unrolls parallel loop ")
           << loop << " by " << schedule.getUnroll()
           << ", which does not divide its extent";
  for (const StageWrite &write : stage.writes)
    if (combinesInMemory(write, schedule, scheduled.openedLoops))
      return op.emitOpError("unrolls parallel loop ")
             << loop << ", but result " << write.result
             << " is combined in memory";
  return success();
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// Whether two extents, each in the symbols of its stage, are one number.
static bool isSameExtent(const Stage &a, AffineExpr extentA, const Stage &b,
                         AffineExpr extentB) {
  if (isa<AffineConstantExpr>(extentA))
    return extentA == extentB;
  auto symbolA = dyn_cast<AffineSymbolExpr>(extentA);
  auto symbolB = dyn_cast<AffineSymbolExpr>(extentB);
  if (!symbolA || !symbolB)
    return false;
  const StageSymbol &first = a.symbols[symbolA.getPosition()];
  const StageSymbol &second = b.symbols[symbolB.getPosition()];
  return first.kind == second.kind && first.dim == second.dim &&
         getOuterValue(a.op, first.value) == getOuterValue(b.op, second.value);
}

static LogicalResult verifySharedLoops(const ScheduledStage &previous,
                                       const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  for (int64_t depth = 0; depth < scheduled.schedule.getShared(); ++depth) {
    int64_t before = previous.schedule.getLevels()[depth].dim;
    int64_t loop = scheduled.schedule.getLevels()[depth].dim;
    if (!isSameExtent(previous.stage, previous.stage.extents[before],
                      scheduled.stage, scheduled.stage.extents[loop]))
      return op.emitOpError("shares loop ")
             << depth << " with the stage before it, which runs over another "
             << "extent";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What one stage computes and another reads
//===----------------------------------------------------------------------===//

static LogicalResult verifyDependence(const ScheduledStage &producer,
                                      const ScheduledStage &consumer,
                                      unsigned numShared) {
  FusedOp op = consumer.stage.op;
  FusedOp from = producer.stage.op;
  auto isFromProducer = [&](Value argument) {
    return getOuterProducer(op, argument) == from;
  };
  // Symbols are read before the first loop.
  for (const StageSymbol &symbol : consumer.stage.symbols)
    if (symbol.kind == StageSymbol::Kind::Scalar &&
        isFromProducer(symbol.value))
      return op.emitOpError("reads places that depend on a number which the "
                            "same kernel computes");
  if (numShared == 0)
    return success();
  auto refuse = [&]() {
    return op.emitOpError("shares ")
           << numShared << " loops with a stage before they have computed what "
           << "it reads of that stage";
  };
  for (const StageRead &read : consumer.stage.reads) {
    if (!isFromProducer(read.source))
      continue;
    auto result = cast<OpResult>(getOuterValue(op, read.source));
    for (const StageWrite &write : producer.stage.writes)
      if (write.result == result.getResultNumber() &&
          !staysInIteration(write, producer.schedule.getDims(numShared), read,
                            consumer.schedule.getDims(numShared)))
        return refuse();
  }
  for (Operation *inner : consumer.stage.body)
    if (isa<GeneratorOpInterface>(inner) &&
        llvm::any_of(inner->getOperands(), isFromProducer))
      return refuse();
  return success();
}

void metaop::openSharedLoops(MutableArrayRef<ScheduledStage> stages,
                             unsigned parallel) {
  for (auto [i, scheduled] : llvm::enumerate(stages)) {
    scheduled.openedLoops =
        std::max<unsigned>(parallel, scheduled.schedule.getShared());
    if (i + 1 < stages.size())
      scheduled.openedLoops = std::max<unsigned>(
          scheduled.openedLoops, stages[i + 1].schedule.getShared());
  }
}

LogicalResult metaop::verifyNests(MutableArrayRef<ScheduledStage> stages) {
  bool isAlone = stages.size() == 1;
  for (const ScheduledStage &scheduled : stages) {
    FusedOp op = scheduled.stage.op;
    if (failed(verifySizes(op, scheduled.schedule, scheduled.stage)) ||
        failed(verifyFlat(op, scheduled.schedule)) ||
        failed(verifyPairwise(op, scheduled.schedule, scheduled.stage)) ||
        failed(verifyStrips(scheduled, isAlone)) ||
        failed(verifyVector(scheduled, isAlone)) ||
        failed(verifyTile(scheduled, isAlone)) ||
        failed(verifyUnroll(scheduled, isAlone)) ||
        failed(verifyUnrollDims(scheduled)) ||
        failed(verifyRounding(scheduled)) || failed(verifyCarry(scheduled)) ||
        failed(verifyStreamed(scheduled)))
      return failure();
  }
  for (size_t i = 1; i < stages.size(); ++i)
    if (failed(verifySharedLoops(stages[i - 1], stages[i])))
      return failure();
  for (size_t i = 0; i < stages.size(); ++i) {
    // What stages i and j share is the least of what those between share.
    int64_t numShared = std::numeric_limits<int64_t>::max();
    for (size_t j = i + 1; j < stages.size(); ++j) {
      numShared = std::min(numShared, stages[j].schedule.getShared());
      if (failed(verifyDependence(stages[i], stages[j], numShared)))
        return failure();
    }
  }
  return success();
}

LogicalResult metaop::verifyLoopTree(MutableArrayRef<ScheduledStage> stages) {
  bool isAlone = stages.size() == 1;
  for (const ScheduledStage &scheduled : stages) {
    FusedOp op = scheduled.stage.op;
    if (failed(verifySizes(op, scheduled.schedule, scheduled.stage)) ||
        failed(verifyParallel(op, scheduled.schedule, scheduled.stage)))
      return failure();
  }
  if (auto blocked = BlockedStages::find(stages); blocked && !isAlone) {
    for (const ScheduledStage &scheduled : stages)
      if (FusedOp op = scheduled.stage.op; scheduled.stage.carry)
        return op.emitOpError("has prefixes, beside a contraction in blocks");
    return blocked->verify();
  }
  for (const ScheduledStage &scheduled : stages) {
    if (scheduled.schedule.isNest() &&
        !isTiled(scheduled.stage, scheduled.schedule))
      continue;
    if (failed(verifyContraction(scheduled, isAlone)) ||
        failed(verifyStreamed(scheduled)))
      return failure();
    // A contraction alone is no nest.
    if (isAlone)
      return success();
  }
  return verifyNests(stages);
}
