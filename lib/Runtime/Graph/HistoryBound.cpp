//===- HistoryBound.cpp - The bound of histories --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes of histories: an operator that a program has run, and that is still
// there, counts as 1 kB; the buffer of a value that a program has read or made
// counts as its bytes while no Var holds the value or a view of it. Not counted
// is the memory of views, which is that of what they view, and of values that
// were saved for a gradient, which have a budget and an age of their own. Each
// value knows what it counts as, so that the sum is kept up where something
// changes, and nothing is walked for it.
//
// Values that keep histories are in a queue in the order of the programs that
// have computed them, without those that were saved: what these are made of
// goes with what was asked for. Where the sum is above the bound, histories end
// at the oldest, program by program, until a sixteenth of the bound is free:
// what has to look at all that is pending does so once for many steps. What the
// last program has computed stays.
//
// Bytes that are left when all have ended are beyond the bound's reach: what
// pending values read, and the last program's. They are not held against the
// next ones.
//
// A value that a Var holds keeps its history, which counts no more: it is what
// the user holds. It ends with its last Var; what younger histories keep of it
// counts again.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Graph.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace metaops;

static constexpr int64_t operatorBytes = 1024;

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

static bool isHeld(const Node *node) {
  return node->vars > 0 || node->heldViews > 0;
}

void Graph::recount(Node *node) {
  if (!node->isCounted)
    return;
  int64_t bytes = 0;
  if (!node->operands.empty() && node->number == 0)
    bytes += operatorBytes;
  if (node->buffer && !isHeld(node) && !node->isScalar && !node->isSaved &&
      !getInfo(node).isView)
    bytes += getNumBytes(node->shape(), node->dtype);
  historyBytes += bytes - std::exchange(node->historyBytes, bytes);
}

/// Has a value count that Vars have come to hold, or hold no more, and what it
/// is a view of.
void Graph::changeHolders(Node *node, bool wasHeld) {
  for (;;) {
    bool holds = isHeld(node);
    recount(node);
    if (holds == wasHeld || !getInfo(node).isView || node->operands.empty())
      return;
    node = node->viewed();
    wasHeld = isHeld(node);
    node->heldViews += holds ? 1 : -1;
  }
}

/// A view is about to stay without what it views.
void Graph::moveFromViewed(Node *view) {
  if (!isHeld(view) || !getInfo(view).isView || view->operands.empty())
    return;
  Node *viewed = view->viewed();
  --viewed->heldViews;
  changeHolders(viewed, /*wasHeld=*/true);
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

/// Returns whether the value is in memory and keeps what it was made of, and
/// not for the gradient of another one alone.
static bool keepsHistory(const Node *node) {
  return node && node->buffer && !node->operands.empty() && !node->isSaved;
}

void Graph::addHistory(Node *node) {
  recount(node);
  if (!keepsHistory(node))
    return;
  // Histories that die young never meet the bound.
  if (histories.size() >= mostHistories) {
    llvm::erase_if(histories, [](const HistoryEntry &entry) {
      return !keepsHistory(entry.value.get());
    });
    mostHistories = std::max<size_t>(2 * histories.size(), 64);
  }
  histories.push_back({NodeRef(node), period});
}

/// Takes the values of the oldest program that is not the last; returns none
/// if there is none.
std::vector<Node *> Graph::takeOldest() {
  std::vector<Node *> values;
  int64_t program = 0;
  while (!histories.empty()) {
    auto [value, computed] = histories.front();
    Node *node = value.get();
    if (keepsHistory(node)) {
      // The period that goes on comes after the last program.
      bool isOfLast = computed + 1 >= period;
      if (isOfLast || (!values.empty() && computed != program))
        break;
      program = computed;
      values.push_back(node);
    }
    histories.pop_front();
  }
  return values;
}

/// Counts no more what a held value is made of, up to other values in memory
/// with histories: those have had their turn.
void Graph::spare(Node *node) {
  for (Node *result : resultsOf(node))
    result->isOverdue = true;
  llvm::SmallVector<Node *> stack{node};
  while (!stack.empty()) {
    Node *top = stack.pop_back_val();
    for (Node *result : resultsOf(top)) {
      historyBytes -= std::exchange(result->historyBytes, 0);
      result->isCounted = false;
      result->isSpared = true;
    }
    for (Node *operand : top->operands)
      if (operand->isCounted && !keepsHistory(operand))
        stack.push_back(operand);
  }
}

void Graph::unspare(Node *node) {
  if (!node->isSpared)
    return;
  node->isSpared = false;
  node->isCounted = true;
  recount(node);
}

void Graph::boundHistories() {
  bytesBeyond = std::min(bytesBeyond, historyBytes);
  if (isSwept())
    return;
  if (historyBytes - bytesBeyond <= historyBound)
    return;
  std::vector<NodeRef> outdated;
  while (historyBytes - bytesBeyond > historyBound - historyBound / 16) {
    std::vector<Node *> ended, oldest = takeOldest();
    if (oldest.empty()) {
      bytesBeyond = historyBytes;
      break;
    }
    llvm::copy_if(oldest, std::back_inserter(ended),
                  [this](Node *value) { return !isHeldWithHistory(value); });
    if (!ended.empty())
      for (Node *node : endHistories(ended))
        outdated.emplace_back(node);
    // Also what has a result that is to be computed yet.
    for (Node *value : oldest)
      if (keepsHistory(value))
        spare(value);
    collect();
  }
  std::vector<Node *> stillThere;
  for (const NodeRef &ref : outdated)
    if (Node *node = ref.get())
      stillThere.push_back(node);
  dropOutdated(stillThere);
  collect();
}
