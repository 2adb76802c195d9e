//===- Fetches.cpp - Values that callbacks wait for -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fetch is complete when its values have memory, which runs in the queue may
// yet have to write. Where such a run is stopped, the fetch is kept until the
// run is started again.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/Fetches.h"

#include "MetaOps/Runtime/Graph/Slice.h"

using namespace metaops;

uint64_t Fetches::add(std::vector<Node *> nodes) {
  // Of a value that cannot be computed it is told now, not at every later run.
  if (graph.getNumDonated() > 0)
    if (Node *overwritten = findOverwritten(graph, nodes))
      failOverwritten(overwritten);
  for (Node *node : nodes)
    graph.pin(node);
  pending.push_back({next, std::move(nodes)});
  return next++;
}

void Fetches::complete(llvm::function_ref<TensorData(Node *)> read) {
  llvm::erase_if(pending, [&](const Fetch &fetch) {
    if (!llvm::all_of(fetch.nodes, [](Node *node) { return node->isLeaf(); }))
      return false;
    CompletedFetch values{fetch.id, {}};
    for (Node *node : fetch.nodes) {
      node->buffer->forbidWrites();
      values.values.push_back(read(node));
      graph.unpin(node);
    }
    completed.push_back(std::move(values));
    return true;
  });
}

bool Fetches::refresh(CompletedFetch &fetch) {
  // Nothing is started again between the look and the postponement.
  std::lock_guard<std::mutex> lock(mutex);
  for (TensorData &value : fetch.values) {
    auto last = suspended.findLast(value.ready);
    if (!last) {
      kept.push_back(std::move(fetch));
      return false;
    }
    value.ready = *last;
  }
  return true;
}

void Fetches::completeKept() {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::append_range(completed,
                     llvm::make_range(std::make_move_iterator(kept.begin()),
                                      std::make_move_iterator(kept.end())));
  kept.clear();
}
