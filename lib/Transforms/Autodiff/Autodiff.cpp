//===- Autodiff.cpp - Reverse-mode differentiation ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Find the operations that lie between a target and an output
// (ActiveOps.cpp).
// 2. Against their order, ask each for the cotangents of its operands, and keep
//    them per value. By the time that a value's own is needed, all uses have
//    been seen; then they are added up (Contributions.cpp).
// 3. Erase what was emitted for operands that need no gradient.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/Autodiff.h"

#include "ActiveOps.h"
#include "Contributions.h"
#include "CustomCalls.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "RegionDerivatives.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Reverse mode
//===----------------------------------------------------------------------===//

namespace {
class ReverseMode {
public:
  ReverseMode(OpBuilder &builder, const ActiveOps &active,
              ArrayRef<Value> targets, DerivativeOptions options)
      : builder(builder), active(active), options(options),
        calls(builder, active, options.custom), targets(targets) {}

  llvm::Expected<SmallVector<Value>> run(ArrayRef<Value> outputs,
                                         ArrayRef<Value> seeds);

private:
  Value getCotangent(Value value);
  void contribute(Value value, Contribution contribution);
  llvm::Error propagate(Operation *op);
  llvm::Error propagateCustom(CustomDerivativeOp op, ArrayRef<Value> ofResults);
  void propagateIntoRegions(Operation *op, ArrayRef<Value> ofResults);

  OpBuilder &builder;
  const ActiveOps &active;
  DerivativeOptions options;
  CustomCalls calls;
  ArrayRef<Value> targets;
  llvm::DenseMap<Value, SmallVector<Contribution, 1>> contributions;
};
} // namespace

/// The sum of a value's contributions; null if there are none. It becomes the
/// only one.
Value ReverseMode::getCotangent(Value value) {
  auto found = contributions.find(value);
  if (found == contributions.end())
    return nullptr;
  Value sum = addUp(builder, value, found->second, options.getNumber);
  found->second = {{sum, SliceOp(), sum.getLoc()}};
  calls.note(sum);
  return sum;
}

void ReverseMode::contribute(Value value, Contribution contribution) {
  contributions[value].push_back(contribution);
  calls.note(contribution.cotangent);
}

llvm::Error ReverseMode::propagateCustom(CustomDerivativeOp op,
                                         ArrayRef<Value> ofResults) {
  auto ofArguments = calls.pullBack(op, ofResults);
  if (!ofArguments)
    return ofArguments.takeError();
  for (auto [cotangent, argument] :
       llvm::zip_equal(*ofArguments, op.getArguments()))
    if (cotangent && active.values.contains(argument))
      contribute(argument, {cotangent, SliceOp(), op->getLoc()});
  return llvm::Error::success();
}

/// A result of an unbounded loop is no part of a gradient that is asked
/// for (MissingDerivatives.h).
void ReverseMode::propagateIntoRegions(Operation *op,
                                       ArrayRef<Value> ofResults) {
  if (isUnboundedLoop(op))
    return;
  llvm::SmallSetVector<Value, 8> inputs;
  for (Value input : getInputs(op))
    if (isFloatTensor(input) && active.values.contains(input))
      inputs.insert(input);
  size_t numInputs = inputs.size();
  auto isTarget = [&](Value value) {
    return llvm::is_contained(targets, value);
  };
  SmallVector<OpResult> read = findRead(op, isTarget, options);
  inputs.insert_range(llvm::make_filter_range(read, isTarget));
  SmallVector<Value> gradients = differentiateRegions(
      builder, op, ofResults, inputs.getArrayRef(), options.savedBytes, read);
  for (auto [number, gradient] : llvm::enumerate(gradients)) {
    // A condition is given inputs, too.
    if (!gradient)
      continue;
    // Of a result it is all of the gradient.
    if (number >= numInputs)
      contributions[inputs[number]].clear();
    contribute(inputs[number], {gradient, SliceOp(), op->getLoc()});
  }
}

llvm::Error ReverseMode::propagate(Operation *op) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(getCotangent(result));
  if (llvm::none_of(ofResults, [](Value value) { return bool(value); }))
    return llvm::Error::success();
  if (auto custom = dyn_cast<CustomDerivativeOp>(op))
    return propagateCustom(custom, ofResults);
  if (op->getNumRegions() > 0) {
    propagateIntoRegions(op, ofResults);
    return llvm::Error::success();
  }
  for (auto [cotangent, result] : llvm::zip(ofResults, op->getResults()))
    if (!cotangent && isFloatTensor(result))
      cotangent = splatLike(builder, op->getLoc(), result, 0.0);

  // A slice contributes a window, to be put together with others.
  if (auto slice = dyn_cast<SliceOp>(op); slice && isWindow(slice)) {
    if (active.values.contains(slice.getSource()))
      contribute(slice.getSource(), {ofResults.front(), slice, op->getLoc()});
    return llvm::Error::success();
  }
  SmallVector<Value> ofOperands =
      cast<DifferentiableOpInterface>(op).vjp(builder, ofResults);
  for (auto [cotangent, operand] : llvm::zip(ofOperands, op->getOperands()))
    if (cotangent && active.values.contains(operand))
      contribute(operand, {cotangent, SliceOp(), op->getLoc()});
  return llvm::Error::success();
}

llvm::Expected<SmallVector<Value>> ReverseMode::run(ArrayRef<Value> outputs,
                                                    ArrayRef<Value> seeds) {
  for (auto [output, seed] : llvm::zip(outputs, seeds))
    if (active.values.contains(output))
      contribute(output, {seed, SliceOp(), output.getLoc()});
  for (Operation *op : llvm::reverse(active.order))
    if (llvm::Error error = propagate(op))
      return std::move(error);

  SmallVector<Value> gradients;
  for (Value target : targets) {
    Value gradient = getCotangent(target);
    if (!gradient)
      gradient = splatLike(builder, target.getLoc(), target, 0.0);
    gradients.push_back(gradient);
  }
  eraseUnused(builder, calls.getBefore(), gradients);
  return gradients;
}

llvm::Expected<SmallVector<Value>>
metaop::differentiate(OpBuilder &builder, ArrayRef<Value> outputs,
                      ArrayRef<Value> seeds, ArrayRef<Value> targets,
                      DerivativeOptions options) {
  if (llvm::Error error = checkValues({outputs, "output"}, {targets, "target"},
                                      {seeds, "seed"}, /*ofOutputs=*/true))
    return std::move(error);

  ActiveOps active(builder.getInsertionBlock(), outputs, targets,
                   options.isStopped);
  return ReverseMode(builder, active, targets, options).run(outputs, seeds);
}
