//===- Walk.h - Walks down from values to leaves ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_WALK_H
#define METAOPS_RUNTIME_GRAPH_WALK_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "llvm/ADT/SmallVector.h"

namespace metaops {

/// Ends of a walk: leaves, and what else.
enum class WalkEnd { Leaves, Outputs, Transfers };

/// Visits what roots are made of down to the leaves, each once, operands first.
/// The results of an operation that need computing are visited one after the
/// other, whichever of them was met.
class Walk {
public:
  explicit Walk(Graph &graph, WalkEnd end = WalkEnd::Leaves)
      : end(end), epoch(graph.startTraversal()) {}

  uint32_t getEpoch() const { return epoch; }

  template <typename Visit> void run(Node *root, Visit visit) {
    if (!enter(root, visit))
      return;
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.next == top.node->operands.size()) {
        for (Node *result : resultsOf(top.node))
          if (!isEnd(result))
            visit(result);
        stack.pop_back();
        continue;
      }
      enter(top.node->operands[top.next++], visit);
    }
  }

private:
  struct Frame {
    Node *node;
    unsigned next;
  };

  template <typename Visit> bool enter(Node *node, Visit &visit) {
    if (node->epoch == epoch)
      return false;
    if (isEnd(node)) {
      node->epoch = epoch;
      visit(node);
      return true;
    }
    for (Node *result : resultsOf(node))
      if (!isEnd(result))
        result->epoch = epoch;
    stack.push_back({node, 0});
    return true;
  }

  bool isEnd(const Node *node) const {
    return node->isLeaf() || (end == WalkEnd::Outputs && node->isOutput) ||
           (end == WalkEnd::Transfers && node->isTransfer);
  }

  const WalkEnd end;
  uint32_t epoch;
  llvm::SmallVector<Frame, 64> stack;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_WALK_H
