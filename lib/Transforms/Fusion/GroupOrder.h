//===- GroupOrder.h - Groups in a topological order -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_FUSION_GROUPORDER_H
#define METAOPS_LIB_TRANSFORMS_FUSION_GROUPORDER_H

#include "MetaOps/Transforms/Fusion/FusionGraph.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::metaop {

/// A partition of the nodes of a fusion graph whose groups have no cycles
/// (Rule 3), together with a topological order of the groups.
class GroupOrder {
public:
  explicit GroupOrder(const FusionGraph &graph);

  /// The group of a node, named by one of its nodes.
  unsigned find(unsigned node) const;

  /// Merges two groups and returns true if no cycle comes of it and no edge
  /// between them is unfusable.
  bool merge(unsigned a, unsigned b);

  /// All groups in topological order.
  SmallVector<unsigned> getOrder() const;

private:
  static constexpr unsigned none = ~0u;

  bool collectReached(unsigned first, unsigned second,
                      SmallVectorImpl<unsigned> &reached);
  void relabel(unsigned first, unsigned second, ArrayRef<unsigned> reached);

  struct Successor {
    unsigned node;
    bool fusable;
  };

  mutable SmallVector<unsigned> parent;
  /// Of a group: the edges that leave its nodes.
  SmallVector<SmallVector<Successor>> successors;
  /// Of a group: its place in the order.
  SmallVector<unsigned> label;
  /// The group at each place; none at places that merging left empty.
  SmallVector<unsigned> groupAt;
  llvm::BitVector visited;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_FUSION_GROUPORDER_H
