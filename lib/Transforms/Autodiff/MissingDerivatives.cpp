//===- MissingDerivatives.cpp - Operations without derivatives ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In each region, values are active that depend on active ones of around it, as
// far as results that are needed depend on them. What a loop carries is active
// if its first value is, or what a trip yields for it; and what a trip yields
// for it is needed where another trip reads it. So for loops both are done
// again until no carry is added.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/MissingDerivatives.h"

#include "ActiveOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Transforms/Autodiff/SiblingResults.h"
#include "RegionDerivatives.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether an operation has no derivatives of its own by active values.
static bool isMissing(Operation *op, const llvm::DenseSet<Value> &active,
                      DerivativeMode mode) {
  if (lacksDerivatives(op))
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return active.contains(value); });
  bool isReverse = mode == DerivativeMode::Reverse;
  auto custom = dyn_cast<CustomDerivativeOp>(op);
  if (!custom)
    return isReverse && isUnboundedLoop(op);
  auto isActive = [&](Value value) { return active.contains(value); };
  return llvm::any_of(custom.getCaptures(), isActive) ||
         !(isReverse ? custom.getGradientRule() : custom.getTangentRule());
}

static Operation *findAmong(const ActiveOps &active, DerivativeMode mode) {
  auto isUsed = [](OpResult result) { return !result.use_empty(); };
  for (Operation *op : active.order)
    if (op->getNumRegions() > 0 || isa<CustomDerivativeOp>(op) ||
        lacksDerivatives(op))
      if (Operation *missing =
              findMissingDerivative(op, active.values, isUsed, mode))
        return missing;
  return nullptr;
}

/// Returns the blocks of an operation through which gradients flow: of a loop
/// with a condition the body alone. Their arguments come from its first
/// operands.
static SmallVector<Block *> getActiveBlocks(Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getAfterBody()};
  SmallVector<Block *> blocks;
  for (Region &region : op->getRegions())
    if (!region.empty())
      blocks.push_back(&region.front());
  return blocks;
}

static unsigned countCarries(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getNumCarries();
  return isa<scf::WhileOp>(op) ? op->getNumOperands() : 0;
}

namespace {
/// The active values in a block of an operation.
class ActiveBlock {
public:
  ActiveBlock(Operation *op, Block *block, const llvm::DenseSet<Value> &active)
      : op(op), block(block),
        carries(block->getArguments().take_front(countCarries(op))),
        yielded(block->getTerminator()->getOperands()) {
    findTargets(active);
  }

  ActiveOps findOps(llvm::function_ref<bool(OpResult)> isNeeded) const;

private:
  void findTargets(const llvm::DenseSet<Value> &active);
  ActiveOps findOps(ArrayRef<Value> outputs) const {
    return {block, outputs, targets, /*isStopped=*/nullptr};
  }

  Operation *op;
  Block *block;
  Block::BlockArgListType carries;
  OperandRange yielded;
  /// Active values of around the block, and its arguments that are active.
  SmallVector<Value> targets;
};
} // namespace

void ActiveBlock::findTargets(const llvm::DenseSet<Value> &active) {
  for (Value capture : findCaptures(op))
    if (active.contains(capture))
      targets.push_back(capture);
  if (isCheckpoint(op))
    for (OpResult result : op->getResults())
      if (active.contains(result))
        if (Value inside = getValueInside(result))
          targets.push_back(inside);
  for (BlockArgument argument : block->getArguments())
    if (active.contains(op->getOperand(argument.getArgNumber())))
      targets.push_back(argument);
  for (size_t before = 0; before != targets.size();) {
    before = targets.size();
    ActiveOps found = findOps(keepFloats(yielded));
    for (BlockArgument carry : carries)
      if (found.values.contains(yielded[carry.getArgNumber()]) &&
          !found.values.contains(carry))
        targets.push_back(carry);
  }
}

/// Returns the operations between what is active and results that are needed.
ActiveOps
ActiveBlock::findOps(llvm::function_ref<bool(OpResult)> isNeeded) const {
  llvm::SmallSetVector<Value, 8> outputs;
  for (OpResult result : op->getResults())
    if (isFloatTensor(result) && isNeeded(result))
      outputs.insert(yielded[result.getResultNumber()]);
  while (true) {
    ActiveOps found = findOps(outputs.getArrayRef());
    llvm::DenseSet<Value> read(outputs.begin(), outputs.end());
    for (Operation *each : found.order)
      for (Value input : getInputs(each))
        read.insert(input);
    size_t before = outputs.size();
    for (BlockArgument carry : carries)
      if (isFloatTensor(carry) && read.contains(carry))
        outputs.insert(yielded[carry.getArgNumber()]);
    if (outputs.size() == before)
      return found;
  }
}

Operation *metaop::findMissingDerivative(Block *block, ArrayRef<Value> outputs,
                                         ArrayRef<Value> targets,
                                         DerivativeMode mode) {
  return findAmong(ActiveOps(block, outputs, targets, /*isStopped=*/nullptr),
                   mode);
}

Operation *metaop::findMissingDerivative(
    Operation *op, const llvm::DenseSet<Value> &active,
    llvm::function_ref<bool(OpResult)> isNeeded, DerivativeMode mode) {
  if (isMissing(op, active, mode))
    return op;
  // A rule is one whatever is in it.
  if (isa<CustomDerivativeOp>(op))
    return nullptr;
  for (Block *block : getActiveBlocks(op))
    if (Operation *missing =
            findAmong(ActiveBlock(op, block, active).findOps(isNeeded), mode))
      return missing;
  return nullptr;
}
