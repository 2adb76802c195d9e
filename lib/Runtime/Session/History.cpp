//===- History.cpp - How long a computed value keeps its operands ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A computed value stays in the block with the operation that made it, so that
// it may be differentiated. That is of use only while a gradient can flow from
// it to something a Var holds. `Node::carries` says so of each value:
//
//   carries(v) = v is a float, and a Var holds it, or its operation is
//                differentiable, not stopped, and some operand carries.
//
// A computed value none of whose operands carries (or that is no float, or the
// result of stop_grad, or stopped) becomes a `metaop.buffer`: its operation and
// all that only it needed go. When the last Var of a value dies, what changes
// is carried forward along the uses, so that a chain x = f(x) does not grow in
// a loop. Stopped is what was recorded under Python's no_grad.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/Graph.h"

using namespace mlir;
using namespace metaops;

bool Graph::needsHistory(const Node *node) const {
  if (!isFloat(node->dtype) || !getInfo(node).isDifferentiable ||
      node->isStopped)
    return false;
  return llvm::any_of(node->op->getOperands(),
                      [&](Value operand) { return getNode(operand)->carries; });
}

void Graph::updateCarries(Node *start) {
  worklist.push_back(start);
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    bool flows = needsHistory(node);
    if (node->buffer && !flows)
      turnIntoLeaf(node);
    bool carries = flows || (node->vars > 0 && isFloat(node->dtype));
    if (carries == node->carries)
      continue;
    node->carries = carries;
    for (Operation *user : node->op->getUsers())
      worklist.push_back(getNode(user));
  }
}

void Graph::turnIntoLeaf(Node *node) {
  Operation *op = node->op;
  if (op->getNumOperands() == 0)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto leaf = metaop::BufferOp::create(builder, op->getLoc(), node->type());
  op->getResult(0).replaceAllUsesWith(leaf);
  enqueueOperands(op);
  nodes.erase(op);
  op->erase();
  nodes.try_emplace(leaf, node);
  node->op = leaf;
  node->signature = signatures.intern(leaf);
}

void Graph::setComputed(Node *node, BufferRef buffer) {
  node->buffer = std::move(buffer);
  if (!needsHistory(node))
    turnIntoLeaf(node);
}

void Graph::setDonated(Node *node, Location line) {
  if (node->isDonated)
    return; // by another output with the same memory
  node->buffer.reset();
  node->isDonated = true;
  node->overwrittenAt = line;
  ++numDonated;
}
