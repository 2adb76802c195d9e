//===- Fetches.h - Values that callbacks wait for ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PLAN_FETCHES_H
#define METAOPS_RUNTIME_PLAN_FETCHES_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/TensorData.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace metaops {

/// Values that were asked for without waiting: kept until a program has
/// computed them along, then to be taken. Used in the session's scope, but for
/// `refresh`.
class Fetches {
public:
  struct Fetch {
    uint64_t id;
    std::vector<Node *> nodes;
  };

  Fetches(Graph &graph, const SuspendedRuns &suspended)
      : graph(graph), suspended(suspended) {}

  /// Returns the identity that the values will come back with.
  uint64_t add(std::vector<Node *> nodes);
  /// Those of which a value is not there yet.
  llvm::ArrayRef<Fetch> getPending() const { return pending; }

  /// Completes those whose values are all there, or on their way.
  void complete(llvm::function_ref<TensorData(Node *)> read);
  std::vector<CompletedFetch> takeCompleted() { return std::move(completed); }

  /// See Session::refresh.
  bool refresh(CompletedFetch &fetch);
  /// Completes those again that `refresh` has kept: stopped runs have been
  /// started again.
  void completeKept();

private:
  Graph &graph;
  const SuspendedRuns &suspended;
  std::vector<Fetch> pending;
  std::vector<CompletedFetch> completed;
  uint64_t next = 0;
  std::mutex mutex;
  /// Their runs are suspended.
  std::vector<CompletedFetch> kept;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PLAN_FETCHES_H
