//===- RowSchedule.cpp - Stages that share rows on a GPU ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages that are joined do a row at a time: all that belongs to one iteration
// of the loops that they share. Blocks have rows, and threads the loops inside,
// in the same way in all stages, so that what a thread has computed of a row it
// finds in its registers. How many threads a row has follows from the largest
// stage:
//   * as many as have four vectors each, or up to eight so that the row is
//     whole in registers; short rows share a block, and what is one number of
//     each row is done by as many threads as these are;
//   * where rows are contiguous along a shared loop, as the channels of the
//     last dimension, neighbouring threads have neighbouring rows, and further
//     threads parts of each;
//   * a row that is too long for one block, or rows that are too few for the
//     chip, are a cluster's;
//   * where blocks would be small and many, each has a run of rows, which is a
//     loop that the stages share.
//
//===----------------------------------------------------------------------===//

#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "StagePlanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::divideCeilSigned;

/// Vectors that a thread has of a row, and the most of one that is whole in
/// registers.
static constexpr int64_t kVectors = 4;
static constexpr int64_t kMostVectors = 8;
static constexpr int64_t kLongRowThreads = 512;
/// Bytes that a block reads several times without their leaving the caches.
static constexpr int64_t kMaxStagedRowBytes = 512 << 10;
/// Elements of a row that a block has, of a cluster: what fits the registers of
/// all its threads.
static constexpr int64_t kMaxPart = 1 << 14;
/// Iterations of each thread of a small block: with more, stages are sooner
/// done by kernels of their own.
static constexpr int64_t kMaxWorkOfThread = 64;

namespace {
/// One stage among those that share rows.
struct RowStage {
  RowStage(const Stage &stage, ArrayRef<int64_t> slots, const Chip &chip)
      : planner(stage, chip), slots(slots) {
    // No sum has a loop that it keeps inside of one that it is reduced over.
    for (bool isKept : {true, false})
      for (int64_t loop = 0; loop < stage.getNumLoops(); ++loop)
        if (!llvm::is_contained(slots, loop) &&
            planner.traffic.getKept().test(loop) == isKept)
          inner.push_back(loop);
  }

  int64_t getExtent(int64_t loop) const {
    return planner.traffic.getExtent(loop);
  }
  int64_t countInner() const {
    int64_t points = 1;
    for (int64_t loop : inner)
      points = multiplyCounts(points, getExtent(loop));
    return points;
  }

  StagePlanner planner;
  ArrayRef<int64_t> slots;
  /// The loops of a row; that which most threads divide, and another one.
  SmallVector<int64_t> inner;
  int64_t along = -1;
  int64_t other = -1;
};

class RowScheduler {
public:
  RowScheduler(ArrayRef<const Stage *> models,
               ArrayRef<SmallVector<int64_t>> slots, const Chip &chip)
      : chip(chip) {
    for (auto [model, own] : llvm::zip_equal(models, slots))
      stages.emplace_back(*model, own, chip);
  }

  SmallVector<ScheduleAttr> choose();

private:
  RowStage &getLargest();
  void findLoops(RowStage &each);
  bool isEverywhere(int64_t RowStage::*loop) const;
  bool canDivide(int64_t RowStage::*loop) const;
  bool chooseClusters();
  void chooseRowThreads();
  void chooseColumnThreads();
  void apply(RowStage &each);
  bool haveThreads();
  bool formRuns();

  const Chip &chip;
  SmallVector<RowStage, 0> stages;
  bool areColumns = false;
  /// Rows of the whole program.
  int64_t range = 1;
  /// Of each stage: threads along its loop and along its other one, rows of a
  /// block, what a thread has side by side, and blocks of a cluster.
  int64_t threads = 1, otherThreads = 1, rows = 1;
  int64_t lanes = 1, copies = 1;
  int64_t cluster = 1;
  /// The loop that the blocks of a cluster divide is the other one.
  bool isOtherClustered = false;
};
} // namespace

RowStage &RowScheduler::getLargest() {
  auto measure = [](const RowStage &each) {
    return std::pair(each.countInner(), each.planner.traffic.countBytes());
  };
  return *llvm::max_element(stages, [&](const RowStage &a, const RowStage &b) {
    return measure(a) < measure(b);
  });
}

/// The loop of a row that is contiguous, or else the longest one; and the
/// longest of the others.
void RowScheduler::findLoops(RowStage &each) {
  int64_t contiguous = each.planner.traffic.getContiguous();
  auto findLongest = [&] {
    int64_t longest = -1;
    for (int64_t loop : each.inner)
      if (loop != each.along &&
          (longest < 0 || each.getExtent(loop) > each.getExtent(longest)))
        longest = loop;
    return longest;
  };
  each.along =
      llvm::is_contained(each.inner, contiguous) ? contiguous : findLongest();
  each.other = findLongest();
}

/// Returns whether all stages have such a loop, of one extent.
bool RowScheduler::isEverywhere(int64_t RowStage::*loop) const {
  return llvm::all_of(stages, [&](const RowStage &each) {
    const RowStage &first = stages.front();
    return each.*loop >= 0 &&
           each.getExtent(each.*loop) == first.getExtent(first.*loop);
  });
}

/// Returns whether all stages have such a loop, which does not grow: a cluster
/// has all of it.
bool RowScheduler::canDivide(int64_t RowStage::*loop) const {
  return isEverywhere(loop) && llvm::none_of(stages, [&](const RowStage &each) {
           return each.planner.stage.isVarying(each.*loop);
         });
}

/// False where rows are too long for any cluster.
bool RowScheduler::chooseClusters() {
  RowStage &largest = getLargest();
  int64_t points = largest.countInner();
  isOtherClustered =
      canDivide(&RowStage::other) &&
      stages.front().getExtent(stages.front().other) >= chip.maxCluster;
  bool canShare = isOtherClustered || canDivide(&RowStage::along);
  if (chip.maxCluster == 1 || !canShare)
    return multiplyCounts(points, largest.planner.traffic.getElementBytes()) <=
           kMaxStagedRowBytes;
  auto areFew = [&] {
    return range * cluster < chip.multiprocessors &&
           points / cluster >= 2 * kMinPart;
  };
  while (cluster < chip.maxCluster && (points / cluster > kMaxPart || areFew()))
    cluster *= 2;
  return points / cluster <= kMaxPart;
}

/// Threads along the loop of the row, and more until it is whole.
void RowScheduler::chooseRowThreads() {
  RowStage &largest = getLargest();
  int64_t extent = largest.getExtent(largest.along);
  lanes = largest.planner.traffic.getVectorWidth(largest.along);
  for (RowStage &each : stages)
    if (each.along >= 0 && each.getExtent(each.along) == extent)
      lanes = std::min(lanes, each.planner.traffic.getVectorWidth(each.along));
  if (!isOtherClustered)
    extent = divideCeilSigned(extent, cluster);
  int64_t vectors = divideCeilSigned(extent, lanes);
  int64_t few = kVectors, most = kMostVectors;
  for (const RowStage &each : stages) {
    while (few > 1 && each.planner.isTooLarge(few * lanes))
      few /= 2;
    most = std::min(
        most, each.planner.chooseCopies(lanes, kMostVectors, kMostTileCode));
  }
  threads = std::max(ceilPowerOf2(divideCeilSigned(vectors, few)),
                     std::min(Chip::kWarpThreads, ceilPowerOf2(vectors)));
  threads = std::min(threads, few < kVectors ? kLongRowThreads : kUsualThreads);
  while (threads < kLongRowThreads && vectors > threads * most)
    threads *= 2;
  copies = divideCeilSigned(vectors, threads);
  if (copies > most) {
    threads = kLongRowThreads;
    copies = std::min(few, most);
  }
  int64_t left = std::max<int64_t>(kUsualThreads / threads, 1);
  if (isEverywhere(&RowStage::other))
    otherThreads =
        std::min<int64_t>(left, ceilPowerOf2(largest.getExtent(largest.other)));
  // Blocks of a cluster have one row together.
  if (cluster == 1)
    rows = std::min(left / otherThreads,
                    ceilPowerOf2(largest.getExtent(largest.slots.back())));
  while (rows > 1 && range / rows < chip.getEnoughBlocks())
    rows /= 2;
}

/// Threads along the last of the shared loops, and along the row.
void RowScheduler::chooseColumnThreads() {
  RowStage &largest = getLargest();
  rows = std::min(Chip::kWarpThreads,
                  ceilPowerOf2(largest.getExtent(largest.slots.back())));
  int64_t blocks = divideCeilSigned(range, rows) * cluster;
  int64_t most = blocks < chip.getEnoughBlocks() ? Chip::kMaxThreadsOfBlock
                                                 : kUsualThreads;
  int64_t extent = divideCeilSigned(largest.getExtent(largest.along), cluster);
  copies = kColumnSteps;
  for (const RowStage &each : stages)
    copies = std::min(copies, each.planner.chooseCopies(1, kColumnSteps));
  threads =
      std::min(most / rows, ceilPowerOf2(divideCeilSigned(extent, copies)));
  copies = std::min(copies, divideCeilSigned(extent, threads));
}

void RowScheduler::apply(RowStage &each) {
  ThreadPlan &plan = each.planner.plan;
  auto moveLast = [&](ArrayRef<int64_t> loops) {
    for (int64_t loop : loops)
      plan.moveLast(loop);
  };
  moveLast(areColumns ? each.inner : each.slots);
  moveLast(areColumns ? each.slots : each.inner);
  for (int64_t slot : each.slots)
    each.planner.at(slot).isGrid = true;
  each.planner.at(each.slots.back()).threads = rows;
  if (each.along < 0)
    return;
  DimPlan &along = each.planner.at(each.along);
  along.threads = threads;
  along.lanes = lanes;
  along.copies = copies;
  if (each.other >= 0)
    each.planner.at(each.other).threads = otherThreads;
  if (!areColumns)
    plan.moveLast(each.along);
  if (cluster == 1)
    return;
  int64_t loop = isOtherClustered ? each.other : each.along;
  DimPlan &shared = each.planner.at(loop);
  shared.cluster = cluster;
  shared.clusterPart = llvm::alignTo(
      divideCeilSigned(each.getExtent(loop), cluster), shared.getSpan());
}

/// Returns whether threads divide enough of the rows of a block, so that few
/// have not all of it to do.
bool RowScheduler::haveThreads() {
  int64_t threads = getLargest().planner.plan.getNumThreads();
  int64_t work = multiplyCounts(rows, getLargest().countInner() / cluster);
  return threads >= kUsualThreads || work <= threads * kMaxWorkOfThread;
}

/// Has blocks do several rows, or groups of them, one after another. Returns
/// whether they do.
bool RowScheduler::formRuns() {
  StagePlanner &largest = getLargest().planner;
  ArrayRef<int64_t> slots = getLargest().slots;
  int64_t run = largest.chooseRun(divideCeilSigned(range, rows) * cluster,
                                  largest.traffic.countBytes());
  if (run == 1 || cluster > 1)
    return false;
  for (unsigned slot = slots.size(); slot-- > 0;) {
    int64_t pieces = divideCeilSigned(getLargest().getExtent(slots[slot]),
                                      largest.at(slots[slot]).getSpan());
    if (pieces < run)
      continue;
    for (RowStage &each : stages)
      each.planner.at(each.slots[slot]).run = run;
    return true;
  }
  return false;
}

SmallVector<ScheduleAttr> RowScheduler::choose() {
  RowStage &largest = getLargest();
  if (largest.inner.empty() || largest.slots.empty())
    return {};
  for (RowStage &each : stages)
    findLoops(each);
  for (int64_t slot : largest.slots)
    range = multiplyCounts(range, largest.getExtent(slot));
  areColumns = largest.planner.traffic.getContiguous() == largest.slots.back();
  if (areColumns)
    for (RowStage &each : stages)
      each.other = -1;
  if (!chooseClusters())
    return {};
  if (areColumns)
    chooseColumnThreads();
  else
    chooseRowThreads();
  for (RowStage &each : stages)
    apply(each);
  if (!haveThreads())
    return {};
  bool haveRuns = formRuns();
  SmallVector<ScheduleAttr> schedules;
  for (RowStage &each : stages) {
    ScheduleAttr own = ScheduleAttr::get(each.planner.stage.getContext(),
                                         each.planner.plan.build());
    // The loop that is contiguous is the last one, whatever is reduced.
    if (hasMisplacedLoop({each.planner.stage, own}))
      return {};
    schedules.push_back(
        schedules.empty() ? own
                          : own.withShared(own.getNumGridLevels() + haveRuns));
  }
  return schedules;
}

SmallVector<ScheduleAttr>
metaop::chooseRowSchedules(ArrayRef<const Stage *> stages,
                           ArrayRef<SmallVector<int64_t>> slots,
                           const Chip &chip) {
  return RowScheduler(stages, slots, chip).choose();
}
