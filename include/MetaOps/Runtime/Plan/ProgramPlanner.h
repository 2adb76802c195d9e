//===- ProgramPlanner.h - Planning of one program ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PLAN_PROGRAMPLANNER_H
#define METAOPS_RUNTIME_PLAN_PROGRAMPLANNER_H

#include "MetaOps/Runtime/Device/Device.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Plan/Fetches.h"
#include "MetaOps/Runtime/Plan/PendingUpdates.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace metaops {

/// Why a program is run: somebody asked for values, updates are due, also
/// such as are written by hand (Carried), much is pending, fresh parameters
/// are made, or another device needs values.
enum class RunKind { Asked, Updates, Carried, Pending, Initial, Transferred };

/// Values that one program of a device is to compute.
struct DeviceNodes {
  Device *device;
  llvm::SmallVector<Node *, 4> nodes;
};

/// Decides what one program computes: the slice of what is asked for and what
/// goes along with it, and what of the slice's leaves may be written over.
/// Plans one program at a time, and neither compiles nor runs it.
class ProgramPlanner {
public:
  ProgramPlanner(Graph &graph, const Settings &settings,
                 const PendingUpdates &updates, const Fetches &fetches)
      : graph(graph), settings(settings), updates(updates), fetches(fetches) {}

  /// Groups values by the devices whose programs compute them, in the order in
  /// which the devices are met. What is free of a device is computed on
  /// `current`.
  llvm::SmallVector<DeviceNodes, 1> groupByDevice(llvm::ArrayRef<Node *> asked,
                                                  RunKind kind,
                                                  Device &current) const;
  /// Finds what these, and the fetches that go along, need of other devices.
  std::vector<Node *> findTransfers(llvm::ArrayRef<DeviceNodes> byDevice,
                                    RunKind kind);

  /// Has the slice compute what is asked for and what goes along with it. False
  /// where everything is there; `shareView` takes care of views of what is.
  bool plan(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind,
            llvm::function_ref<bool(Node *)> shareView);

  /// Returns the slice that was planned last. Its memory is used again by the
  /// next plan.
  Slice &getSlice() { return slice; }
  const Slice &getSlice() const { return slice; }
  /// Returns the values that the slice computes without being asked, and those
  /// that it would compute if they fitted the budget.
  llvm::ArrayRef<PlannedValue> getKept() const { return kept; }
  /// By leaf: whether the program may write over it.
  llvm::ArrayRef<bool> getDonatable() const { return donatable; }
  /// Marks what a run of the slice computes, and does not keep though somebody
  /// waits for it.
  void recordLeftOut();
  /// Counts the operators of the slice that have been computed before for
  /// values that somebody was waiting for then.
  int64_t countRepeated() const { return repeated; }
  /// Has plans write over values, where nobody else sees them, on behalf of a
  /// line; until they are given others.
  void setGiven(std::vector<NodeRef> values, mlir::Location line);
  /// Marks the leaves that a run of the slice may write over: they are gone.
  void recordDonations();
  /// Ends the histories that need what has been written over, when all that
  /// only updates needed is gone as well.
  void endOverwrittenHistories();

private:
  std::vector<Node *> findFetched(RunKind kind) const;
  void markOutputs(bool areOutputs);
  /// Has the slice compute a value for later.
  void keep(Node *node, KeptFor reason);

  // Kept values (KeptValues.cpp)
  void addKeptValues(bool keepsHistory);

  // Values that loops carry (Carried.cpp)
  void addCarriedValues(RunKind kind);
  std::vector<Node *> findSharing() const;
  void forgetAsked();

  // Memory that may be written over (Donation.cpp)
  std::vector<Node *> findWaiting() const;
  void addWaitingValues();
  bool isGiven(const Node *leaf) const;
  void findDonatable(RunKind kind);
  void keepReadable(llvm::ArrayRef<Node *> replaced,
                    llvm::ArrayRef<Node *> others);

  Graph &graph;
  const Settings &settings;
  const PendingUpdates &updates;
  const Fetches &fetches;

  Slice slice;
  std::vector<PlannedValue> kept;
  llvm::SmallVector<bool> donatable;
  std::vector<NodeRef> given;
  std::optional<mlir::Location> givenAt;
  /// Values that somebody waits for, of those that the slice computes and does
  /// not keep.
  std::vector<Node *> leftOut;
  int64_t repeated = 0;
  /// Values that have been written over, and end histories.
  std::vector<NodeRef> overwritten;
  /// The values that were asked for themselves, where the slice is more; see
  /// Node::isAsked.
  std::vector<Node *> askedNodes;
};

/// Returns whether no Var holds the value any more, and no pending update is
/// about to free it. A loop may also begin with numbers that have never been
/// computed.
bool isLetGo(const Node *node, int64_t flushes);

} // namespace metaops

#endif // METAOPS_RUNTIME_PLAN_PROGRAMPLANNER_H
