//===- Describe.cpp - What a scheduled kernel will do ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads off the stages and their schedules what the lowering will do with them.
//
// An access is judged along the vector loop, or along the innermost loop of
// scalar code, by the step of its offset: none, one element, a constant, or
// anything else. A value of the body is computed at the depth of the innermost
// loop that it depends on, so an operation counts once for each point of the
// loops of its value, and a vector of them as one instruction.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/CountFlops.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Contraction.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "MetaOps/Transforms/Schedule/ShortSteps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// An extent that is known only at run time is taken to be of this size.
static constexpr int64_t kAssumedExtent = 256;
/// What one random number takes: ten rounds of Philox in twice the width.
static constexpr int64_t kRandomInstructions = 60;

template <typename T> static std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

namespace {
/// Describes one stage and counts its instructions.
class StageReader {
public:
  StageReader(const Stage &stage, const Processor &processor)
      : stage(stage), op(stage.op), schedule(op.getScheduleAttr()),
        vectorBits(processor.vectorBits) {}

  StageDescription describe();
  void count(KernelWork &work) const;
  void countTiles(KernelWork &work) const;

private:
  int64_t getInnermost() const;
  AccessKind classify(const StagePlace &place) const;
  std::vector<std::string> describeIndices(AffineMap map) const;
  LoopDescription describeLoop(unsigned position) const;
  AccessDescription describeAccess(const StagePlace &place, AffineMap map,
                                   Type tensor) const;
  int64_t countPoints(const llvm::SmallBitVector &loops) const;
  int64_t countVectors(const llvm::SmallBitVector &loops, Type type) const;
  bool isInterleaved(const StageWrite &write) const;
  void countAccess(const StagePlace &place, const llvm::SmallBitVector &loops,
                   Type type, KernelWork &work, const StageWrite *write) const;
  void countOperation(Operation *op, KernelWork &work) const;

  const Stage &stage;
  FusedOp op;
  ScheduleAttr schedule;
  unsigned vectorBits;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops and accesses
//===----------------------------------------------------------------------===//

int64_t StageReader::getInnermost() const {
  if (schedule.getVectorWidth() > 1)
    return schedule.getVectorDim();
  return schedule.getLevels().empty() ? -1 : schedule.getLevels().back().dim;
}

AccessKind StageReader::classify(const StagePlace &place) const {
  int64_t loop = getInnermost();
  if (loop < 0)
    return AccessKind::Invariant;
  auto step = stage.getStep(place.offset, loop);
  if (!step)
    return AccessKind::Gathered;
  if (*step == 0)
    return AccessKind::Invariant;
  return *step == 1 ? AccessKind::UnitStride : AccessKind::Strided;
}

LoopDescription StageReader::describeLoop(unsigned position) const {
  LoopDescription loop;
  loop.loop = schedule.getLevels()[position].dim;
  loop.extent = toText(stage.extents[loop.loop]);
  loop.isReduced = llvm::any_of(stage.writes, [&](const StageWrite &write) {
    return write.kind && !write.loops.test(loop.loop);
  });
  loop.isParallel = position < schedule.getParallel();
  const LoopLevel &level = schedule.getLevels()[position];
  if (level.isGrid() || level.isDistributed())
    loop.owner = stringifyLevelKind(level.kind).str();
  loop.isShared = position < schedule.getShared();
  loop.step = schedule.getLevels()[position].step;
  // Only the last loop of a dimension is done side by side.
  if (schedule.isOuter(position))
    return loop;
  if (loop.loop == schedule.getVectorDim())
    loop.vectorWidth = schedule.getVectorWidth();
  loop.unroll = schedule.getTileSize(loop.loop) / loop.vectorWidth;
  int64_t extent = stage.getStaticExtent(loop.loop);
  if (llvm::is_contained(schedule.getUnrollDims(), loop.loop) &&
      !ShapedType::isDynamic(extent))
    loop.unroll = extent;
  return loop;
}

std::vector<std::string> StageReader::describeIndices(AffineMap map) const {
  std::vector<std::string> indices;
  for (auto [i, symbol] : llvm::enumerate(stage.symbols)) {
    if (symbol.kind != StageSymbol::Kind::Indirect ||
        !map.isFunctionOfSymbol(i))
      continue;
    std::string text = "s" + std::to_string(i) + " = ";
    const StageRead *read = stage.findRead(symbol.value);
    if (read != stage.reads.end())
      text += toText(read->source.getType()) + " at " + toText(read->map);
    else
      text += "a " +
              symbol.value.getDefiningOp()->getName().stripDialect().str() +
              " of this stage";
    indices.push_back(std::move(text));
  }
  return indices;
}

AccessDescription StageReader::describeAccess(const StagePlace &place,
                                              AffineMap map,
                                              Type tensor) const {
  AccessDescription access;
  access.tensor = toText(tensor);
  access.map = toText(map);
  access.indices = describeIndices(map);
  access.kind = classify(place);
  access.isGuarded = place.isGuarded();
  return access;
}

StageDescription StageReader::describe() {
  StageDescription result;
  result.identity = getStageIdentity(op);
  for (const KernelOrigin &origin : getOrigins(op.getLoc()))
    result.origins.push_back(origin.identity);
  result.space = llvm::join(
      llvm::map_range(stage.spaceExtents,
                      [](AffineExpr extent) { return toText(extent); }),
      "x");
  result.toSpace = toText(stage.toIterationSpace);
  for (unsigned position = 0; position < schedule.getNumLevels(); ++position)
    result.loops.push_back(describeLoop(position));
  for (const StageRead &read : stage.reads)
    result.accesses.push_back(
        describeAccess(read.place, read.map, read.source.getType()));
  for (const StageWrite &write : stage.writes) {
    result.accesses.push_back(describeAccess(
        write.place, write.map, op.getResult(write.result).getType()));
    result.accesses.back().isWrite = true;
    result.accesses.back().isStreamed =
        llvm::is_contained(schedule.getStream(), write.result);
    if (write.kind)
      result.accesses.back().reduction = stringifyReduceKind(*write.kind).str();
  }
  for (Operation &inner : op.getBody().front().without_terminator())
    result.operators.push_back(inner.getName().stripDialect().str());
  result.schedule = toText(schedule);
  result.overrideLine = getOverrideLine(op.getLoc());
  return result;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

int64_t StageReader::countPoints(const llvm::SmallBitVector &loops) const {
  int64_t points = 1;
  for (unsigned loop : loops.set_bits()) {
    int64_t extent = stage.getStaticExtent(loop);
    points *= ShapedType::isDynamic(extent) ? kAssumedExtent : extent;
  }
  return points;
}

int64_t StageReader::countVectors(const llvm::SmallBitVector &loops,
                                  Type type) const {
  int64_t points = countPoints(loops);
  if (schedule.getVectorWidth() == 1 || !loops.test(schedule.getVectorDim()))
    return points;
  int64_t lanes = std::clamp<int64_t>(vectorBits / (8 * getElementBytes(type)),
                                      1, schedule.getVectorWidth());
  return llvm::divideCeil(points, lanes);
}

static WorkClass classifyOperation(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  if (!elementwise)
    return WorkClass::Arithmetic;
  switch (elementwise.getElementWork()) {
  case ElementWork::Arithmetic:
    return WorkClass::Arithmetic;
  case ElementWork::Division:
    return WorkClass::Divide;
  case ElementWork::Exponential:
    return WorkClass::Exponential;
  case ElementWork::Logarithm:
    return WorkClass::Logarithm;
  case ElementWork::Tanh:
    return WorkClass::Tanh;
  case ElementWork::Erf:
    return WorkClass::Erf;
  case ElementWork::Call:
    return WorkClass::LibraryCall;
  }
  llvm_unreachable("all kinds of work are handled");
}

static int64_t &at(KernelWork &work, WorkClass kind) {
  return work.instructions[static_cast<unsigned>(kind)];
}

void StageReader::countOperation(Operation *op, KernelWork &work) const {
  if (isa<ConstantOp>(op))
    return;
  llvm::SmallBitVector loops = stage.getLoopsOf(op->getResult(0));
  loops.resize(stage.getNumLoops());
  WorkClass kind = classifyOperation(op);
  int64_t count = kind == WorkClass::LibraryCall
                      ? countPoints(loops)
                      : countVectors(loops, op->getResult(0).getType());
  at(work, kind) += isa<RandomOp>(op) ? count * kRandomInstructions : count;
}

/// Whether a write's phases are copies side by side, which fill vectors.
bool StageReader::isInterleaved(const StageWrite &write) const {
  int64_t lanes = schedule.getVectorWidth();
  if (lanes == 1)
    return false;
  auto phases = getPhaseLoop(stage, write, schedule.getVectorDim(), lanes);
  return phases && *phases == schedule.getUnrollDim();
}

void StageReader::countAccess(const StagePlace &place,
                              const llvm::SmallBitVector &loops, Type type,
                              KernelWork &work, const StageWrite *write) const {
  int64_t vectors = countVectors(loops, type);
  int64_t lanes = schedule.getVectorWidth();
  bool isApart = lanes > 1 && loops.test(schedule.getVectorDim()) &&
                 classify(place) != AccessKind::UnitStride;
  int64_t step =
      isApart ? getConstantCoefficient(place.offset, schedule.getVectorDim())
                    .value_or(0)
              : 0;
  if (write ? isInterleaved(*write) : isShortStep(step, lanes)) {
    int64_t span = std::abs(step);
    at(work, WorkClass::Move) += write ? vectors : vectors * span;
    at(work, WorkClass::Arithmetic) += vectors * std::max<int64_t>(span - 1, 1);
  } else if (isApart) {
    at(work, WorkClass::Scattered) += countPoints(loops);
  } else {
    at(work, WorkClass::Move) += vectors;
  }
  at(work, WorkClass::Arithmetic) +=
      vectors * (place.rangeChecks.size() + place.conditions.size());
}

/// Sums of products, tile by tile: an instruction for each element or vector of
/// a tile in each step of the sum, whole or not, beside which reads cost
/// nothing. Results go to memory once for each block of the sum.
void StageReader::countTiles(KernelWork &work) const {
  const StageWrite &write = stage.writes.front();
  int64_t products = 1, results = 1;
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim) {
    int64_t extent = stage.getStaticExtent(dim);
    int64_t unit =
        dim == schedule.getVectorDim() ? schedule.getVectorWidth() : 1;
    if (ShapedType::isDynamic(extent))
      extent = kAssumedExtent;
    products = multiplyCounts(products, llvm::divideCeil(extent, unit));
    if (write.loops.test(dim))
      results = multiplyCounts(results, llvm::divideCeil(extent, unit));
  }
  int64_t blocks = 1;
  for (const LoopLevel &level : schedule.getLevels())
    if (!write.loops.test(level.dim) && level.step > 1)
      blocks = multiplyCounts(
          blocks,
          llvm::divideCeil(stage.getStaticExtent(level.dim), level.step));
  int64_t perBlock = schedule.getTranspose() < 0 ? 3 : 10;
  at(work, WorkClass::Arithmetic) += products;
  at(work, WorkClass::Move) += multiplyCounts(results, blocks * perBlock);
}

void StageReader::count(KernelWork &work) const {
  if (isTiled(stage, schedule)) {
    countTiles(work);
    return;
  }
  for (const StageRead &read : stage.reads) {
    llvm::SmallBitVector loops = stage.getLoopsOf(read.value);
    loops.resize(stage.getNumLoops());
    countAccess(read.place, loops, read.value.getType(), work,
                /*write=*/nullptr);
  }
  for (Operation *op : stage.body)
    countOperation(op, work);
  llvm::SmallBitVector all(stage.getNumLoops(), true);
  for (const StageWrite &write : stage.writes) {
    if (write.kind)
      at(work, WorkClass::Arithmetic) +=
          countVectors(all, write.value.getType());
    llvm::SmallBitVector loops = write.loops;
    loops.resize(stage.getNumLoops());
    countAccess(write.place, write.kind && write.isProjection ? loops : all,
                write.value.getType(), work, &write);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The bytes of a tensor of static shape; 0 of what is not known.
static int64_t countKnownBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? countBytes(tensor) : 0;
}

FailureOr<KernelDescription>
metaop::describeKernel(KernelOp kernel, const Processor &processor) {
  KernelDescription result;
  for (Value operand : kernel.getOperands())
    result.work.bytesRead =
        addCounts(result.work.bytesRead, countKnownBytes(operand.getType()));
  for (Value output : kernel.getResults())
    result.work.bytesWritten =
        addCounts(result.work.bytesWritten, countKnownBytes(output.getType()));
  result.work.flops = countFlops(kernel).value_or(0);
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    if (!op.getScheduleAttr())
      return op.emitOpError("has no schedule; run metaop-schedule before");
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    if (op.getScheduleAttr().getNumDims() != stage->getNumLoops())
      return op.emitOpError("schedule orders ")
             << op.getScheduleAttr().getNumDims()
             << " loops, but the stage has " << stage->getNumLoops();
    StageReader reader(*stage, processor);
    result.stages.push_back(reader.describe());
    reader.count(result.work);
  }
  return result;
}
