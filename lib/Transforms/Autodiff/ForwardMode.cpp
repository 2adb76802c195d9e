//===- ForwardMode.cpp - Forward-mode differentiation ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Find the operations that lie between an input and an output
// (ActiveOps.cpp).
// 2. Along their order, ask each for the tangents of its results.
// 3. Erase what was emitted for results that no output needs.
//
//===----------------------------------------------------------------------===//

#include "ActiveOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "RegionDerivatives.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::metaop;

llvm::Expected<SmallVector<Value>>
metaop::pushForward(OpBuilder &builder, ArrayRef<Value> outputs,
                    ArrayRef<Value> inputs, ArrayRef<Value> tangents,
                    DerivativeOptions options) {
  if (llvm::Error error = checkValues({outputs, "output"}, {inputs, "input"},
                                      {tangents, "tangent"},
                                      /*ofOutputs=*/false))
    return std::move(error);

  Operation *before = getOpBefore(builder);
  ActiveOps active(builder.getInsertionBlock(), outputs, inputs,
                   options.isStopped);
  llvm::DenseMap<Value, Value> tangentOf;
  // A value moves by all that is said of it: it may be given twice, and depend
  // on another input.
  auto add = [&](Value value, Value tangent, Location loc) {
    Value &sum = tangentOf[value];
    sum = sum ? Value(AddOp::create(builder, loc, sum, tangent)) : tangent;
  };
  for (auto [input, tangent] : llvm::zip(inputs, tangents))
    add(input, tangent, input.getLoc());
  for (Operation *op : active.order) {
    auto getTangent = [&](Value value) { return tangentOf.lookup(value); };
    SmallVector<Value> ofInputs =
        llvm::map_to_vector(getInputs(op), getTangent);
    if (llvm::none_of(ofInputs, [](Value value) { return bool(value); }))
      continue;
    SmallVector<Value> ofResults =
        op->getNumRegions() > 0
            ? pushForwardRegions(builder, op, getTangent, options.savedBytes)
            : cast<DifferentiableOpInterface>(op).jvp(builder, ofInputs);
    for (auto [result, tangent] : llvm::zip(op->getResults(), ofResults))
      if (tangent)
        add(result, tangent, op->getLoc());
  }

  SmallVector<Value> results;
  for (Value output : outputs) {
    Value tangent = tangentOf.lookup(output);
    results.push_back(
        tangent ? tangent : splatLike(builder, output.getLoc(), output, 0.0));
  }
  eraseUnused(builder, before, results);
  return results;
}
