//===- VerifyLoopTree.cpp - Rules of stages that share loops --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// P15 to P17 of docs/Schedule.md, and which rules apply to a kernel: a loop
// tree or a contraction in blocks.
//
// A stage that reads what an earlier stage computes inside of the loops that
// both share finds it complete only if both number the same dimensions of the
// tensor by those loops: in each iteration, one writes what the other reads.
//
//===----------------------------------------------------------------------===//

#include "CpuRules.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "MetaOps/Transforms/Schedule/CPU/LocalValues.h"
#include "MetaOps/Transforms/Schedule/CPU/VerifyCpuKernel.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// Returns true if two extents, each in the symbols of its stage, are one
/// number.
static bool isSameExtent(const Stage &a, AffineExpr extentA, const Stage &b,
                         AffineExpr extentB) {
  if (isa<AffineConstantExpr>(extentA))
    return extentA == extentB;
  auto symbolA = dyn_cast<AffineSymbolExpr>(extentA);
  auto symbolB = dyn_cast<AffineSymbolExpr>(extentB);
  if (!symbolA || !symbolB)
    return false;
  const StageSymbol &first = a.symbols[symbolA.getPosition()];
  const StageSymbol &second = b.symbols[symbolB.getPosition()];
  return first.kind == second.kind && first.dim == second.dim &&
         getOuterValue(a.op, first.value) == getOuterValue(b.op, second.value);
}

/// Checks P15.
static LogicalResult verifySharedLoops(const ScheduledStage &previous,
                                       const ScheduledStage &scheduled) {
  FusedOp op = scheduled.stage.op;
  for (int64_t depth = 0; depth < scheduled.schedule.getShared(); ++depth) {
    int64_t before = previous.schedule.getLevels()[depth].dim;
    int64_t loop = scheduled.schedule.getLevels()[depth].dim;
    if (!isSameExtent(previous.stage, previous.stage.extents[before],
                      scheduled.stage, scheduled.stage.extents[loop]))
      return refuse(op, "P15", "shares loop ")
             << depth << " with the stage before it, which runs over another "
             << "extent";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values of one stage that another reads
//===----------------------------------------------------------------------===//

/// Checks P16.
static LogicalResult verifyDependence(const ScheduledStage &producer,
                                      const ScheduledStage &consumer,
                                      unsigned numShared) {
  FusedOp op = consumer.stage.op;
  FusedOp from = producer.stage.op;
  auto isFromProducer = [&](Value argument) {
    return getOuterProducer(op, argument) == from;
  };
  // Symbols are read before the first loop.
  for (const StageSymbol &symbol : consumer.stage.symbols)
    if (symbol.kind == StageSymbol::Kind::Scalar &&
        isFromProducer(symbol.value))
      return refuse(op, "P16",
                    "reads places that depend on a number which the "
                    "same kernel computes");
  if (numShared == 0)
    return success();
  auto fail = [&]() {
    return refuse(op, "P16", "shares ")
           << numShared << " loops with a stage before they have computed what "
           << "it reads of that stage";
  };
  for (const StageRead &read : consumer.stage.reads) {
    if (!isFromProducer(read.source))
      continue;
    auto result = cast<OpResult>(getOuterValue(op, read.source));
    for (const StageWrite &write : producer.stage.writes)
      if (write.result == result.getResultNumber() &&
          !staysInIteration(write, producer.schedule.getDims(numShared), read,
                            consumer.schedule.getDims(numShared)))
        return fail();
  }
  for (Operation *inner : consumer.stage.body)
    if (isa<GeneratorOpInterface>(inner) &&
        llvm::any_of(inner->getOperands(), isFromProducer))
      return fail();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory inside of the kernel
//===----------------------------------------------------------------------===//

static bool leavesItsKernel(OpResult result) {
  return leavesKernel(cast<FusedOp>(result.getOwner()),
                      result.getResultNumber());
}

/// Checks P17: values inside of the kernel have memory on the stack of a
/// thread.
static LogicalResult verifyLocalValues(ArrayRef<ScheduledStage> stages) {
  int64_t left = kMaxLocalBytes;
  for (const LocalValue &value : findLocalValues(stages, leavesItsKernel)) {
    int64_t bytes = getElementBytes(value.result.getType());
    if (!value.size || *value.size > left / bytes)
      return refuse(cast<FusedOp>(value.result.getOwner()), "P17",
                    "holds a value inside of the kernel that does not fit its "
                    "local memory of ")
             << kMaxLocalBytes << " bytes: " << value.result.getType();
    left -= *value.size * bytes;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult metaop::verifyNests(ArrayRef<ScheduledStage> stages) {
  bool isAlone = stages.size() == 1;
  for (const ScheduledStage &scheduled : stages)
    if (failed(verifyNest(scheduled, isAlone)))
      return failure();
  for (size_t i = 1; i < stages.size(); ++i)
    if (failed(verifySharedLoops(stages[i - 1], stages[i])))
      return failure();
  for (size_t i = 0; i < stages.size(); ++i) {
    // Stages i and j share the least of what those between share.
    int64_t numShared = std::numeric_limits<int64_t>::max();
    for (size_t j = i + 1; j < stages.size(); ++j) {
      numShared = std::min(numShared, stages[j].schedule.getShared());
      if (failed(verifyDependence(stages[i], stages[j], numShared)))
        return failure();
    }
  }
  return verifyLocalValues(stages);
}

LogicalResult metaop::verifyLoopTree(MutableArrayRef<ScheduledStage> stages) {
  for (const ScheduledStage &scheduled : stages)
    if (failed(verifyAnyStage(scheduled)))
      return failure();
  if (auto blocked = BlockedStages::find(stages)) {
    for (const ScheduledStage &scheduled : stages)
      if (FusedOp op = scheduled.stage.op; scheduled.stage.carry)
        return refuse(op, "P13",
                      "has prefixes, beside a contraction in blocks");
    return blocked->verify();
  }
  for (const ScheduledStage &scheduled : stages)
    if (!scheduled.schedule.isNest())
      return verifyContraction(scheduled, /*isAlone=*/stages.size() == 1);
  return verifyNests(stages);
}

LogicalResult metaop::verifyCpuKernel(KernelOp kernel) {
  auto stages = readScheduledStages(kernel);
  if (failed(stages))
    return failure();
  openSharedLoops(*stages, countParallelLoops(*stages));
  return verifyLoopTree(*stages);
}
