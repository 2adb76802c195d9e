//===- DescribeKernel.cpp - Descriptions of scheduled kernels -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Report/DescribeKernel.h"
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

FailureOr<KernelDescription> metaop::describeStages(
    KernelOp kernel,
    llvm::function_ref<void(const Stage &, KernelWork &)> visit) {
  KernelDescription result;
  for (Value operand : kernel.getOperands())
    result.work.bytesRead =
        addCounts(result.work.bytesRead, countKnownBytes(operand.getType()));
  for (Value output : kernel.getResults())
    result.work.bytesWritten =
        addCounts(result.work.bytesWritten, countKnownBytes(output.getType()));
  result.work.flops = countFlops(kernel).value_or(0);
  StageModels models;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<const Stage *> stage = models.get(op);
    if (failed(stage) ||
        failed(verifySchedule(op, **stage, /*isFirst=*/result.stages.empty())))
      return failure();
    result.stages.push_back(describeStage(**stage));
    visit(**stage, result.work);
  }
  return result;
}

FailureOr<KernelDescription>
metaop::describeKernel(KernelOp kernel, const Processor &processor) {
  return describeStages(kernel, [&](const Stage &stage, KernelWork &work) {
    countStageWork(stage, processor, work);
  });
}
