//===- ProvisionalValues.cpp - Values of runs that may fail ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/ProvisionalValues.h"

using namespace metaops;

bool ProvisionalValues::mayFail(const Graph &graph,
                                llvm::ArrayRef<Node *> ops) {
  return llvm::any_of(ops, [&](Node *op) { return graph.getInfo(op).isCheck; });
}

void ProvisionalValues::add(Node *node) {
  for (;;) {
    node->isProvisional = true;
    graph.pin(node);
    nodes.push_back(node);
    Node *source = node->operands.empty() ? nullptr : node->operands.front();
    if (!graph.getInfo(node).isView || source->isLeaf())
      return;
    node = source;
  }
}

void ProvisionalValues::settleAll() {
  std::vector<Node *> open;
  for (Node *node : std::exchange(nodes, {})) {
    if (node->buffer && !node->ready.isDone()) {
      open.push_back(node);
      continue;
    }
    graph.settle(node, node->buffer && node->buffer->failure);
    graph.unpin(node);
  }
  nodes.insert(nodes.end(), open.begin(), open.end());
}
