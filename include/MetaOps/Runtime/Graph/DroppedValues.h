//===- DroppedValues.h - Values of Vars that have died ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_DROPPEDVALUES_H
#define METAOPS_RUNTIME_GRAPH_DROPPEDVALUES_H

#include "MetaOps/Runtime/Graph/Graph.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace metaops {

/// Takes values from Vars, which may die on any thread, until the session is
/// entered.
class DroppedValues {
public:
  explicit DroppedValues(Graph &graph) : graph(graph) {}

  /// From any thread.
  void add(Node *node);
  /// Has the graph erase what nobody needs any more. In the session's scope.
  void release() {
    if (isAny)
      releaseAll();
  }

private:
  void releaseAll();

  Graph &graph;
  std::mutex mutex;
  std::vector<Node *> dropped;
  /// Read without the mutex.
  std::atomic<bool> isAny{false};
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_DROPPEDVALUES_H
