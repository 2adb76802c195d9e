//===- GpuResources.cpp - What a block takes of a multiprocessor ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An estimate, from the schedule alone. A thread has registers for what it
// loads of a tile, for one intermediate value of each of its elements, for its
// sums, and for what it keeps from one stage to the next; stages follow one
// another, so the largest counts. Shared memory is that which the lowering asks
// for, but for the few numbers that the blocks of a cluster exchange.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "StagePlanner.h"
#include "StagedBox.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::divideCeilSigned;
using llvm::SmallBitVector;

/// Addresses, positions, and what the assembler keeps beside values.
static constexpr int64_t kBaseRegisters = 24;
static constexpr int64_t kRegisterBytes = 4;
/// Memory of results has powers of two up to here; up to the second bound, one
/// of eight sizes between two powers; and above, where blocks would have no
/// room for it, as much as they need.
static constexpr int64_t kSmallLocalBytes = 8 << 10;
static constexpr int64_t kLargeLocalBytes = 32 << 10;
static constexpr int64_t kLocalSizesOfPower = 8;

/// Registers of as many elements of a type as a thread has of some loops.
static int64_t countRegisters(ScheduleAttr schedule,
                              const SmallBitVector &loops, Type type) {
  int64_t count = divideCeilSigned(getElementBytes(type), kRegisterBytes);
  for (unsigned loop : loops.set_bits())
    count = multiplyCounts(count, schedule.getTileSize(loop));
  return count;
}

/// Returns whether an earlier stage has left in registers what is read.
static bool isInRegisters(ArrayRef<GpuStage> before, const Stage &stage,
                          const StageRead &read, FindSourceFn find) {
  return llvm::any_of(before, [&](const GpuStage &writer) {
    FusedOp op = writer.stage.op;
    return llvm::any_of(op->getResults(), [&](OpResult result) {
      return isReadOf(stage, read.source, result, find) &&
             writer.schedule.getPlaceOf(result.getResultNumber()) ==
                 ResultPlace::Registers;
    });
  });
}

static int64_t countStageRegisters(ArrayRef<GpuStage> before,
                                   const GpuStage &each, FindSourceFn find) {
  const Stage &stage = each.stage;
  int64_t loaded = 0, computed = 0, sums = 0;
  SmallBitVector all(stage.getNumLoops(), true);
  for (const StageRead &read : stage.reads)
    if (!isInRegisters(before, stage, read, find))
      loaded = addCounts(loaded, countRegisters(each.schedule,
                                                stage.getLoopsOf(read.value),
                                                read.value.getType()));
  for (const StageWrite &write : stage.writes) {
    bool isSum = write.kind && write.isProjection;
    int64_t registers = countRegisters(each.schedule, isSum ? write.loops : all,
                                       write.value.getType());
    int64_t &counted = isSum ? sums : computed;
    counted = addCounts(counted, registers);
  }
  return addCounts(loaded, addCounts(computed, sums));
}

/// Counts what stays in registers behind a stage.
static int64_t countKeptRegisters(const GpuStage &each) {
  int64_t kept = 0;
  for (const StageWrite &write : each.stage.writes)
    if (each.schedule.getPlaceOf(write.result) == ResultPlace::Registers)
      kept = addCounts(kept, countRegisters(each.schedule, write.loops,
                                            write.value.getType()));
  return kept;
}

/// Counts what the groups of threads that have exchanged sums by shuffles hand
/// on to others.
static int64_t countSumBytes(const GpuStage &each, const StageWrite &write) {
  int64_t stride = 1, groups = 1, kept = 1;
  bool wholeWarps = each.schedule.getNumThreads() % Chip::kWarpThreads == 0;
  for (unsigned depth = each.schedule.getNumLevels(); depth-- > 0;) {
    const LoopLevel &level = each.schedule.getLevels()[depth];
    if (!level.isDistributed())
      continue;
    int64_t count = each.schedule.getCount(depth);
    if (write.loops.test(level.dim)) {
      kept *= count;
    } else {
      int64_t inWarp = wholeWarps && stride < Chip::kWarpThreads &&
                               llvm::isPowerOf2_64(count) &&
                               llvm::isPowerOf2_64(stride)
                           ? std::min(count, Chip::kWarpThreads / stride)
                           : 1;
      groups *= count / inWarp;
    }
    stride *= count;
  }
  if (groups == 1)
    return 0;
  int64_t registers =
      countRegisters(each.schedule, write.loops, write.value.getType());
  return multiplyCounts(groups * kept, registers * kRegisterBytes);
}

int64_t metaop::roundLocalSize(int64_t elements, int64_t elementBytes) {
  if (multiplyCounts(elements, elementBytes) > kLargeLocalBytes)
    return elements;
  int64_t power = ceilPowerOf2(elements);
  if (power * elementBytes <= kSmallLocalBytes)
    return power;
  return llvm::alignTo(elements, power / 2 / kLocalSizesOfPower);
}

/// A result that lives in memory of the block.
static int64_t countPlacedBytes(ArrayRef<GpuStage> stages, unsigned number,
                                const StageWrite &write, FindSourceFn find) {
  int64_t elements = 1;
  for (int64_t length : getPlacedShape(stages, number, write, find))
    elements = multiplyCounts(elements, length);
  int64_t bytes = getElementBytes(write.value.getType());
  return multiplyCounts(roundLocalSize(elements, bytes), bytes);
}

GpuResources GpuResources::estimate(ArrayRef<GpuStage> stages,
                                    FindSourceFn find) {
  GpuResources result;
  int64_t kept = 0, sums = 0;
  for (auto [number, each] : llvm::enumerate(stages)) {
    result.threads = std::max(result.threads, each.schedule.getNumThreads());
    result.registers = std::max(
        result.registers,
        addCounts(kBaseRegisters,
                  addCounts(kept, countStageRegisters(stages.take_front(number),
                                                      each, find))));
    kept = addCounts(kept, countKeptRegisters(each));
    for (StagedRead staged : each.schedule.getStaged())
      result.sharedBytes =
          addCounts(result.sharedBytes, StagedBox(each, staged).getBytes());
    for (const StageWrite &write : each.stage.writes) {
      if (write.kind && write.isProjection)
        sums = addCounts(sums, countSumBytes(each, write));
      if (each.schedule.getPlaceOf(write.result) == ResultPlace::Shared ||
          each.schedule.getPlaceOf(write.result) == ResultPlace::Cluster)
        result.sharedBytes = addCounts(
            result.sharedBytes, countPlacedBytes(stages, number, write, find));
    }
  }
  result.sharedBytes = addCounts(result.sharedBytes, sums);
  return result;
}

/// Registers are given to whole warps, eight to each thread at a time.
static constexpr int64_t kRegisterUnit = 8;
/// Shared memory of each block that is the system's.
static constexpr int64_t kReservedBytes = 1 << 10;

int64_t GpuResources::countBlocks(const Chip &chip) const {
  int64_t whole = llvm::alignTo(threads, Chip::kWarpThreads);
  int64_t each = llvm::alignTo(std::max<int64_t>(registers, 1), kRegisterUnit);
  return std::min({chip.maxBlocks, chip.maxThreads / whole,
                   chip.registers / multiplyCounts(whole, each),
                   chip.sharedBytes / addCounts(sharedBytes, kReservedBytes)});
}

double GpuResources::getOccupancy(const Chip &chip) const {
  int64_t whole = llvm::alignTo(threads, Chip::kWarpThreads);
  return static_cast<double>(countBlocks(chip) * whole) / chip.maxThreads;
}
