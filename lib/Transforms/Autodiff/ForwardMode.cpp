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
#include "CustomCalls.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "RegionDerivatives.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
class ForwardMode {
public:
  ForwardMode(OpBuilder &builder, const ActiveOps &active,
              DerivativeOptions options)
      : builder(builder), active(active), options(options),
        calls(builder, active, options.custom) {}

  llvm::Expected<SmallVector<Value>> run(ArrayRef<Value> outputs,
                                         ArrayRef<Value> inputs,
                                         ArrayRef<Value> tangents);

private:
  Value getTangent(Value value) const { return tangentOf.lookup(value); }
  void add(Value value, Value tangent, Location loc);
  llvm::Expected<SmallVector<Value>> move(Operation *op,
                                          ArrayRef<OpResult> read);

  OpBuilder &builder;
  const ActiveOps &active;
  DerivativeOptions options;
  CustomCalls calls;
  llvm::DenseMap<Value, Value> tangentOf;
};
} // namespace

/// A value moves by all that is said of it: it may be given twice, and depend
/// on another input.
void ForwardMode::add(Value value, Value tangent, Location loc) {
  Value &sum = tangentOf[value];
  sum = sum ? Value(AddOp::create(builder, loc, sum, tangent)) : tangent;
  calls.note(sum);
}

/// Emits the tangents of an operation's results. Null stands for zeros.
llvm::Expected<SmallVector<Value>> ForwardMode::move(Operation *op,
                                                     ArrayRef<OpResult> read) {
  auto lookUp = [&](Value value) { return getTangent(value); };
  if (auto custom = dyn_cast<CustomDerivativeOp>(op))
    return calls.pushForward(
        custom, llvm::map_to_vector(custom.getArguments(), lookUp));
  if (op->getNumRegions() > 0)
    return pushForwardRegions(builder, op, lookUp, options.savedBytes, read);
  return cast<DifferentiableOpInterface>(op).jvp(
      builder, llvm::map_to_vector(op->getOperands(), lookUp));
}

llvm::Expected<SmallVector<Value>> ForwardMode::run(ArrayRef<Value> outputs,
                                                    ArrayRef<Value> inputs,
                                                    ArrayRef<Value> tangents) {
  for (auto [input, tangent] : llvm::zip(inputs, tangents))
    add(input, tangent, input.getLoc());
  for (Operation *op : active.order) {
    auto moves = [&](Value value) { return bool(getTangent(value)); };
    SmallVector<OpResult> read = findRead(op, moves, options);
    if (llvm::none_of(getInputs(op), moves) && llvm::none_of(read, moves))
      continue;
    auto ofResults = move(op, read);
    if (!ofResults)
      return ofResults.takeError();
    for (auto [result, tangent] : llvm::zip(op->getResults(), *ofResults)) {
      if (!tangent)
        continue;
      // Marks of such a result are in its tangent.
      if (llvm::is_contained(read, result))
        tangentOf.erase(result);
      add(result, tangent, op->getLoc());
    }
  }

  SmallVector<Value> results;
  for (Value output : outputs) {
    Value tangent = getTangent(output);
    results.push_back(
        tangent ? tangent : splatLike(builder, output.getLoc(), output, 0.0));
  }
  eraseUnused(builder, calls.getBefore(), results);
  return results;
}

llvm::Expected<SmallVector<Value>>
metaop::pushForward(OpBuilder &builder, ArrayRef<Value> outputs,
                    ArrayRef<Value> inputs, ArrayRef<Value> tangents,
                    DerivativeOptions options) {
  if (llvm::Error error = checkValues({outputs, "output"}, {inputs, "input"},
                                      {tangents, "tangent"},
                                      /*ofOutputs=*/false))
    return std::move(error);

  ActiveOps active(builder.getInsertionBlock(), outputs, inputs,
                   options.isStopped);
  return ForwardMode(builder, active, options).run(outputs, inputs, tangents);
}
