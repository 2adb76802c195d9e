//===- WrittenOver.cpp - What inserts may write over ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/WrittenOver.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"

using namespace mlir;
using namespace mlir::metaop;

llvm::SetVector<Value> metaop::findWrittenOver(Operation *op) {
  llvm::SetVector<Value> given;
  if (auto insert = dyn_cast<InsertOp>(op))
    given.insert(insert.getDest());
  if (!isControlFlow(op))
    return given;
  llvm::DenseSet<Type> written;
  op->walk([&](InsertOp insert) { written.insert(insert.getType()); });
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (written.contains(operand.getType()) &&
          !op->isAncestor(operand.getParentRegion()->getParentOp()))
        given.insert(operand);
  });
  return given;
}
