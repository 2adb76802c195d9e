//===- ReadBeforeInserts.cpp - Parts of what is written over --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An insert in a loop writes over a tensor that it carries, if nothing reads
// that later. A kernel which reads a part of the tensor, and a part of what the
// insert makes of it, comes behind the insert and needs both:
//
//   %p = slice %t[%i];  %u = insert %z into %t[%i];  %q = slice %u[%j] + f(%p)
//
// Then all of %t is copied in each trip. So the part is read by a kernel of its
// own, which can come first. Branches and loops that insert are writers, too.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/WrittenOver.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_READBEFOREINSERTSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns the operations of a block that are computed from values, but for
/// `without`, what is computed from that alone, and the terminator.
static llvm::SetVector<Operation *>
findDependents(ValueRange values, Block *block, Operation *without) {
  llvm::SetVector<Operation *> found;
  auto addUsers = [&](Value each) {
    for (Operation *user : each.getUsers())
      if (Operation *own = block->findAncestorOpInBlock(*user);
          own && own != without && own != block->getTerminator())
        found.insert(own);
  };
  llvm::for_each(values, addUsers);
  for (size_t next = 0; next < found.size(); ++next)
    for (Value result : found[next]->getResults())
      addUsers(result);
  return found;
}

/// Returns whether an operation reads at most half of the elements of a value.
static bool readsPart(Operation *op, Value value) {
  auto read = dyn_cast<ReindexOpInterface>(op);
  return read && read.getSource() == value &&
         isPartOf(op->getResult(0).getType(), value.getType());
}

/// Has parts of a tensor that may be written over be read by kernels of their
/// own, where what is computed from them also reads what the writer makes.
static void readBefore(Value value, Operation *writer) {
  auto behind = findDependents(writer->getResults(), writer->getBlock(),
                               /*without=*/nullptr);
  for (Operation *op : llvm::make_early_inc_range(value.getUsers())) {
    if (op->getBlock() != writer->getBlock() || !readsPart(op, value))
      continue;
    auto dependents = findDependents(op->getResults(), op->getBlock(), writer);
    if (llvm::none_of(dependents, [&](Operation *dependent) {
          return behind.contains(dependent);
        }))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto kept = StopFuseOp::create(
        builder, op->getLoc(), op->getResult(0).getType(), op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(kept.getResult(), kept);
  }
}

namespace {
struct ReadBeforeInserts
    : metaop::impl::ReadBeforeInsertsPassBase<ReadBeforeInserts> {
  using ReadBeforeInsertsPassBase::ReadBeforeInsertsPassBase;

  void runOnOperation() override {
    Block *outermost = &getOperation().getBody().front();
    walkBlocks(getOperation().getBody(), [&](Block &block) {
      if (&block == outermost)
        return;
      for (Operation &op : llvm::make_early_inc_range(block))
        for (Value value : findWrittenOver(&op))
          readBefore(value, &op);
    });
  }
};
} // namespace
