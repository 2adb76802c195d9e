//===- GroupOrder.h - Groups in a topological order -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_FUSION_GROUPORDER_H
#define METAOPS_TRANSFORMS_FUSION_GROUPORDER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// Which nodes of an acyclic graph are one group, where groups must not be in
/// cycles (Rule 3), together with a topological order of the groups.
class GroupOrder {
public:
  /// Each node is a group; the nodes' numbers are a topological order.
  explicit GroupOrder(unsigned numNodes);
  /// Adds an edge, before anything is merged.
  void addEdge(unsigned from, unsigned to, bool fusable) {
    successors[from].push_back({to, fusable});
  }

  /// The group of a node, named by one of its nodes.
  unsigned find(unsigned node) const;

  /// Merges two groups and returns true if no cycle comes of it and no edge
  /// between them is unfusable. Groups between which too much lies to find that
  /// out are not merged.
  bool merge(unsigned a, unsigned b);

  /// All groups in topological order.
  SmallVector<unsigned> getOrder() const;

private:
  static constexpr unsigned none = ~0u;

  bool collectReached(unsigned first, unsigned second,
                      SmallVectorImpl<unsigned> &reached);
  void unlink(unsigned group);
  void putAfter(unsigned place, ArrayRef<unsigned> groups);
  void spreadLabels();

  struct Successor {
    unsigned node;
    bool fusable;
  };

  mutable SmallVector<unsigned> parent;
  /// Of a group: the edges that leave its nodes.
  SmallVector<SmallVector<Successor>> successors;
  /// The first group in the order.
  unsigned head;
  /// Of a group: its neighbours in the order, and a number that grows along it.
  SmallVector<unsigned> previous, next;
  SmallVector<uint64_t> label;
  llvm::BitVector visited;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_FUSION_GROUPORDER_H
