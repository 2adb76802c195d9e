//===- Autodiff.cpp - Reverse-mode differentiation ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Walk back from the outputs, through operations that let a gradient pass,
//    and put what is found into an order in which operands come first.
// 2. Along that order, mark each value that depends on a target. Together these
//    give the operations that lie between a target and an output.
// 3. Against that order, ask each of those for the cotangents of its operands,
//    and keep them per value. By the time that a value's own is needed, all
//    uses have been seen; then they are added up (Contributions.cpp).
// 4. Erase what was emitted for operands that need no gradient.
//
// The order is our own: an operation's place in its block is only known after
// numbering the whole block, which may be far larger than the part in question.
// All walks are loops, since graphs may be deep.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/Autodiff.h"

#include "Contributions.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorBuilders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::metaop;

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::Error checkValues(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                               ArrayRef<Value> targets) {
  auto fail = [](auto &&...args) {
    return llvm::createStringError(
        llvm::formatv(std::forward<decltype(args)>(args)...).str());
  };
  if (outputs.size() != seeds.size())
    return fail("expected one seed for each of {0} outputs, but got {1}",
                outputs.size(), seeds.size());
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (!isFloatTensor(output))
      return fail(
          "only tensors of floats have gradients, but output {0} is {1}", index,
          toString(output.getType()));
    if (seeds[index].getType() != output.getType())
      return fail("the seed of output {0} has type {1}, but the output {2}",
                  index, toString(seeds[index].getType()),
                  toString(output.getType()));
  }
  for (auto [index, target] : llvm::enumerate(targets))
    if (!isFloatTensor(target))
      return fail("there are gradients with respect to tensors of floats only, "
                  "but target {0} is {1}",
                  index, toString(target.getType()));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The operations in question
//===----------------------------------------------------------------------===//

namespace {
class ReverseMode {
public:
  ReverseMode(OpBuilder &builder, Block *block,
              llvm::function_ref<bool(Operation *)> isStopped,
              llvm::function_ref<std::optional<int64_t>(Value)> getNumber)
      : builder(builder), block(block), isStopped(isStopped),
        getNumber(getNumber) {}

  SmallVector<Value> run(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                         ArrayRef<Value> targets);

private:
  /// The operation through which a gradient flows on from `value`, or null.
  Operation *getPassage(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != block || !isFloatTensor(value) ||
        !isa<DifferentiableOpInterface>(op) || (isStopped && isStopped(op)))
      return nullptr;
    return op;
  }

  void collect(ArrayRef<Value> outputs);
  void markActive(ArrayRef<Value> targets);
  Value getCotangent(Value value);
  void propagate(DifferentiableOpInterface op);

  OpBuilder &builder;
  Block *block;
  llvm::function_ref<bool(Operation *)> isStopped;
  llvm::function_ref<std::optional<int64_t>(Value)> getNumber;
  /// Operands before users.
  SmallVector<Operation *> order;
  /// Values that depend on a target, targets included.
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, SmallVector<Contribution, 1>> contributions;
};
} // namespace

/// A depth-first walk with its own stack: an operation follows its operands.
void ReverseMode::collect(ArrayRef<Value> outputs) {
  struct Frame {
    Operation *op;
    unsigned nextOperand;
  };
  llvm::DenseSet<Operation *> seen;
  SmallVector<Frame> stack;
  auto enter = [&](Value value) {
    Operation *op = getPassage(value);
    if (op && seen.insert(op).second)
      stack.push_back({op, 0});
  };
  for (Value output : outputs) {
    enter(output);
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.nextOperand < top.op->getNumOperands()) {
        enter(top.op->getOperand(top.nextOperand++));
        continue;
      }
      order.push_back(top.op);
      stack.pop_back();
    }
  }
}

void ReverseMode::markActive(ArrayRef<Value> targets) {
  active.insert(targets.begin(), targets.end());
  llvm::erase_if(order, [&](Operation *op) {
    bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
      return active.contains(operand);
    });
    if (depends)
      for (Value result : op->getResults())
        if (isFloatTensor(result))
          active.insert(result);
    return !depends;
  });
}

//===----------------------------------------------------------------------===//
// Cotangents
//===----------------------------------------------------------------------===//

/// The sum of a value's contributions; null if there are none. It becomes the
/// only one.
Value ReverseMode::getCotangent(Value value) {
  auto found = contributions.find(value);
  if (found == contributions.end())
    return nullptr;
  Value sum = addUp(builder, value, found->second, getNumber);
  found->second = {{sum, SliceOp(), sum.getLoc()}};
  return sum;
}

void ReverseMode::propagate(DifferentiableOpInterface op) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(getCotangent(result));
  if (llvm::none_of(ofResults, [](Value value) { return bool(value); }))
    return;
  for (auto [cotangent, result] : llvm::zip(ofResults, op->getResults()))
    if (!cotangent && isFloatTensor(result))
      cotangent = splatLike(builder, op.getLoc(), result, 0.0);

  // What a slice contributes is a window, to be put together with others.
  if (auto slice = dyn_cast<SliceOp>(op.getOperation());
      slice && isWindow(slice)) {
    if (active.contains(slice.getSource()))
      contributions[slice.getSource()].push_back(
          {ofResults.front(), slice, op.getLoc()});
    return;
  }
  SmallVector<Value> ofOperands = op.vjp(builder, ofResults);
  for (auto [cotangent, operand] : llvm::zip(ofOperands, op->getOperands()))
    if (cotangent && active.contains(operand))
      contributions[operand].push_back({cotangent, SliceOp(), op.getLoc()});
}

SmallVector<Value> ReverseMode::run(ArrayRef<Value> outputs,
                                    ArrayRef<Value> seeds,
                                    ArrayRef<Value> targets) {
  collect(outputs);
  markActive(targets);
  for (auto [output, seed] : llvm::zip(outputs, seeds))
    if (active.contains(output))
      contributions[output].push_back({seed, SliceOp(), output.getLoc()});
  for (Operation *op : llvm::reverse(order))
    propagate(cast<DifferentiableOpInterface>(op));

  SmallVector<Value> gradients;
  for (Value target : targets) {
    Value gradient = getCotangent(target);
    if (!gradient)
      gradient = splatLike(builder, target.getLoc(), target, 0.0);
    gradients.push_back(gradient);
  }
  return gradients;
}

//===----------------------------------------------------------------------===//
// The library function
//===----------------------------------------------------------------------===//

/// Erases the unused operations between `before` and the insertion point, users
/// before operands.
static void eraseUnused(OpBuilder &builder, Operation *before,
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

llvm::Expected<SmallVector<Value>> metaop::differentiate(
    OpBuilder &builder, ArrayRef<Value> outputs, ArrayRef<Value> seeds,
    ArrayRef<Value> targets, llvm::function_ref<bool(Operation *)> isStopped,
    llvm::function_ref<std::optional<int64_t>(Value)> getNumber) {
  if (llvm::Error error = checkValues(outputs, seeds, targets))
    return std::move(error);

  Block *block = builder.getInsertionBlock();
  Block::iterator point = builder.getInsertionPoint();
  Operation *before = point == block->begin() ? nullptr : &*std::prev(point);
  SmallVector<Value> gradients =
      ReverseMode(builder, block, isStopped, getNumber)
          .run(outputs, seeds, targets);
  eraseUnused(builder, before, gradients);
  return gradients;
}
