//===- ReadFirst.cpp - Readers before writers -----------------------------===//
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
// Branches and loops with inserts inside are writers as well: they may write
// over what they are given. All else keeps its order, but what is needed for a
// read comes before that.
//
// A check of indices comes before all that stands behind it and may itself
// refuse something, or not end: other checks, branches and loops with these,
// and loops whose trips are not known.
//
//===----------------------------------------------------------------------===//

#include "ReadFirst.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Transforms/Simplify/WrittenOver.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
class ReadOrder {
public:
  explicit ReadOrder(Block &block)
      : block(block), checks(llvm::to_vector(block.getOps<CheckRangeOp>())) {}

  void apply();

private:
  /// Operations of the block.
  using Ops = llvm::SetVector<Operation *>;

  void place(Operation *op);
  Ops findNeeded(Operation *op) const;
  Ops findReaders(Operation *writer) const;
  bool waits(Operation *op) const;

  Block &block;
  SmallVector<CheckRangeOp> checks;
  Ops order;
  /// Those that wait for what comes before them.
  llvm::DenseSet<Operation *> waiting;
};
} // namespace

/// Returns whether an operation may refuse something, or not end.
static bool mayStop(Operation *op) {
  return mayFail(op) || op->walk([](scf::WhileOp) {
                            return WalkResult::interrupt();
                          }).wasInterrupted();
}

/// Returns what has to come before an operation of the block: what it is
/// computed from, and checks that it must not overtake.
ReadOrder::Ops ReadOrder::findNeeded(Operation *op) const {
  Ops needed;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker != op && maker->getBlock() == &block)
        needed.insert(maker);
  });
  if (!checks.empty() && mayStop(op))
    for (CheckRangeOp check : checks)
      if (!order.contains(check) && check->isBeforeInBlock(op))
        needed.insert(check);
  return needed;
}

/// Adds what reads a value, or a view of it, in the block.
static void addReaders(Value value, Block &block,
                       llvm::SetVector<Operation *> &readers) {
  for (Operation *user : value.getUsers()) {
    Operation *own = block.findAncestorOpInBlock(*user);
    if (own && readers.insert(own) && isa<ViewOpInterface>(own))
      addReaders(own->getResult(0), block, readers);
  }
}

/// Returns what reads what an operation may write over, in the text's order.
ReadOrder::Ops ReadOrder::findReaders(Operation *writer) const {
  Ops readers;
  for (Value value : findWrittenOver(writer))
    addReaders(value, block, readers);
  SmallVector<Operation *> sorted = readers.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return Ops(sorted.begin(), sorted.end());
}

/// Returns whether an operation comes behind one that is waiting.
bool ReadOrder::waits(Operation *op) const {
  Ops needed;
  needed.insert(op);
  for (size_t next = 0; next < needed.size(); ++next) {
    if (waiting.contains(needed[next]))
      return true;
    for (Operation *other : findNeeded(needed[next]))
      if (!order.contains(other))
        needed.insert(other);
  }
  return false;
}

void ReadOrder::place(Operation *op) {
  if (order.contains(op))
    return;
  waiting.insert(op);
  for (Operation *needed : findNeeded(op))
    place(needed);
  for (Operation *reader : findReaders(op))
    if (!order.contains(reader) && reader != block.getTerminator() &&
        !waits(reader))
      place(reader);
  waiting.erase(op);
  order.insert(op);
}

void ReadOrder::apply() {
  for (Operation &op : block.without_terminator())
    place(&op);
  for (Operation *op : order)
    op->moveBefore(block.getTerminator());
}

void metaop::readFirst(func::FuncOp main) {
  Block *outermost = &main.getBody().front();
  walkBlocks(main.getBody(), [&](Block &block) {
    if (&block != outermost)
      ReadOrder(block).apply();
  });
}
