//===- MeasureGpuKernel.cpp - The work of kernels for GPUs ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes and operations are counted as for a CPU. What a block takes of a
// multiprocessor is the estimate that verifies schedules, and the time on each
// model that has the chip follows from what its warps do (BlockWork) and from
// what is moved. An input that several stages read is moved anew for each,
// unless threads keep what they have of it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/MeasureGpuKernel.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/GpuModel.h"
#include "MetaOps/Transforms/Schedule/GPU/CountBlockWork.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Report/MeasureKernel.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

namespace {
/// Counts the operations of a stage by class.
class OperationCounter {
public:
  OperationCounter(const Stage &stage, KernelWork &work)
      : stage(stage), work(work) {}

  void count();

private:
  void add(WorkClass kind, const SmallBitVector &loops, int64_t times = 1) {
    int64_t count = multiplyCounts(countIterations(stage, loops), times);
    int64_t &counted = work.instructions[static_cast<unsigned>(kind)];
    counted = addCounts(counted, count);
  }
  SmallBitVector getLoopsOf(Value value) const {
    SmallBitVector loops = stage.getLoopsOf(value);
    loops.resize(stage.getNumLoops());
    return loops;
  }

  const Stage &stage;
  KernelWork &work;
};
} // namespace

void OperationCounter::count() {
  SmallBitVector all(stage.getNumLoops(), true);
  if (Contraction::match(stage)) {
    add(WorkClass::Arithmetic, all);
    return;
  }
  FusedOp op = stage.op;
  ScheduleAttr schedule = op.getScheduleAttr();
  // A vector of elements is loaded, or stored, by one instruction.
  auto addAccess = [&](const StagePlace &place, SmallBitVector loops) {
    if (schedule.getVectorWidth() > 1 &&
        classifyAccess(stage, place) == AccessKind::UnitStride)
      loops.reset(schedule.getVectorDim());
    add(WorkClass::Move, loops);
  };
  for (const StageRead &read : stage.reads)
    addAccess(read.place, getLoopsOf(read.value));
  for (Operation *inner : stage.body)
    if (!isa<ConstantOp>(inner))
      add(classifyOperation(inner), getLoopsOf(inner->getResult(0)),
          countInstructions(inner));
  for (const StageWrite &write : stage.writes) {
    SmallBitVector loops = write.loops;
    loops.resize(stage.getNumLoops());
    if (write.kind)
      add(WorkClass::Arithmetic, all);
    addAccess(write.place, write.kind && write.isProjection ? loops : all);
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

/// Returns whether a thread has one tile of the stage, which it may keep in
/// registers.
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

FailureOr<KernelMeasures> metaop::measureGpuKernel(KernelOp kernel,
                                                   const Chip &chip) {
  SmallVector<GpuStage, 1> stages;
  FailureOr<KernelMeasures> result =
      measureStages(kernel, [&](const Stage &stage, KernelWork &work) {
        FusedOp op = stage.op;
        stages.push_back({stage, op.getScheduleAttr()});
        OperationCounter(stage, work).count();
      });
  if (failed(result) || failed(verifyGpuStages(stages, chip)))
    return failure();
  if (stages.empty())
    return result;
  result->grid = describeGrid(stages, chip);
  Traffic traffic = countTraffic(kernel, result->work, stages);
  result->grid->bytesAgain = traffic.again;
  BlockWork work = countBlockWork(stages);
  result->grid->slots = work.slots * result->grid->blocks;
  result->grid->sharedPasses = work.passes * result->grid->blocks;
  for (const GpuModel *model : GpuModel::find(chip)) {
    Prediction found = model->predict(traffic, work, result->grid->blocks,
                                      result->grid->residentBlocks);
    result->grid->predictions.push_back(
        {model->name.str(), found.seconds, found.bound.str()});
  }
  return result;
}
