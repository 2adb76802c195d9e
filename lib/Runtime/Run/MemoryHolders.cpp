//===- MemoryHolders.cpp - Holders of memory ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer may be that of several values: views, and an update and what it was
// computed as. It is counted once, as the first of them in the block, which is
// the one that was computed. Memory of others (arrays that are not copied) is
// not the allocator's and is not listed.
//
// A value that nobody holds is there because something needs it: the first use
// that leads to a value that is held says what.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/MemoryHolders.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "llvm/ADT/MapVector.h"

using namespace metaops;

static bool isHeld(const Node *node) {
  return node->vars > 0 || node->pins > 0;
}

/// Maps each value that nobody holds to one that somebody holds and that is
/// made of it.
static llvm::DenseMap<const Node *, const Node *>
findNeeding(const Graph &graph, llvm::ArrayRef<Node *> nodes) {
  llvm::DenseMap<const Node *, const Node *> needing;
  for (Node *node : llvm::reverse(nodes)) {
    if (isHeld(node)) {
      needing[node] = node;
      continue;
    }
    for (Node *user : graph.getUsers(node))
      if (const Node *found = needing.lookup(user)) {
        needing[node] = found;
        break;
      }
  }
  return needing;
}

std::vector<MemoryHolder> metaops::findHolders(Graph &graph) {
  std::vector<Node *> nodes;
  graph.forEachNode([&](Node *node) { nodes.push_back(node); });
  llvm::DenseMap<const Node *, const Node *> needing =
      findNeeding(graph, nodes);
  uint32_t pending = markNeeded(graph, graph.getWaiting());
  auto findUse = [&](const Node *node) {
    return isHeld(node)             ? MemoryReason::Held
           : node->epoch == pending ? MemoryReason::Pending
                                    : MemoryReason::Gradients;
  };
  llvm::MapVector<const Buffer *, MemoryHolder> byBuffer;
  for (Node *node : nodes) {
    const Buffer *buffer = node->buffer ? node->buffer->getOrigin() : nullptr;
    if (!buffer || buffer->isForeign())
      continue;
    auto [entry, isNew] = byBuffer.try_emplace(buffer);
    MemoryHolder &holder = entry->second;
    holder.vars += node->vars;
    holder.use = isNew ? findUse(node) : std::min(holder.use, findUse(node));
    const Node *needs = needing.lookup(node);
    if (holder.use == MemoryReason::Held)
      holder.neededBy.clear();
    else if (holder.neededBy.empty() && needs)
      holder.neededBy = formatLine(needs->op->getLoc());
    if (!isNew)
      continue;
    holder.bytes = buffer->getReserved();
    holder.dtype = node->dtype;
    holder.shape = node->shape().vec();
    holder.line = formatLine(node->op->getLoc());
  }
  std::vector<MemoryHolder> holders;
  for (auto &[buffer, holder] : byBuffer)
    holders.push_back(std::move(holder));
  llvm::sort(holders, [](const MemoryHolder &a, const MemoryHolder &b) {
    return std::tie(b.bytes, a.line, a.shape) <
           std::tie(a.bytes, b.line, b.shape);
  });
  return holders;
}

OutOfMemory metaops::explainShortage(Graph &graph, const OutOfMemory &error) {
  constexpr size_t most = 8;
  std::vector<MemoryHolder> holders = findHolders(graph);
  std::string text = holders.empty() ? "; no value is in memory"
                                     : "; the largest values in memory:";
  for (const MemoryHolder &holder : llvm::ArrayRef(holders).take_front(most)) {
    text += "\n  " + std::to_string(holder.bytes) +
            " bytes: " + nameOf(holder.dtype).str() + " " +
            formatShape(holder.shape) + ", recorded at " + holder.line;
    if (holder.use != MemoryReason::Held)
      text += holder.use == MemoryReason::Pending
                  ? ", needed by what is pending, from " + holder.neededBy
                  : ", kept for gradients of what is from " + holder.neededBy;
  }
  if (holders.size() > most)
    text += "\n  and " + std::to_string(holders.size() - most) + " more";
  return OutOfMemory(error, text);
}
