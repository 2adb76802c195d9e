//===- ControlFlow.cpp - Blocks of programs with branches -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes take a program block by block. Those inside of a block are found when
// it has been visited, as a branch may be gone then; an op that is moved keeps
// its blocks. A list of blocks stands for the recursion, so that no depth of a
// program is too much.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isControlFlow(Operation *op) {
  return isa<RegionBranchOpInterface>(op);
}

Operation *metaop::findControlFlow(Region &body) {
  for (Operation &op : body.getOps())
    if (isControlFlow(&op))
      return &op;
  return nullptr;
}

void metaop::appendNestedBlocks(Block &block,
                                SmallVectorImpl<Block *> &blocks) {
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        llvm::append_range(blocks, llvm::make_pointer_range(region));
}
