//===- Loops.cpp - Loops that ask for nothing -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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

#include "MetaOps/Runtime/Graph/Walk.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Where gradients are asked for again
//===----------------------------------------------------------------------===//

void SessionImpl::computeReplacements(llvm::ArrayRef<Node *> targets) {
  llvm::SmallSetVector<Node *, 16> pending;
  for (Node *target : targets)
    if (!target->isLeaf() && !updates.precede(target))
      pending.insert(target);
  // Former targets that no Var holds any more, by their types.
  llvm::SmallPtrSet<Type, 8> replaced;
  Walk walk(graph);
  for (Node *target : pending)
    walk.run(target, [&](Node *node) {
      if (node->isLeaf() && node->isTarget &&
          isLetGo(node, updates.getFlushes()))
        replaced.insert(node->type());
    });
  pending.remove_if(
      [&](Node *target) { return !replaced.contains(target->type()); });
  if (!pending.empty())
    runner.compute(pending.getArrayRef(), RunKind::Carried);
}

//===----------------------------------------------------------------------===//
// Where nothing is asked for
//===----------------------------------------------------------------------===//

/// Number of operations that may be recorded without a run.
static constexpr uint64_t mostRecorded = 1 << 16;
/// Fewer values of one Var are no loop.
static constexpr size_t fewestSteps = 8;

namespace {
/// Splits what is pending into the iterations of a loop.
class IterationSplitter {
public:
  IterationSplitter(Graph &graph, llvm::ArrayRef<Node *> held)
      : graph(graph), held(held) {}

  /// Splits what is to be computed, program by program.
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
    llvm::sort(nodes, [](Node *a, Node *b) {
      return std::tie(a->order, a->number) < std::tie(b->order, b->number);
    });
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
      } else if (!steps.empty() && node->op == steps.back()->op &&
                 node->wasHeld) {
        // The last of an operation's results.
        steps.back() = node;
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
  if (!settings.isLazy || runner.countRecorded() < mostRecorded)
    return;
  // Whatever comes of it, not at every call.
  runner.restartCount();
  flushUpdates();
  std::vector<Node *> held = graph.getWaiting();
  llvm::erase_if(held, [&](Node *node) {
    return node->vars == 0 ||
           (graph.getNumDonated() > 0 && findOverwritten(graph, node));
  });
  if (held.empty())
    return;
  // All of this is a step of a history, however many programs it is.
  llvm::scope_exit restore([this] { runner.setDepthStep(1); });
  for (const std::vector<Node *> &group :
       IterationSplitter(graph, held).split()) {
    runner.compute(group, RunKind::Pending);
    runner.setDepthStep(0);
  }
}
