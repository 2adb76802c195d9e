//===- Walk.h - Walks down from values to leaves ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_SESSION_WALK_H
#define METAOPS_LIB_RUNTIME_SESSION_WALK_H

#include "MetaOps/Runtime/Session/Graph.h"
#include "llvm/ADT/SmallVector.h"

namespace metaops {

/// Visits what roots are made of down to the leaves, each once, operands first.
class Walk {
public:
  explicit Walk(Graph &graph, bool stopsAtOutputs = false)
      : stopsAtOutputs(stopsAtOutputs), epoch(graph.startTraversal()) {}

  uint32_t getEpoch() const { return epoch; }

  template <typename Visit> void run(Node *root, Visit visit) {
    if (!enter(root, visit))
      return;
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.next == top.node->operands.size()) {
        visit(top.node);
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
    node->epoch = epoch;
    if (node->isLeaf() || (stopsAtOutputs && node->isOutput))
      visit(node);
    else
      stack.push_back({node, 0});
    return true;
  }

  bool stopsAtOutputs;
  uint32_t epoch;
  llvm::SmallVector<Frame, 64> stack;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_SESSION_WALK_H
