//===- LoopOrder.cpp - Which loop stands where ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of loops follows memory continuity. For each loop, the steps that
// all accesses take along it, in bytes, are summed; the larger the sum, the
// further outside the loop stands. A sum over the channels of an NCHW image so
// becomes the loops C | N, H*W, and an element-wise operation over the same
// image one loop.
//
// Loops that every write keeps stand outside: they are parallel, and what is
// reduced inside of them lives in registers. A vector loop that is kept stands
// last among the kept loops; one that is reduced, last of all. The loop that
// carries prefixes stands last, alone.
//
// A large reduction of long rows into one is the exception: its kept vector
// loop has two levels, outermost the strips of columns (Strips.cpp), and those
// of one strip inside of the reduced loops. Results are added to in the first
// cache. Then memory is read along whole rows of a strip, several at a time
// where they are longer than a page.
//
// If the vector loop is the only one that is kept, threads share it in strips
// as well, the grain, each of which is gone through at once: enough iterations
// to be worth a step of the parallel range. What is no longer than one strip
// has none.
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/Stage/PairwiseSums.h"
#include "Strips.h"

using namespace mlir;
using namespace mlir::metaop;

/// Iterations of the vector loop that a thread takes at a time where no other
/// loop is kept.
static constexpr int64_t kGrain = 4096;
/// The same, at least, where each is a reduction of so many elements.
static constexpr int64_t kColumnGrain = 256, kLongColumn = 64;

/// The step of an access along a loop, on average where it is not constant. A
/// contraction rather has such a loop outside, where its checks are made once.
double LoopOrder::getMeanStep(const StagePlace &place, unsigned loop) const {
  if (auto step = getStep(place, loop))
    return std::abs(static_cast<double>(*step));
  if (!stage.dependsOn(place.offset, loop))
    return 0;
  if (stage.isIndirect(place.offset))
    return kAssumedExtent;
  MLIRContext *ctx = stage.getContext();
  AffineExpr index = getAffineDimExpr(loop, ctx);
  int64_t last = getExtent(loop) - 1;
  AffineExpr moved =
      place.offset.replace(index, getAffineConstantExpr(last, ctx)) -
      place.offset.replace(index, getAffineConstantExpr(0, ctx));
  auto distance = dyn_cast<AffineConstantExpr>(
      flattenExpr(moved, numLoops, stage.symbols.size()));
  if (!distance || last < 1 || !reducesFew())
    return kAssumedExtent;
  return std::abs(static_cast<double>(distance.getValue())) / last;
}

/// The constant step of an access, in a tensor of planned extents.
std::optional<int64_t> LoopOrder::getPlannedStep(AffineMap map, Type type,
                                                 unsigned loop) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  int64_t step = 0, stride = 1;
  for (unsigned dim = map.getNumResults(); dim-- > 0;) {
    AffineExpr index = map.getResult(dim);
    auto coefficient = getConstantCoefficient(index, loop);
    if (!coefficient)
      return std::nullopt;
    step += *coefficient * stride;
    int64_t extent = shape[dim];
    for (unsigned other = 0; other < numLoops; ++other)
      if (getConstantCoefficient(index, other) == 1 &&
          stage.getStaticExtent(other) == shape[dim])
        extent = stage.getPlannedExtent(other);
    stride *= extent;
  }
  return step;
}

double LoopOrder::getTotalStep(unsigned loop) const {
  double total = 0;
  auto add = [&](const StagePlace &place, AffineMap map, Type shaped,
                 Type element) {
    std::optional<int64_t> planned;
    if (stage.isVarying() && getStep(place, loop))
      planned = getPlannedStep(map, shaped, loop);
    double step = planned ? std::abs(static_cast<double>(*planned))
                          : getMeanStep(place, loop);
    total += step * getElementBytes(element);
  };
  for (const StageRead &read : stage.reads)
    add(read.place, read.map, read.source.getType(), read.value.getType());
  for (const StageWrite &write : stage.writes)
    add(write.place, write.map, stage.op->getResult(write.result).getType(),
        write.value.getType());
  return total;
}

void LoopOrder::sortByContinuity(SmallVectorImpl<int64_t> &loops) const {
  llvm::DenseMap<int64_t, double> steps;
  for (int64_t loop : loops)
    steps[loop] = getTotalStep(loop);
  llvm::sort(loops, [&](int64_t a, int64_t b) {
    double stepA = steps.lookup(a), stepB = steps.lookup(b);
    return std::tie(stepB, a) < std::tie(stepA, b);
  });
}

/// Strips of the vector loop stand among the kept loops, by the length of
/// theirs.
void LoopOrder::insertStrips(SmallVectorImpl<int64_t> &kept,
                             int64_t vectorLoop) const {
  double step = getTotalStep(vectorLoop) * strip;
  auto *place = llvm::find_if(kept, [&](int64_t loop) {
    double other = getTotalStep(loop);
    return std::tie(other, vectorLoop) < std::tie(step, loop);
  });
  kept.insert(place, vectorLoop);
}

/// The iterations of the vector loop, which steps by `step`, that are a step of
/// the parallel range; 0 where there is one such step.
int64_t LoopOrder::chooseGrain(int64_t vectorLoop, int64_t step) const {
  if (!isAlone)
    return 0;
  // Each iteration of a reduction is a whole column.
  int64_t column = 1;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (static_cast<int64_t>(loop) != vectorLoop)
      column *= std::max<int64_t>(stage.getPlannedExtent(loop), 1);
  bool isColumn =
      (stage.hasReduction() || stage.carry) && column >= kLongColumn;
  int64_t grain = isColumn ? std::max(kColumnGrain, step) : kGrain;
  int64_t extent = stage.getStaticExtent(vectorLoop);
  bool isOne = !ShapedType::isDynamic(extent) && !stage.isVarying(vectorLoop) &&
               extent <= grain;
  return isOne ? 0 : grain;
}

ScheduleAttr LoopOrder::choose() {
  auto [vectorLoop, lanes] = chooseVector();
  // Tiles have an order of loops of their own.
  if (outer.empty())
    if (int64_t tileLoop = chooseTile(vectorLoop, lanes); tileLoop >= 0)
      return makeTileSchedule(vectorLoop, lanes, tileLoop);
  if (isAlone && vectorLoop >= 0)
    strip = chooseStrip(stage, vectorLoop);
  auto [unrollLoop, unroll] = chooseUnroll(vectorLoop, lanes);
  while (unroll > 1 && !fits(kLoopBodies * unroll))
    unroll /= 2;
  if (unroll == 1)
    unrollLoop = -1;
  // A strip is a whole number of steps of the level inside.
  strip -= strip % (unrollLoop == vectorLoop ? unroll * lanes : lanes);

  llvm::SmallBitVector keptLoops(numLoops, true);
  // A scatter walks its source in order, row by row of its result.
  for (const StageWrite &write : stage.writes) {
    keptLoops &= write.disjoint;
    if (stage.isIndirect(write.place.offset))
      keptLoops.reset();
  }
  // The loop of prefixes stands inside of all others.
  if (stage.carry)
    keptLoops.reset(stage.carry->loop);
  SmallVector<int64_t> kept, reduced;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (static_cast<int64_t>(loop) != vectorLoop &&
        !llvm::is_contained(outer, loop))
      (keptLoops.test(loop) ? kept : reduced).push_back(loop);
  sortByContinuity(kept);
  sortByContinuity(reduced);
  if (strip > 0)
    insertStrips(kept, vectorLoop);

  // Threads share the leading kept loops, as many as keep them busy.
  int64_t parallel = 0, iterations = 1;
  while (parallel < static_cast<int64_t>(kept.size()) &&
         iterations < kEnoughParallelism) {
    int64_t loop = kept[parallel++];
    if (loop == vectorLoop)
      iterations *= llvm::divideCeil(getExtent(loop), strip);
    else
      iterations *= getExtent(loop) / (loop == unrollLoop ? unroll : 1);
  }
  if (!outer.empty())
    parallel = outer.size();
  SmallVector<int64_t> order(outer);
  order.append(kept);
  bool isVectorInside = vectorLoop >= 0 && (!keptLoops.test(vectorLoop) ||
                                            addsRows(vectorLoop, lanes));
  if (vectorLoop >= 0 && !isVectorInside) {
    // Threads share the only kept loop in strips.
    if (order.empty())
      strip = chooseGrain(vectorLoop,
                          unrollLoop == vectorLoop ? unroll * lanes : lanes);
    if (order.empty() && strip > 0) {
      order.push_back(vectorLoop);
      parallel = 1;
    }
    order.push_back(vectorLoop);
  }
  order.append(reduced);
  if (isVectorInside)
    order.push_back(vectorLoop);
  TileDim vector{vectorLoop, lanes};
  SmallVector<TileDim, 2> tile = {{unrollLoop, unroll}, vector};
  if (unrollLoop == vectorLoop)
    tile = {{vectorLoop, lanes * unroll}};
  ScheduleAttr schedule =
      ScheduleAttr::getFlat(stage.getContext(), order, parallel, tile, vector,
                            /*transpose=*/-1, getUnrollTail(unrollLoop));
  // Neighbouring vectors are enough work for each iteration of a sum.
  if (!isVectorInside && (unroll == 1 || unrollLoop != vectorLoop))
    schedule = schedule.withUnrollDims(chooseWindow(reduced, unroll));
  return strip > 0 ? schedule.withStep(
                         llvm::find(order, vectorLoop) - order.begin(), strip)
                   : schedule;
}

ScheduleAttr metaop::chooseSchedule(const Stage &stage,
                                    const Processor &processor) {
  return choosePairwise(
      stage, LoopOrder(stage, processor, /*isAlone=*/true, {}).choose());
}

ScheduleAttr metaop::chooseNest(const Stage &stage, const Processor &processor,
                                ArrayRef<int64_t> outer) {
  return choosePairwise(
      stage, LoopOrder(stage, processor, /*isAlone=*/false, outer).choose());
}
