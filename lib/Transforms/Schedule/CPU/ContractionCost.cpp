//===- ContractionCost.cpp - Prices of plans of a contraction -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cycles of what a plan does, by its tile, what it packs and what it stores.
// They are for comparing plans of one contraction: those of which all have the
// same are left out.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlanner.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// Independent multiplications that hide the latency of one.
static constexpr double kLatency = 8;
/// Cycles of an element that is copied: as it lies, also from a tensor that is
/// larger than the second cache, or transposed on the way; and of a result that
/// is stored.
static constexpr double kCopyCycles = 0.4, kFarCopyCycles = 0.9,
                        kTransposeCycles = 0.8, kStoreCycles = 0.15,
                        kTransposedStoreCycles = 0.5, kScatterCycles = 4;
/// Cycles that a transposed tile adds where its lanes lie on pages of their
/// own.
static constexpr double kFarStoreCycles = 2;
static constexpr int64_t kFarStoreBytes = 2048;
/// Cycles of a result that is read again and stored among other phases.
static constexpr double kInterleaveCycles = 0.6;
/// The factor of loads where they are as many as multiplications.
static constexpr double kLoadFactor = 1.12;
/// Cycles of a cache line that no prefetch of the processor foresees, where a
/// factor is larger than the second cache and walked across its rows; where
/// each is asked for once, some steps ahead; and steps, in elements, that still
/// are along rows.
static constexpr double kFarLineCycles = 25, kStayingLineCycles = 9;
/// The most that comes from the third cache, in sizes of the second one.
static constexpr int64_t kThirdCaches = 4;
static constexpr int64_t kNearStep = 16;
/// Cycles around the steps of one row of a tile: a panel's start and end.
static constexpr double kRowOverhead = 1;
/// Cycles of a line that comes from the second cache.
static constexpr double kLineCycles = 2.5;
/// Cycles of an element that is read for one panel, and its neighbours are not.
static constexpr double kSkipCycles = 0.3;
/// Rows of so many elements are read as what they are, panels.
static constexpr int64_t kMaxPanelWidth = 128;
/// The call of a kernel that packs.
static constexpr double kCallCycles = 2000;
/// Trips of a loop before which a factor is packed, about.
static constexpr double kTrips = 16;
/// Rows of at most so many bytes are read again for each such panel.
static constexpr int64_t kFewRowsBytes = 1 << 16;

/// Counts the elements of the tensor that is read, with the extents to schedule
/// for.
int64_t ContractionPlanner::countElements(const StageRead &read) const {
  int64_t elements =
      cast<RankedTensorType>(read.source.getType()).getNumElements();
  SmallBitVector loops = stage.getLoopsOf(read.value);
  for (unsigned loop : loops.set_bits())
    if (int64_t extent = stage.getStaticExtent(loop);
        stage.isVarying(loop) && extent > 0)
      elements = multiplyCounts(elements, getExtent(loop)) / extent;
  return elements;
}

/// Counts the results of the contraction.
int64_t ContractionPlanner::countResults() const {
  SmallBitVector kept = write.loops;
  kept.resize(stage.getNumLoops());
  return count(kept);
}

/// Returns the bytes of the tensor that a factor is read from.
double ContractionPlanner::getBytes(const Contraction::Factor &factor) const {
  const StageRead &read = *factor.reads.front();
  return static_cast<double>(multiplyCounts(
      countElements(read), getElementBytes(read.source.getType())));
}

//===----------------------------------------------------------------------===//
// Multiplications
//===----------------------------------------------------------------------===//

double metaop::getRowCycles(int64_t extent, int64_t size, int64_t numVectors) {
  double tile = std::max<double>(size + kRowOverhead, kLatency / numVectors);
  return static_cast<double>(llvm::divideCeilSigned(extent, size)) * tile;
}

/// Returns the same where what is left over has a body of its size.
static double getExactRowCycles(int64_t extent, int64_t size,
                                int64_t numVectors) {
  double cycles = getRowCycles(extent / size * size, size, numVectors);
  if (int64_t rest = extent % size)
    cycles += getRowCycles(rest, rest, numVectors);
  return cycles;
}

double ContractionPlanner::getTileCycles(const ContractionPlan &plan) const {
  int64_t numVectors = plan.width / plan.lanes;
  double steps = count(contraction.reduced) * count(contraction.batch);
  const Contraction::Factor &vectors = contraction.factors[plan.vectors];
  const Contraction::Factor &other = contraction.factors[1 - plan.vectors];
  int64_t rows = 1;
  for (TileDim row : plan.rows)
    rows *= row.size;
  for (unsigned dim : other.own.set_bits()) {
    const auto *row = llvm::find_if(
        plan.rows, [&](TileDim row) { return row.dim == int64_t(dim); });
    if (row == plan.rows.end())
      steps *= getExtent(dim);
    else if (plan.rows.size() == 1)
      steps *= (stage.isVarying(dim) ? getExactRowCycles : getRowCycles)(
          getExtent(dim), row->size, numVectors);
    else
      steps *=
          static_cast<double>(llvm::divideCeil(getExtent(dim), row->size)) *
          row->size;
  }
  if (plan.rows.size() != 1)
    steps *= std::max((rows + kRowOverhead) / rows,
                      kLatency / static_cast<double>(rows * numVectors));
  for (unsigned dim : vectors.own.set_bits())
    if (static_cast<int64_t>(dim) != plan.lanesDim)
      steps *= getExtent(dim);
  // Each multiplication by a single vector loads a broadcast element of its
  // own.
  double perVector = numVectors == 1 ? kLoadFactor : 1;
  return steps * llvm::divideCeil(getExtent(plan.lanesDim), plan.width) *
         numVectors * perVector / 2;
}

/// Returns by how much lines of the first cache slow a tile down whose rows lie
/// on a line each, and whose steps do not stay on it: loops of conditions stand
/// outside.
double ContractionPlanner::getLinesFactor(const ContractionPlan &plan) const {
  const StageRead &read = *contraction.factors[1 - plan.vectors].reads.front();
  int64_t bytes = getElementBytes(read.value.getType());
  auto isFar = [&](unsigned dim) {
    auto step = stage.getStep(read.place.offset, dim);
    return !step || std::abs(*step) * bytes >= kLineBytes;
  };
  for (unsigned dim : contraction.reduced.set_bits())
    if (!isTested(write, dim) && getExtent(dim) > 1 && !isFar(dim))
      return 1;
  double rows = 1, lines = 1;
  for (TileDim row : plan.rows) {
    rows *= static_cast<double>(row.size);
    if (isFar(row.dim))
      lines *= static_cast<double>(row.size);
  }
  double products = rows * static_cast<double>(plan.width / plan.lanes);
  return std::max(1.0, lines * kLineCycles / (products / 2));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

double ContractionPlanner::getPackCycles(const Contraction::Factor &factor,
                                         bool isTransposed,
                                         int64_t points) const {
  double cycles = isTransposed ? kTransposeCycles : kCopyCycles;
  if (!isTransposed && getBytes(factor) > processor.getSecondCacheShare())
    cycles = kFarCopyCycles;
  cycles = kCallCycles + cycles * static_cast<double>(points) *
                             static_cast<double>(factor.reads.size());
  bool isOnce = packing.isBeforeLoops[&factor - contraction.factors.begin()];
  return isOnce ? cycles / kTrips : cycles;
}

/// Returns the cost of stepping over elements: each panel of vectors brings the
/// lines of all that is between to the first cache, where fewer rows fit.
double ContractionPlanner::getSkipCycles(const Contraction::Factor &factor,
                                         const ContractionPlan &plan) const {
  const StageRead &read = *factor.reads.front();
  bool skips = llvm::any_of(read.map.getResults(), [&](AffineExpr index) {
    return findOnlyStep(stage, index).has_value();
  });
  if (!skips)
    return 0;
  SmallBitVector loops = stage.getLoopsOf(factor.value);
  loops.resize(stage.getNumLoops());
  double panels = llvm::divideCeilSigned(getExtent(plan.lanesDim), plan.width);
  return kSkipCycles * static_cast<double>(count(loops)) * panels;
}

/// Returns true if one step of the sum is as far as a dimension of the factor's
/// own is long, and that is short: memory is read from one end to the other.
bool ContractionPlanner::isPanel(const Contraction::Factor &factor,
                                 int64_t step) const {
  return step <= kMaxPanelWidth &&
         llvm::any_of(factor.own.set_bits(), [&](unsigned dim) {
           return stage.getStaticExtent(dim) == step &&
                  stage.getStep(factor.reads.front()->place.offset, dim) == 1;
         });
}

/// Cycles of waiting for the cache lines, each once, of the tensor that a
/// factor is read from, or of a copy, which has the factor's own type.
double ContractionPlanner::getFarCycles(const Contraction::Factor &factor,
                                        bool isCopied) const {
  double total = getBytes(factor);
  if (isCopied)
    total *= static_cast<double>(getElementBytes(factor.value.getType())) /
             getElementBytes(factor.reads.front()->source.getType());
  if (total <= processor.getSecondCacheShare())
    return 0;
  for (unsigned dim : contraction.reduced.set_bits()) {
    auto step = stage.getStep(factor.reads.front()->place.offset, dim);
    if (step && *step != 0 &&
        (std::abs(*step) <= kNearStep || isPanel(factor, *step)))
      return 0;
  }
  return total / kLineBytes * kFarLineCycles;
}

/// Returns the steps of the sum whose vectors, read where they lie, stay in the
/// first cache until all rows of the other factor have passed by; 0 where these
/// are too many to be read for each panel, or vectors no longer come from the
/// third cache.
int64_t ContractionPlanner::getStayingSteps(const ContractionPlan &plan) const {
  const StageRead &read = *contraction.factors[plan.vectors].reads.front();
  int64_t bytes = getElementBytes(read.source.getType());
  // Lines whose distance is a multiple of a large power of two fall into few
  // sets of the cache.
  int64_t panelBytes = plan.width * bytes, distance = 0;
  for (unsigned dim : contraction.reduced.set_bits())
    if (getExtent(dim) > 1)
      distance = std::gcd(
          distance, stage.getStep(read.place.offset, dim).value_or(1) * bytes);
  int64_t span = std::max(std::gcd(distance, kPageBytes), panelBytes);
  int64_t kept = processor.firstCacheBytes / span;
  int64_t steps =
      std::min(kept * 2, processor.firstCacheBytes / panelBytes * 2 / 3);

  steps = std::min(steps, plan.sumBlock);

  int64_t rows = 1;
  for (unsigned dim : contraction.factors[1 - plan.vectors].own.set_bits())
    rows = multiplyCounts(rows, getExtent(dim));
  if (multiplyCounts(rows, steps * bytes) > kFewRowsBytes ||
      getBytes(contraction.factors[plan.vectors]) >
          static_cast<double>(kThirdCaches * processor.secondCacheBytes))
    return 0;
  return steps;
}

/// Cycles of waiting for vectors of which panels stay in the first cache.
double
ContractionPlanner::getStayingCycles(const Contraction::Factor &factor) const {
  return getFarCycles(factor, /*isCopied=*/false) *
         (kStayingLineCycles / kFarLineCycles);
}

/// Cycles of storing the results, of which each block of the sum is added to
/// memory.
double ContractionPlanner::getStoreCycles(const ContractionPlan &plan) const {
  int64_t bytes = getElementBytes(write.value.getType());
  int64_t steps = count(contraction.reduced);
  double perStore = kStoreCycles;
  int64_t apart = *stage.getStep(place, plan.lanesDim);
  if (plan.transpose >= 0)
    perStore = kTransposedStoreCycles +
               (std::abs(apart) * bytes > kFarStoreBytes ? kFarStoreCycles : 0);
  else if (apart != 1 && !plan.movesRows)
    perStore = kScatterCycles;
  perStore *= static_cast<double>(llvm::divideCeilSigned(steps, plan.sumBlock));
  return static_cast<double>(countResults()) * perStore;
}

/// Cycles of the kernel that interleaves phases.
double ContractionPlanner::getInterleaveCycles() const {
  return kCallCycles + kInterleaveCycles * static_cast<double>(countResults());
}

/// Cycles of the kernel that puts results of moved rows into their order.
double ContractionPlanner::getMoveCycles() const {
  return kCallCycles + kTransposeCycles * static_cast<double>(countResults());
}
