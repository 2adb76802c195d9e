//===- ProgramPlanner.cpp - Planning of one program -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The slice of the values asked for is traced, and with it its key. What
//    loops carry goes along (Carried.cpp).
// 2. Where an operation of it has several results, all that somebody waits for
//    are computed with it, and none by a second program.
// 3. Values that somebody waits for, or that a later gradient would need,
//    become outputs as well, within a budget (KeptValues.cpp).
// 4. Programs of updates write over what nobody will see (Donation.cpp).
//
// If another device has to give something first, the plan ends there, and is
// made again when that has been brought over.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/ProgramPlanner.h"

#include "KeptValues.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace metaops;

/// Values of fetches that are to be computed along.
std::vector<Node *> ProgramPlanner::findFetched(RunKind kind) const {
  std::vector<Node *> fetched;
  bool isCarried = kind == RunKind::Carried;
  if (kind != RunKind::Asked && kind != RunKind::Updates && !isCarried)
    return fetched;
  for (const Fetches::Fetch &fetch : fetches.getPending())
    for (Node *node : fetch.nodes)
      // Of the iteration that begins, there is more to come.
      if (!node->isLeaf() && !updates.precede(node) &&
          !(isCarried && node->period == graph.getPeriod()))
        fetched.push_back(node);
  return fetched;
}

llvm::SmallVector<DeviceNodes, 1>
ProgramPlanner::groupByDevice(llvm::ArrayRef<Node *> asked, RunKind kind,
                              Device &current) const {
  llvm::SmallVector<DeviceNodes, 1> groups;
  auto find = [&](Device *on) -> llvm::SmallVectorImpl<Node *> & {
    for (DeviceNodes &group : groups)
      if (group.device == on)
        return group.nodes;
    groups.push_back({on, {}});
    return groups.back().nodes;
  };
  for (Node *node : asked)
    if (!node->isLeaf())
      find(node->device ? node->device : &current).push_back(node);
  for (Node *node : findFetched(kind))
    find(node->device);
  return groups;
}

std::vector<Node *>
ProgramPlanner::findTransfers(llvm::ArrayRef<DeviceNodes> byDevice,
                              RunKind kind) {
  std::vector<Node *> pending = findFetched(kind);
  for (const DeviceNodes &group : byDevice)
    llvm::append_range(pending, group.nodes);
  traceSlice(graph, pending, slice);
  return std::exchange(slice.transfers, {});
}

bool ProgramPlanner::plan(Device &on, llvm::ArrayRef<Node *> asked,
                          RunKind kind,
                          llvm::function_ref<bool(Node *)> shareView) {
  slice.device = &on;
  kept.clear();
  llvm::SmallSetVector<Node *, 16> outputs;
  auto add = [&](Node *node) {
    if (!node->isLeaf() && !shareView(node))
      outputs.insert(node);
  };
  llvm::for_each(asked, add);
  for (Node *node : findFetched(kind))
    if (node->device == &on)
      add(node);
  if (outputs.empty())
    return false;
  llvm::scope_exit forget([this] { forgetAsked(); });
  traceSlice(graph, outputs.getArrayRef(), slice);
  if (!slice.transfers.empty())
    return true;
  if (kind == RunKind::Asked || kind == RunKind::Updates ||
      kind == RunKind::Carried)
    addCarriedValues(kind);
  if (!slice.transfers.empty())
    return true;
  if (kind == RunKind::Updates)
    addWaitingValues();
  if (!slice.transfers.empty())
    return true;
  // Updates have no history; what is computed along with them may have.
  bool keepsHistory =
      kind == RunKind::Asked ||
      (kind == RunKind::Updates && llvm::any_of(asked, [&](Node *node) {
         return graph.needsHistory(node);
       }));
  if (kind != RunKind::Initial && kind != RunKind::Pending)
    addKeptValues(keepsHistory);
  if (slice.transfers.empty())
    findDonatable(kind);
  return true;
}

void ProgramPlanner::keep(Node *node, KeptFor reason) {
  slice.outputs.push_back(node);
  kept.push_back({node, reason, /*fits=*/true});
}

void ProgramPlanner::markOutputs(bool areOutputs) {
  for (Node *output : slice.outputs)
    output->isOutput = areOutputs;
}

//===----------------------------------------------------------------------===//
// Kept values
//===----------------------------------------------------------------------===//

void ProgramPlanner::addKeptValues(bool keepsHistory) {
  auto isAsked = [&](const Node *node) {
    return askedNodes.empty() || node->isAsked;
  };
  // A value that has been differentiated is seldom differentiated again, and
  // what its gradients need is saved because they need it.
  keepsHistory &= llvm::any_of(slice.outputs, [&](Node *node) {
    return isAsked(node) && !node->isDifferentiated && graph.needsHistory(node);
  });
  // As a rule there is nothing that anybody waits for.
  leftOut.clear();
  repeated = 0;
  markOutputs(true);
  bool isPlain =
      !keepsHistory && !slice.repeats && slice.shared.empty() &&
      llvm::all_of(slice.held, [](Node *node) { return node->isOutput; });
  markOutputs(false);
  if (isPlain)
    return;
  markOutputs(true);
  KeptValues found(graph, slice, [&](const Node *node) {
    return keepsHistory && isAsked(node) && graph.needsHistory(node);
  });
  markOutputs(false);
  for (const PlannedValue &value : found.choose(settings.savedValuesBudget)) {
    if (!value.fits) {
      kept.push_back(value);
      continue;
    }
    value.node->isSaved = value.node->vars == 0;
    keep(value.node, value.reason);
  }
  leftOut.assign(found.getLeftOut().begin(), found.getLeftOut().end());
  repeated = found.countRepeated();
}

void ProgramPlanner::recordLeftOut() {
  for (Node *node : leftOut)
    node->wasLeftOut = !node->isLeaf();
}
