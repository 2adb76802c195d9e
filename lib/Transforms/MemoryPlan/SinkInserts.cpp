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
// Checks come no later than before, and see nothing that is written over.
//
//===----------------------------------------------------------------------===//

#include "SinkInserts.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns the first operation of the insert's block that reads its result, in
/// regions of its own as well.
static Operation *findFirstUser(InsertOp insert) {
  Operation *first = insert->getBlock()->getTerminator();
  for (Operation *user : insert->getUsers())
    if (Operation *own = insert->getBlock()->findAncestorOpInBlock(*user);
        own && own->isBeforeInBlock(first))
      first = own;
  return first;
}

void metaop::sinkInserts(func::FuncOp main) {
  Block *outermost = &main.getBody().front();
  walkBlocks(main.getBody(), [&](Block &block) {
    if (&block == outermost)
      return;
    SmallVector<InsertOp> inserts(block.getOps<InsertOp>());
    for (InsertOp insert : llvm::reverse(inserts))
      insert->moveBefore(findFirstUser(insert));
  });
}
