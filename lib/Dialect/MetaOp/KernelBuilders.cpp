//===- KernelBuilders.cpp - Making kernels of one stage -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/KernelBuilders.h"

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
