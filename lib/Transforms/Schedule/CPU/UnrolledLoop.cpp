//===- UnrolledLoop.cpp - Which iterations are side by side ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop to unroll and jam is the kept loop along which the most costly reads
// stay where they are: they are read once for all copies (register blocking).
// Of prefixes, copies of the vector loop are chains side by side. Where
// elements are results, they are vectors that take longer than the processor
// looks ahead (Latency.cpp).
//
// The short loops of a window are none: each place of it is emitted, with the
// checks and distances that it has.
//
// Tiles and unrolled loops repeat the body. Where it is long, there are fewer
// copies, or none, so that the kernel stays within kMaxKernelCode: long bodies
// are bound by what they compute, which copies do not lessen.
//
//===----------------------------------------------------------------------===//

#include "Latency.h"
#include "LoopOrder.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"

using namespace mlir;
using namespace mlir::metaop;

/// Vectors side by side that hide the latency of an addition.
static constexpr int64_t kUnroll = 4;
/// Vectors side by side where reduced rows are walked: memory is read in runs
/// of this many.
static constexpr int64_t kRowRun = 16;
/// Results that the first cache has room for, in bytes.
static constexpr int64_t kMaxCachedRowBytes = 32 << 10;
/// Rows that are added one after another to a row in memory: fewer are not
/// worth setting it to zero first, more would round too often.
static constexpr int64_t kMinAddedRows = 8, kMaxRows = 2048;
/// Iterations side by side that the registers have room for.
static constexpr int64_t kMaxJammed = 8;
/// Cycles of an element that the processor fills with later ones by itself, and
/// the registers that each of the vectors side by side needs.
static constexpr int64_t kHiddenCycles = 110, kVectorRegisters = 4;
/// Instructions of the places of a window that are emitted one after another.
static constexpr int64_t kMaxWindowCode = 1024;

/// Returns the cost that neighbouring iterations of a kept loop share: that of
/// the reads that do not move along it, but for those that move along none
/// where `moving` is set: a number is read once however loops are.
double LoopOrder::getSharedCost(unsigned loop, int64_t vectorLoop,
                                bool moving) const {
  double shared = 0;
  for (const StageRead &read : stage.reads) {
    llvm::SmallBitVector loops = stage.getLoopsOf(read.value);
    if (loops.test(loop) || (moving && loops.none()))
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
  if (stage.isVarying(loop))
    return kUnroll;
  if (extent <= kMaxJammed)
    return std::max<int64_t>(extent, 1);
  return extent % kMaxJammed == 0 ? kMaxJammed : kUnroll;
}

/// Chooses the tail of an unrolled loop. The rest of a loop that all results
/// keep is computed once more and not stored, which is the same code whether
/// there is anything left over.
LevelTail LoopOrder::getUnrollTail(int64_t loop) const {
  bool isMasked = loop >= 0 &&
                  !ShapedType::isDynamic(stage.getStaticExtent(loop)) &&
                  llvm::all_of(stage.writes, [&](const StageWrite &write) {
                    return write.loops.test(loop);
                  });
  return isMasked ? LevelTail::Mask : LevelTail::Body;
}

/// Returns whether a reduction that keeps the vector loop is little more than
/// reads of unit step, of which many fit side by side.
bool LoopOrder::isWalkedByRows(int64_t vectorLoop) const {
  return stage.writes.size() == 1 && stage.reads.size() <= 2 &&
         stage.body.size() <= 4 &&
         llvm::all_of(stage.reads, [&](const StageRead &read) {
           return !read.place.isGuarded() &&
                  getStep(read.place, vectorLoop) == 1;
         });
}

/// Returns whether rows are added to a row of results in memory, and not by
/// columns to results in registers. Element-wise results of the same rows go
/// along.
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
  return areRows && rowBytes <= kMaxCachedRowBytes &&
         getColumns(vectorLoop) > kRowRun * lanes && rows >= kMinAddedRows &&
         rows <= kMaxRows && iterations >= Stage::manyIterations;
}

/// Chooses how many rows are added at a time. Where a row is longer than a
/// page, as far as the processor foresees what is read, memory answers several
/// side by side faster than one.
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

/// Chooses how many vectors are computed side by side where elements are
/// results. Two were no faster than one in any chain that was measured.
std::pair<int64_t, int64_t> LoopOrder::chooseVectors(int64_t vectorLoop,
                                                     int64_t lanes) const {
  bool isPlain = llvm::all_of(stage.writes, [](const StageWrite &write) {
    return !write.kind || write.isProjection;
  });
  if (vectorLoop < 0 || !isPlain)
    return {-1, 1};
  int64_t latency = estimateLatency(stage, vectorLoop);
  for (int64_t vectors : {2 * kUnroll, kUnroll})
    if (latency >= vectors / kUnroll * kHiddenCycles &&
        vectors * kVectorRegisters <= registers &&
        vectors * lanes <= getExtent(vectorLoop) && fits(kLoopBodies * vectors))
      return {vectorLoop, vectors};
  return {-1, 1};
}

std::pair<int64_t, int64_t> LoopOrder::chooseUnroll(int64_t vectorLoop,
                                                    int64_t lanes) const {
  if (stage.carry)
    return chooseChains(vectorLoop, lanes);
  if (!stage.hasReduction())
    return chooseVectors(vectorLoop, lanes);
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
  // Rows side by side hide the latency, too, but are read far from each other.
  bool isLong =
      vectorLoop >= 0 && getColumns(vectorLoop) >= 2 * kUnroll * lanes;
  for (unsigned loop = 0; inRegisters && loop < numLoops; ++loop) {
    int64_t factor = getUnrollFactor(loop);
    double shared = getSharedCost(loop, vectorLoop, /*moving=*/isLong);
    if (static_cast<int64_t>(loop) == vectorLoop || factor == 1 ||
        !first.loops.test(loop) || shared <= bestShared ||
        llvm::is_contained(outer, loop))
      continue;
    best = {loop, factor};
    bestShared = shared;
  }
  // Nothing is shared: several vectors side by side hide the latency.
  if (best.first != -1 || vectorLoop < 0)
    return best;
  if (!inRegisters)
    return chooseVectors(vectorLoop, lanes);
  if (first.loops.test(vectorLoop) && isWalkedByRows(vectorLoop))
    for (int64_t factor : {kRowRun, kRowRun / 2, kRowRun / 4})
      if (getColumns(vectorLoop) >= factor * lanes)
        return {vectorLoop, factor};
  if (isLong)
    best = {vectorLoop, kUnroll};
  return best;
}

/// Returns whether neighbouring places of a result are made of elements in
/// common, which lie along the loop: in the window of a pooling, x[2 * i + r]
/// along r.
bool LoopOrder::isWindow(unsigned loop) const {
  int64_t extent = stage.getStaticExtent(loop);
  if (ShapedType::isDynamic(extent) || stage.isVarying(loop) ||
      extent > kMaxJammed ||
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
