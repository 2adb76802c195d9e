//===- InPlace.cpp - When a result may overwrite an input -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage computes one point of its loops after another. If it reads an element
// only at the point that writes an element of the same size at the same
// address, the value is in a register before the write. Any other read of the
// stage (through a transposition, a broadcast, a shift) may come after the
// write and would see it. A stage that ran before is harmless only if it is
// over: if none of the stages between shares a loop with its predecessor. A
// stage that runs later must not read the buffer at all.
//
// On a GPU blocks run side by side, so no stage is over before another one
// ends; and what several threads compute is stored by one of them, perhaps
// before the others have read.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Every read of the stage from one of `values` is at the place that `write`
/// writes, so that it is done when the write happens.
static bool readsOnlyWhatItWrites(const Stage &stage, const StageWrite &write,
                                  const llvm::DenseSet<Value> &values) {
  if (write.kind)
    return false;
  for (const StageRead &read : stage.reads) {
    auto argument = dyn_cast<BlockArgument>(read.source);
    if (!argument)
      continue;
    Value outer = FusedOp(stage.op).getInputs()[argument.getArgNumber()];
    if (values.contains(outer) && (read.place.offset != write.place.offset ||
                                   getElementBytes(read.value.getType()) !=
                                       getElementBytes(write.value.getType())))
      return false;
  }
  // 0-d operands of generators and symbols are read outside of the loops, but
  // their memory may be an element of the result.
  for (const StageSymbol &symbol : stage.symbols)
    if (auto argument = dyn_cast<BlockArgument>(symbol.value))
      if (values.contains(
              FusedOp(stage.op).getInputs()[argument.getArgNumber()]))
        return false;
  for (Operation *op : stage.body)
    if (isa<GeneratorOpInterface>(op))
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand))
          if (values.contains(
                  FusedOp(stage.op).getInputs()[argument.getArgNumber()]))
            return false;
  return true;
}

/// Returns whether the thread of a GPU that stores an element is the only one
/// that runs the stage for it.
static bool hasOneThreadEach(KernelOp kernel, const Stage &stage,
                             const StageWrite &write, ScheduleAttr schedule) {
  for (auto other : kernel.getBody().front().getOps<FusedOp>())
    if (ScheduleAttr own = other.getScheduleAttr();
        own && own.getNumThreads() > schedule.getNumThreads())
      return false;
  for (auto [depth, level] : llvm::enumerate(schedule.getLevels())) {
    if ((!level.isGrid() && !level.isDistributed()) ||
        write.loops.test(level.dim))
      continue;
    int64_t extent = stage.getStaticExtent(level.dim);
    bool isOne = schedule.getEnclosing(depth)
                     ? schedule.getCount(depth) == 1
                     : !ShapedType::isDynamic(extent) && extent <= level.step;
    if (!isOne)
      return false;
  }
  return schedule.getStaged().empty();
}

bool metaop::canWriteInPlace(KernelOp kernel, ArrayRef<unsigned> inputs,
                             unsigned result, StageModels &models) {
  llvm::DenseSet<Value> values;
  for (unsigned input : inputs)
    values.insert(kernel.getBody().getArgument(input));
  Value written = kernel.getYield().getOperand(result);
  auto reads = [&](FusedOp stage) {
    return llvm::any_of(stage.getInputs(),
                        [&](Value input) { return values.contains(input); });
  };

  bool isWritten = false;
  // An earlier stage that reads the buffer and may share loops with this one.
  bool isBeingRead = false;
  for (auto stage : kernel.getBody().front().getOps<FusedOp>()) {
    if (isWritten) {
      if (reads(stage))
        return false;
      continue;
    }
    ScheduleAttr schedule = stage.getScheduleAttr();
    bool isForGpu = schedule && schedule.isForGpu();
    bool sharesLoops = !schedule || isForGpu || schedule.getShared() > 0;
    if (!sharesLoops)
      isBeingRead = false;
    if (written.getDefiningOp() != stage) {
      isBeingRead |= reads(stage);
      continue;
    }
    isWritten = true;
    if (isBeingRead)
      return false;
    unsigned position = cast<OpResult>(written).getResultNumber();
    // Sums and the like are not done when an element is first written.
    if (isa_and_nonnull<ReindexReduceOpInterface, ScatterOp>(
            stage.getYield().getOperand(position).getDefiningOp()))
      return false;
    FailureOr<const Stage *> model = models.get(stage);
    if (failed(model))
      return false;
    FailureOr<bool> isTaken = holdsSums(stage, position);
    if (failed(isTaken) || *isTaken)
      return false;
    for (const StageWrite &write : (*model)->writes)
      if (write.result == position &&
          (!readsOnlyWhatItWrites(**model, write, values) ||
           (isForGpu && reads(stage) &&
            !hasOneThreadEach(kernel, **model, write, schedule))))
        return false;
  }
  return isWritten;
}
