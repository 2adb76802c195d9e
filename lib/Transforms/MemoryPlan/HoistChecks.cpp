//===- HoistChecks.cpp - What may fail a program comes first --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that fails leaves its arguments as they were, so no argument is
// overwritten before the last check, or code of the user's own. And a program
// that is to fail should do so soon. In each block, what may fail, and the
// branches and loops with such inside, are taken in their order: each with all
// that it depends on and that is not there yet, in the order that this has.
// Everything else follows.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_HOISTCHECKSPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// The op and what it depends on in its block, but for what is in `seen`, in
/// the order of the block.
static SmallVector<Operation *> takeSlice(Operation *check,
                                          llvm::DenseSet<Operation *> &seen) {
  SmallVector<Operation *> slice, worklist{check};
  seen.insert(check);
  Block *block = check->getBlock();
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    slice.push_back(op);
    // Reads inside of a branch or a loop count, too.
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->getBlock() == block && seen.insert(def).second)
          worklist.push_back(def);
      }
    });
  }
  llvm::sort(slice,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}

static void hoistChecks(Block &block) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    if (mayFail(&op))
      order.append(takeSlice(&op, seen));
  if (order.empty())
    return;
  for (Operation &op : block.without_terminator())
    if (!seen.contains(&op))
      order.push_back(&op);
  for (Operation *op : order)
    op->moveBefore(block.getTerminator());
}

namespace {
struct HoistChecksPass : metaop::impl::HoistChecksPassBase<HoistChecksPass> {
  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), hoistChecks);
  }
};
} // namespace
