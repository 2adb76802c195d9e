//===- IndexChecks.cpp - Checks of indices by programs --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowest and the highest of indices become outputs of the next program that
// computes what is asked for, and are compared with the extent when it has run.
// If one is out of range, the run has failed.
//
// An update may write over what a parameter was, so the indices that it depends
// on are checked by a program of their own, which runs before. A program that
// uses indices whose check has failed does not start: parameters keep their
// values.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"

using namespace mlir;
using namespace metaops;

void Session::noteUnchecked(const CheckedIndices &checked) {
  graph.pin(checked.lowest);
  graph.pin(checked.highest);
  checked.indices->isUnchecked = true;
  unchecked.push_back({checked.indices, checked.lowest, checked.highest,
                       checked.range, std::make_shared<CheckOutcome>()});
}

/// What is to be computed so that indices can be checked; not of those that no
/// program can compute any more.
std::vector<Node *> Session::takeCheckable() {
  std::vector<Node *> nodes;
  for (const UncheckedIndices &entry : unchecked) {
    Node *ends[] = {entry.lowest, entry.highest};
    if (entry.lowest->isLeaf() || entry.lowest->generation > flushes ||
        (graph.getNumDonated() > 0 && findOverwritten(graph, ends)))
      continue;
    nodes.insert(nodes.end(), std::begin(ends), std::end(ends));
  }
  return nodes;
}

/// Computes the checks of indices that the planned slice uses, and those that
/// it would compute along. False if there are none.
bool Session::computeChecks(RunKind kind) {
  std::vector<Node *> nodes;
  for (const UncheckedIndices &entry : unchecked) {
    bool isUsed = slice.computes(entry.indices);
    bool isAlong = kind != RunKind::Checks && slice.computes(entry.lowest);
    if (!entry.lowest->isLeaf() && (isUsed || isAlong))
      nodes.insert(nodes.end(), {entry.lowest, entry.highest});
  }
  if (nodes.empty())
    return false;
  // These may use indices themselves, which are then checked before.
  compute(nodes, RunKind::Checks);
  return true;
}

/// The checks that the outputs of the slice are for.
std::vector<IndexCheck> Session::describeChecks() const {
  std::vector<IndexCheck> checks;
  for (const UncheckedIndices &entry : unchecked) {
    auto lowest = llvm::find(slice.outputs, entry.lowest);
    auto highest = llvm::find(slice.outputs, entry.highest);
    if (lowest == slice.outputs.end() || highest == slice.outputs.end())
      continue;
    checks.push_back({unsigned(lowest - slice.outputs.begin()),
                      unsigned(highest - slice.outputs.begin()), entry.range,
                      entry.lowest->op->getLoc(), entry.outcome});
  }
  return checks;
}

/// What earlier runs find of indices that the slice uses.
std::vector<std::shared_ptr<const CheckOutcome>>
Session::findRequiredChecks() const {
  std::vector<std::shared_ptr<const CheckOutcome>> required;
  for (const UncheckedIndices &entry : unchecked)
    if (entry.lowest->isLeaf() && slice.computes(entry.indices))
      required.push_back(entry.outcome);
  return required;
}

/// Forgets what has been checked and is in range.
void Session::dropCheckedIndices() {
  llvm::erase_if(unchecked, [&](const UncheckedIndices &entry) {
    if (!entry.lowest->isLeaf() || !entry.lowest->ready.isDone() ||
        entry.outcome->failure)
      return false;
    entry.indices->isUnchecked = false;
    graph.unpin(entry.lowest);
    graph.unpin(entry.highest);
    return true;
  });
}

/// Nothing is read by these indices any more.
void Session::forgetIndices(Node *indices) {
  llvm::erase_if(unchecked, [&](const UncheckedIndices &entry) {
    if (entry.indices != indices)
      return false;
    graph.unpin(entry.lowest);
    graph.unpin(entry.highest);
    return true;
  });
}
