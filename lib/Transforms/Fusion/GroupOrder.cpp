//===- GroupOrder.cpp - Groups in a topological order ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups are a list in topological order, and each has a label that grows along
// the list: an edge between groups always goes from a smaller label to a larger
// one. At first each node is a group, and program order is such an order.
//
// Merging the groups A and B, label(A) < label(B), makes a cycle if and only if
// a path leads from A through a third group to B. All labels on such a path lie
// between those of A and B, so the search from A never leaves that window; for
// groups that are near in the program it visits few. A search that visits many
// gives up, and the groups stay apart: else programs whose values are read far
// away, as the gradients of deep networks do, would take quadratic time.
//
// The groups that the search reached are the ones of the window that have to
// come after A. Since none of them leads to B, the order is again topological
// if the merged group takes the place of B and the reached ones follow it: one
// search both decides the merge and gives the order for the next. They get
// labels between those of the merged group and of the next in the list; when
// there is no room, all labels are spread anew.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Fusion/GroupOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::metaop;

/// The most groups that a search visits. The largest search for a training step
/// of a ResNet-18 visits a few hundred.
static constexpr size_t kMaxReached = 1024;
/// Distance of neighbours after labels were spread.
static constexpr uint64_t kGap = uint64_t(1) << 32;

GroupOrder::GroupOrder(unsigned numNodes)
    : parent(llvm::to_vector(llvm::seq(numNodes))), successors(numNodes),
      head(numNodes == 0 ? none : 0), previous(numNodes), next(numNodes),
      label(numNodes), visited(numNodes) {
  for (unsigned node = 0; node < numNodes; ++node) {
    previous[node] = node == 0 ? none : node - 1;
    next[node] = node + 1 == numNodes ? none : node + 1;
    label[node] = node * kGap;
  }
}

unsigned GroupOrder::find(unsigned node) const {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

/// Gathers the groups of the window that paths from `first` lead to. False if
/// `second` is one of them by more than fusable edges from `first`, or if there
/// are too many.
bool GroupOrder::collectReached(unsigned first, unsigned second,
                                SmallVectorImpl<unsigned> &reached) {
  SmallVector<unsigned> worklist{first};
  while (!worklist.empty()) {
    unsigned group = worklist.pop_back_val();
    // A way from a group to itself is met once.
    llvm::erase_if(successors[group], [&](const Successor &successor) {
      return find(successor.node) == group;
    });
    for (Successor successor : successors[group]) {
      unsigned to = find(successor.node);
      if (to == second) {
        if (group != first || !successor.fusable)
          return false;
        continue;
      }
      if (visited.test(to) || label[to] > label[second])
        continue;
      if (reached.size() == kMaxReached)
        return false;
      visited.set(to);
      reached.push_back(to);
      worklist.push_back(to);
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
  if (!isLegal)
    return false;

  llvm::sort(reached,
             [&](unsigned x, unsigned y) { return label[x] < label[y]; });
  for (unsigned group : reached)
    unlink(group);
  unlink(first);
  putAfter(second, first);
  unlink(second);
  putAfter(first, reached);
  parent[second] = first;
  successors[first].append(successors[second]);
  successors[second].clear();
  return true;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

void GroupOrder::unlink(unsigned group) {
  (previous[group] != none ? next[previous[group]] : head) = next[group];
  if (next[group] != none)
    previous[next[group]] = previous[group];
}

/// Puts groups that are in no list behind `place`, in their order.
void GroupOrder::putAfter(unsigned place, ArrayRef<unsigned> groups) {
  unsigned end = next[place], last = place;
  for (unsigned group : groups) {
    previous[group] = last;
    next[last] = group;
    last = group;
  }
  next[last] = end;
  if (end != none)
    previous[end] = last;

  uint64_t gap =
      end == none ? kGap : (label[end] - label[place]) / (groups.size() + 1);
  if (gap == 0)
    return spreadLabels();
  for (auto [position, group] : llvm::enumerate(groups))
    label[group] = label[place] + (position + 1) * gap;
}

void GroupOrder::spreadLabels() {
  for (auto [position, group] : llvm::enumerate(getOrder()))
    label[group] = position * kGap;
}

SmallVector<unsigned> GroupOrder::getOrder() const {
  SmallVector<unsigned> order;
  for (unsigned group = head; group != none; group = next[group])
    order.push_back(group);
  return order;
}
