//===- StageWork.cpp - The instructions of a stage ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the body is computed at the depth of the innermost loop that it
// depends on, so an operation counts once for each point of the loops of its
// value, and a vector of them as one instruction.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// The work of one random number: ten rounds of Philox in twice the width.
static constexpr int64_t kRandomInstructions = 60;
/// The work of a power of f64 that is rounded to f32, in logarithms of f32: one
/// of f64, and an exponential.
static constexpr int64_t kRoundedPowerLogarithms = 3;

int64_t metaop::countIterations(const Stage &stage,
                                const llvm::SmallBitVector &loops) {
  int64_t points = 1;
  for (unsigned loop : loops.set_bits()) {
    int64_t extent = stage.getStaticExtent(loop);
    points = multiplyCounts(
        points, ShapedType::isDynamic(extent) ? kAssumedExtent : extent);
  }
  return points;
}

/// Returns true for a power of f64 whose readers all round it to f32: vectors
/// have it by polynomials (VectorToLLVM/WideFunctions.cpp).
static bool isRoundedPower(Operation *op) {
  return isa<PowOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF64() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<CastOp>(user) &&
                  getElementTypeOrSelf(user->getResult(0)).isF32();
         });
}

WorkClass metaop::classifyOperation(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  if (!elementwise)
    return WorkClass::Arithmetic;
  if (isRoundedPower(op))
    return WorkClass::Logarithm;
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

int64_t metaop::countInstructions(Operation *op) {
  if (isRoundedPower(op))
    return kRoundedPowerLogarithms;
  return isa<RandomOp>(op) ? kRandomInstructions : 1;
}

namespace {
/// Counts the instructions of one stage on a CPU.
class WorkCounter {
public:
  WorkCounter(const Stage &stage, const Processor &processor)
      : stage(stage), op(stage.op), schedule(op.getScheduleAttr()),
        vectorBits(processor.vectorBits),
        hasVectorMath(processor.getVectorMathBits() != 0) {}

  void count(KernelWork &work) const;

private:
  void countTiles(KernelWork &work) const;
  int64_t countVectors(const llvm::SmallBitVector &loops, Type type) const;
  bool isInterleaved(const StageWrite &write) const;
  void countAccess(const StagePlace &place, const llvm::SmallBitVector &loops,
                   Type type, KernelWork &work, const StageWrite *write) const;
  void countOperation(Operation *op, KernelWork &work) const;

  const Stage &stage;
  FusedOp op;
  ScheduleAttr schedule;
  unsigned vectorBits;
  bool hasVectorMath;
};
} // namespace

int64_t WorkCounter::countVectors(const llvm::SmallBitVector &loops,
                                  Type type) const {
  int64_t points = countIterations(stage, loops);
  if (schedule.getVectorWidth() == 1 || !loops.test(schedule.getVectorDim()))
    return points;
  int64_t lanes = std::clamp<int64_t>(vectorBits / (8 * getElementBytes(type)),
                                      1, schedule.getVectorWidth());
  return llvm::divideCeil(points, lanes);
}

static int64_t &at(KernelWork &work, WorkClass kind) {
  return work.instructions[static_cast<unsigned>(kind)];
}

void WorkCounter::countOperation(Operation *op, KernelWork &work) const {
  if (isa<ConstantOp>(op))
    return;
  llvm::SmallBitVector loops = stage.getLoopsOf(op->getResult(0));
  loops.resize(stage.getNumLoops());
  WorkClass kind = classifyOperation(op);
  // The C library's functions of vectors take about as long as the longest of
  // our own.
  if (kind == WorkClass::LibraryCall && hasVectorMath &&
      getElementTypeOrSelf(op->getResult(0)).isF64())
    kind = WorkClass::Erf;
  int64_t count = kind == WorkClass::LibraryCall
                      ? countIterations(stage, loops)
                      : countVectors(loops, op->getResult(0).getType());
  at(work, kind) += count * countInstructions(op);
}

/// Returns true if a write's phases are copies side by side, which fill
/// vectors.
bool WorkCounter::isInterleaved(const StageWrite &write) const {
  int64_t lanes = schedule.getVectorWidth();
  if (lanes == 1)
    return false;
  auto phases = getPhaseLoop(stage, write, schedule.getVectorDim(), lanes);
  return phases && *phases == schedule.getUnrollDim();
}

void WorkCounter::countAccess(const StagePlace &place,
                              const llvm::SmallBitVector &loops, Type type,
                              KernelWork &work, const StageWrite *write) const {
  int64_t vectors = countVectors(loops, type);
  int64_t lanes = schedule.getVectorWidth();
  bool isApart = lanes > 1 && loops.test(schedule.getVectorDim()) &&
                 classifyAccess(stage, place) != AccessKind::UnitStride;
  int64_t step =
      isApart ? getConstantCoefficient(place.offset, schedule.getVectorDim())
                    .value_or(0)
              : 0;
  if (write ? isInterleaved(*write) : isShortStep(step, lanes)) {
    int64_t span = std::abs(step);
    at(work, WorkClass::Move) += write ? vectors : vectors * span;
    at(work, WorkClass::Arithmetic) += vectors * std::max<int64_t>(span - 1, 1);
  } else if (isApart) {
    at(work, WorkClass::Scattered) += countIterations(stage, loops);
  } else {
    at(work, WorkClass::Move) += vectors;
  }
  at(work, WorkClass::Arithmetic) +=
      vectors * (place.rangeChecks.size() + place.conditions.size());
}

/// Sums of products, tile by tile: an instruction for each element or vector of
/// a tile in each step of the sum, whole or not, beside which reads cost
/// nothing. Results go to memory once for each block of the sum.
void WorkCounter::countTiles(KernelWork &work) const {
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

void WorkCounter::count(KernelWork &work) const {
  if (isTiledContraction(stage.op)) {
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

void metaop::countStageWork(const Stage &stage, const Processor &processor,
                            KernelWork &work) {
  WorkCounter(stage, processor).count(work);
}
