//===- PendingUpdates.h - Updates that are yet to be run --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PLAN_PENDINGUPDATES_H
#define METAOPS_RUNTIME_PLAN_PENDINGUPDATES_H

#include "MetaOps/Runtime/Graph/CallPlace.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// The updates that have been recorded and not run, and the generation that
/// their being run has brought the session to. See Updates.cpp.
class PendingUpdates {
public:
  bool empty() const { return updates.empty(); }
  size_t size() const { return updates.size(); }

  /// Counts the flushes, in each of which all pending updates are run; see
  /// Node::generation.
  int64_t getFlushes() const { return flushes; }
  void setFlushes(int64_t count) { flushes = count; }
  /// Returns whether an update that is pending needs the value to be computed.
  bool need(const Node *node) const { return node->feeds > flushes; }
  /// Returns whether the value depends on an update that is pending.
  bool precede(const Node *node) const { return node->generation > flushes; }

  /// Returns whether a further update of the Var that has a pending update
  /// belongs to the same step as that: it stands at another place, and the
  /// value is made of no other Var's pending update.
  bool continueStep(const Node *pending, const Node *value,
                    CallPlace place) const;
  /// Notes that a value is recorded which is to replace another one, that of a
  /// pending update too: then only the last one is kept.
  void add(Graph &graph, Node *updated, Node *replacedValue, CallPlace place);
  /// Nobody will ask for it.
  void remove(Node *updated);
  /// Those that are pending, and what of `along` one program computes with
  /// them.
  std::vector<Node *> findDue(llvm::ArrayRef<Node *> along) const;
  /// Has the outcome told of the pending updates.
  void watch(StepOutcomeRef outcome);
  /// The outcomes of pending updates, one more run of which is begun.
  std::vector<StepOutcomeRef> beginRun() const;
  /// By number, what outputs of a program replace.
  ReplacedValues findReplaced(llvm::ArrayRef<Node *> outputs) const;
  /// Returns whether a pending update is to replace the value.
  bool replace(const Node *node) const {
    return node->replacedBy == flushes + 1;
  }
  /// Those that were pending are gone, for nobody held their results, and what
  /// belonged to them is still there.
  bool areDropped() const {
    return updates.empty() && !(former.empty() && outcomes.empty());
  }
  /// They have been run.
  void finish();
  /// The values that updates have replaced since the last call.
  std::vector<NodeRef> takeFormer() { return std::exchange(former, {}); }

private:
  /// The places of one Var's pending updates, of which the last is kept.
  using Places = llvm::SmallVector<CallPlace, 2>;

  void follow(Node *updated, Node *former);

  /// In the order of recording.
  llvm::SetVector<Node *> updates;
  llvm::DenseMap<Node *, Places> places;
  /// The values that these replace, and their memory.
  std::vector<NodeRef> former;
  llvm::DenseMap<Node *, RunRef> replaced;
  std::vector<StepOutcomeRef> outcomes;
  int64_t flushes = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PLAN_PENDINGUPDATES_H
