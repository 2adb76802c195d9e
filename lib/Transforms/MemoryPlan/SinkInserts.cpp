//===- SinkInserts.cpp - Inserts behind what reads their place ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An insert writes over what it puts its part into if nothing reads that
// later. In a loop the alternative is a copy of all of it in each trip:
//
//   %next = insert %part into %table
//   %row = call @kernel(%table)
//   yield %next, %row
//
// becomes
//
//   %row = call @kernel(%table)
//   %next = insert %part into %table
//   yield %next, %row
//
// So do branches and loops with inserts inside, which may write over what they
// are given. Checks come no later than before, and see nothing that is written
// over.
//
//===----------------------------------------------------------------------===//

#include "SinkInserts.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether an operation is an insert, or has some inside but no check.
static bool maySink(Operation &op) {
  if (!isControlFlow(&op))
    return isa<InsertOp>(op);
  bool inserts = false;
  WalkResult walk = op.walk([&](Operation *inner) {
    inserts |= isa<InsertOp>(inner);
    return isa<CheckRangeOp>(inner) ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  return inserts && !walk.wasInterrupted();
}

/// Returns the first operation of the block that reads a result, in regions of
/// its own as well.
static Operation *findFirstUser(Operation *op) {
  Operation *first = op->getBlock()->getTerminator();
  for (Operation *user : op->getUsers())
    if (Operation *own = op->getBlock()->findAncestorOpInBlock(*user);
        own && own->isBeforeInBlock(first))
      first = own;
  return first;
}

void metaop::sinkInserts(func::FuncOp main) {
  Block *outermost = &main.getBody().front();
  walkBlocks(main.getBody(), [&](Block &block) {
    if (&block == outermost)
      return;
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (maySink(op))
        ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      op->moveBefore(findFirstUser(op));
  });
}
