//===- ContractionSchedule.cpp - Loops of a contraction -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a plan without packing, from outside to inside:
//
//   parallel   batches; then blocks of the vectors' dimensions, if all vectors
//              do not fit the second cache, so that each core streams its own;
//              else of the other factor's
//   blocks     of the sum: some hundred steps, whose vectors stay in the second
//              cache while the other factor passes by; longer ones where what
//              is added to memory is transposed
//   rows       of the other factor: its elements of one tile are in the first
//              cache
//   panels     vectors of a tile
//   steps      of the sum, in the order in which vectors lie in memory
//
// Rows stand inside of panels where there are so few that all of them stay in
// the first cache: then a panel is read once. So they do where vectors are read
// where they lie, far away, and it is the panel that stays in the first cache.
// And so do rows whose results follow each other in memory across the lanes, in
// blocks that fill whole cache lines: what a panel makes is one place, not one
// for each of all lanes.
//
// For C = A * B with B streamed: [parallel(n, 512), step(k, 256), step(m, 14),
// step(n, 32), step(k)]. The order differs from the one of Goto and van de
// Geijn (2008), which keeps a panel of B in the first cache and streams A from
// the second: vectors are prefetched easily, broadcast elements are not.
//
// Short steps are not unrolled: iterations of a window have elements in common,
// which would be kept in registers that the sums need.
//
// Blocks are balanced: a dimension of 1000 in blocks of at most 256 has four of
// 250. One whose extent varies has blocks of a fixed size. No decision depends
// on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/Stage/PairwiseSums.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

/// Iterations of the parallel range that keep any number of threads busy, and
/// multiplications (of vectors) for which one is worth its while.
static constexpr int64_t kEnoughBlocks = 32, kMinBlockWork = 1 << 13;
/// A usual extent of a dimension that varies, and may be long.
static constexpr int64_t kSharedExtent = 1000;
/// Fewer blocks of panels than these are not for threads alone.
static constexpr int64_t kFewIterations = 4;
/// Panels for which the other factor is read at a time, at least.
static constexpr int64_t kMinPanels = 8;
/// Steps of the sum ahead that vectors are asked for.
static constexpr int64_t kPrefetchDistance = 8;
/// Vectors of so many bytes are in the first cache anyway, or soon.
static constexpr int64_t kNearBytes = 1 << 17;

/// Rows at a time whose results are whole lines, each of several tiles.
static constexpr int64_t kRowsOfParts = 8;

static int64_t divideCeil(int64_t count, int64_t size) {
  return llvm::divideCeilSigned(count, size);
}

namespace {
class ContractionScheduler {
public:
  ContractionScheduler(const Stage &stage, const Contraction &contraction,
                       const ContractionPlan &plan, const Processor &processor);

  ScheduleAttr schedule();

private:
  int64_t getExtent(unsigned dim) const { return stage.getClassExtent(dim); }
  int64_t getTile(unsigned dim) const {
    for (TileDim entry : tile)
      if (entry.dim == static_cast<int64_t>(dim))
        return entry.size;
    return 1;
  }
  /// An extent to share among threads, of which there may be many.
  int64_t getSharedExtent(unsigned dim) const {
    return stage.isUnbounded(dim) ? kSharedExtent : getExtent(dim);
  }
  int64_t countTiles(unsigned dim) const {
    return divideCeil(getSharedExtent(dim), getTile(dim));
  }
  int64_t getRowsOfLines() const;
  void sortReduced();
  void sortByStep(SmallVectorImpl<unsigned> &dims, AffineExpr place) const;
  void cutSum();
  void addParallel();
  void addRowsOfLines();
  void shareAmongThreads(ArrayRef<unsigned> dims, int64_t wanted, int64_t least,
                         int64_t most);
  void addLevel(LevelKind kind, unsigned dim, int64_t step);
  void addTiles(ArrayRef<unsigned> dims);

  const Stage &stage;
  const Contraction &contraction;
  const ContractionPlan &plan;
  const Processor &processor;
  const StageRead &vectorRead, &otherRead;
  SmallVector<TileDim> tile;
  /// Own dimensions of the vectors, the lanes' one last; of the other factor;
  /// and reduced ones, all from outside to inside.
  SmallVector<unsigned> panels, rows, reduced;
  /// Steps of the blocks of reduced dimensions; 0 for none.
  SmallVector<int64_t> blocks;
  int64_t blockSteps = 1;
  /// The outermost rows whose results are whole cache lines, across the lanes.
  int64_t rowsOfLines;
  /// A panel is multiplied by all rows of a block before the next one is.
  bool rowsAreInside = false;
  SmallVector<LoopLevel> levels;
  int64_t iterations = 1;
};
} // namespace

ContractionScheduler::ContractionScheduler(const Stage &stage,
                                           const Contraction &contraction,
                                           const ContractionPlan &plan,
                                           const Processor &processor)
    : stage(stage), contraction(contraction), plan(plan), processor(processor),
      vectorRead(*contraction.factors[plan.vectors].reads.front()),
      otherRead(*contraction.factors[1 - plan.vectors].reads.front()),
      tile(plan.rows.begin(), plan.rows.end()) {
  tile.push_back({plan.lanesDim, plan.width});
  for (unsigned dim : contraction.factors[plan.vectors].own.set_bits())
    if (static_cast<int64_t>(dim) != plan.lanesDim)
      panels.push_back(dim);
  sortByStep(panels, vectorRead.place.offset);
  panels.push_back(plan.lanesDim);
  for (unsigned dim : contraction.factors[1 - plan.vectors].own.set_bits())
    rows.push_back(dim);
  sortByStep(rows, otherRead.place.offset);
  sortReduced();
  rowsOfLines = getRowsOfLines();
}

/// Returns the iterations of the outermost rows that fill whole cache lines of
/// the result with those inside; 1 where these do not follow each other. Tiles
/// that are parts of what is inside leave the rest of a line to the next tile.
/// A line has to be filled soon where lanes are pages apart, if the panel is in
/// the first cache until then.
int64_t ContractionScheduler::getRowsOfLines() const {
  if (plan.transpose < 0 || getTile(rows.front()) > 1)
    return 1;
  const StageWrite &write = stage.writes.front();
  int64_t run = 1, bytes = getElementBytes(write.value.getType());
  bool isWhole = true;
  for (unsigned dim : llvm::drop_begin(rows)) {
    run *= stage.isVarying(dim) ? 0 : getExtent(dim);
    isWhole &= getTile(dim) == getExtent(dim);
  }
  if (run == 0 || stage.getStep(write.place.offset, rows.front()) != run)
    return 1;
  int64_t count = kLineBytes / std::gcd(kLineBytes, run * bytes);
  if (!isWhole) {
    int64_t apart = *stage.getStep(write.place.offset, plan.lanesDim);
    int64_t panelBytes = multiplyCounts(blockSteps, plan.width * bytes);
    if (std::abs(apart) * bytes < kPageBytes ||
        panelBytes > processor.firstCacheBytes)
      return 1;
    count = std::max(count, kRowsOfParts);
  }
  int64_t extent = getExtent(rows.front());
  return extent > count && extent % count == 0 ? count : 1;
}

/// Large steps outside; what is no linear function of a dimension also.
void ContractionScheduler::sortByStep(SmallVectorImpl<unsigned> &dims,
                                      AffineExpr place) const {
  auto getDistance = [&](unsigned dim) {
    return std::abs(stage.getStep(place, dim).value_or(INT64_MAX));
  };
  llvm::sort(dims, [&](unsigned a, unsigned b) {
    int64_t distanceA = getDistance(a), distanceB = getDistance(b);
    return std::tie(distanceB, a) < std::tie(distanceA, b);
  });
}

/// Dimensions of the sum on which conditions depend stand outside, where these
/// are tested once.
void ContractionScheduler::sortReduced() {
  SmallVector<unsigned> inside;
  for (unsigned dim : contraction.reduced.set_bits())
    (isTested(stage.writes.front(), dim) ? reduced : inside).push_back(dim);
  sortByStep(reduced, vectorRead.place.offset);
  sortByStep(inside, vectorRead.place.offset);
  reduced.append(inside);
  cutSum();
}

/// Of a long sum, the innermost dimensions make a block; one is cut, and those
/// outside of it stand in no block.
void ContractionScheduler::cutSum() {
  blocks.assign(reduced.size(), 0);
  int64_t steps = 1;
  for (unsigned dim : reduced)
    steps = multiplyCounts(steps, getExtent(dim));
  blockSteps = steps;
  int64_t most = plan.sumBlock;
  bool isUnbounded = llvm::any_of(
      reduced, [&](unsigned dim) { return stage.isUnbounded(dim); });
  if (steps <= most && !isUnbounded)
    return;
  blockSteps = 1;
  for (size_t i = reduced.size(); i-- > 0;) {
    int64_t extent = getExtent(reduced[i]);
    bool isLong = stage.isUnbounded(reduced[i]);
    if (isLong || blockSteps * extent > most) {
      int64_t count = divideCeil(blockSteps * extent, most);
      blocks[i] = isLong ? std::max<int64_t>(most / blockSteps, 1)
                         : divideCeil(extent, std::min(count, extent));
      blockSteps *= blocks[i];
      for (size_t outer = 0; outer < i; ++outer)
        blocks[outer] = 1;
      return;
    }
    blockSteps *= extent;
  }
}

void ContractionScheduler::addLevel(LevelKind kind, unsigned dim,
                                    int64_t step) {
  // Vectors behind the end are left out. Rows are computed again, which is the
  // same code for all extents.
  bool hasBody = static_cast<int64_t>(dim) == plan.lanesDim &&
                 plan.width > plan.lanes && step == plan.width &&
                 getExtent(dim) % step != 0;
  LevelTail tail = hasBody ? LevelTail::Body : LevelTail::Mask;
  if (stage.isVarying(dim) && step == getTile(dim) && step > 1)
    tail = LevelTail::Sizes;
  levels.push_back({kind, static_cast<int64_t>(dim), step, tail});
}

/// Makes blocks of these dimensions parallel: as many as are wanted of all
/// levels together, of at least and at most so many tiles each.
void ContractionScheduler::shareAmongThreads(ArrayRef<unsigned> dims,
                                             int64_t wanted, int64_t least,
                                             int64_t most) {
  int64_t inside = 1;
  for (unsigned dim : dims)
    inside *= countTiles(dim);
  for (unsigned dim : dims) {
    int64_t tiles = countTiles(dim);
    inside /= tiles;
    int64_t count =
        std::max(divideCeil(wanted, iterations), divideCeil(tiles, most));
    int64_t step = divideCeil(tiles, std::min(count, tiles));
    // Blocks of at least so many, and all of about the same size.
    if (int64_t fewest = divideCeil(least, inside); step < fewest)
      step = divideCeil(tiles, std::max<int64_t>(tiles / fewest, 1));
    // A loop over tiles stands inside, for those that are not full.
    if (getTile(dim) > 1)
      step = std::max<int64_t>(step, 2);
    if (dim == rows.front())
      step = llvm::alignTo(step, rowsOfLines);
    if (step >= tiles)
      continue;
    addLevel(LevelKind::Parallel, dim, step * getTile(dim));
    iterations *= divideCeil(tiles, step);
    most = std::max<int64_t>(most / step, 1);
  }
}

void ContractionScheduler::addParallel() {
  for (unsigned dim : contraction.batch.set_bits()) {
    addLevel(LevelKind::Parallel, dim, 1);
    iterations *= getSharedExtent(dim);
  }
  int64_t bytes = getElementBytes(vectorRead.value.getType());
  int64_t numPanels = 1, numRows = 1, steps = 1;
  for (unsigned dim : panels)
    numPanels *= countTiles(dim);
  for (unsigned dim : rows)
    numRows *= getSharedExtent(dim);
  for (unsigned dim : reduced)
    steps = multiplyCounts(steps, getExtent(dim));
  int64_t panelBytes = plan.width * bytes;
  int64_t most = std::max<int64_t>(
      processor.getSecondCacheShare() / (panelBytes * blockSteps), 1);
  int64_t rowBytes = multiplyCounts(numRows, blockSteps) * bytes;
  rowsAreInside =
      plan.panelsStay || (rowBytes <= processor.getFirstCacheShare() &&
                          multiplyCounts(numPanels, blockSteps) * panelBytes >
                              processor.getFirstCacheShare());
  if (multiplyCounts(numPanels * numRows, steps) <= kMinBlockWork)
    return;
  bool areFar =
      numPanels * steps > processor.getSecondCacheShare() / panelBytes;
  if (rowsAreInside)
    shareAmongThreads(panels, kEnoughBlocks, /*least=*/1, most);
  else if (!areFar)
    shareAmongThreads(rows, kEnoughBlocks, /*least=*/1, INT32_MAX);
  else
    shareAmongThreads(panels, kEnoughBlocks, kMinPanels, most);
  // Each block of rows brings vectors to the second cache again.
  if (areFar && !rowsAreInside && iterations < kFewIterations)
    shareAmongThreads(rows, kFewIterations, /*least=*/1, INT32_MAX);
  if (rowsOfLines > 1 && iterations < kFewIterations)
    shareAmongThreads(panels, kFewIterations, /*least=*/1, INT32_MAX);
}

/// A level for blocks of rows, if threads do not share them in such.
void ContractionScheduler::addRowsOfLines() {
  if (rowsOfLines == 1)
    return;
  rowsAreInside = true;
  bool isDone = llvm::any_of(levels, [&](const LoopLevel &level) {
    return level.dim == static_cast<int64_t>(rows.front()) &&
           level.step == rowsOfLines;
  });
  if (!isDone)
    addLevel(LevelKind::Step, rows.front(), rowsOfLines);
}

/// One level for each dimension, in steps of the tile.
void ContractionScheduler::addTiles(ArrayRef<unsigned> dims) {
  for (unsigned dim : dims) {
    bool isDone = llvm::any_of(levels, [&](const LoopLevel &level) {
      return level.dim == static_cast<int64_t>(dim) &&
             level.step == getTile(dim) && getTile(dim) == 1;
    });
    if (!isDone)
      addLevel(LevelKind::Step, dim, getTile(dim));
  }
}

ScheduleAttr ContractionScheduler::schedule() {
  addParallel();
  addRowsOfLines();
  // A block has the step of its level only where there is more than one.
  for (auto [i, dim] : llvm::enumerate(reduced))
    if (blocks[i] != 0)
      addLevel(LevelKind::Step, dim, blocks[i]);
  addTiles(rowsAreInside ? panels : rows);
  addTiles(rowsAreInside ? rows : panels);
  for (auto [i, dim] : llvm::enumerate(reduced))
    if (blocks[i] != 1)
      addLevel(LevelKind::Step, dim, 1);
  llvm::sort(tile, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  llvm::erase_if(tile, [](TileDim entry) { return entry.size == 1; });
  int64_t bytes = getElementBytes(vectorRead.value.getType());
  llvm::SmallBitVector loops = stage.getLoopsOf(vectorRead.value);
  for (unsigned dim : loops.set_bits())
    bytes = multiplyCounts(bytes, getExtent(dim));
  auto build = [&](int64_t prefetch) {
    ScheduleFields fields;
    fields.levels = levels;
    fields.tile = tile;
    fields.lanes = {plan.lanesDim, plan.lanes};
    fields.transpose = plan.transpose;
    fields.prefetch = prefetch;
    return ScheduleAttr::get(stage.getContext(), fields);
  };
  ScheduleAttr plain = build(/*prefetch=*/0);
  // A tile of one dimension and no blocks are loops as any stage has them.
  if (!isTiled(plain))
    return choosePairwise(stage, plain);
  return bytes > kNearBytes ? build(kPrefetchDistance) : plain;
}

ScheduleAttr metaop::scheduleContraction(const Stage &stage,
                                         const Contraction &contraction,
                                         const ContractionPlan &plan,
                                         const Processor &processor) {
  return ContractionScheduler(stage, contraction, plan, processor).schedule();
}

std::optional<ScheduleAttr>
metaop::chooseContraction(const Stage &stage, const Processor &processor) {
  auto contraction = Contraction::match(stage);
  if (!contraction)
    return std::nullopt;
  auto plan = planContraction(stage, *contraction, processor, Packing());
  if (!plan)
    return std::nullopt;
  return scheduleContraction(stage, *contraction, *plan, processor);
}
