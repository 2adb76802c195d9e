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
// A loop of gradients need not ask for anything. There, as with updates, the
// next iteration has come to where the last one was when gradients by a value
// are asked for that has taken the place of one that they were asked for by
// before. It is computed then, and what else is carried along with it.
//
// A loop that neither asks nor differentiates is cut when very much has been
// recorded. If one Var's values are made of each other, line by line the same,
// each of them ends an iteration, and is a program of its own with all else
// that later ones need; so what is compiled is one iteration, again.
//
//===----------------------------------------------------------------------===//

#include "SessionImpl.h"
#include "Walk.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Along with what is asked for
//===----------------------------------------------------------------------===//

static int64_t sizeInBytes(const Node *node) {
  return countBytes(node->shape(), node->dtype);
}

/// Whether no Var holds the value any more, and no pending update is about to
/// free it. A loop may also begin with numbers that have never been computed.
static bool isLetGo(const Node *node, int64_t flushes) {
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

void SessionImpl::addCarriedValues(RunKind kind) {
  markOutputs(true);
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

void SessionImpl::forgetAsked() {
  for (Node *node : askedNodes)
    node->isAsked = false;
  askedNodes.clear();
}

//===----------------------------------------------------------------------===//
// Where gradients are asked for again
//===----------------------------------------------------------------------===//

void SessionImpl::computeReplacements(llvm::ArrayRef<Node *> targets) {
  llvm::SmallSetVector<Node *, 16> pending;
  for (Node *target : targets)
    if (!target->isLeaf() && target->generation <= flushes)
      pending.insert(target);
  // Former targets that no Var holds any more, by their types.
  llvm::SmallPtrSet<Type, 8> replaced;
  Walk walk(graph);
  for (Node *target : pending)
    walk.run(target, [&](Node *node) {
      if (node->isLeaf() && node->isTarget && isLetGo(node, flushes))
        replaced.insert(node->type());
    });
  pending.remove_if(
      [&](Node *target) { return !replaced.contains(target->type()); });
  if (!pending.empty())
    compute(pending.getArrayRef(), RunKind::Carried);
}

//===----------------------------------------------------------------------===//
// Where nothing is asked for
//===----------------------------------------------------------------------===//

/// How many operations may be recorded without a run.
static constexpr uint64_t mostRecorded = 1 << 16;
/// Fewer values of one Var are no loop.
static constexpr size_t fewestSteps = 8;

namespace {
/// Splits what is pending into the iterations of a loop.
class IterationSplitter {
public:
  IterationSplitter(Graph &graph, llvm::ArrayRef<Node *> held)
      : graph(graph), held(held) {}

  /// What to compute, program by program.
  std::vector<std::vector<Node *>> split() {
    collect();
    findSteps();
    if (steps.size() < fewestSteps || steps.back() != held.back())
      return {held.vec()};
    std::vector<std::vector<Node *>> groups(1);
    for (Node *node : nodes) {
      const Node *step = steps[groups.size() - 1];
      if (lastUses[node->position] > step->order && !isGenerated(node))
        groups.back().push_back(node);
      if (node == step && groups.size() < steps.size())
        groups.emplace_back();
    }
    return groups;
  }

private:
  void collect() {
    Walk walk(graph);
    for (Node *root : held)
      walk.run(root, [&](Node *node) {
        if (!node->isLeaf())
          nodes.push_back(node);
      });
    llvm::sort(nodes, [](Node *a, Node *b) { return a->order < b->order; });
    for (auto [position, node] : llvm::enumerate(nodes))
      node->position = position;
    lastUses.resize(nodes.size());
    for (Node *node : nodes)
      forEachOperand(node, [&](Node *operand) {
        lastUses[operand->position] = node->order;
      });
    for (Node *node : held)
      lastUses[node->position] = ~uint64_t(0);
  }

  /// Finds values of the youngest Var that are made of one another.
  void findSteps() {
    const Node *last = held.back();
    std::vector<size_t> numSteps(nodes.size());
    for (Node *node : nodes) {
      size_t &number = numSteps[node->position];
      forEachOperand(node, [&](Node *operand) {
        number = std::max(number, numSteps[operand->position]);
      });
      if (node->wasHeld && node->signature == last->signature &&
          node->op->getLoc() == last->op->getLoc() && number == steps.size()) {
        steps.push_back(node);
        ++number;
      }
    }
  }

  /// Each program makes it anew.
  bool isGenerated(const Node *node) {
    return node->vars == 0 &&
           (graph.getInfo(node).isGenerator || node->operands.empty());
  }

  template <typename Visit> void forEachOperand(Node *node, Visit visit) {
    for (Node *operand : node->operands)
      if (!operand->isLeaf())
        visit(operand);
  }

  Graph &graph;
  llvm::ArrayRef<Node *> held;
  /// In the order of recording, and for each the last one that reads it.
  std::vector<Node *> nodes;
  std::vector<uint64_t> lastUses;
  std::vector<Node *> steps;
};
} // namespace

void SessionImpl::computePending() {
  if (!settings.isLazy || graph.getNumRecorded() - recordedAtRun < mostRecorded)
    return;
  // Whatever comes of it, not at every call.
  recordedAtRun = graph.getNumRecorded();
  flushUpdates();
  std::vector<Node *> held = graph.getWaiting();
  llvm::erase_if(held, [&](Node *node) {
    return node->vars == 0 ||
           (graph.getNumDonated() > 0 && findOverwritten(graph, node));
  });
  if (held.empty())
    return;
  // All of this is a few steps of a history, however many programs it is.
  llvm::scope_exit restore([this] { depthStep = 1; });
  depthStep = std::max<int64_t>(settings.historyDepth / 4, 1);
  for (const std::vector<Node *> &group :
       IterationSplitter(graph, held).split()) {
    compute(group, RunKind::Pending);
    depthStep = 0;
  }
}
