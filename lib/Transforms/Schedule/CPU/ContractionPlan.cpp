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
// The tile has as many sums as there are registers beside one row of vectors
// and one broadcast element. Its rows are one own dimension of the broadcast
// factor, or several where that is short; of several sizes the one that wastes
// least. Few rows that are all needed may be better than many of which some are
// computed twice.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
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
/// What a transposed tile adds to that where its lanes lie on pages of their
/// own.
static constexpr double kFarStoreCycles = 2;
static constexpr int64_t kFarStoreBytes = 2048;
/// Cycles of a result that is read again and stored among other phases.
static constexpr double kInterleaveCycles = 0.6;
/// What loads add where they are as many as multiplications.
static constexpr double kLoadFactor = 1.12;
/// Cycles of a cache line that no prefetch of the processor foresees, where a
/// factor is larger than the second cache and walked across its rows; where
/// each is asked for once, some steps ahead; and steps, in elements, that still
/// are along rows.
static constexpr double kFarLineCycles = 25, kStayingLineCycles = 9;
/// So many times the second cache is what no longer comes from the third.
static constexpr int64_t kThirdCaches = 4;
static constexpr int64_t kNearStep = 16;
/// Cycles around the steps of one row of a tile: a panel's start and end.
static constexpr double kRowOverhead = 1;
/// Cycles of a step of a tile for its vectors, which come from the second
/// cache: few rows do not hide them.
static constexpr double kVectorCycles = 3;
/// The part of the cycles of one dimension as further rows below which those
/// are one that is not as near in memory.
static constexpr double kClearlyLess = 0.9;
/// Cycles of an element that is read for one panel, and its neighbours are not.
static constexpr double kSkipCycles = 0.3;
/// Rows of so many elements are read as what they are, panels.
static constexpr int64_t kMaxPanelWidth = 128;
/// Panels of vectors hold at most so many times the elements of the tensor.
static constexpr int64_t kMaxPanelRatio = 2;
/// The call of a kernel that packs.
static constexpr double kCallCycles = 2000;
/// Steps of a sum that is not worth cutting, and of a block of one that is.
static constexpr int64_t kWholeSum = 512, kBlockSum = 256;
/// The same where adding a block to memory transposes a tile.
static constexpr int64_t kWholeTransposed = 1200, kBlockTransposed = 600;
/// Panels that stay in the first cache are of at least so many steps.
static constexpr int64_t kMinStaying = 64;
/// Rows of at most so many bytes are read again for each such panel.
static constexpr int64_t kFewRowsBytes = 1 << 16;
/// Fewer products than these, and tiles that do less of what they could than
/// this part, are a plain loop's affair.
static constexpr int64_t kMinProducts = 1 << 10, kMinPackedProducts = 1 << 16;
static constexpr double kMinUse = 0.25;
/// Vectors of a row that are a tile whatever their number is.
static constexpr int64_t kMaxVectors = 3;
/// Rows of a dimension that are a tile whatever their number is.
static constexpr int64_t kMaxWholeRows = 8;
/// Rows of a dimension that varies: more would be computed in vain where few
/// are left over.
static constexpr int64_t kMaxVaryingRows = 14;
/// Rows whose distance is a number that varies have a pointer each, of which
/// there are registers for so many.
static constexpr int64_t kMaxPointers = 12;
/// Rows whose distance is a multiple of so many bytes lie in one or two sets of
/// the first cache, which have room for so many.
static constexpr int64_t kSetBytes = 2048, kMaxRowsOfSet = 14;
/// Results that follow each other in memory, for which a tile is transposed.
static constexpr int64_t kMinRun = 3;

namespace {
class ContractionPlanner {
public:
  ContractionPlanner(const Stage &stage, const Contraction &contraction,
                     const Processor &processor, bool mayPack)
      : stage(stage), contraction(contraction), processor(processor),
        mayPack(mayPack), write(stage.writes.front()),
        place(write.place.offset) {}

  std::optional<ContractionPlan> plan();

private:
  int64_t getExtent(unsigned dim) const { return stage.getClassExtent(dim); }
  int64_t count(const SmallBitVector &dims) const {
    int64_t points = 1;
    for (unsigned dim : dims.set_bits())
      points = multiplyCounts(points, getExtent(dim));
    return points;
  }
  int64_t countElements(const StageRead &read) const;
  bool isStepVarying(const StageRead &read, unsigned dim) const;
  std::optional<ContractionPlan> chooseLanes() const;
  AffineExpr getPhasesPlace(ArrayRef<ResultPhase> phases) const;
  std::optional<ContractionPlan> plan(unsigned vectors, unsigned lanesDim,
                                      int64_t numVectors) const;
  bool chooseRows(ContractionPlan &plan, int64_t maxRows) const;
  int64_t chooseSize(unsigned dim, int64_t most) const;
  std::optional<TileDim> chooseFurther(ArrayRef<unsigned> dims, int64_t most,
                                       int64_t rows) const;
  double getTileCycles(const ContractionPlan &plan) const;
  double getBytes(const Contraction::Factor &factor) const;
  double getPackCycles(const Contraction::Factor &factor, bool isTransposed,
                       int64_t points) const;
  bool needsPanels(const Contraction::Factor &factor, unsigned lanesDim) const;
  int64_t getNumVectors(unsigned lanesDim) const;
  bool isPanel(const Contraction::Factor &factor, int64_t step) const;
  double getFarCycles(const Contraction::Factor &factor, bool isCopied) const;
  int64_t getStayingSteps(const ContractionPlan &plan) const;
  bool chooseVectors(ContractionPlan &plan) const;
  bool canPad(const Contraction::Factor &factor) const;
  double getSkipCycles(const Contraction::Factor &factor,
                       const ContractionPlan &plan) const;

  const Stage &stage;
  const Contraction &contraction;
  const Processor &processor;
  const bool mayPack;
  const StageWrite &write;
  /// The offset of a result: where it is in the end, or among its phase.
  AffineExpr place;
};
} // namespace

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

/// Vectors are read where they lie if they are contiguous there.
bool ContractionPlanner::needsPanels(const Contraction::Factor &factor,
                                     unsigned lanesDim) const {
  return !factor.isInPlace(stage) ||
         stage.getStep(factor.reads.front()->place.offset, lanesDim) != 1;
}

/// Whether one step of the sum is as far as a dimension of the factor's own is
/// long, and that is short: memory is read from one end to the other.
bool ContractionPlanner::isPanel(const Contraction::Factor &factor,
                                 int64_t step) const {
  return step <= kMaxPanelWidth &&
         llvm::any_of(factor.own.set_bits(), [&](unsigned dim) {
           return stage.getStaticExtent(dim) == step &&
                  stage.getStep(factor.reads.front()->place.offset, dim) == 1;
         });
}

/// Whether a copy of the box that is read, with fill values around the tensor,
/// makes the checks of a factor's places unnecessary.
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

/// What it costs to step over elements: each panel of vectors brings the lines
/// of all that is between to the first cache, where fewer rows fit.
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

bool metaop::impliesCheck(const StageRead &read, AffineExpr check) {
  bool isZeroOutside = !read.fill ||
                       matchPattern(read.fill, m_AnyZeroFloat()) ||
                       matchPattern(read.fill, m_Zero());
  auto type = cast<RankedTensorType>(read.source.getType());
  auto simplify = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, read.map.getNumDims(),
                              read.map.getNumSymbols());
  };
  return isZeroOutside &&
         llvm::any_of(llvm::enumerate(read.map.getResults()), [&](auto dim) {
           AffineExpr last = getAffineConstantExpr(
               type.getDimSize(dim.index()) - 1, check.getContext());
           return simplify(check) == simplify(dim.value()) ||
                  simplify(check) == simplify(last - dim.value());
         });
}

static bool dependsOnTile(const ContractionPlan &plan, AffineExpr check) {
  return check.isFunctionOfDim(plan.lanesDim) ||
         llvm::any_of(plan.rows, [&](TileDim row) {
           return check.isFunctionOfDim(row.dim);
         });
}

/// Cycles of a dimension in tiles of so many rows, of which the last is
/// computed whole.
static double getRowCycles(int64_t extent, int64_t size, int64_t numVectors) {
  double tile = std::max<double>(size + kRowOverhead, kLatency / numVectors);
  return static_cast<double>(llvm::divideCeilSigned(extent, size)) * tile;
}

/// The same where what is left over has a body of its size.
static double getExactRowCycles(int64_t extent, int64_t size,
                                int64_t numVectors) {
  double cycles = getRowCycles(extent / size * size, size, numVectors);
  if (int64_t rest = extent % size)
    cycles += getRowCycles(rest, rest, numVectors);
  return cycles;
}

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

/// Short dimensions are rows as they are. For others there are few sizes, so
/// that kernels that differ in the extent are often the same loops.
int64_t ContractionPlanner::chooseSize(unsigned dim, int64_t most) const {
  int64_t extent = getExtent(dim);
  if (extent <= std::min(most, kMaxWholeRows))
    return extent;
  // Rows that are left over have bodies of their own sizes.
  if (stage.isVarying(dim))
    return std::min(most, kMaxVaryingRows);
  int64_t best = most;
  for (int64_t size : {most - 1, (most + 2) / 2})
    if (size > 1 && getRowCycles(extent, size, /*numVectors=*/2) <
                        getRowCycles(extent, best, /*numVectors=*/2))
      best = size;
  return best;
}

/// Which of further dimensions is in the tile, beside so many rows, and how
/// much of it; none where more is computed twice than vectors are read less
/// often.
std::optional<TileDim>
ContractionPlanner::chooseFurther(ArrayRef<unsigned> dims, int64_t most,
                                  int64_t rows) const {
  std::optional<TileDim> best;
  double least = static_cast<double>(rows) + kVectorCycles;
  for (unsigned dim : dims)
    for (int64_t size = std::min(most, getExtent(dim)); size > 1; --size) {
      int64_t tiles = llvm::divideCeilSigned(getExtent(dim), size);
      double cycles = static_cast<double>(tiles) / getExtent(dim) *
                      (static_cast<double>(size * rows) + kVectorCycles);
      bool isOther = best && best->dim != static_cast<int64_t>(dim);
      if (cycles >= (isOther ? kClearlyLess * least : least))
        continue;
      least = cycles;
      best = {static_cast<int64_t>(dim), size};
    }
  return best;
}

/// Returns whether the distance of neighbours along a dimension depends on an
/// extent that varies: one of a dimension inside of it.
bool ContractionPlanner::isStepVarying(const StageRead &read,
                                       unsigned dim) const {
  auto step = stage.getStep(read.place.offset, dim);
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    auto inner = stage.getStep(read.place.offset, loop);
    if (loop != dim && stage.isVarying(loop) && inner && *inner != 0 && step &&
        std::abs(*inner) < std::abs(*step))
      return true;
  }
  return false;
}

/// Chooses the rows of the tile. Results that are not contiguous along the
/// lanes are so along the first dimension of the rows.
bool ContractionPlanner::chooseRows(ContractionPlan &plan,
                                    int64_t maxRows) const {
  const Contraction::Factor &other = contraction.factors[1 - plan.vectors];
  SmallVector<unsigned> dims;
  for (unsigned dim : other.own.set_bits()) {
    // The tile's places are constant distances apart.
    bool isLinear = stage.getStep(place, dim).has_value();
    for (const StageRead *read : other.reads)
      isLinear &= stage.getStep(read->place.offset, dim).has_value();
    if (isLinear)
      dims.push_back(dim);
  }
  if (dims.empty())
    return false;
  bool isTransposed =
      stage.getStep(place, plan.lanesDim) != 1 &&
      llvm::any_of(dims, [&](unsigned dim) {
        return stage.getStep(place, dim) == 1 && getExtent(dim) >= kMinRun;
      });
  // Those that follow each other in the result first, or those that fill tiles,
  // of which those that are near.
  auto getRank = [&](unsigned dim) {
    int64_t filled = isTransposed ? 0 : std::min(getExtent(dim), maxRows);
    return std::make_tuple(-filled, std::abs(*stage.getStep(place, dim)), dim);
  };
  llvm::sort(dims,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  if (isTransposed)
    plan.transpose = dims.front();
  int64_t rows = 1;
  if (isStepVarying(*other.reads.front(), dims.front()))
    maxRows = std::min(maxRows, kMaxPointers);
  const StageRead &read = *other.reads.front();
  int64_t distance = *stage.getStep(read.place.offset, dims.front()) *
                     getElementBytes(read.value.getType());
  if (distance != 0 && distance % kSetBytes == 0)
    maxRows = std::min(maxRows, kMaxRowsOfSet);
  if (int64_t size = chooseSize(dims.front(), maxRows); size > 1) {
    plan.rows.push_back({dims.front(), size});
    rows = size;
  }
  // Others beside one that is whole.
  bool isWhole =
      rows == getExtent(dims.front()) && !stage.isVarying(dims.front());
  SmallVector<unsigned> others(llvm::drop_begin(dims));
  while (isWhole && maxRows / rows > 1) {
    auto further = chooseFurther(others, maxRows / rows, rows);
    if (!further)
      break;
    plan.rows.push_back(*further);
    rows *= further->size;
    isWhole = further->size == getExtent(further->dim) &&
              !stage.isVarying(further->dim);
    llvm::erase(others, static_cast<unsigned>(further->dim));
  }
  // A row that is alone has nothing to transpose with.
  if (isTransposed &&
      (plan.rows.empty() || plan.rows.front().dim != plan.transpose))
    return false;
  return true;
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

double ContractionPlanner::getPackCycles(const Contraction::Factor &factor,
                                         bool isTransposed,
                                         int64_t points) const {
  double cycles = isTransposed ? kTransposeCycles : kCopyCycles;
  if (!isTransposed && getBytes(factor) > processor.getSecondCacheShare())
    cycles = kFarCopyCycles;
  return kCallCycles + cycles * static_cast<double>(points) *
                           static_cast<double>(factor.reads.size());
}

/// Vectors of a row of the tile: two, or as many as a short dimension fills.
int64_t ContractionPlanner::getNumVectors(unsigned lanesDim) const {
  int64_t bytes = getElementBytes(write.value.getType());
  int64_t lanes = std::max<int64_t>(processor.vectorBits / (8 * bytes), 1);
  int64_t vectors = llvm::divideCeilSigned(getExtent(lanesDim), lanes);
  return vectors <= kMaxVectors ? vectors : 2;
}

/// The bytes of the tensor that a factor is read from.
double ContractionPlanner::getBytes(const Contraction::Factor &factor) const {
  const StageRead &read = *factor.reads.front();
  return static_cast<double>(multiplyCounts(
      countElements(read), getElementBytes(read.source.getType())));
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

/// The steps of the sum whose vectors, read where they lie, stay in the first
/// cache until all rows of the other factor have passed by; 0 where these are
/// too many to be read for each panel, or vectors no longer come from the third
/// cache.
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
      inPlace *= kStayingLineCycles / kFarLineCycles;
    }
    if (inPlace <= packed) {
      plan.cycles += inPlace;
      if (plan.panelsStay)
        plan.sumBlock = staying;
      return true;
    }
    plan.panelsStay = false;
    plan.packsVectors = true;
  }

  // What is in panels already is not packed in others.
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
  if (isPacked || points > kMaxPanelRatio * elements)
    return false;
  plan.cycles += packed;
  return true;
}

std::optional<ContractionPlan>
ContractionPlanner::plan(unsigned vectors, unsigned lanesDim,
                         int64_t numVectors) const {
  const Contraction::Factor &other = contraction.factors[1 - vectors];
  ContractionPlan plan;
  plan.vectors = vectors;
  plan.lanesDim = lanesDim;
  int64_t bytes = getElementBytes(write.value.getType());
  plan.lanes = processor.vectorBits / (8 * bytes);
  plan.width = plan.lanes * numVectors;
  int64_t maxRows = (processor.registers - numVectors - 1) / numVectors;
  if (plan.lanes < 2 || maxRows < 1 || !stage.getStep(place, lanesDim) ||
      !chooseRows(plan, maxRows))
    return std::nullopt;
  plan.cycles = getTileCycles(plan);

  int64_t steps = count(contraction.reduced);
  bool isUnbounded =
      llvm::any_of(contraction.reduced.set_bits(),
                   [&](unsigned dim) { return stage.isUnbounded(dim); });
  plan.sumBlock = getSumBlock(steps, isUnbounded, plan.transpose >= 0);
  if (!chooseVectors(plan))
    return std::nullopt;

  plan.packsBroadcast = !other.isInPlace(stage);
  for (AffineExpr check : write.place.conditions) {
    if (!dependsOnTile(plan, check))
      continue;
    plan.packsBroadcast = true;
    if (!canPad(other) || !impliesCheck(*other.reads.front(), check))
      return std::nullopt;
  }
  double far = 1;
  if (canPad(other)) {
    SmallBitVector read = stage.getLoopsOf(other.value);
    read.resize(stage.getNumLoops());
    int64_t whole = countElements(*other.reads.front());
    int64_t copied = std::min(whole, count(read));
    double packing = getPackCycles(other, /*isTransposed=*/false, copied);
    double skipped = getSkipCycles(other, plan);
    plan.packsBroadcast |= skipped > packing;
    plan.cycles += plan.packsBroadcast ? packing : skipped;
    // The copy of what is read in steps is smaller.
    if (plan.packsBroadcast)
      far = static_cast<double>(copied) / static_cast<double>(whole);
  } else if (plan.packsBroadcast) {
    return std::nullopt;
  }
  plan.cycles += far * getFarCycles(other, plan.packsBroadcast);
  SmallBitVector kept = write.loops;
  kept.resize(stage.getNumLoops());
  double perStore = kStoreCycles;
  int64_t apart = *stage.getStep(place, lanesDim);
  if (plan.transpose >= 0)
    perStore = kTransposedStoreCycles +
               (std::abs(apart) * bytes > kFarStoreBytes ? kFarStoreCycles : 0);
  else if (apart != 1)
    perStore = kScatterCycles;
  // Each block of the sum is added to memory.
  perStore *= static_cast<double>(llvm::divideCeilSigned(steps, plan.sumBlock));
  plan.cycles += static_cast<double>(count(kept)) * perStore;
  return plan;
}

SmallVector<ResultPhase> metaop::findPhases(const Stage &stage) {
  SmallVector<ResultPhase> phases;
  const StageWrite &write = stage.writes.front();
  for (auto [position, index] : llvm::enumerate(write.map.getResults())) {
    std::optional<unsigned> steps, phase;
    int64_t stride = 1;
    AffineExpr rest = index;
    for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim) {
      auto factor = getConstantCoefficient(index, dim);
      if (!factor || *factor == 0)
        continue;
      (*factor == 1 ? phase : steps) = dim;
      stride = std::max(stride, *factor);
      rest = rest - getAffineDimExpr(dim, index.getContext()) * *factor;
    }
    if (steps && phase && stage.getStaticExtent(*phase) == stride &&
        simplifyAffineExpr(rest, stage.getNumLoops(), 0) == 0)
      phases.push_back(
          {static_cast<unsigned>(position), *steps, *phase, stride});
  }
  return phases;
}

/// The offset of a result where all phases are tensors, one after another.
AffineExpr
ContractionPlanner::getPhasesPlace(ArrayRef<ResultPhase> phases) const {
  MLIRContext *ctx = stage.getContext();
  AffineExpr offset = getAffineConstantExpr(0, ctx);
  for (const ResultPhase &phase : phases)
    offset = offset * phase.stride + getAffineDimExpr(phase.phase, ctx);
  for (unsigned position = 0; position < write.shape.size(); ++position) {
    const auto *phase = llvm::find_if(phases, [&](const ResultPhase &phase) {
      return phase.position == position;
    });
    if (phase != phases.end())
      offset = offset * stage.getStaticExtent(phase->steps) +
               getAffineDimExpr(phase->steps, ctx);
    else
      offset = offset * write.shape[position] + write.map.getResult(position);
  }
  return simplifyAffineExpr(offset, stage.getNumLoops(), 0);
}

/// The plan of fewest cycles for results at `place`.
std::optional<ContractionPlan> ContractionPlanner::chooseLanes() const {
  SmallBitVector all(stage.getNumLoops(), true);
  std::optional<ContractionPlan> best;
  for (unsigned vectors : {1u, 0u})
    for (unsigned lanesDim : contraction.factors[vectors].own.set_bits()) {
      auto candidate = plan(vectors, lanesDim, getNumVectors(lanesDim));
      if (candidate &&
          (candidate->isPacked() ||
           (mayPack && count(all) >= kMinPackedProducts)) &&
          (!best || candidate->cycles < best->cycles))
        best = candidate;
    }
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
  std::optional<ContractionPlan> best = chooseLanes();
  SmallVector<ResultPhase> phases = findPhases(stage);
  if (mayPack && !phases.empty() && count(all) >= kMinPackedProducts) {
    place = getPhasesPlace(phases);
    std::optional<ContractionPlan> split = chooseLanes();
    SmallBitVector kept = write.loops;
    kept.resize(stage.getNumLoops());
    if (split)
      split->cycles += kCallCycles + kInterleaveCycles * count(kept);
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
                        const Processor &processor, bool mayPack) {
  return ContractionPlanner(stage, contraction, processor, mayPack).plan();
}

bool metaop::hasTile(const Stage &stage, const Processor &processor) {
  auto contraction = Contraction::match(stage);
  return contraction &&
         planContraction(stage, *contraction, processor, /*mayPack=*/true);
}
