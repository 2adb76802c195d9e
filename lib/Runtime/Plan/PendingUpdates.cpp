//===- PendingUpdates.cpp - Updates that are yet to be run ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/PendingUpdates.h"

using namespace metaops;

/// Marks all that an update needs to be computed. What one before it needs is
/// marked already.
static void markFeeding(Node *updated, int64_t generation) {
  llvm::SmallVector<Node *, 32> stack{updated};
  while (!stack.empty()) {
    Node *node = stack.pop_back_val();
    if (node->isLeaf() || node->feeds == generation)
      continue;
    node->feeds = generation;
    llvm::append_range(stack, node->operands);
  }
}

/// The most updates of a Var in one step. Code that a notebook runs again is at
/// another place each time.
static constexpr size_t kMostOfStep = 8;

/// The most values between a pending update and a further one of the same Var
/// in the same step.
static constexpr size_t kMostBetween = 64;

bool PendingUpdates::continueStep(const Node *pending, const Node *value,
                                  CallPlace place) const {
  auto found = places.find(pending);
  if (found == places.end() || !place.isKnown() ||
      found->second.size() >= kMostOfStep ||
      llvm::is_contained(found->second, place))
    return false;
  llvm::SmallSetVector<const Node *, 16> between;
  between.insert(value);
  for (size_t next = 0; next < between.size(); ++next) {
    const Node *node = between[next];
    if (node == pending || !precede(node))
      continue;
    if (node->isPendingUpdate || between.size() > kMostBetween)
      return false;
    for (const Node *operand : node->operands)
      between.insert(operand);
  }
  return true;
}

/// Has an update stand for the one before it of the same Var.
void PendingUpdates::follow(Node *updated, Node *former) {
  former->isPendingUpdate = false;
  updates.remove(former);
  if (auto found = replaced.find(former); found != replaced.end()) {
    RunRef memory = std::move(found->second);
    replaced.erase(found);
    replaced[updated] = std::move(memory);
  }
  if (auto found = places.find(former); found != places.end()) {
    Places before = std::move(found->second);
    places.erase(found);
    places[updated] = std::move(before);
  }
}

void PendingUpdates::add(Graph &graph, Node *updated, Node *replacedValue,
                         CallPlace place) {
  updated->generation = flushes + 1;
  updated->isPendingUpdate = true;
  updates.insert(updated);
  if (replacedValue->isPendingUpdate)
    follow(updated, replacedValue);
  else if (replacedValue->buffer)
    replaced[updated] = RunRef(replacedValue->buffer);
  if (place.isKnown())
    places[updated].push_back(place);
  replacedValue->replacedBy = flushes + 1;
  former.emplace_back(replacedValue);
  graph.setReplaced(replacedValue, true);
  markFeeding(updated, flushes + 1);
}

void PendingUpdates::remove(Node *updated) {
  updates.remove(updated);
  replaced.erase(updated);
  places.erase(updated);
}

std::vector<Node *>
PendingUpdates::findDue(llvm::ArrayRef<Node *> along) const {
  llvm::SmallSetVector<Node *, 16> due(updates.begin(), updates.end());
  // A program of its own comes behind the updates for what depends on them. It
  // is the same whichever updates came before.
  for (Node *node : along)
    if (!node->isLeaf() && !precede(node))
      due.insert(node);
  return std::vector<Node *>(due.begin(), due.end());
}

ReplacedValues
PendingUpdates::findReplaced(llvm::ArrayRef<Node *> outputs) const {
  ReplacedValues values;
  if (replaced.empty())
    return values;
  for (auto [number, output] : llvm::enumerate(outputs))
    if (auto found = replaced.find(output); found != replaced.end())
      values.emplace_back(number, found->second);
  return values;
}

void PendingUpdates::watch(StepOutcomeRef outcome) {
  if (updates.empty())
    return;
  outcome->begin();
  outcomes.push_back(std::move(outcome));
}

std::vector<StepOutcomeRef> PendingUpdates::beginRun() const {
  for (const StepOutcomeRef &outcome : outcomes)
    outcome->begin();
  return outcomes;
}

void PendingUpdates::finish() {
  for (const StepOutcomeRef &outcome : outcomes)
    outcome->end(/*failed=*/false);
  outcomes.clear();
  for (Node *node : updates)
    node->isPendingUpdate = false;
  updates.clear();
  replaced.clear();
  places.clear();
  ++flushes;
}
