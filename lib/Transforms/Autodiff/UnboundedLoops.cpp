//===- UnboundedLoops.cpp - Loops without gradients -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In each region, values are active that depend on active ones of around it, as
// far as what it yields depends on them. What a loop carries is active if its
// first value is, or what a trip yields for it: so for loops this is done again
// until no carry is added.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/UnboundedLoops.h"

#include "ActiveOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

static Operation *findAmong(const ActiveOps &active) {
  for (Operation *op : active.order)
    if (op->getNumRegions() > 0)
      if (Operation *loop = findUnboundedLoop(op, active.values))
        return loop;
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

/// Returns what is active in a block of an operation.
static ActiveOps findActiveOps(Operation *op, Block *block,
                               const llvm::DenseSet<Value> &active) {
  SmallVector<Value> targets;
  for (Value capture : findCaptures(op))
    if (active.contains(capture))
      targets.push_back(capture);
  for (BlockArgument argument : block->getArguments())
    if (active.contains(op->getOperand(argument.getArgNumber())))
      targets.push_back(argument);
  OperandRange yielded = block->getTerminator()->getOperands();
  while (true) {
    ActiveOps found(block, keepFloats(yielded), targets, /*isStopped=*/nullptr);
    size_t before = targets.size();
    for (BlockArgument carry :
         block->getArguments().take_front(countCarries(op)))
      if (found.values.contains(yielded[carry.getArgNumber()]) &&
          !found.values.contains(carry))
        targets.push_back(carry);
    if (targets.size() == before)
      return found;
  }
}

Operation *metaop::findUnboundedLoop(Block *block, ArrayRef<Value> outputs,
                                     ArrayRef<Value> targets) {
  return findAmong(ActiveOps(block, outputs, targets, /*isStopped=*/nullptr));
}

Operation *metaop::findUnboundedLoop(Operation *op,
                                     const llvm::DenseSet<Value> &active) {
  if (isUnboundedLoop(op))
    return op;
  for (Block *block : getActiveBlocks(op))
    if (Operation *loop = findAmong(findActiveOps(op, block, active)))
      return loop;
  return nullptr;
}
