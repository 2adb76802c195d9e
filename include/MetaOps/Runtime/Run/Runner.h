//===- Runner.h - Computing values ------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_RUNNER_H
#define METAOPS_RUNTIME_RUN_RUNNER_H

#include "MetaOps/Runtime/Plan/ProgramPlanner.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Run/Launcher.h"
#include "MetaOps/Runtime/Run/ProvisionalValues.h"
#include "MetaOps/Runtime/Run/Transfers.h"
#include "MetaOps/Runtime/Run/ValueMemory.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <utility>
#include <vector>

namespace metaops {

/// Has values computed: plans programs, finds them, and launches their runs,
/// whose results are then the values' memory. See Runner.cpp.
class Runner {
public:
  Runner(Graph &graph, const Settings &settings, Devices &devices,
         Fetches &fetches, ProgramPlanner &planner,
         const PendingUpdates &updates, Programs &programs, Waiter &waiter,
         Launcher &launcher, ValueMemory &memory,
         ProvisionalValues &provisional, Transfers &transfers)
      : graph(graph), settings(settings), devices(devices), fetches(fetches),
        planner(planner), updates(updates), programs(programs), waiter(waiter),
        launcher(launcher), memory(memory), provisional(provisional),
        transfers(transfers) {}

  /// Puts into queues what the values need, and completes fetches. For updates
  /// the caller calls `waitUnlessAsynchronous`.
  void compute(llvm::ArrayRef<Node *> asked, RunKind kind);
  void completeFetches();
  /// Waits for what has been put into queues, if callers are to.
  void waitUnlessAsynchronous();

  /// Sets what a program adds to the depth of the histories of its results, 1
  /// as a rule.
  void setDepthStep(uint32_t step) { depthStep = step; }
  /// Returns the number of operations that have been recorded since the last
  /// program was run, or since `restartCount`.
  uint64_t countRecorded() const {
    return graph.countRecorded() - recordedAtRun;
  }
  void restartCount() { recordedAtRun = graph.countRecorded(); }

  int64_t getNumRuns() const { return runs; }
  /// See SessionStatistics::operatorsRepeated.
  int64_t getNumRepeated() const { return repeated; }
  /// Null where no program has run.
  const std::shared_ptr<const RunRecord> &getLastRun() const { return lastRun; }
  /// Somebody else runs a program.
  void noteRun(std::shared_ptr<const RunRecord> record) {
    lastRun = std::move(record);
    ++runs;
  }

private:
  bool plan(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind);
  void runSlice(FoundProgram found, RunKind kind);
  std::vector<CheckedValue> findChecked(const ProgramRun &run);
  bool computeView(Node *node);
  void computeTransfers(std::vector<Node *> nodes);

  Graph &graph;
  const Settings &settings;
  Devices &devices;
  Fetches &fetches;
  ProgramPlanner &planner;
  const PendingUpdates &updates;
  Programs &programs;
  Waiter &waiter;
  Launcher &launcher;
  ValueMemory &memory;
  ProvisionalValues &provisional;
  Transfers &transfers;

  uint32_t depthStep = 1;
  /// The number of operations that had been recorded when the last program was
  /// run.
  uint64_t recordedAtRun = 0;
  int64_t runs = 0;
  int64_t repeated = 0;
  std::shared_ptr<const RunRecord> lastRun;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_RUNNER_H
