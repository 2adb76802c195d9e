//===- NodeRef.h - A node that may have been erased -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_NODEREF_H
#define METAOPS_RUNTIME_GRAPH_NODEREF_H

#include <cstdint>

namespace metaops {

struct Node;

/// Refers to a node of a graph that lives, and keeps nothing: a graph uses the
/// memory of erased nodes again, for nodes of another order.
class NodeRef {
public:
  explicit NodeRef(Node *node);
  /// Stands for a value of that order that was never recorded.
  NodeRef(Node *node, uint64_t order) : node(node), order(order) {}

  /// Null if the node has been erased.
  Node *get() const;
  uint64_t getOrder() const { return order; }

private:
  Node *node;
  uint64_t order;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_NODEREF_H
