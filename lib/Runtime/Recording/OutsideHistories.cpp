//===- OutsideHistories.cpp - Paths around a recorded function ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/OutsideHistories.h"

#include "llvm/ADT/STLExtras.h"

using namespace metaops;

/// Functions whose calls take turns, with targets of their own.
static constexpr size_t maxSearches = 8;

OutsidePaths::Search &
OutsidePaths::getSearch(llvm::SmallVector<uint64_t> targets, size_t numNodes) {
  auto found = llvm::find_if(searches, [&](const Search &search) {
    return search.targets == targets;
  });
  if (found == searches.end()) {
    if (searches.size() == maxSearches)
      searches.pop_back();
    searches.emplace_front();
    searches.front().targets = std::move(targets);
  } else {
    searches.splice(searches.begin(), searches, found);
  }
  Search &search = searches.front();
  // Those that are gone are looked for when they may be most.
  if (search.seen.size() > 2 * numNodes + 64) {
    llvm::DenseMap<const Node *, uint64_t> present;
    for (auto [node, order] : search.seen)
      if (node->op && node->order == order)
        present.try_emplace(node, order);
    search.seen = std::move(present);
  }
  return search;
}

const Node *OutsidePaths::find(Graph &graph, llvm::ArrayRef<Node *> used,
                               llvm::ArrayRef<const Var *> by,
                               llvm::ArrayRef<const Var *> byFormer) {
  std::vector<Node *> stack;
  for (Node *node : used)
    if (!node->operands.empty() && graph.isFlowing(node))
      stack.push_back(node);
  if (stack.empty())
    return nullptr;
  llvm::SmallVector<uint64_t> targets;
  for (const Var *var : by)
    targets.push_back(var->getNode()->order);
  for (const Var *var : byFormer) {
    targets.push_back(var->getNode()->order);
    for (const NodeRef &former : var->getFormer())
      if (former.get())
        targets.push_back(former.getOrder());
  }
  if (targets.empty())
    return nullptr;
  llvm::sort(targets);
  targets.erase(llvm::unique(targets), targets.end());
  Search &search = getSearch(targets, graph.size());
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    if (node->order < targets.front() || !graph.isFlowing(node))
      continue;
    uint64_t &seen = search.seen[node];
    if (std::exchange(seen, node->order) == node->order)
      continue;
    const Node *found = nullptr;
    graph.forEachFlowSource(node, [&](Node *source) {
      if (llvm::binary_search(targets, source->order))
        found = source;
      stack.push_back(source);
    });
    if (found) {
      // Not all is known of what was seen.
      searches.pop_front();
      return found;
    }
  }
  return nullptr;
}
