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
  ReverseMode(OpBuilder &builder, ActiveOps active, DerivativeOptions options)
      : builder(builder), active(std::move(active)), options(options) {}

  SmallVector<Value> run(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                         ArrayRef<Value> targets);

private:
  Value getCotangent(Value value);
  void propagate(Operation *op);
  void propagateIntoRegions(Operation *op, ArrayRef<Value> ofResults);

  OpBuilder &builder;
  ActiveOps active;
  DerivativeOptions options;
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
  return sum;
}

/// A result of an unbounded loop is no part of a gradient that is asked
/// for (UnboundedLoops.h).
void ReverseMode::propagateIntoRegions(Operation *op,
                                       ArrayRef<Value> ofResults) {
  if (isUnboundedLoop(op))
    return;
  llvm::SmallSetVector<Value, 8> inputs;
  for (Value input : getInputs(op))
    if (isFloatTensor(input) && active.values.contains(input))
      inputs.insert(input);
  SmallVector<Value> gradients = differentiateRegions(
      builder, op, ofResults, inputs.getArrayRef(), options.savedBytes);
  // A condition is given inputs, too.
  for (auto [input, gradient] : llvm::zip_equal(inputs, gradients))
    if (gradient)
      contributions[input].push_back({gradient, SliceOp(), op->getLoc()});
}

void ReverseMode::propagate(Operation *op) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(getCotangent(result));
  if (llvm::none_of(ofResults, [](Value value) { return bool(value); }))
    return;
  if (op->getNumRegions() > 0)
    return propagateIntoRegions(op, ofResults);
  for (auto [cotangent, result] : llvm::zip(ofResults, op->getResults()))
    if (!cotangent && isFloatTensor(result))
      cotangent = splatLike(builder, op->getLoc(), result, 0.0);

  // What a slice contributes is a window, to be put together with others.
  if (auto slice = dyn_cast<SliceOp>(op); slice && isWindow(slice)) {
    if (active.values.contains(slice.getSource()))
      contributions[slice.getSource()].push_back(
          {ofResults.front(), slice, op->getLoc()});
    return;
  }
  SmallVector<Value> ofOperands =
      cast<DifferentiableOpInterface>(op).vjp(builder, ofResults);
  for (auto [cotangent, operand] : llvm::zip(ofOperands, op->getOperands()))
    if (cotangent && active.values.contains(operand))
      contributions[operand].push_back({cotangent, SliceOp(), op->getLoc()});
}

SmallVector<Value> ReverseMode::run(ArrayRef<Value> outputs,
                                    ArrayRef<Value> seeds,
                                    ArrayRef<Value> targets) {
  for (auto [output, seed] : llvm::zip(outputs, seeds))
    if (active.values.contains(output))
      contributions[output].push_back({seed, SliceOp(), output.getLoc()});
  for (Operation *op : llvm::reverse(active.order))
    propagate(op);

  SmallVector<Value> gradients;
  for (Value target : targets) {
    Value gradient = getCotangent(target);
    if (!gradient)
      gradient = splatLike(builder, target.getLoc(), target, 0.0);
    gradients.push_back(gradient);
  }
  return gradients;
}

llvm::Expected<SmallVector<Value>>
metaop::differentiate(OpBuilder &builder, ArrayRef<Value> outputs,
                      ArrayRef<Value> seeds, ArrayRef<Value> targets,
                      DerivativeOptions options) {
  if (llvm::Error error = checkValues({outputs, "output"}, {targets, "target"},
                                      {seeds, "seed"}, /*ofOutputs=*/true))
    return std::move(error);

  Operation *before = getOpBefore(builder);
  ActiveOps active(builder.getInsertionBlock(), outputs, targets,
                   options.isStopped);
  SmallVector<Value> gradients =
      ReverseMode(builder, std::move(active), options)
          .run(outputs, seeds, targets);
  eraseUnused(builder, before, gradients);
  return gradients;
}
