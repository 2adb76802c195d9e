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
// reduced inside of them lives in registers. The vector loop is the one for
// which the accesses cost least, counted in memory instructions per vector: a
// unit step costs one, a value that is the same in all lanes next to nothing, a
// short step some vectors and shuffles (ShortSteps.cpp), and anything else an
// instruction, and perhaps a cache line, per lane. A
// vector loop that is kept stands last among the kept loops; one that is
// reduced, last of all. The loop to unroll and jam is the kept loop along which
// the most costly reads stay where they are: they are read once for all copies
// (register blocking).
//
// The loop that carries prefixes stands last, alone. Of the others, vectors lie
// along the one that costs least, and copies of it are chains side by side.
// Where tensors are contiguous along the prefixes, tiles of lanes and steps are
// transposed in registers.
//
// The short loops of a window are none: each place of it is emitted, with the
// checks and distances that it has.
//
// Tiles and unrolled loops repeat the body. Where it is long, there are fewer
// copies, or none, so that the kernel stays within kMaxKernelCode: long bodies
// are bound by what they compute, which copies do not lessen.
//
// A large reduction of long rows into one is the exception: its kept vector
// loop has two levels, outermost the strips of columns (Strips.cpp), and those
// of one strip inside of the reduced loops. Results are added to in the first
// cache. Then memory is read along whole rows of a strip, several at a time
// where they are longer than a page.
//
// Where the vector loop is the only one that is kept, threads share it in
// strips as well, the grain, each of which is gone through at once: enough
// iterations to be worth a step of the parallel range. What is no longer than
// one strip has none.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/Processor.h"
#include "MetaOps/Transforms/Schedule/ShortSteps.h"
#include "PairwiseSums.h"
#include "Strips.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

namespace {

/// Enough iterations for any number of threads to be kept busy.
constexpr int64_t kEnoughParallelism = 128;
/// An extent that is known only at run time is taken to be of this size.
constexpr int64_t kAssumedExtent = 256;
/// Elements between lanes that still share cache lines.
constexpr int64_t kShortStep = 4;
/// Stores of a reduction happen once for all iterations of its reduced loops.
constexpr double kReducedWriteCost = 0.1;
/// Vectors side by side that hide the latency of an addition.
constexpr int64_t kUnroll = 4;
/// Vectors side by side where reduced rows are walked: memory is read in runs
/// of this many.
constexpr int64_t kRun = 16;
/// Results that the first cache has room for, in bytes.
constexpr int64_t kMaxRowBytes = 32 << 10;
/// Rows that are added one after another to a row in memory: fewer are not
/// worth setting it to zero first, more would round too often.
constexpr int64_t kMinRows = 8, kMaxRows = 2048;
/// Iterations of the vector loop that a thread takes at a time where no other
/// loop is kept.
constexpr int64_t kGrain = 4096;
/// The same, at least, where each is a reduction of so many elements.
constexpr int64_t kColumnGrain = 256, kLongColumn = 64;
/// Rows of a tile for which there are registers.
constexpr int64_t kMaxTileWidth = 16;
/// Rows of tiles that are walked before the next lanes, and that threads take
/// at a time.
constexpr int64_t kTileRows = 64;
/// A load or store by way of a transposed tile, beside one of unit step.
constexpr double kTransposeCost = 2.5;
/// Terms of a reduction that cost no more than to write their sum.
constexpr double kFewIterations = 16;
/// Iterations side by side that the registers have room for.
constexpr int64_t kMaxUnroll = 8;
/// Instructions of the places of a window that are emitted one after another.
constexpr int64_t kMaxWindowCode = 1024;
/// The bodies of a vector loop, whole vectors and the rest, and those of tiles,
/// which may lack rows or lanes.
constexpr int64_t kLoopBodies = 2, kTileBodies = 3;

class LoopOrder {
public:
  LoopOrder(const Stage &stage, const Processor &processor, bool isAlone,
            ArrayRef<int64_t> outer)
      : stage(stage), numLoops(stage.getNumLoops()),
        vectorBits(processor.vectorBits), isAlone(isAlone), outer(outer),
        code(stage.getCodeSize()) {}

  ScheduleAttr choose();

private:
  int64_t getExtent(unsigned loop) const {
    int64_t extent = stage.getPlannedExtent(loop);
    return ShapedType::isDynamic(extent) ? kAssumedExtent : extent;
  }
  /// The iterations of the vector loop in a strip, or all if there are none.
  int64_t getColumns(unsigned vectorLoop) const {
    return strip > 0 ? strip : getExtent(vectorLoop);
  }
  /// The step of an access along a loop in elements, if it is a constant.
  std::optional<int64_t> getStep(const StagePlace &place, unsigned loop) const {
    return stage.getStep(place.offset, loop);
  }
  /// Whether so many copies of the body are a kernel of bounded size.
  bool fits(int64_t copies) const { return copies * code <= kMaxKernelCode; }
  bool reducesFew() const;
  double getMeanStep(const StagePlace &place, unsigned loop) const;
  std::optional<int64_t> getPlannedStep(AffineMap map, Type type,
                                        unsigned loop) const;
  double getTotalStep(unsigned loop) const;
  int64_t getLanes(unsigned loop) const;
  double getAccessCost(const StagePlace &place, unsigned loop, int64_t lanes,
                       bool isWrite) const;
  std::optional<double> getVectorCost(unsigned loop, int64_t lanes) const;
  int64_t getLaneBytes() const;
  void sortByContinuity(SmallVectorImpl<int64_t> &loops) const;
  void insertStrips(SmallVectorImpl<int64_t> &kept, int64_t vectorLoop) const;
  std::pair<int64_t, int64_t> chooseVector() const;
  std::optional<double> getTileCost(unsigned loop, unsigned rows,
                                    int64_t lanes) const;
  int64_t chooseTile(int64_t &vectorLoop, int64_t &lanes) const;
  ScheduleAttr makeCarriedTileSchedule(int64_t vectorLoop, int64_t lanes) const;
  ScheduleAttr makeTileSchedule(int64_t vectorLoop, int64_t lanes,
                                int64_t tileLoop) const;
  double getSharedCost(unsigned loop, int64_t vectorLoop) const;
  int64_t getUnrollFactor(unsigned loop) const;
  LevelTail getUnrollTail(int64_t loop) const;
  bool isWalkedByRows(int64_t vectorLoop) const;
  bool addsRows(int64_t vectorLoop, int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseAddedRows(int64_t vectorLoop) const;
  std::optional<unsigned> choosePhases(unsigned vectorLoop,
                                       int64_t lanes) const;
  bool isWindow(unsigned loop) const;
  SmallVector<int64_t> chooseWindow(ArrayRef<int64_t> reduced,
                                    int64_t copies) const;
  std::pair<int64_t, int64_t> chooseChains(int64_t vectorLoop,
                                           int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseUnroll(int64_t vectorLoop,
                                           int64_t lanes) const;
  int64_t chooseGrain(int64_t vectorLoop, int64_t step) const;

  const Stage &stage;
  unsigned numLoops;
  unsigned vectorBits;
  /// Whether no other stage is in the kernel, so that a dimension may have two
  /// loops.
  bool isAlone;
  /// Loops that stand outside, in this order, as other stages share them.
  ArrayRef<int64_t> outer;
  /// The step of a further level of the vector loop, over its strips, which
  /// stands outside; 0 if there is none.
  int64_t strip = 0;
  /// Instructions of one copy of the body.
  int64_t code;
};

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

/// Whether writing is much of the work: each element has few terms.
bool LoopOrder::reducesFew() const {
  double terms = 1;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (llvm::none_of(stage.writes, [&](const StageWrite &write) {
          return write.loops.test(loop);
        }))
      terms *= getExtent(loop);
  return terms <= kFewIterations;
}

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
      simplifyAffineExpr(moved, numLoops, stage.symbols.size()));
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
    if (stage.isGrowing() && getStep(place, loop))
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
  llvm::sort(loops, [&](int64_t a, int64_t b) {
    double stepA = getTotalStep(a), stepB = getTotalStep(b);
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
      int64_t width = std::min(getLanes(loop), kMaxTileWidth);
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
                               stage.isGrowing(tileLoop) || rows > kTileRows);
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

/// What neighbouring iterations of a kept loop share: the cost of the reads
/// that do not move along it.
double LoopOrder::getSharedCost(unsigned loop, int64_t vectorLoop) const {
  double shared = 0;
  for (const StageRead &read : stage.reads) {
    if (stage.getLoopsOf(read.value).test(loop))
      continue;
    bool isVector =
        vectorLoop >= 0 && stage.getLoopsOf(read.value).test(vectorLoop);
    shared += isVector ? 1 : 0.25;
    shared += 0.5 * read.place.rangeChecks.size();
  }
  return shared;
}

/// Small extents are unrolled whole. For others there are two factors only, so
/// that kernels that differ in the extent are often the same loops; up to three
/// iterations behind the end are computed in vain.
int64_t LoopOrder::getUnrollFactor(unsigned loop) const {
  int64_t extent = stage.getStaticExtent(loop);
  if (ShapedType::isDynamic(extent))
    return 1;
  if (stage.isGrowing(loop))
    return kUnroll;
  if (extent <= kMaxUnroll)
    return std::max<int64_t>(extent, 1);
  return extent % kMaxUnroll == 0 ? kMaxUnroll : kUnroll;
}

/// What is left over of a loop that all results keep is computed once more and
/// not stored, which is the same code whether there is anything left over.
LevelTail LoopOrder::getUnrollTail(int64_t loop) const {
  bool isMasked = loop >= 0 &&
                  !ShapedType::isDynamic(stage.getStaticExtent(loop)) &&
                  llvm::all_of(stage.writes, [&](const StageWrite &write) {
                    return write.loops.test(loop);
                  });
  return isMasked ? LevelTail::Mask : LevelTail::Body;
}

/// Whether a reduction that keeps the vector loop is little more than reads of
/// unit step, of which many fit side by side.
bool LoopOrder::isWalkedByRows(int64_t vectorLoop) const {
  return stage.writes.size() == 1 && stage.reads.size() <= 2 &&
         stage.body.size() <= 4 &&
         llvm::all_of(stage.reads, [&](const StageRead &read) {
           return !read.place.isGuarded() &&
                  getStep(read.place, vectorLoop) == 1;
         });
}

/// Whether rows are added to a row of results in memory, and not by columns to
/// results in registers. Element-wise results of the same rows go along.
bool LoopOrder::addsRows(int64_t vectorLoop, int64_t lanes) const {
  const auto *sum = llvm::find_if(
      stage.writes, [](const StageWrite &write) { return write.kind; });
  if (vectorLoop < 0 || !outer.empty() || sum == stage.writes.end())
    return false;
  int64_t rows = 1, iterations = 1, rowBytes = 0;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (ShapedType::isDynamic(stage.getStaticExtent(loop)))
      return false;
    iterations *= getExtent(loop);
    rows *= sum->loops.test(loop) ? 1 : getExtent(loop);
  }
  for (const StageWrite &write : stage.writes) {
    if (!write.isProjection || write.place.isGuarded() ||
        getStep(write.place, vectorLoop) != 1)
      return false;
    if (!write.kind)
      continue;
    // Sums of halves would be rounded to a half for each row.
    if (write.loops != sum->loops || getElementBytes(write.value.getType()) < 4)
      return false;
    rowBytes += getColumns(vectorLoop) * getElementBytes(write.value.getType());
  }
  bool areRows = llvm::all_of(stage.reads, [&](const StageRead &read) {
    auto step = getStep(read.place, vectorLoop);
    return !read.place.isGuarded() && (step == 0 || step == 1);
  });
  return areRows && rowBytes <= kMaxRowBytes &&
         getColumns(vectorLoop) > kRun * lanes && rows >= kMinRows &&
         rows <= kMaxRows && iterations >= Stage::manyIterations;
}

/// How many rows are added at a time. Where a row is longer than a page, as far
/// as the processor foresees what is read, memory answers several side by side
/// faster than one.
std::pair<int64_t, int64_t>
LoopOrder::chooseAddedRows(int64_t vectorLoop) const {
  if (getColumns(vectorLoop) * getLaneBytes() <= kPageBytes)
    return {vectorLoop, kUnroll};
  SmallVector<int64_t> reduced;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (llvm::none_of(stage.writes, [&](const StageWrite &write) {
          return write.disjoint.test(loop);
        }))
      reduced.push_back(loop);
  sortByContinuity(reduced);
  int64_t rows = reduced.empty() ? 1 : getUnrollFactor(reduced.back());
  if (rows == 1)
    return {vectorLoop, kUnroll};
  return {reduced.back(), rows};
}

/// The loop whose iterations, side by side, fill vectors of the result, where
/// writing is much of the work.
std::optional<unsigned> LoopOrder::choosePhases(unsigned vectorLoop,
                                                int64_t lanes) const {
  if (stage.writes.size() > 1 || !reducesFew())
    return std::nullopt;
  auto phases = getPhaseLoop(stage, stage.writes.front(), vectorLoop, lanes);
  if (!phases || llvm::is_contained(outer, *phases) ||
      !fits(kLoopBodies * stage.getStaticExtent(*phases)))
    return std::nullopt;
  return phases;
}

/// The loop whose iterations are chains of prefixes side by side, each step of
/// which waits for the one before it.
std::pair<int64_t, int64_t> LoopOrder::chooseChains(int64_t vectorLoop,
                                                    int64_t lanes) const {
  if (vectorLoop >= 0) {
    for (int64_t factor : {2 * kUnroll, kUnroll, kUnroll / 2})
      if (getExtent(vectorLoop) >= factor * lanes)
        return {vectorLoop, factor};
    return {-1, 1};
  }
  std::pair<int64_t, int64_t> best = {-1, 1};
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (int64_t factor = getUnrollFactor(loop);
        factor > best.second && !stage.isCarried(loop) &&
        !llvm::is_contained(outer, loop))
      best = {loop, factor};
  return best;
}

std::pair<int64_t, int64_t> LoopOrder::chooseUnroll(int64_t vectorLoop,
                                                    int64_t lanes) const {
  if (stage.carry)
    return chooseChains(vectorLoop, lanes);
  if (!stage.hasReduction())
    return {-1, 1};
  if (addsRows(vectorLoop, lanes))
    return chooseAddedRows(vectorLoop);
  // A kept loop, where all results stay in registers through the reduced loops.
  std::pair<int64_t, int64_t> best = {-1, 1};
  double bestShared = 0;
  const StageWrite &first = stage.writes.front();
  bool inRegisters = llvm::all_of(stage.writes, [&](const StageWrite &write) {
    return write.kind && write.isProjection && write.loops == first.loops;
  });
  if (inRegisters && vectorLoop >= 0)
    if (auto phases = choosePhases(vectorLoop, lanes))
      return {*phases, stage.getStaticExtent(*phases)};
  for (unsigned loop = 0; inRegisters && loop < numLoops; ++loop) {
    int64_t factor = getUnrollFactor(loop);
    double shared = getSharedCost(loop, vectorLoop);
    if (static_cast<int64_t>(loop) == vectorLoop || factor == 1 ||
        !first.loops.test(loop) || shared <= bestShared ||
        llvm::is_contained(outer, loop))
      continue;
    best = {loop, factor};
    bestShared = shared;
  }
  // Nothing is shared: several vectors side by side hide the latency.
  if (best.first != -1 || vectorLoop < 0 || !inRegisters)
    return best;
  if (first.loops.test(vectorLoop) && isWalkedByRows(vectorLoop))
    for (int64_t factor : {kRun, kRun / 2, kRun / 4})
      if (getColumns(vectorLoop) >= factor * lanes)
        return {vectorLoop, factor};
  if (getColumns(vectorLoop) >= 2 * kUnroll * lanes)
    best = {vectorLoop, kUnroll};
  return best;
}

/// Whether neighbouring places of a result are made of elements in common,
/// which lie along the loop: in the window of a pooling, x[2 * i + r] along r.
bool LoopOrder::isWindow(unsigned loop) const {
  int64_t extent = stage.getStaticExtent(loop);
  if (ShapedType::isDynamic(extent) || stage.isGrowing(loop) ||
      extent > kMaxUnroll ||
      llvm::any_of(stage.writes, [&](const StageWrite &write) {
        return write.loops.test(loop);
      }))
    return false;
  auto slides = [&](AffineExpr index) {
    return index.isFunctionOfDim(loop) &&
           llvm::any_of(llvm::seq<unsigned>(0, numLoops), [&](unsigned other) {
             return other != loop && index.isFunctionOfDim(other);
           });
  };
  return llvm::any_of(stage.reads, [&](const StageRead &read) {
    return llvm::any_of(read.map.getResults(), slides);
  });
}

/// The loops of a window, from the innermost on: without loops, what it checks
/// and where it reads is constant for each of its places. Where `copies` of its
/// body are side by side, it is the whole window or nothing: what its rows have
/// in common is read again for each of them otherwise.
SmallVector<int64_t> LoopOrder::chooseWindow(ArrayRef<int64_t> reduced,
                                             int64_t copies) const {
  SmallVector<int64_t> window;
  int64_t places = 1;
  for (int64_t loop : llvm::reverse(reduced)) {
    if (!isWindow(loop))
      break;
    int64_t more = places * stage.getStaticExtent(loop);
    if (more > kMaxEmitted || more * copies * code > kMaxWindowCode)
      break;
    places = more;
    window.push_back(loop);
  }
  int64_t whole =
      llvm::count_if(reduced, [&](int64_t loop) { return isWindow(loop); });
  if (copies > 1 && static_cast<int64_t>(window.size()) < whole)
    return {};
  llvm::sort(window);
  return window;
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
  bool isOne = !ShapedType::isDynamic(extent) && !stage.isGrowing(vectorLoop) &&
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

  SmallBitVector keptLoops(numLoops, true);
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

} // namespace

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
