//===- DescribeGpuKernel.cpp - What a kernel will do on a GPU -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops and accesses are read off as for a CPU. What a block takes of a
// multiprocessor is the estimate that verifies schedules, and the time on each
// card that has the chip follows from instructions: a thread has each element
// by itself, and a function is so many instructions of arithmetic as its
// polynomial has. A product that is added is one instruction. An input that
// several stages read is moved anew for each, unless threads keep what they
// have of it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/DescribeGpuKernel.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Card.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeKernel.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// Polynomials of f64 are about twice as long as those of f32.
static constexpr int64_t kWideFactor = 2;

/// What one operation of a class is, of f32, or of halves: these are computed
/// in fewer digits (VectorToLLVM/ApproximateFunctions.cpp).
static UnitWork getUnits(WorkClass kind, Type element) {
  bool isHalf = element.isF16() || element.isBF16();
  switch (kind) {
  case WorkClass::Arithmetic:
  case WorkClass::Move:
  case WorkClass::Scattered:
    return {1, 0, 0};
  case WorkClass::Divide:
    return {isHalf ? 6 : 8, 0, 1};
  case WorkClass::Exponential:
    return isHalf ? UnitWork{5, 0, 1} : UnitWork{14, 0, 0};
  case WorkClass::Logarithm:
    return element.isBF16() ? UnitWork{6, 0, 1} : UnitWork{18, 0, 0};
  case WorkClass::Tanh:
    return isHalf ? UnitWork{14, 0, 2} : UnitWork{30, 0, 1};
  case WorkClass::Erf:
    return isHalf ? UnitWork{16, 0, 1} : UnitWork{24, 0, 0};
  case WorkClass::LibraryCall:
    return {40, 0, 0};
  }
  llvm_unreachable("all classes are handled");
}

namespace {
/// Counts what threads execute of a stage.
class UnitCounter {
public:
  UnitCounter(const Stage &stage, KernelWork &work, UnitWork &units)
      : stage(stage), work(work), units(units) {}

  void count();

private:
  void add(WorkClass kind, const SmallBitVector &loops, Type type,
           int64_t times = 1);
  SmallBitVector getLoopsOf(Value value) const {
    SmallBitVector loops = stage.getLoopsOf(value);
    loops.resize(stage.getNumLoops());
    return loops;
  }

  const Stage &stage;
  KernelWork &work;
  UnitWork &units;
};
} // namespace

void UnitCounter::add(WorkClass kind, const SmallBitVector &loops, Type type,
                      int64_t times) {
  int64_t count = multiplyCounts(countIterations(stage, loops), times);
  int64_t &counted = work.instructions[static_cast<unsigned>(kind)];
  counted = addCounts(counted, count);
  Type element = getElementTypeOrSelf(type);
  UnitWork each = getUnits(kind, element);
  if (element.isF64()) {
    int64_t factor = kind == WorkClass::Arithmetic ? 1 : kWideFactor;
    units.wide =
        addCounts(units.wide, multiplyCounts(count, factor * each.single));
    return;
  }
  units.single = addCounts(units.single, multiplyCounts(count, each.single));
  units.special = addCounts(units.special, multiplyCounts(count, each.special));
}

void UnitCounter::count() {
  SmallBitVector all(stage.getNumLoops(), true);
  if (Contraction::match(stage)) {
    add(WorkClass::Arithmetic, all, stage.writes.front().value.getType());
    return;
  }
  FusedOp op = stage.op;
  ScheduleAttr schedule = op.getScheduleAttr();
  // A vector of elements is loaded, or stored, by one instruction.
  auto addAccess = [&](const StagePlace &place, SmallBitVector loops,
                       Type type) {
    if (schedule.getVectorWidth() > 1 &&
        classifyAccess(stage, place) == AccessKind::UnitStride)
      loops.reset(schedule.getVectorDim());
    add(WorkClass::Move, loops, type);
  };
  for (const StageRead &read : stage.reads)
    addAccess(read.place, getLoopsOf(read.value), read.value.getType());
  for (Operation *inner : stage.body)
    if (!isa<ConstantOp>(inner))
      add(classifyOperation(inner), getLoopsOf(inner->getResult(0)),
          inner->getResult(0).getType(), countInstructions(inner));
  for (const StageWrite &write : stage.writes) {
    SmallBitVector loops = write.loops;
    loops.resize(stage.getNumLoops());
    if (write.kind)
      add(WorkClass::Arithmetic, all, write.value.getType());
    addAccess(write.place, write.kind && write.isProjection ? loops : all,
              write.value.getType());
  }
}

static GridDescription describeGrid(ArrayRef<GpuStage> stages,
                                    const Chip &chip) {
  GpuResources resources = GpuResources::estimate(stages);
  const GpuStage &first = stages.front();
  GridDescription grid;
  grid.chip = chip.name.str();
  grid.blocks = countBlocks(first.stage, first.schedule);
  grid.cluster = first.schedule.getClusterSize();
  grid.threads = resources.threads;
  grid.registers = resources.registers;
  grid.sharedBytes = resources.sharedBytes;
  grid.residentBlocks = resources.countBlocks(chip);
  grid.occupancy = resources.getOccupancy(chip);
  return grid;
}

/// Whether a thread has one tile of the stage, which it may keep in registers.
static bool hasOneTile(const GpuStage &each) {
  return llvm::none_of(
      llvm::seq(each.schedule.getNumLevels()),
      [&](unsigned depth) { return isLoop(each.stage, each.schedule, depth); });
}

/// The stages that read an input from memory: not those whose threads have the
/// same elements of it from a stage before.
static int64_t countReaders(Value input, ArrayRef<GpuStage> stages) {
  SmallVector<std::pair<ScheduleAttr, AffineExpr>> kept;
  int64_t readers = 0;
  for (const GpuStage &each : stages) {
    ScheduleFields tile;
    tile.levels.assign(each.schedule.getLevels());
    tile.tile.assign(each.schedule.getTile());
    tile.lanes = each.schedule.getLanes();
    auto key = ScheduleAttr::get(input.getContext(), tile);
    bool fromMemory = false;
    for (const StageRead &read : each.stage.reads) {
      if (!isReadOf(each.stage, read.source, input, findSourceInKernel) ||
          llvm::is_contained(kept, std::pair(key, read.place.offset)))
        continue;
      fromMemory = true;
      if (hasOneTile(each))
        kept.push_back({key, read.place.offset});
    }
    readers += fromMemory;
  }
  return readers;
}

static Traffic countTraffic(KernelOp kernel, const KernelWork &work,
                            ArrayRef<GpuStage> stages) {
  Traffic traffic;
  traffic.once = work.getBytes();
  for (BlockArgument input : kernel.getBody().getArguments()) {
    int64_t readers = countReaders(input, stages);
    if (readers <= 1)
      continue;
    int64_t bytes = countKnownBytes(input.getType());
    traffic.repeated = addCounts(traffic.repeated, bytes);
    traffic.again =
        addCounts(traffic.again, multiplyCounts(readers - 1, bytes));
  }
  return traffic;
}

FailureOr<KernelDescription> metaop::describeGpuKernel(KernelOp kernel,
                                                       const Chip &chip) {
  SmallVector<GpuStage, 1> stages;
  UnitWork units;
  FailureOr<KernelDescription> result =
      describeStages(kernel, [&](const Stage &stage, KernelWork &work) {
        FusedOp op = stage.op;
        stages.push_back({stage, op.getScheduleAttr()});
        UnitCounter(stage, work, units).count();
      });
  if (failed(result) || failed(verifyGpuKernel(stages, chip)))
    return failure();
  if (stages.empty())
    return result;
  result->grid = describeGrid(stages, chip);
  Traffic traffic = countTraffic(kernel, result->work, stages);
  result->grid->bytesAgain = traffic.again;
  for (const Card *card : Card::find(chip))
    result->grid->predictions.push_back(
        {card->name.str(),
         card->predictSeconds(traffic, units, result->grid->blocks,
                              result->grid->residentBlocks)});
  return result;
}
