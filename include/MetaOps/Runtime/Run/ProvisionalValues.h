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

namespace metaops {

/// Initial values, a model's weights say, that are computed by a program which
/// may fail for reasons of its own: in its first batch an index is out of
/// range. They keep their operations until the run is done, and are pending
/// again if it has failed.
class ProvisionalValues {
public:
  explicit ProvisionalValues(Graph &graph) : graph(graph) {}

  /// Returns whether a run of these operations may fail.
  static bool mayFail(const Graph &graph, llvm::ArrayRef<Node *> ops);
  /// Returns whether a value that such a run computes is to be provisional.
  static bool isFor(const Node *output) {
    return output->isInitial && output->vars > 0;
  }

  /// Has a value, for which there will be memory, keep its operation, and what
  /// it is a view of.
  void add(Node *node);
  /// Looks at the values whose runs are done.
  void settle() {
    if (!nodes.empty())
      settleAll();
  }

private:
  void settleAll();

  Graph &graph;
  std::vector<Node *> nodes;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_PROVISIONALVALUES_H
