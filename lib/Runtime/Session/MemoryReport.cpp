//===- MemoryReport.cpp - Who holds memory --------------------------------===//
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
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/MemoryReport.h"
#include "SessionImpl.h"

#include "MetaOps/Runtime/Session/Inspector.h"
#include "llvm/ADT/MapVector.h"

using namespace metaops;

static std::vector<MemoryHolder> findHolders(Graph &graph) {
  llvm::MapVector<const Buffer *, MemoryHolder> byBuffer;
  graph.forEachNode([&](Node *node) {
    const Buffer *buffer = node->buffer ? node->buffer->getOrigin() : nullptr;
    if (!buffer || buffer->isForeign())
      return;
    auto [entry, isNew] = byBuffer.try_emplace(buffer);
    MemoryHolder &holder = entry->second;
    holder.vars += node->vars;
    if (!isNew)
      return;
    holder.bytes = buffer->getReserved();
    holder.dtype = node->dtype;
    holder.shape = node->shape().vec();
    holder.line = formatLine(node->op->getLoc());
  });
  std::vector<MemoryHolder> holders;
  for (auto &[buffer, holder] : byBuffer)
    holders.push_back(std::move(holder));
  llvm::sort(holders, [](const MemoryHolder &a, const MemoryHolder &b) {
    return std::tie(b.bytes, a.line, a.shape) <
           std::tie(a.bytes, b.line, b.shape);
  });
  return holders;
}

std::vector<MemoryHolder> Inspector::getMemoryHolders() {
  return findHolders(session.graph);
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
    if (holder.vars == 0)
      text += ", held by no Var";
  }
  if (holders.size() > most)
    text += "\n  and " + std::to_string(holders.size() - most) + " more";
  return OutOfMemory(error, text);
}
