//===- ProvisionalValues.cpp - Values of runs that may fail ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/ProvisionalValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace metaops;

/// Returns whether an operation may fail.
static bool mayFail(const Graph &graph, const Node *op) {
  return graph.getInfo(op).isCheck || graph.getInfo(op).isExtern;
}

/// Returns whether a run may fail: by an operation of its own, or as an earlier
/// one does of which it reads a result.
static bool mayFail(const Graph &graph, const Slice &slice) {
  return llvm::any_of(slice.ops,
                      [&](Node *op) { return mayFail(graph, op); }) ||
         llvm::any_of(slice.leaves,
                      [](Node *leaf) { return leaf->isProvisional; });
}

void ProvisionalValues::addRepeatable(
    const Slice &slice, llvm::function_ref<bool(const Node *)> isOfUpdates) {
  if (!mayFail(graph, slice))
    return;
  llvm::SmallPtrSet<Node *, 32> lost;
  auto isLost = [&](Node *node) {
    return node->isDonated || lost.contains(node);
  };
  for (Node *op : slice.ops) {
    bool isMadeOfLost =
        mayFail(graph, op) || llvm::any_of(op->operands, isLost);
    for (Node *result : resultsOf(op))
      if (isMadeOfLost || isOfUpdates(result))
        lost.insert(result);
  }
  for (Node *output : slice.outputs)
    if (!isLost(output))
      add(output);
}

/// Has a value keep its operation, and what it is a view of.
void ProvisionalValues::add(Node *node) {
  for (;;) {
    node->isProvisional = true;
    graph.pin(node);
    nodes.push_back(node);
    bool isView = graph.getInfo(node).isView && !node->operands.empty();
    if (!isView || node->viewed()->isLeaf())
      return;
    node = node->viewed();
  }
}

void ProvisionalValues::settleAll() {
  std::vector<Node *> open;
  for (Node *node : std::exchange(nodes, {})) {
    if (node->buffer && !node->ready.isDone()) {
      open.push_back(node);
      continue;
    }
    bool failed = node->buffer && node->buffer->failure;
    // A later run may have written over what it was made of.
    bool isGone = failed && graph.getNumDonated() > 0 &&
                  findOverwritten(graph, node->operands);
    graph.settle(node, failed && !isGone);
    graph.unpin(node);
  }
  nodes.insert(nodes.end(), open.begin(), open.end());
}
