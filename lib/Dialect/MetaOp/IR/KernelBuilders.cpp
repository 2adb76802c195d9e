//===- KernelBuilders.cpp - Making kernels --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

/// Adds a block with an argument for each of `inputs`, and goes to its end.
static Block &openBody(OpBuilder &builder, Region &region, ValueRange inputs) {
  Block &body = region.emplaceBlock();
  for (Value input : inputs)
    body.addArgument(input.getType(), input.getLoc());
  builder.setInsertionPointToEnd(&body);
  return body;
}

FusedOp metaop::buildStage(
    OpBuilder &builder, Location loc, TypeRange types, ValueRange inputs,
    llvm::function_ref<SmallVector<Value>(ValueRange arguments)> fill) {
  auto stage = FusedOp::create(builder, loc, types, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = openBody(builder, stage.getBody(), inputs);
  YieldOp::create(builder, loc, fill(body.getArguments()));
  return stage;
}

KernelOp metaop::buildStageKernel(
    OpBuilder &builder, Location loc, TypeRange types, ValueRange inputs,
    llvm::function_ref<SmallVector<Value>(ValueRange arguments)> fill) {
  auto kernel = KernelOp::create(builder, loc, types, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block &kernelBody = openBody(builder, kernel.getBody(), inputs);
  FusedOp stage =
      buildStage(builder, loc, types, kernelBody.getArguments(), fill);
  YieldOp::create(builder, loc, stage.getOutputs());
  return kernel;
}

KernelOp metaop::mergeKernels(OpBuilder &builder, Location loc,
                              ArrayRef<KernelOp> kernels, ValueRange outputs,
                              IRMapping &mapping) {
  llvm::SmallSetVector<Value, 8> inputs;
  for (KernelOp kernel : kernels)
    for (Value input : kernel.getInputs())
      if (!llvm::is_contained(kernels, input.getDefiningOp()))
        inputs.insert(input);
  auto merged =
      KernelOp::create(builder, loc, outputs.getTypes(), inputs.getArrayRef());
  OpBuilder::InsertionGuard guard(builder);
  Block &body = openBody(builder, merged.getBody(), inputs.getArrayRef());
  mapping.map(inputs.getArrayRef(), body.getArguments());
  for (KernelOp kernel : kernels) {
    for (auto [argument, input] :
         llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs()))
      mapping.map(argument, mapping.lookup(input));
    for (Operation &op : kernel.getBody().front().without_terminator())
      builder.clone(op, mapping);
    for (auto [output, yielded] :
         llvm::zip_equal(kernel.getOutputs(), kernel.getYield().getOperands()))
      mapping.map(output, mapping.lookup(yielded));
  }
  YieldOp::create(builder, loc, llvm::map_to_vector(outputs, [&](Value output) {
                    return mapping.lookup(output);
                  }));
  return merged;
}

void metaop::redirectOutputs(ValueRange outputs, KernelOp merged) {
  for (auto [output, result] : llvm::zip_equal(outputs, merged.getOutputs()))
    output.replaceAllUsesWith(result);
}

void metaop::eraseMerged(ArrayRef<KernelOp> kernels) {
  for (KernelOp kernel : llvm::reverse(kernels)) {
    kernel->dropAllUses();
    kernel->erase();
  }
}
