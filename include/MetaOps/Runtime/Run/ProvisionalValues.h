//===- ProvisionalValues.h - Values of runs that may fail -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_PROVISIONALVALUES_H
#define METAOPS_RUNTIME_RUN_PROVISIONALVALUES_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"

namespace metaops {

/// Values that are computed by a program which may fail for reasons that they
/// have nothing to do with: a model's weights, or what a Var holds, beside a
/// batch in which an index is out of range. They keep their operations until
/// the run is done, and are pending again if it has failed.
class ProvisionalValues {
public:
  explicit ProvisionalValues(Graph &graph) : graph(graph) {}

  /// Has values that a run will have memory for keep their operations, if it
  /// may fail and they can be computed again: those that are made neither of
  /// what is checked, nor of what the run may write over, nor of its updates.
  void addRepeatable(const Slice &slice,
                     llvm::function_ref<bool(const Node *)> isOfUpdates);
  /// Looks at the values whose runs are done.
  void settle() {
    if (!nodes.empty())
      settleAll();
  }

private:
  void add(Node *node);
  void settleAll();

  Graph &graph;
  std::vector<Node *> nodes;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_PROVISIONALVALUES_H
