//===- Sweeps.cpp - Sweeps of derivatives that pause ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of the user's that has derivatives of its own is asked for them in
// the middle of a sweep, which lets go of the session meanwhile. Others record,
// run programs and update what the sweep has still to come to. So until it has
// ended, what it is to look at stays an operation, computed or not; and nothing
// is written over that it might read.
//
// No gradient flows to the values that such a function has made its results of.
// When the results are in memory, the operation that has the function's
// derivatives stays without these values.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Runtime/Graph/Graph.h"

using namespace mlir;
using namespace metaops;

void Graph::stop(Node *node) {
  node->isStopped = true;
  updateCarries(node);
}

void Graph::enterSweep(llvm::ArrayRef<Node *> nodes) {
  for (Node *node : nodes) {
    ++node->sweeps;
    ++numSwept;
  }
}

void Graph::leaveSweep(llvm::ArrayRef<Node *> nodes) {
  for (Node *node : nodes) {
    --node->sweeps;
    --numSwept;
  }
  for (Node *node : nodes) {
    if (node->sweeps > 0)
      continue;
    if (node->buffer)
      settleOperation(node);
    enqueue(node);
  }
}

/// Lets go of what a node's operation is not needed for any more.
void Graph::settleOperation(Node *node) {
  if (mayGo(node, /*keepsHistory=*/true))
    turnIntoLeaves(node);
  else if (getInfo(node).numValues > 0 && mayGo(node, /*keepsHistory=*/false))
    dropValues(node);
}

/// Has an operation stay without the values of its results, which are there.
void Graph::dropValues(Node *node) {
  auto op = cast<metaop::CustomDerivativeOp>(node->op);
  auto results = llvm::to_vector<2>(resultsOf(node));
  llvm::SmallVector<Node *> values(node->operands.begin(),
                                   node->operands.begin() + results.size());
  llvm::for_each(results, [&](Node *result) { moveFromViewed(result); });
  op.getValuesMutable().clear();
  SignatureTable::Id signature = signatures->intern(op);
  for (Node *result : results) {
    for (const Node *value : values)
      result->numCarrying -= value->carries;
    result->operands.erase(result->operands.begin(),
                           result->operands.begin() + values.size());
    result->signature = signature;
    recount(result);
  }
  for (Node *value : values) {
    unspare(value);
    enqueue(value);
  }
  llvm::for_each(results, [&](Node *result) { updateCarries(result); });
}
