//===- Launcher.h - Runs in the queues of devices ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_LAUNCHER_H
#define METAOPS_RUNTIME_RUN_LAUNCHER_H

#include "MetaOps/Runtime/Device/Device.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Plan/Fetches.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Run/Waiter.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <utility>
#include <vector>

namespace metaops {

/// Puts runs into the queues of their devices, executes them when their turn
/// comes, and starts those again that were stopped.
class Launcher {
public:
  Launcher(Graph &graph, const Settings &settings, Programs &programs,
           SuspendedRuns &suspended, Waiter &waiter, Fetches &fetches)
      : graph(graph), settings(settings), programs(programs),
        suspended(suspended), waiter(waiter), fetches(fetches) {}

  /// `isAwaited`: the caller is about to wait, and runs a short program itself.
  Ticket launch(std::unique_ptr<QueuedRun> queued, bool isAwaited);
  void setListener(std::shared_ptr<RunListener> newListener) {
    listener = std::move(newListener);
  }

  /// Memory for intermediate values of the next run: null, or what no suspended
  /// run has something in.
  BufferRef &getScratch(Device &on);

  // Resume.cpp
  /// Starts suspended runs again, and those that share memory with them.
  void resume(llvm::function_ref<bool(Ticket)> isAsked);
  /// The same for those that were to compute these values.
  void resumeFor(llvm::ArrayRef<Node *> nodes);

private:
  Ticket push(std::unique_ptr<QueuedRun> queued, Queue::Start start);
  void execute(std::unique_ptr<QueuedRun> queued, Ticket ticket);
  std::vector<std::unique_ptr<QueuedRun>>
  takeSuspended(llvm::function_ref<bool(Ticket)> isAsked);

  Graph &graph;
  const Settings &settings;
  Programs &programs;
  SuspendedRuns &suspended;
  Waiter &waiter;
  Fetches &fetches;
  /// Counts the runs of all devices.
  uint64_t launched = 0;
  std::shared_ptr<RunListener> listener;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_LAUNCHER_H
