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
    llvm::for_each(node->operands, enter);
  }
  return mark;
}

Targets::Targets(Graph &graph, llvm::ArrayRef<Node *> outputs,
                 llvm::ArrayRef<const Var *> targets)
    : outputs(outputs.begin(), outputs.end()), targets(targets), graph(graph) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const Var *var : targets) {
    first = std::min(first, var->getNode()->order);
    if (!var->getFormer().empty())
      first = std::min(first, var->getFormer().front().getOrder());
  }
  uint32_t mark = visitFlow(graph, outputs, first, [](Node *) {});
  for (const Var *var : targets) {
    Node *value = var->getNode();
    bool isUsed = value->epoch == mark;
    for (const NodeRef &former : llvm::reverse(var->getFormer())) {
      if (isUsed)
        break;
      Node *node = former.get();
      isUsed = node && node->epoch == mark;
      value = isUsed ? node : value;
    }
    values.push_back(value);
    used.push_back(isUsed);
  }
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
