//===- VectorLoop.cpp - Which loop vectors lie along ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vector loop is the one for which the accesses cost least, counted in
// memory instructions per vector: a unit step costs one, a value that is the
// same in all lanes next to nothing, a short step some vectors and shuffles
// (ShortSteps.cpp), and anything else an instruction, and perhaps a cache line,
// per lane. It is not one that carries prefixes.
//
// If some tensors are contiguous along another loop, tiles of lanes and of rows
// of that loop may cost less: they are transposed in registers.
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Elements between lanes that still share cache lines.
static constexpr int64_t kShortStep = 4;
/// Stores of a reduction happen once for all iterations of its reduced loops.
static constexpr double kReducedWriteCost = 0.1;
/// Rows of a tile for which there are registers.
static constexpr int64_t kMaxTileRows = 16;
/// A load or store by way of a transposed tile, beside one of unit step.
static constexpr double kTransposeCost = 2.5;
/// Terms of a reduction that cost no more than to write their sum.
static constexpr double kFewTerms = 16;
/// Rows of tiles that are walked before the next lanes, and that threads take
/// at a time.
static constexpr int64_t kTileRows = 64;

/// The bytes of the elements of which a vector holds a lane each. Of integers
/// beside floats, as the places that a mask compares, there are two vectors:
/// they are read and compared, and more floats fit side by side.
int64_t LoopOrder::getLaneBytes() const {
  int64_t floats = 0, widest = 1;
  auto add = [&](Type type) {
    int64_t bytes = getElementBytes(type);
    widest = std::max(widest, bytes);
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      floats = std::max(floats, bytes);
  };
  for (const StageRead &read : stage.reads)
    add(read.value.getType());
  for (Operation *op : stage.body)
    add(op->getResult(0).getType());
  return floats == 0 ? widest : std::max(floats, widest / 2);
}

/// Returns whether writing is much of the work: each element has few terms.
bool LoopOrder::reducesFew() const {
  double terms = 1;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (llvm::none_of(stage.writes, [&](const StageWrite &write) {
          return write.loops.test(loop);
        }))
      terms *= getExtent(loop);
  return terms <= kFewTerms;
}

int64_t LoopOrder::getLanes(unsigned loop) const {
  int64_t lanes = vectorBits / (8 * getLaneBytes());
  int64_t extent = stage.getPlannedExtent(loop);
  if (!ShapedType::isDynamic(extent))
    lanes = std::min<int64_t>(lanes,
                              llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)));
  return std::max<int64_t>(lanes, 1);
}

double LoopOrder::getAccessCost(const StagePlace &place, unsigned loop,
                                int64_t lanes, bool isWrite) const {
  // A guard that is not linear is evaluated lane by lane in wide integers.
  double guards = 0;
  for (AffineExpr check : place.rangeChecks)
    guards += stage.getStep(check, loop) ? 0.1 : 4;
  for (AffineExpr check : place.conditions)
    guards += stage.getStep(check, loop) ? 0.1 : 4;
  auto step = getStep(place, loop);
  if (step && *step == 0)
    return 0.25 + guards;
  if (step && *step == 1)
    return 1 + guards;
  if (step && !isWrite && isShortStep(*step, lanes))
    return getShortStepCost(*step) + guards;
  // One instruction per lane, and a cache line each where the steps are long.
  double perLane = step && std::abs(*step) <= kShortStep ? 0.5 : 1.5;
  return (isWrite ? 2.0 : 1.0) * perLane * lanes + guards;
}

std::optional<double> LoopOrder::getVectorCost(unsigned loop,
                                               int64_t lanes) const {
  double cost = 0;
  for (const StageRead &read : stage.reads)
    cost += getAccessCost(read.place, loop, lanes, /*isWrite=*/false);
  for (const StageWrite &write : stage.writes) {
    auto step = getStep(write.place, loop);
    // Lanes that may write one element cannot be written by one instruction.
    if (write.kind && !(step && (*step != 0 || !write.loops.test(loop))))
      return std::nullopt;
    // The elements between are written at the same time.
    double writeCost =
        choosePhases(loop, lanes)
            ? getShortStepCost(*step) / *step
            : getAccessCost(write.place, loop, lanes, /*isWrite=*/true);
    cost +=
        writeCost * (write.kind && write.isProjection ? kReducedWriteCost : 1);
  }
  int64_t extent = getExtent(loop);
  double used = static_cast<double>(extent) /
                static_cast<double>(llvm::alignTo(extent, lanes));
  return cost / (used * lanes);
}

std::pair<int64_t, int64_t> LoopOrder::chooseVector() const {
  std::pair<int64_t, int64_t> best = {-1, 1};
  // Scalar code: one instruction per access.
  double bestCost = stage.reads.size() + stage.writes.size();
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    int64_t lanes = getLanes(loop);
    if (lanes < 2 || llvm::is_contained(outer, loop) || stage.isCarried(loop))
      continue;
    auto cost = getVectorCost(loop, lanes);
    // Of equal costs the later, more continuous loop wins.
    if (cost && *cost <= bestCost) {
      bestCost = *cost;
      best = {loop, lanes};
    }
  }
  return best;
}

/// The cost of an iteration in tiles of `lanes` lanes of `loop` and as many
/// rows of another loop, if that helps some access.
std::optional<double> LoopOrder::getTileCost(unsigned loop, unsigned rows,
                                             int64_t lanes) const {
  double cost = 0;
  bool anyTransposed = false;
  auto add = [&](const StagePlace &place, bool isWrite) {
    bool isTransposed = !stage.isIndirect(place) && getStep(place, rows) == 1 &&
                        place.offset.isFunctionOfDim(loop) &&
                        getStep(place, loop) != 1;
    anyTransposed |= isTransposed;
    cost += isTransposed
                ? kTransposeCost + getAccessCost(place, rows, lanes, isWrite)
                : getAccessCost(place, loop, lanes, isWrite);
  };
  for (const StageRead &read : stage.reads)
    add(read.place, /*isWrite=*/false);
  for (const StageWrite &write : stage.writes)
    add(write.place, /*isWrite=*/true);
  if (!anyTransposed)
    return std::nullopt;
  double used = 1;
  for (unsigned side : {loop, rows})
    used *= static_cast<double>(getExtent(side)) /
            static_cast<double>(llvm::alignTo(getExtent(side), lanes));
  return cost / (used * lanes);
}

/// Chooses the rows of a tile, and its vector loop anew, where that costs less
/// than the vector loop alone; else gives -1.
int64_t LoopOrder::chooseTile(int64_t &vectorLoop, int64_t &lanes) const {
  if (stage.hasReduction() || vectorBits == 0)
    return -1;
  double bestCost = vectorLoop >= 0 ? *getVectorCost(vectorLoop, lanes)
                                    : stage.reads.size() + stage.writes.size();
  int64_t best = -1;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    for (unsigned rows = 0; rows < numLoops; ++rows) {
      int64_t width = std::min(getLanes(loop), kMaxTileRows);
      if (rows == loop || width < 2 || !fits(kTileBodies * width) ||
          (stage.carry && !stage.isCarried(rows)))
        continue;
      auto cost = getTileCost(loop, rows, width);
      if (!cost || *cost >= bestCost)
        continue;
      bestCost = *cost;
      best = rows;
      vectorLoop = loop;
      lanes = width;
    }
  return best;
}

/// Tiles along the loop of prefixes, which goes through all of its rows before
/// the next lanes. Threads share strips of these.
ScheduleAttr LoopOrder::makeCarriedTileSchedule(int64_t vectorLoop,
                                                int64_t lanes) const {
  int64_t carried = stage.carry->loop;
  SmallVector<int64_t> order;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (loop != vectorLoop && loop != carried)
      order.push_back(loop);
  sortByContinuity(order);
  if (isAlone)
    order.push_back(vectorLoop);
  int64_t parallel = order.size();
  order.append({vectorLoop, carried});
  auto schedule = ScheduleAttr::getFlat(stage.getContext(), order, parallel,
                                        {{carried, lanes}, {vectorLoop, lanes}},
                                        {vectorLoop, lanes}, carried);
  return isAlone ? schedule.withStep(parallel - 1, lanes) : schedule;
}

ScheduleAttr LoopOrder::makeTileSchedule(int64_t vectorLoop, int64_t lanes,
                                         int64_t tileLoop) const {
  if (stage.carry)
    return makeCarriedTileSchedule(vectorLoop, lanes);
  SmallVector<int64_t> order;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (loop != vectorLoop && loop != tileLoop)
      order.push_back(loop);
  sortByContinuity(order);
  // Tiles are walked in strips of rows, in which lanes are the outer loop: each
  // cache line that a tile touches in part is touched again at once.
  int64_t rows = stage.getStaticExtent(tileLoop);
  bool hasStrips = isAlone && (ShapedType::isDynamic(rows) ||
                               stage.isVarying(tileLoop) || rows > kTileRows);
  if (hasStrips)
    order.push_back(tileLoop);
  // Threads share the strips as well, where that is needed.
  int64_t parallel = 0, iterations = 1;
  while (parallel < static_cast<int64_t>(order.size()) &&
         iterations < kEnoughParallelism) {
    int64_t loop = order[parallel++];
    iterations *= loop == tileLoop
                      ? llvm::divideCeil(getExtent(loop), kTileRows)
                      : getExtent(loop);
  }
  order.append({vectorLoop, tileLoop});
  auto schedule = ScheduleAttr::getFlat(
      stage.getContext(), order, parallel,
      {{tileLoop, lanes}, {vectorLoop, lanes}}, {vectorLoop, lanes}, tileLoop);
  return hasStrips ? schedule.withStep(numLoops - 2, kTileRows) : schedule;
}
