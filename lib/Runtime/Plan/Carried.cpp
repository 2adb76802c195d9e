//===- Carried.cpp - What loops carry from step to step -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that is constant in size where operators run at once has to be so
// here: pending work must not become a second iteration of itself.
//
// A pending value that a Var holds is *carried*, and computed along with what
// is asked for,
//
// * if it is made of a value in memory, at least as large, that no Var holds
//   any more, and shares operations with what is asked for, or such a value: in
//   `w = w - rate * g`, `total += loss` and `x = f(x)` it has taken that one's
//   place, and to compute it takes no more memory than to leave it. (Not with
//   updates: what they share is often the beginning of the next iteration.)
// * or if it is made of a pending value that a Var held when the last program
//   ran, and that none holds any more: its name has been rebound, as those of
//   averages, totals and minima beside a list of losses are.
//
// Carried values are then in memory after each step or two, whatever the
// step asks for, and the steps are one program.
//
// The cost is that of the slice, and of what is carried: what else is pending,
// or held, is not looked at.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Walk.h"
#include "MetaOps/Runtime/Plan/ProgramPlanner.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

static int64_t sizeInBytes(const Node *node) {
  return getNumBytes(node->shape(), node->dtype);
}

bool metaops::isLetGo(const Node *node, int64_t flushes) {
  bool isThere = node->isLeaf() ? node->buffer && !node->isScalar
                                : node->isInitial && node->wasHeld;
  return isThere && node->vars == 0 && node->pins == 0 &&
         node->replacedBy <= flushes;
}

namespace {
/// Operations that a pending value is made of, down to leaves and outputs.
struct Ingredients {
  /// Bytes of the largest leaf that no Var holds any more.
  int64_t letGo = 0;
  /// A part of what is asked for; a value whose name has been rebound; one that
  /// is gone.
  bool isShared = false, isRebound = false, isOverwritten = false;

  void add(const Ingredients &other) {
    letGo = std::max(letGo, other.letGo);
    isShared |= other.isShared;
    isRebound |= other.isRebound;
    isOverwritten |= other.isOverwritten;
  }

  bool isCarried(int64_t bytes) const {
    return !isOverwritten && (isRebound || (isShared && bytes <= letGo));
  }
};
} // namespace

/// Those of the candidates, in the order of recording, that are carried. Where
/// targets are replaced, all their replacements go together.
static std::vector<Node *>
findCarried(Graph &graph, llvm::ArrayRef<Node *> candidates,
            const llvm::SmallPtrSetImpl<Node *> &isRebound, int64_t flushes,
            bool replacesTargets) {
  std::vector<Node *> carried;
  std::vector<Ingredients> found;
  auto visit = [&](Node *node) {
    Ingredients own;
    bool isLeaf = node->isLeaf();
    own.isOverwritten = node->isDonated;
    if (isLetGo(node, flushes))
      own.letGo = sizeInBytes(node);
    // A value that is made of a target's replacement belongs to the next
    // iteration.
    if (isLeaf ? own.letGo > 0 : !(replacesTargets && node->isOutput))
      own.isShared = node->isAsked || (replacesTargets && node->isTarget);
    if (!isLeaf && !node->isOutput) {
      own.isRebound = isRebound.contains(node);
      for (Node *operand : node->operands)
        own.add(found[operand->position]);
    }
    node->position = found.size();
    found.push_back(own);
  };
  Walk walk(graph, WalkEnd::Outputs);
  for (Node *node : candidates) {
    walk.run(node, visit);
    Ingredients &own = found[node->position];
    if (!own.isCarried(sizeInBytes(node)))
      continue;
    carried.push_back(node);
    // It will be there for what is made of it.
    own = Ingredients();
    own.isShared = !replacesTargets;
  }
  return carried;
}

/// The pending values that Vars hold, and that are part of the slice or made of
/// the values outside of it, in the order of recording.
static std::vector<Node *> findHeldUsers(const Graph &graph, const Slice &slice,
                                         llvm::ArrayRef<Node *> values) {
  std::vector<Node *> held, worklist(values.begin(), values.end());
  llvm::SmallPtrSet<Node *, 16> seen;
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    for (Node *user : graph.getUsers(node)) {
      if (user->isLeaf() || user->isOutput || slice.contains(user) ||
          !seen.insert(user).second)
        continue;
      if (user->vars > 0)
        held.push_back(user);
      worklist.push_back(user);
    }
  }
  llvm::copy_if(slice.held, std::back_inserter(held),
                [](Node *node) { return node->vars > 0 && !node->isOutput; });
  llvm::sort(held, [](Node *a, Node *b) { return a->order < b->order; });
  return held;
}

/// Returns what of the slice pending values may share that have taken the place
/// of others: operations, and values that no Var holds any more.
std::vector<Node *> ProgramPlanner::findSharing() const {
  std::vector<Node *> sharing;
  llvm::copy_if(slice.shared, std::back_inserter(sharing), [](Node *node) {
    return !node->isOutput && !node->operands.empty();
  });
  for (Node *leaf : slice.leaves)
    if (isLetGo(leaf, updates.getFlushes()))
      sharing.push_back(leaf);
  return sharing;
}

void ProgramPlanner::addCarriedValues(RunKind kind) {
  markOutputs(true);
  int64_t flushes = updates.getFlushes();
  std::vector<Node *> rebound = graph.getRebound();
  std::vector<Node *> candidates = rebound;
  if (kind != RunKind::Updates)
    llvm::append_range(candidates, findSharing());
  // Replacements of targets go together, also where they share nothing else.
  if (kind == RunKind::Carried)
    llvm::copy_if(graph.getTargets(), std::back_inserter(candidates),
                  [&](Node *target) { return isLetGo(target, flushes); });
  candidates = findHeldUsers(graph, slice, candidates);
  // Held values that depend on the updates of this program belong to the next
  // iteration, and those whose place they have taken to this one.
  if (kind == RunKind::Updates && !rebound.empty() &&
      llvm::any_of(candidates,
                   [&](Node *node) { return node->generation > flushes; })) {
    llvm::copy_if(rebound, std::back_inserter(candidates),
                  [](Node *node) { return !node->isOutput; });
    llvm::sort(candidates,
               [](Node *a, Node *b) { return a->order < b->order; });
    candidates.erase(llvm::unique(candidates), candidates.end());
  }
  llvm::erase_if(candidates, [&](Node *node) {
    return node->generation > flushes || node->device != slice.device;
  });
  std::vector<Node *> carried;
  if (!candidates.empty()) {
    if (kind != RunKind::Updates) {
      askedNodes = slice.leaves;
      for (Node *op : slice.ops)
        llvm::copy_if(resultsOf(op), std::back_inserter(askedNodes),
                      [&](Node *result) { return slice.contains(result); });
      for (Node *node : askedNodes)
        node->isAsked = true;
    }
    llvm::SmallPtrSet<Node *, 8> isRebound(rebound.begin(), rebound.end());
    carried = findCarried(graph, candidates, isRebound, flushes,
                          kind == RunKind::Carried);
  }
  markOutputs(false);
  if (candidates.empty())
    return;
  // Also where there are none, as the walk has taken the marks of the slice.
  std::vector<Node *> outputs = slice.outputs;
  llvm::append_range(outputs, carried);
  for (Node *node : carried)
    kept.push_back({node, KeptFor::Loop, /*fits=*/true});
  traceSlice(graph, outputs, slice);
}

void ProgramPlanner::forgetAsked() {
  for (Node *node : askedNodes)
    node->isAsked = false;
  askedNodes.clear();
}
