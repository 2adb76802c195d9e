//===- GpuSchedule.cpp - Schedules for GPUs -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage is one of these, by its space, its maps and what it computes:
//   * A contraction has blocks of 64 x 64 results, of which each thread has a
//     tile in registers; both factors go through shared memory.
//   * Prefixes have a thread for each of the other iterations.
//   * What keeps all loops has threads along the loop that is contiguous, with
//     vectors of 16 bytes where all accesses lie so, and several of them on
//     their way. An operand that is contiguous along another loop goes through
//     squares in shared memory.
//   * A reduction along the contiguous loop has threads along it, up to 512 for
//     each row. Short rows share a block.
//   * A reduction along others has neighbouring threads on columns, and further
//     ones on parts of the longest reduced loop.
// Where blocks of what keeps all loops, or of rows, would be small and many,
// each has several pieces, one after another (StagePlanner::chooseRun). Where
// rows or columns are too few for the chip, the blocks of a cluster share one
// if that is enough of them; else the reduction may be split in two kernels.
// Extents, maps and facts of the chip decide: the order of sums is the same on
// all machines that have it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "StagePlanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::divideCeilSigned;
using llvm::SmallBitVector;

/// Registers of a thread: a multiprocessor has 512 threads with as many.
static constexpr int64_t kMaxRegisters = 128;
/// The fewest threads that blocks shrink to, so that there are enough of them.
static constexpr int64_t kFewThreads = 64;
/// The most, of rows that are few and long.
static constexpr int64_t kManyThreads = 512;
/// Vectors of all large operands that a thread has on their way.
static constexpr int64_t kInFlight = 4;
/// Vectors of a long row.
static constexpr int64_t kLongRow = 2048;
/// Threads of a multiprocessor that have enough loads on their way.
static constexpr int64_t kBusyThreads = 768;
static int64_t countBusyThreads(const Chip &chip) {
  return chip.multiprocessors * kBusyThreads;
}
/// The sides of squares that are transposed, of elements of 4 bytes.
static constexpr int64_t kSquare = 32;
/// Shorter sides are in cache lines with their neighbours.
static constexpr int64_t kMinTransposed = 16;
/// Blocks of a contraction, the tile of a thread, and steps of the sum of which
/// factors are in shared memory.
static constexpr int64_t kSums = 64;
static constexpr int64_t kSumsOfThread = 4;
static constexpr int64_t kFactors = 16;

namespace {
class GpuScheduler : StagePlanner {
public:
  using StagePlanner::StagePlanner;

  ScheduleAttr choose();

private:
  ScheduleAttr tryTiles();
  void planPrefixes();
  void planPoints();
  void planSquares(const StageTraffic::Transposed &transposed);
  void planRows();
  void planColumns();
  bool formClusters();
  void planWindows();
  void planContraction(const Contraction &contraction);

  SmallVector<StagedRead> staged;
};
} // namespace

//===----------------------------------------------------------------------===//
// What keeps all loops
//===----------------------------------------------------------------------===//

/// Threads along the contiguous loop, and what is left of them along others.
/// What is small has fewer of everything, so that all multiprocessors have a
/// part of it.
void GpuScheduler::planPoints() {
  SmallBitVector kept = traffic.getKept();
  putOnGrid(kept);
  int64_t inner = traffic.getContiguous();
  plan.moveLast(inner);
  DimPlan &row = at(inner);
  row.lanes = chooseLanes(inner);
  int64_t copies = chooseCopies(row.lanes, kInFlight);
  int64_t vectors = divideCeilSigned(traffic.getExtent(inner), row.lanes);
  for (int64_t threads = kUsualThreads;; threads /= 2) {
    for (DimPlan &part : plan.dims)
      part.threads = part.copies = 1;
    // Rows that are a little longer than a block are done in equal parts.
    int64_t parts = divideCeilSigned(vectors, threads);
    int64_t part = divideCeilSigned(vectors, parts);
    // Of what is one row, whole warps: lengths that are near have the same
    // code.
    bool isOneRow = traffic.countKept() == traffic.getExtent(inner);
    row.threads =
        parts > 1 || isOneRow ? llvm::alignTo(part, Chip::kWarpThreads) : part;
    SmallBitVector others = kept;
    others.reset(inner);
    fillThreads(others, threads / row.threads);
    row.copies = std::min(copies, parts);
    int64_t left = copies / row.copies;
    for (int64_t dim : llvm::reverse(ArrayRef(plan.order).drop_back()))
      if (kept.test(dim) && left > 1) {
        DimPlan &other = at(dim);
        other.copies = std::min<int64_t>(
            left, divideCeilSigned(traffic.getExtent(dim), other.threads));
        left /= other.copies;
      }
    if (countBlocks() >= chip.getEnoughBlocks())
      return;
    if (copies > 1) {
      copies /= 2;
      threads *= 2;
    } else if (threads <= kFewThreads) {
      return;
    }
  }
}

/// Squares of the loop along which results are contiguous, and of that along
/// which operands are. Behind what fills the banks are as many unused words as
/// a warp has columns: what it reads of one lies in every so many banks, and
/// the others between.
void GpuScheduler::planSquares(const StageTraffic::Transposed &transposed) {
  putOnGrid(traffic.getKept());
  int64_t inner = traffic.getContiguous(), other = transposed.loop;
  plan.moveLast(other);
  plan.moveLast(inner);
  int64_t bytes = traffic.getElementBytes();
  int64_t perWord = std::max<int64_t>(Chip::kBankBytes / bytes, 1);
  at(inner).threads = std::min(kSquare, ceilPowerOf2(traffic.getExtent(inner)));
  int64_t side =
      std::min(kSquare * perWord, ceilPowerOf2(traffic.getExtent(other)));
  at(other).threads = std::min(kUsualThreads / at(inner).threads, side);
  at(other).copies = side / at(other).threads;
  int64_t columns = divideCeilSigned(Chip::kWarpThreads, at(inner).threads);
  for (unsigned read : transposed.reads)
    staged.push_back({read, columns * perWord});
}

void GpuScheduler::planPrefixes() {
  SmallBitVector others(stage.getNumLoops(), true);
  others.reset(stage.carry->loop);
  putOnGrid(others);
  plan.moveLast(stage.carry->loop);
  at(stage.carry->loop).isOwnLoop = true;
  int64_t inner = traffic.getContiguous();
  if (inner != stage.carry->loop) {
    llvm::erase(plan.order, inner);
    plan.order.insert(plan.order.end() - 1, inner);
  }
  fillThreads(others, kFewThreads);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Threads along the contiguous loop, which is reduced, as many as have four
/// vectors each; then other rows, or other reduced loops where rows are few.
void GpuScheduler::planRows() {
  SmallBitVector kept = traffic.getKept(), others = kept;
  others.flip();
  putOnGrid(kept);
  int64_t inner = traffic.getContiguous();
  plan.moveLast(inner);
  DimPlan &row = at(inner);
  row.lanes = chooseLanes(inner);
  int64_t copies = chooseCopies(row.lanes, kInFlight);
  int64_t vectors = divideCeilSigned(traffic.getExtent(inner), row.lanes);
  int64_t rows = traffic.countKept();
  bool areFew = rows < chip.getEnoughBlocks();
  row.threads = std::max(ceilPowerOf2(divideCeilSigned(vectors, copies)),
                         std::min(Chip::kWarpThreads, ceilPowerOf2(vectors)));
  row.threads =
      std::min(row.threads,
               areFew && vectors >= kLongRow ? kManyThreads : kUsualThreads);
  row.copies = std::min(copies, divideCeilSigned(vectors, row.threads));
  others.reset(inner);
  int64_t left = std::max<int64_t>(kUsualThreads / row.threads, 1);
  // Blocks of fewer threads, or several parts of a row.
  int64_t shared =
      std::min(left, divideCeilSigned(rows, chip.getEnoughBlocks()));
  fillThreads(kept, shared);
  if (others.any())
    fillThreads(others, left / shared);
}

/// Neighbouring threads on columns, and others on parts of the longest reduced
/// loop, of which each has several steps side by side.
void GpuScheduler::planColumns() {
  SmallBitVector kept = traffic.getKept(), reduced = kept;
  reduced.flip();
  putOnGrid(kept);
  int64_t inner = traffic.getContiguous();
  plan.moveLast(inner);
  DimPlan &columns = at(inner);
  int64_t word =
      std::max<int64_t>(Chip::kBankBytes / traffic.getElementBytes(), 1);
  columns.lanes = std::min(chooseLanes(inner), word);
  columns.threads = std::min(
      Chip::kWarpThreads,
      ceilPowerOf2(divideCeilSigned(traffic.getExtent(inner), columns.lanes)));
  int64_t longest = -1;
  for (int64_t dim : reduced.set_bits())
    if (longest < 0 || traffic.getExtent(dim) > traffic.getExtent(longest))
      longest = dim;
  llvm::erase(plan.order, longest);
  plan.order.insert(plan.order.begin(), longest);
  int64_t blocks = countBlocks();
  int64_t threads =
      blocks < chip.getEnoughBlocks() ? 2 * kManyThreads : kUsualThreads;
  DimPlan &steps = at(longest);
  int64_t extent = traffic.getExtent(longest);
  int64_t copies = chooseCopies(columns.lanes, kColumnSteps);
  steps.threads = std::min(threads / columns.threads,
                           ceilPowerOf2(divideCeilSigned(extent, copies)));
  steps.copies = std::min(copies, divideCeilSigned(extent, steps.threads));
}

/// Has the blocks of a cluster divide the reduced loop that goes on longest, as
/// few of them as keep the chip busy. Returns whether they do.
bool GpuScheduler::formClusters() {
  SmallBitVector reduced = traffic.getKept();
  reduced.flip();
  int64_t points = 1, loop = -1, most = 0;
  for (int64_t dim : reduced.set_bits()) {
    int64_t extent = stage.getStaticExtent(dim);
    points = multiplyCounts(points, traffic.getExtent(dim));
    // A cluster has all of a loop, however long that becomes.
    if (ShapedType::isDynamic(extent) || stage.isVarying(dim))
      continue;
    if (int64_t pieces = divideCeilSigned(extent, at(dim).getSpan());
        pieces > most) {
      loop = dim;
      most = pieces;
    }
  }
  int64_t threads = multiplyCounts(countBlocks(), plan.getNumThreads());
  if (threads >= countBusyThreads(chip) || llvm::any_of(stage.writes, isAtomic))
    return false;
  for (int64_t cluster = 2; cluster <= chip.maxCluster; cluster *= 2) {
    // Parts are whole pieces, so the last blocks may have none.
    int64_t part = divideCeilSigned(most, cluster);
    if (cluster > most || points / cluster < kMinPart)
      return false;
    if (threads * divideCeilSigned(most, part) < countBusyThreads(chip))
      continue;
    at(loop).cluster = cluster;
    at(loop).clusterPart = part * at(loop).getSpan();
    return true;
  }
  return false;
}

/// As what keeps all loops; each thread reduces its own.
void GpuScheduler::planWindows() {
  SmallBitVector kept = traffic.getKept(), reduced = kept;
  reduced.flip();
  planPoints();
  for (unsigned dim : reduced.set_bits()) {
    at(dim) = DimPlan();
    at(dim).isOwnLoop = true;
  }
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The loop of a factor of which a block has the most, the contiguous one if it
/// is its own.
static int64_t findSide(const StageTraffic &traffic,
                        const SmallBitVector &loops) {
  int64_t side = -1;
  for (int64_t loop : loops.set_bits())
    if (side < 0 || loop == traffic.getContiguous() ||
        (side != traffic.getContiguous() &&
         traffic.getExtent(loop) > traffic.getExtent(side)))
      side = loop;
  return side;
}

void GpuScheduler::planContraction(const Contraction &contraction) {
  putOnGrid(traffic.getKept());
  int64_t rows = findSide(traffic, contraction.factors[0].own);
  int64_t columns = findSide(traffic, contraction.factors[1].own);
  const StageWrite &write = stage.writes.front();
  if (stage.getStep(write.place.offset, rows) == 1)
    std::swap(rows, columns);
  int64_t sum = -1;
  for (int64_t loop : contraction.reduced.set_bits()) {
    at(loop).isOwnLoop = true;
    if (sum < 0 || traffic.getExtent(loop) > traffic.getExtent(sum))
      sum = loop;
  }
  for (int64_t loop : {sum, rows, columns})
    plan.moveLast(loop);
  for (int64_t loop : {rows, columns}) {
    int64_t side = std::min(kSums, ceilPowerOf2(traffic.getExtent(loop)));
    at(loop).copies = std::min(kSumsOfThread, std::max<int64_t>(side / 8, 1));
    at(loop).threads = side / at(loop).copies;
  }
  // Each thread has the whole sum of its tile, in blocks of the longest loop,
  // and one iteration of the others at a time.
  for (int64_t loop : contraction.reduced.set_bits())
    at(loop).ownBlock =
        loop == sum ? std::min(kFactors, ceilPowerOf2(traffic.getExtent(sum)))
                    : 1;
  for (const Contraction::Factor &factor : contraction.factors)
    for (const StageRead *read : factor.reads)
      staged.push_back({read - stage.reads.begin(), 1});
  llvm::sort(staged,
             [](StagedRead a, StagedRead b) { return a.read < b.read; });
  staged.erase(llvm::unique(staged), staged.end());
}

//===----------------------------------------------------------------------===//
// The kind of a stage
//===----------------------------------------------------------------------===//

ScheduleAttr GpuScheduler::tryTiles() {
  plan = ThreadPlan(stage.getNumLoops());
  staged.clear();
  if (stage.getNumLoops() > 0) {
    auto contraction = Contraction::match(stage);
    auto transposed = traffic.findTransposed(traffic.getContiguous());
    bool isSquare =
        transposed && traffic.getExtent(transposed->loop) >= kMinTransposed &&
        traffic.getExtent(traffic.getContiguous()) >= kMinTransposed;
    if (contraction)
      planContraction(*contraction);
    else if (stage.carry)
      planPrefixes();
    else if (traffic.getKept().all() && isSquare)
      planSquares(*transposed);
    else if (traffic.getKept().all()) {
      planPoints();
      formRuns();
    } else if (!traffic.getKept().test(traffic.getContiguous())) {
      planRows();
      if (!formClusters())
        formRuns();
    } else if (traffic.isWindow()) {
      planWindows();
    } else {
      planColumns();
      formClusters();
    }
  }
  ScheduleFields fields = plan.build();
  fields.staged = staged;
  return ScheduleAttr::get(stage.getContext(), fields);
}

/// Smaller tiles where registers would be more than leave room for many warps.
ScheduleAttr GpuScheduler::choose() {
  for (;; maxTile /= 2) {
    ScheduleAttr schedule = tryTiles();
    GpuStage planned{stage, schedule};
    if (maxTile == 1 ||
        GpuResources::estimate(planned).registers <= kMaxRegisters)
      return schedule;
  }
}

ScheduleAttr metaop::chooseGpuSchedule(const Stage &stage, const Chip &chip) {
  return GpuScheduler(stage, chip).choose();
}

int64_t metaop::countBlocks(const Stage &stage, ScheduleAttr schedule) {
  int64_t blocks = 1;
  for (unsigned depth = 0; depth < schedule.getNumGridLevels(); ++depth) {
    const LoopLevel &level = schedule.getLevels()[depth];
    int64_t extent = stage.getStaticExtent(level.dim);
    int64_t count = schedule.getEnclosing(depth) ? schedule.getCount(depth)
                    : ShapedType::isDynamic(extent)
                        ? 1
                        : divideCeilSigned(extent, level.step);
    blocks = multiplyCounts(blocks, count);
  }
  return blocks;
}

bool metaop::keepsBusy(const Stage &stage, ScheduleAttr schedule,
                       const Chip &chip) {
  return multiplyCounts(countBlocks(stage, schedule),
                        schedule.getNumThreads()) >= countBusyThreads(chip);
}
