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
// A pending value is *carried* if it is made of a value in memory, at least as
// large, that no Var holds any more: in `w = w - rate * g`, `total += loss` and
// `x = f(x)` it has taken that one's place. To compute it takes no more memory
// than to leave it. So it is computed along with what is asked for
//
// * where it shares something with that: operations, or a value that no Var
//   holds any more; or
// * where some of it was recorded before the last run (with updates, there
//   alone: what they share is often the beginning of the next iteration).
//
// What a loop carries is then in memory after each step, whatever the step asks
// for, and all steps are one program.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "Walk.h"

using namespace mlir;
using namespace metaops;

static int64_t sizeInBytes(const Node *node) {
  return countBytes(node->shape(), node->dtype);
}

bool metaops::isLetGo(const Node *node, int64_t flushes) {
  bool isThere = node->isLeaf() ? node->buffer && !node->isScalar
                                : node->isInitial && node->wasHeld;
  return isThere && node->vars == 0 && node->pins == 0 &&
         node->replacedBy <= flushes;
}

namespace {
/// What a pending value is made of, down to leaves and outputs.
struct Ingredients {
  /// Bytes of the largest leaf that no Var holds any more.
  int64_t letGo = 0;
  /// A part of what is asked for; something older than the last run; a value
  /// that an update has overwritten.
  bool isShared = false, isOld = false, isOverwritten = false;

  void add(const Ingredients &other) {
    letGo = std::max(letGo, other.letGo);
    isShared |= other.isShared;
    isOld |= other.isOld;
    isOverwritten |= other.isOverwritten;
  }

  bool isCarried(int64_t bytes) const {
    return (isShared || isOld) && !isOverwritten && bytes <= letGo;
  }
};
} // namespace

/// Those of the candidates, in the order of recording, that are carried. Where
/// targets are replaced, all their replacements go together.
static std::vector<Node *> findCarried(Graph &graph,
                                       llvm::ArrayRef<Node *> candidates,
                                       int64_t flushes, bool replacesTargets) {
  std::vector<Node *> carried;
  std::vector<Ingredients> found;
  auto visit = [&](Node *node) {
    Ingredients own;
    bool isLeaf = node->isLeaf();
    own.isOverwritten = node->isDonated;
    if (isLetGo(node, flushes))
      own.letGo = sizeInBytes(node);
    // What is made of a target's replacement belongs to the next iteration.
    if (isLeaf ? own.letGo > 0 : !(replacesTargets && node->isOutput))
      own.isShared = node->isAsked || (replacesTargets && node->isTarget);
    if (!isLeaf && !node->isOutput) {
      own.isOld = node->period < graph.getPeriod();
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

void Planner::addCarriedValues(RunKind kind) {
  markOutputs(true);
  int64_t flushes = updates.getFlushes();
  int64_t generation = kind == RunKind::Updates ? flushes + 1 : flushes;
  std::vector<Node *> candidates = graph.getWaiting();
  llvm::erase_if(candidates, [&](Node *node) {
    return node->isOutput || node->vars == 0 || node->generation > generation ||
           node->device != slice.device;
  });
  bool isAny = !candidates.empty();
  // Programs of updates have a rule of their own for what they share.
  if (kind == RunKind::Updates)
    isAny = llvm::any_of(candidates, [&](Node *node) {
      return node->oldestPeriod < graph.getPeriod();
    });
  std::vector<Node *> carried;
  if (isAny) {
    if (kind != RunKind::Updates) {
      askedNodes = slice.leaves;
      for (Node *op : slice.ops)
        llvm::copy_if(resultsOf(op), std::back_inserter(askedNodes),
                      [&](Node *result) { return slice.contains(result); });
      for (Node *node : askedNodes)
        node->isAsked = true;
    }
    carried = findCarried(graph, candidates, flushes, kind == RunKind::Carried);
  }
  markOutputs(false);
  if (!isAny)
    return;
  // Also where there are none, as the walk has taken the marks of the slice.
  std::vector<Node *> outputs = slice.outputs;
  llvm::append_range(outputs, carried);
  traceSlice(graph, outputs, slice);
}

void Planner::forgetAsked() {
  for (Node *node : askedNodes)
    node->isAsked = false;
  askedNodes.clear();
}
