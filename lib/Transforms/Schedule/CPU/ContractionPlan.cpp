//===- ContractionPlan.cpp - Tiles and panels of a contraction ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner kernel multiplies vectors of one factor by broadcast elements of
// the other. The broadcast one may lie in memory however it likes; vectors have
// to be contiguous along the lanes. So there is a plan for each own dimension
// of either factor as the lanes' one, and each is priced in cycles:
//
//   * multiplications: rows * vectors of the tile in each step of the sum, two
//     in a cycle where enough of them are independent. What does not fill a
//     tile is computed as well, or in a smaller tile, which is slower;
//   * packing: of vectors that are not contiguous, that have something to
//     compute first (a prologue), or that do not fit the second cache, where
//     walking across their rows waits for each cache line, unless a panel of
//     them stays in the first cache while few rows pass by; of broadcast
//     elements whose places are checked (the padding of a convolution);
//   * stores, more where results are contiguous along another dimension, and
//     most where they are contiguous along none: the gradient of a convolution
//     with strides by its image consists of phases, which different elements of
//     the filter reach. Each phase can be computed on its own, as a contiguous
//     tensor; they are interleaved behind.
//
// Iterations that conditions leave out cost nothing where these are tested
// outside of the tile, and are multiplied by zeros inside of it. So there is a
// plan with as many tested dimensions in the tile as there are, with one and
// with none. The rows that are left, as the images of a batch, may be far apart
// in memory; there is a plan that moves them inside, by copies of the factor
// and of the result.
//
//===----------------------------------------------------------------------===//

#include "CollapsedTensor.h"
#include "ContractionPlanner.h"
#include "MetaOps/Transforms/Schedule/Stage/UsedPart.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// Panels of vectors hold at most so many times the elements of the tensor.
static constexpr int64_t kMaxPanelRatio = 2;
/// Steps of a sum that is not worth cutting, and of a block of one that is.
static constexpr int64_t kWholeSum = 512, kBlockSum = 256;
/// The same where adding a block to memory transposes a tile.
static constexpr int64_t kWholeTransposed = 1200, kBlockTransposed = 600;
/// Panels that stay in the first cache are of at least so many steps.
static constexpr int64_t kMinStaying = 64;
/// Fewer products than these, and tiles that do less of what they could than
/// this part, are a plain loop's affair.
static constexpr int64_t kMinProducts = 1 << 10, kMinPackedProducts = 1 << 16;
static constexpr double kMinUse = 0.25;
/// Vectors of a row that are a tile whatever their number is.
static constexpr int64_t kMaxVectors = 3;

//===----------------------------------------------------------------------===//
// Panels of vectors, and the box of the other factor
//===----------------------------------------------------------------------===//

/// Vectors of a row of the tile: two, or as many as a short dimension fills.
int64_t ContractionPlanner::getNumVectors(unsigned lanesDim) const {
  int64_t bytes = getElementBytes(write.value.getType());
  int64_t lanes = std::max<int64_t>(processor.vectorBits / (8 * bytes), 1);
  int64_t vectors = llvm::divideCeilSigned(getExtent(lanesDim), lanes);
  return vectors <= kMaxVectors ? vectors : 2;
}

/// Vectors are read where they lie if they are contiguous there.
bool ContractionPlanner::needsPanels(const Contraction::Factor &factor,
                                     unsigned lanesDim) const {
  return !factor.isInPlace(stage) ||
         stage.getStep(factor.reads.front()->place.offset, lanesDim) != 1;
}

/// Returns whether a copy of the box that is read, with fill values around the
/// tensor, makes the checks of a factor's places unnecessary.
bool ContractionPlanner::canPad(const Contraction::Factor &factor) const {
  return factor.reads.size() == 1 &&
         factor.reads.front()->place.conditions.empty();
}

std::optional<std::pair<unsigned, int64_t>>
metaop::findOnlyStep(const Stage &stage, AffineExpr index) {
  std::optional<unsigned> only;
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim) {
    if (!index.isFunctionOfDim(dim))
      continue;
    if (only)
      return std::nullopt;
    only = dim;
  }
  auto step = only ? getConstantCoefficient(index, *only) : std::nullopt;
  if (!step || *step < 2)
    return std::nullopt;
  return std::pair(*only, *step);
}

/// Has the vectors packed, or else reads them where they lie, and adds what
/// that takes; neither where a copy would be too large.
bool ContractionPlanner::chooseVectors(ContractionPlan &plan) const {
  const Contraction::Factor &factor = contraction.factors[plan.vectors];
  SmallBitVector loops = stage.getLoopsOf(factor.value);
  loops.resize(stage.getNumLoops());
  int64_t points = count(loops), elements = 0;
  for (const StageRead *read : factor.reads)
    elements = std::max(elements, countElements(*read));
  bool isContiguous = llvm::all_of(factor.reads, [&](const StageRead *read) {
    return stage.getStep(read->place.offset, plan.lanesDim) == 1;
  });
  double packed = getPackCycles(factor, !isContiguous, points);
  plan.packsVectors = needsPanels(factor, plan.lanesDim);
  if (!plan.packsVectors) {
    double inPlace = getFarCycles(factor, /*isCopied=*/false);
    int64_t staying = inPlace > 0 ? getStayingSteps(plan) : 0;
    if (staying >= kMinStaying) {
      plan.panelsStay = true;
      inPlace = getStayingCycles(factor);
    }
    // Panels of lanes that vary would be as wide as the tensor is.
    if (inPlace <= packed || stage.isVarying(plan.lanesDim)) {
      plan.cycles += inPlace;
      if (plan.panelsStay)
        plan.sumBlock = staying;
      return true;
    }
    plan.panelsStay = false;
    plan.packsVectors = true;
  }

  // A factor that is in panels already is not packed in others.
  bool isPacked =
      factor.isInPlace(stage) &&
      llvm::any_of(factor.own.set_bits(), [&](unsigned dim) {
        int64_t extent = stage.getStaticExtent(dim);
        return isPanel(factor, extent) &&
               llvm::any_of(contraction.reduced.set_bits(), [&](unsigned step) {
                 return stage.getStep(factor.reads.front()->place.offset,
                                      step) == extent;
               });
      });
  SmallVector<AffineExpr> ofPanels(write.place.conditions);
  llvm::erase_if(ofPanels, [&](AffineExpr condition) {
    return llvm::any_of(llvm::seq(stage.getNumLoops()), [&](unsigned loop) {
      return condition.isFunctionOfDim(loop) && !loops.test(loop);
    });
  });
  double used = metaop::getUsedPart(stage, ofPanels) * double(points);
  if (isPacked || used > kMaxPanelRatio * double(elements))
    return false;
  plan.cycles += packed;
  return true;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Blocks are longer where adding them to memory transposes a tile. A sum that
/// may be of any length has blocks of what is whole otherwise.
static int64_t getSumBlock(int64_t steps, bool isUnbounded, bool isTransposed) {
  int64_t whole = isTransposed ? kWholeTransposed : kWholeSum;
  if (isUnbounded)
    return whole;
  if (steps <= whole)
    return std::max<int64_t>(steps, 1);
  return isTransposed ? kBlockTransposed : kBlockSum;
}

/// Has the other factor copied where its places are checked, or what is
/// stepped over costs more, and adds what that takes. Returns false where it
/// would have to be and cannot be.
bool ContractionPlanner::chooseBox(ContractionPlan &plan) const {
  const Contraction::Factor &other = contraction.factors[1 - plan.vectors];
  plan.packsBroadcast = plan.movesRows || !other.isInPlace(stage);
  for (AffineExpr check : write.place.conditions) {
    if (!dependsOnTile(plan, check))
      continue;
    plan.packsBroadcast = true;
    if (!canPad(other) || !impliesCheck(*other.reads.front(), check))
      return false;
  }
  double far = 1;
  if (canPad(other)) {
    SmallBitVector read = stage.getLoopsOf(other.value);
    read.resize(stage.getNumLoops());
    int64_t whole = countElements(*other.reads.front());
    int64_t copied = std::min(whole, count(read));
    double packing = getPackCycles(other, plan.movesRows, copied);
    double skipped = getSkipCycles(other, plan);
    plan.packsBroadcast |= skipped > packing;
    plan.cycles += plan.packsBroadcast ? packing : skipped;
    // The copy of what is read in steps is smaller.
    if (plan.packsBroadcast)
      far = static_cast<double>(copied) / static_cast<double>(whole);
  } else if (plan.packsBroadcast) {
    return false;
  }
  // Rows that have been moved are read from one end to the other.
  if (!plan.movesRows)
    plan.cycles += far * getFarCycles(other, plan.packsBroadcast);
  return true;
}

std::optional<ContractionPlan> ContractionPlanner::plan(unsigned vectors,
                                                        unsigned lanesDim,
                                                        int64_t maxTested,
                                                        bool movesRows) const {
  int64_t numVectors = getNumVectors(lanesDim);
  ContractionPlan plan;
  plan.vectors = vectors;
  plan.lanesDim = lanesDim;
  plan.movesRows = movesRows;
  int64_t bytes = getElementBytes(write.value.getType());
  plan.lanes = processor.vectorBits / (8 * bytes);
  plan.width = plan.lanes * numVectors;
  // Leave rows to lanes of pixels if many others would be in vain.
  if (movesRows && 4 * getExtent(lanesDim) < 3 * plan.width)
    return std::nullopt;
  int64_t maxRows = (processor.registers - numVectors - 1) / numVectors;
  if (plan.lanes < 2 || maxRows < 1 || !stage.getStep(place, lanesDim) ||
      !chooseRows(plan, maxRows, maxTested))
    return std::nullopt;
  plan.cycles = getTileCycles(plan) * getUsedPart(plan);
  // Rows that are near have not been chosen.
  if (maxTested < stage.getNumLoops() && !movesRows)
    plan.cycles *= getLinesFactor(plan);

  bool isUnbounded =
      llvm::any_of(contraction.reduced.set_bits(),
                   [&](unsigned dim) { return stage.isUnbounded(dim); });
  plan.sumBlock =
      getSumBlock(count(contraction.reduced), isUnbounded, plan.transpose >= 0);
  if (!chooseVectors(plan) || !chooseBox(plan))
    return std::nullopt;
  plan.cycles += getStoreCycles(plan);
  if (movesRows)
    plan.cycles += getMoveCycles();
  return plan;
}

std::optional<ResultPhase> metaop::findPhase(const Stage &stage,
                                             AffineExpr index) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    if (index.isFunctionOfDim(loop))
      loops.push_back(loop);
  if (loops.size() != 2)
    return std::nullopt;
  for (auto [steps, phase] :
       {std::pair(loops[0], loops[1]), std::pair(loops[1], loops[0])}) {
    int64_t stride = stage.getStaticExtent(phase);
    AffineExpr phases = getAffineDimExpr(steps, index.getContext()) * stride +
                        getAffineDimExpr(phase, index.getContext());
    if (stride > 1 &&
        simplifyAffineExpr(index - phases, stage.getNumLoops(), 0) == 0)
      return ResultPhase{steps, phase, stride};
  }
  return std::nullopt;
}

/// The offset of a result where all phases are tensors, one after another.
AffineExpr ContractionPlanner::getPhasesPlace() const {
  MLIRContext *ctx = stage.getContext();
  AffineExpr phases = getAffineConstantExpr(0, ctx), steps = phases;
  int64_t count = 1;
  CollapsedTensor whole = CollapsedTensor::get(stage, write);
  for (auto [extent, index] : llvm::zip_equal(whole.shape, whole.indices)) {
    std::optional<ResultPhase> found = findPhase(stage, index);
    if (!found) {
      steps = steps * extent + index;
      count *= extent;
      continue;
    }
    int64_t extentOfSteps = stage.getStaticExtent(found->steps);
    phases = phases * found->stride + getAffineDimExpr(found->phase, ctx);
    steps = steps * extentOfSteps + getAffineDimExpr(found->steps, ctx);
    count *= extentOfSteps;
  }
  return simplifyAffineExpr(phases * count + steps, stage.getNumLoops(), 0);
}

/// Returns true if rows that no condition tests may be moved inside of those
/// that are.
bool ContractionPlanner::canMoveRows() const {
  return packing.isAllowed && !write.place.conditions.empty() &&
         llvm::none_of(llvm::seq(stage.getNumLoops()),
                       [&](unsigned loop) { return stage.isVarying(loop); });
}

/// The plan of fewest cycles for results at `place`.
std::optional<ContractionPlan>
ContractionPlanner::chooseLanes(bool mayMove) const {
  SmallBitVector all(stage.getNumLoops(), true);
  std::optional<ContractionPlan> best;
  auto choose = [&](unsigned vectors, int64_t maxTested, double margin,
                    bool movesRows = false) {
    for (unsigned lanesDim : contraction.factors[vectors].own.set_bits()) {
      auto candidate = plan(vectors, lanesDim, maxTested, movesRows);
      if (candidate &&
          (candidate->isPacked() ||
           (packing.isAllowed && count(all) >= kMinPackedProducts)) &&
          (!best || candidate->cycles < margin * best->cycles))
        best = candidate;
    }
  };
  for (unsigned vectors : {1u, 0u})
    choose(vectors, stage.getNumLoops(), /*margin=*/1);
  // Outside of the tile, nothing is computed in vain.
  for (int64_t maxTested : {1, 0})
    if (!write.place.conditions.empty())
      for (unsigned vectors : {1u, 0u})
        choose(vectors, maxTested, kClearlyLess);
  if (mayMove)
    for (unsigned vectors : {1u, 0u})
      choose(vectors, /*maxTested=*/0, kClearlyLess, /*movesRows=*/true);
  return best;
}

std::optional<ContractionPlan> ContractionPlanner::plan() {
  for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
    if (ShapedType::isDynamic(getExtent(dim)) || getExtent(dim) == 0)
      return std::nullopt;
  SmallBitVector all(stage.getNumLoops(), true);
  // A product of halves that has not been widened is rounded, which takes
  // longer than all else.
  Type element = getElementTypeOrSelf(write.value.getType());
  if (element.isF16() || element.isBF16())
    return std::nullopt;
  if (processor.vectorBits == 0 || !stage.symbols.empty() ||
      count(all) < kMinProducts)
    return std::nullopt;
  std::optional<ContractionPlan> best = chooseLanes(canMoveRows());
  SmallVector<ResultPhase> phases;
  for (AffineExpr index : CollapsedTensor::get(stage, write).indices)
    if (auto phase = findPhase(stage, index))
      phases.push_back(*phase);
  if (packing.isAllowed && !phases.empty() &&
      count(all) >= kMinPackedProducts) {
    place = getPhasesPlace();
    // Each phase has room for all of its steps.
    for (const ResultPhase &phase : phases)
      llvm::erase_if(checks, [&](AffineExpr check) {
        return check.isFunctionOfDim(phase.phase);
      });
    std::optional<ContractionPlan> split = chooseLanes(/*mayMove=*/false);
    if (split)
      split->cycles += getInterleaveCycles();
    if (split && (!best || split->cycles < best->cycles)) {
      best = split;
      best->splitsPhases = true;
    }
  }
  if (best && static_cast<double>(count(all)) / (2.0 * best->lanes) <
                  kMinUse * best->cycles)
    return std::nullopt;
  return best;
}

std::optional<ContractionPlan>
metaop::planContraction(const Stage &stage, const Contraction &contraction,
                        const Processor &processor, const Packing &packing) {
  return ContractionPlanner(stage, contraction, processor, packing).plan();
}

bool metaop::hasTile(const Stage &stage, const Processor &processor) {
  auto contraction = Contraction::match(stage);
  return contraction && planContraction(stage, *contraction, processor,
                                        Packing{/*isAllowed=*/true, {}});
}
