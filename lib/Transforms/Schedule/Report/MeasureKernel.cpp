//===- MeasureKernel.cpp - The work of scheduled kernels ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Report/MeasureKernel.h"
#include "MetaOps/Dialect/MetaOp/Analysis/CountFlops.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"

using namespace mlir;
using namespace mlir::metaop;

int64_t metaop::countKnownBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? countBytes(tensor) : 0;
}

/// Counts what does not depend on schedules.
static KernelWork measureOperations(KernelOp kernel) {
  KernelWork work;
  for (Value operand : kernel.getOperands())
    work.bytesRead =
        addCounts(work.bytesRead, countKnownBytes(operand.getType()));
  for (Value output : kernel.getResults())
    work.bytesWritten =
        addCounts(work.bytesWritten, countKnownBytes(output.getType()));
  work.flops = countFlops(kernel).value_or(0);
  return work;
}

KernelWork metaop::measureStages(KernelOp kernel,
                                 ArrayRef<const Stage *> stages,
                                 const Processor &processor) {
  KernelWork work = measureOperations(kernel);
  for (const Stage *stage : stages)
    countStageWork(*stage, processor, work);
  return work;
}

FailureOr<KernelMeasures> metaop::measureStages(
    KernelOp kernel,
    llvm::function_ref<void(const Stage &, KernelWork &)> visit) {
  KernelMeasures result;
  result.work = measureOperations(kernel);
  StageModels models;
  bool isFirst = true;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<const Stage *> stage = models.get(op);
    if (failed(stage) || failed(verifySchedule(op, **stage, isFirst)))
      return failure();
    isFirst = false;
    visit(**stage, result.work);
  }
  return result;
}

FailureOr<KernelMeasures> metaop::measureKernel(KernelOp kernel,
                                                const Processor &processor) {
  return measureStages(kernel, [&](const Stage &stage, KernelWork &work) {
    countStageWork(stage, processor, work);
  });
}
