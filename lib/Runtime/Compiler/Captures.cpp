//===- Captures.cpp - What regions use of the outside ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A walk through the regions, operations before what is inside of them. An
// operand is a capture unless its block lies in the operation. MLIR has such a
// walk, too, which looks for values of regions further out; a session's block
// is in no region.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/Captures.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

static bool isInside(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  Operation *owner = block ? block->getParentOp() : nullptr;
  return owner && op->isAncestor(owner);
}

llvm::SmallVector<Value> metaops::findCaptures(Operation *op) {
  llvm::SmallSetVector<Value, 8> captures;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (!isInside(operand, op))
        captures.insert(operand);
  });
  return captures.takeVector();
}
