//===- Targets.cpp - The values that derivatives are by -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Var is a name, and a loss is made of values. Where a Var has been rebound
// since the loss was recorded (by an optimiser's step, `w += 1`, `w[0] = 5` or
// `assign`), the derivative by it is that by the value which the loss has seen.
// A Var knows its former values as long as something else keeps them in the
// block.
//
// A former value that nothing keeps may still be what the loss was made of, if
// history has been dropped on the way: an update has ended it, or nobody could
// have asked for a gradient through it at the time. The derivative must not be
// taken for zero then, and is an error.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/Targets.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace metaops;

/// Calls `visit` with all that derivatives of the roots depend on; nothing is
/// looked at that what is older than `first` is made of. Returns the nodes'
/// mark.
template <typename Visit>
static uint32_t visitFlow(Graph &graph, llvm::ArrayRef<Node *> roots,
                          uint64_t first, Visit visit) {
  uint32_t mark = graph.startTraversal();
  std::vector<Node *> stack;
  auto enter = [&](Node *node) {
    if (node->epoch == mark)
      return;
    node->epoch = mark;
    visit(node);
    if (node->order >= first && graph.isDependent(node))
      stack.push_back(node);
  };
  llvm::for_each(roots, enter);
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    llvm::for_each(graph.getFlowSources(node), enter);
  }
  return mark;
}

Targets::Targets(Graph &graph, llvm::ArrayRef<Node *> outputs,
                 llvm::ArrayRef<const Var *> targets)
    : outputs(outputs.begin(), outputs.end()), targets(targets), graph(graph) {
  for (const Var *var : targets) {
    values.push_back(var->getNode());
    used.push_back(false);
  }
  // As a rule the present values are those that outputs are made of, and what
  // led to them is not looked at, however much it is.
  for (size_t numFormer = 0; find(numFormer);)
    numFormer = std::max<size_t>(2 * numFormer, 1);
}

/// Finds the youngest values that outputs are made of among the present ones
/// and so many former ones of each target. Returns whether there are more to
/// look for.
bool Targets::find(size_t numFormer) {
  auto getFormer = [&](const Var *var) {
    llvm::ArrayRef<NodeRef> former = var->getFormer();
    return former.take_back(std::min(numFormer, former.size()));
  };
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const Var *var : targets) {
    first = std::min(first, var->getNode()->order);
    if (llvm::ArrayRef<NodeRef> former = getFormer(var); !former.empty())
      first = std::min(first, former.front().getOrder());
  }
  uint32_t mark = visitFlow(graph, outputs, first, [&](Node *node) {
    mayBeInside |= mlir::metaop::isCheckpoint(node->op) ||
                   (graph.hasCalls() && graph.findCall(node->op));
  });
  bool areMore = false;
  for (auto [var, value, isUsed] : llvm::zip_equal(targets, values, used)) {
    isUsed = var->getNode()->epoch == mark;
    for (const NodeRef &former : llvm::reverse(getFormer(var))) {
      if (isUsed)
        break;
      Node *node = former.get();
      isUsed = node && node->epoch == mark;
      value = isUsed ? node : value;
    }
    areMore |= !isUsed && numFormer < var->getFormer().size();
  }
  return areMore;
}

std::optional<Targets::Doubt> Targets::findDoubt() {
  // Former values that lost history must not have led to: any of a Var none of
  // whose values is used; and of one that has one the same, and younger ones.
  struct Range {
    Node *target;
    uint64_t begin, end;
  };
  llvm::SmallVector<Range> ranges;
  for (auto [var, value, isUsed] : llvm::zip_equal(targets, values, used)) {
    Node *present = var->getNode();
    if (!isUsed && var->getFirstOrder() < present->order)
      ranges.push_back({present, var->getFirstOrder(), present->order});
    else if (value != present)
      ranges.push_back({present, value->order, present->order});
  }
  if (ranges.empty())
    return std::nullopt;
  Doubt doubt;
  visitFlow(graph, outputs, /*first=*/0, [&](Node *node) {
    // Of several, one that an update has ended explains the most.
    if (!node->operands.empty() || (doubt.cut && !node->overwrittenAt))
      return;
    for (const Range &range : ranges)
      if (node->lost.mayBeIn(range.begin, range.end))
        doubt = {range.target, node};
  });
  if (!doubt.cut)
    return std::nullopt;
  return doubt;
}

std::optional<Targets::Inside> Targets::findInside() const {
  if (!mayBeInside)
    return std::nullopt;
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const Node *value : values)
    first = std::min(first, value->order);
  Inside inside;
  visitFlow(graph, outputs, first, [&](Node *node) {
    if (inside.target)
      return;
    if (mlir::metaop::isCheckpoint(node->op))
      for (Node *value : values)
        if (value->op == node->op && value != node)
          inside = {value, node};
    const FunctionCall *call = graph.findCall(node->op);
    if (!call)
      return;
    uint64_t end = graph.getNode(node->op)->order;
    for (Node *value : values)
      if (value->order > call->start && value->order < end &&
          !value->isPlaceholder)
        inside = {value, node};
  });
  if (!inside.target)
    return std::nullopt;
  return inside;
}
