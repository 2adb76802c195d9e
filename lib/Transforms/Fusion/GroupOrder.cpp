//===- GroupOrder.cpp - Groups in a topological order ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group has a label, its place in a topological order of all groups: an
// edge between groups always goes from a smaller label to a larger one. At
// first each node is a group, and program order is such an order.
//
// Merging the groups A and B, label(A) < label(B), makes a cycle if and only if
// a path leads from A through a third group to B. All labels on such a path lie
// between those of A and B, so the search from A never leaves that window; for
// groups that are near in the program it visits few.
//
// The groups that the search reached are the ones of the window that have to
// come after A. Since none of them leads to B, the order
//   the others of the window, the merged group, the reached ones
// is again topological: one search both decides the merge and gives the labels
// for the next.
//
//===----------------------------------------------------------------------===//

#include "GroupOrder.h"

using namespace mlir;
using namespace mlir::metaop;

GroupOrder::GroupOrder(const FusionGraph &graph) {
  unsigned size = graph.getNodes().size();
  successors.resize(size);
  visited.resize(size);
  for (unsigned node = 0; node < size; ++node) {
    parent.push_back(node);
    label.push_back(node);
    groupAt.push_back(node);
  }
  for (const FusionEdge &edge : graph.getEdges())
    successors[edge.producer].push_back({edge.consumer, edge.fusable});
}

unsigned GroupOrder::find(unsigned node) const {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

/// Gathers the groups of the window that paths from `first` lead to. False if
/// `second` is one of them by more than fusable edges from `first`.
bool GroupOrder::collectReached(unsigned first, unsigned second,
                                SmallVectorImpl<unsigned> &reached) {
  SmallVector<unsigned> worklist{first};
  while (!worklist.empty()) {
    unsigned group = worklist.pop_back_val();
    for (Successor successor : successors[group]) {
      unsigned next = find(successor.node);
      if (next == second) {
        if (group != first || !successor.fusable)
          return false;
        continue;
      }
      if (next == group || visited.test(next) || label[next] > label[second])
        continue;
      visited.set(next);
      reached.push_back(next);
      worklist.push_back(next);
    }
  }
  return true;
}

bool GroupOrder::merge(unsigned a, unsigned b) {
  unsigned first = find(a), second = find(b);
  if (first == second)
    return false;
  if (label[first] > label[second])
    std::swap(first, second);
  SmallVector<unsigned> reached;
  bool isLegal = collectReached(first, second, reached);
  for (unsigned group : reached)
    visited.reset(group);
  if (isLegal)
    relabel(first, second, reached);
  return isLegal;
}

void GroupOrder::relabel(unsigned first, unsigned second,
                         ArrayRef<unsigned> reached) {
  unsigned place = label[first], end = label[second];
  SmallVector<unsigned> after;
  for (unsigned group : reached)
    visited.set(group);
  SmallVector<unsigned> window(groupAt.begin() + place,
                               groupAt.begin() + end + 1);
  auto put = [&](unsigned group) {
    groupAt[place] = group;
    label[group] = place++;
  };
  for (unsigned group : window) {
    if (group == none || group == first || group == second)
      continue;
    if (visited.test(group))
      after.push_back(group);
    else
      put(group);
  }
  put(first);
  for (unsigned group : after) {
    put(group);
    visited.reset(group);
  }
  while (place <= end)
    groupAt[place++] = none;

  parent[second] = first;
  successors[first].append(successors[second]);
  successors[second].clear();
}

SmallVector<unsigned> GroupOrder::getOrder() const {
  return llvm::filter_to_vector(groupAt,
                                [](unsigned group) { return group != none; });
}
