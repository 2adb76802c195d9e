//===- ActiveOps.cpp - What lies between targets and outputs --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Walk back from the outputs, through operations that let a derivative pass,
//    and put what is found into an order in which operands come first.
// 2. Along that order, keep what depends on a target.
//
// The order is our own: an operation's place in its block is only known after
// numbering the whole block, which may be far larger than the part in question.
// All walks are loops, since graphs may be deep.
//
//===----------------------------------------------------------------------===//

#include "ActiveOps.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Transforms/Autodiff/SiblingResults.h"
#include "RegionDerivatives.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

SmallVector<Value> metaop::keepFloats(ValueRange values) {
  return llvm::to_vector(llvm::make_filter_range(values, isFloatTensor));
}

llvm::Error metaop::checkValues(GivenValues outputs, GivenValues inputs,
                                GivenValues directions, bool ofOutputs) {
  auto fail = [](auto &&...args) {
    return llvm::createStringError(
        llvm::formatv(std::forward<decltype(args)>(args)...).str());
  };
  for (const GivenValues &given : {outputs, inputs})
    for (auto [index, value] : llvm::enumerate(given.values))
      if (!isFloatTensor(value))
        return fail("only tensors of floats have derivatives, but {0} {1} is "
                    "{2}",
                    given.name, index, value.getType());
  const GivenValues &points = ofOutputs ? outputs : inputs;
  if (directions.values.size() != points.values.size())
    return fail("expected one {0} for each of {1} {2}s, but got {3}",
                directions.name, points.values.size(), points.name,
                directions.values.size());
  for (auto [index, point] : llvm::enumerate(points.values)) {
    Type type = directions.values[index].getType();
    if (type != point.getType())
      return fail("the {0} of {1} {2} has type {3}, but the {1} {4}",
                  directions.name, points.name, index, type, point.getType());
  }
  return llvm::Error::success();
}

/// Returns the values that derivatives of an operation's results depend on. Of
/// captures they must not.
static SmallVector<Value> getFlowInputs(Operation *op) {
  auto custom = dyn_cast<CustomDerivativeOp>(op);
  if (!custom)
    return getInputs(op);
  SmallVector<Value> inputs(custom.getArguments());
  llvm::append_range(inputs, custom.getCaptures());
  return inputs;
}

/// A depth-first walk with its own stack: an operation follows its operands.
static SmallVector<Operation *>
collect(ArrayRef<Value> outputs,
        llvm::function_ref<Operation *(Value)> getPassage) {
  struct Frame {
    Operation *op;
    SmallVector<Value> inputs;
  };
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Frame> stack;
  auto enter = [&](Value value) {
    Operation *op = getPassage(value);
    if (op && seen.insert(op).second) {
      SmallVector<Value> inputs = getFlowInputs(op);
      std::reverse(inputs.begin(), inputs.end());
      stack.push_back({op, std::move(inputs)});
    }
  };
  for (Value output : outputs) {
    enter(output);
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (!top.inputs.empty()) {
        enter(top.inputs.pop_back_val());
        continue;
      }
      order.push_back(top.op);
      stack.pop_back();
    }
  }
  return order;
}

ActiveOps::ActiveOps(Block *block, ArrayRef<Value> outputs,
                     ArrayRef<Value> targets,
                     llvm::function_ref<bool(Operation *)> isStopped)
    : values(targets.begin(), targets.end()) {
  order = collect(outputs, [&](Value value) -> Operation * {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != block || !isFloatTensor(value) ||
        !hasDerivatives(op) || (isStopped && isStopped(op)))
      return nullptr;
    return op;
  });
  llvm::erase_if(order, [&](Operation *op) {
    SmallVector<Value> moved;
    if (llvm::any_of(getFlowInputs(op),
                     [&](Value input) { return values.contains(input); }))
      moved = keepFloats(op->getResults());
    else if (isCheckpoint(op))
      llvm::append_range(moved, findMadeOf(op, values));
    values.insert(moved.begin(), moved.end());
    return moved.empty();
  });
}

Operation *metaop::getOpBefore(OpBuilder &builder) {
  Block::iterator point = builder.getInsertionPoint();
  return point == builder.getInsertionBlock()->begin() ? nullptr
                                                       : &*std::prev(point);
}

void metaop::eraseUnused(OpBuilder &builder, Operation *before,
                         ArrayRef<Value> kept) {
  llvm::DenseSet<Value> keptValues(kept.begin(), kept.end());
  auto *listener =
      dyn_cast_if_present<RewriterBase::Listener>(builder.getListener());
  Block::iterator position = builder.getInsertionPoint();
  while (position != builder.getInsertionBlock()->begin()) {
    Operation *op = &*std::prev(position);
    if (op == before)
      return;
    bool isKept = llvm::any_of(op->getResults(), [&](Value result) {
      return keptValues.contains(result);
    });
    if (isKept || !op->use_empty()) {
      position = Block::iterator(op);
      continue;
    }
    if (listener)
      listener->notifyOperationErased(op);
    op->erase();
  }
}
