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
// Of a function with derivatives of its own, only its rules say which argument
// a result depends on, when they are asked. So there may be several candidates,
// none of which leads to another one only: the youngest is meant by which the
// derivative is made of that of the loss (GradientForms.h). Older ones are
// asked for where that by a younger one is not.
//
// Behind a call of a recorded function, or a checkpoint, a Var that it has
// rebound has the value that it had last inside, without the history of that. A
// loss may be made of both, and of those of calls inside of calls: to Python
// they are one, and the derivative is the sum.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/Targets.h"

#include "GradientForms.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Transforms/Autodiff/SiblingResults.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace metaops;
namespace metaop = mlir::metaop;

static bool isPassed(const Node *) { return true; }

/// Calls `visit` with all that derivatives of the roots depend on; nothing is
/// looked at that what is older than `first`, or is not to be passed, is made
/// of. Returns the nodes' mark.
template <typename Visit>
static uint32_t
visitFlow(Graph &graph, llvm::ArrayRef<Node *> roots, uint64_t first,
          Visit visit,
          llvm::function_ref<bool(const Node *)> passes = isPassed) {
  uint32_t mark = graph.startTraversal();
  std::vector<Node *> stack;
  auto enter = [&](Node *node) {
    if (node->epoch == mark)
      return;
    node->epoch = mark;
    visit(node);
    if (node->order >= first && graph.isDependent(node) && passes(node))
      stack.push_back(node);
  };
  llvm::for_each(roots, enter);
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    graph.forEachFlowSource(node, enter);
  }
  return mark;
}

/// Returns whether a result of a checkpoint that has the mark is made of the
/// node, another one.
static bool isReachedInside(Graph &graph, Node *node, uint32_t mark) {
  const SignatureInfo &info = graph.getInfo(node);
  return !info.siblings.empty() && metaop::isCheckpoint(node->op) &&
         llvm::any_of(resultsOf(node), [&](const Node *result) {
           return result->epoch == mark &&
                  info.isMadeOf(result->number, node->number);
         });
}

/// Returns the values that a value repeats, one after the other, as far as they
/// are there.
static llvm::SmallVector<Node *, 1> findRepeated(const Node *node) {
  llvm::SmallVector<Node *, 1> repeated;
  while (node->getRepeated() && (node = node->getRepeated()->value.get()))
    repeated.push_back(const_cast<Node *>(node));
  return repeated;
}

Targets::Targets(Graph &graph, llvm::ArrayRef<Node *> outputs,
                 llvm::ArrayRef<const Var *> targets)
    : outputs(outputs.begin(), outputs.end()), targets(targets), graph(graph) {
  for (const Var *var : targets) {
    values.push_back(var->getNode());
    used.push_back(false);
  }
  older.resize(targets.size());
  areUncertain.assign(targets.size(), false);
  twins.resize(targets.size());
  // As a rule the present values are those that outputs are made of, and what
  // led to them is not looked at, however much it is.
  for (size_t numFormer = 0; find(numFormer);)
    numFormer = std::max<size_t>(2 * numFormer, 1);
  if (mayBeUnread)
    findOlder();
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
  auto include = [&](const Node *node) {
    first = std::min(first, node->order);
    for (const Node *each : findRepeated(node))
      first = std::min(first, each->order);
    if (node->getRepeated())
      first = std::min(first, node->getRepeated()->value.getOrder());
  };
  for (const Var *var : targets) {
    include(var->getNode());
    for (const NodeRef &former : getFormer(var))
      if (const Node *node = former.get())
        include(node);
  }
  uint32_t mark = visitFlow(graph, outputs, first, [&](Node *node) {
    bool isOfCall = graph.hasCalls() && graph.findCall(node->op);
    mayBeInside |= graph.getInfo(node).mayReadResults || isOfCall;
    mayBeUnread |= isOfCall;
  });
  auto isReached = [&](Node *node) {
    return node->epoch == mark || isReachedInside(graph, node, mark);
  };
  bool areMore = false;
  for (auto [var, value, isUsed, same] :
       llvm::zip_equal(targets, values, used, twins)) {
    isUsed = isReached(var->getNode());
    for (const NodeRef &former : llvm::reverse(getFormer(var))) {
      if (isUsed)
        break;
      Node *node = former.get();
      isUsed = node && isReached(node);
      value = isUsed ? node : value;
    }
    same.clear();
    if (isUsed)
      llvm::copy_if(findRepeated(value), std::back_inserter(same), isReached);
    areMore |= !isUsed && numFormer < var->getFormer().size();
  }
  return areMore;
}

void Targets::findOlder() {
  // As a rule each value is reached without a function, or no older one is.
  llvm::SmallVector<bool> mayBeOlder(values.size(), false);
  llvm::SmallVector<llvm::SmallVector<Node *>> formers(values.size());
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (auto [var, value, former] : llvm::zip_equal(targets, values, formers))
    // The youngest first.
    for (const NodeRef &each : llvm::reverse(var->getFormer()))
      if (Node *node = each.get(); node && node->order < value->order) {
        former.push_back(node);
        first = std::min(first, node->order);
      }
  auto isNoCall = [&](const Node *node) { return !graph.findCall(node->op); };
  auto ignore = [](Node *) {};
  for (const Node *value : values)
    first = std::min(first, value->order);
  uint32_t mark = visitFlow(graph, outputs, first, ignore, isNoCall);
  for (auto [value, isUsed, isUncertain] :
       llvm::zip_equal(values, used, areUncertain))
    isUncertain = isUsed && value->epoch != mark;
  mark = visitFlow(graph, outputs, first, ignore);
  for (auto [former, isUncertain, may] :
       llvm::zip_equal(formers, areUncertain, mayBeOlder))
    may = isUncertain && llvm::any_of(former, [&](const Node *node) {
            return node->epoch == mark;
          });
  for (auto [value, former, may, candidates] :
       llvm::zip_equal(values, formers, mayBeOlder, older)) {
    if (!may)
      continue;
    // Values that one is made of have their derivatives through it.
    llvm::SmallPtrSet<const Node *, 8> own(former.begin(), former.end());
    own.insert(value);
    auto isOther = [&](const Node *node) { return !own.contains(node); };
    uint32_t isCertain = visitFlow(
        graph, outputs, former.back()->order, ignore,
        [&](const Node *node) { return isOther(node) && isNoCall(node); });
    // Up to one that is certain.
    auto *end = llvm::find_if(
        former, [&](const Node *node) { return node->epoch == isCertain; });
    if (end != former.end())
      former.truncate(end - former.begin() + 1);
    uint32_t isReached =
        visitFlow(graph, outputs, former.back()->order, ignore, isOther);
    llvm::copy_if(former, std::back_inserter(candidates),
                  [&](Node *node) { return node->epoch == isReached; });
  }
}

/// Throws, naming where the target was rebound.
[[noreturn]] static void failUnknown(const Node *target) {
  fail(ErrorKind::Runtime,
       "grad: the loss is made of several values of the target that was "
       "rebound at " +
           formatLine(target->op->getLoc()) +
           ", and a function with derivatives of its own gives a gradient by "
           "the present one that it has made of values in memory, which may be "
           "zero; have it return None for zeros and compute what else it "
           "returns of what it is given, or keep a Var of the former value "
           "(old = w.clone()), and ask for the gradient by that");
}

llvm::SmallVector<Targets::Missing>
Targets::findMissing(llvm::ArrayRef<Node *> gradients,
                     const MadeOfLoss &made) const {
  llvm::SmallVector<Missing> missing;
  if (llvm::none_of(areUncertain, [](bool is) { return is; }))
    return missing;
  GradientForms forms(graph, made);
  bool areAll = gradients.size() == values.size();
  unsigned place = 0;
  for (auto [target, isUsed, candidates, isUncertain] :
       llvm::enumerate(used, older, areUncertain)) {
    if (!isUsed && !areAll)
      continue;
    const Node *gradient = gradients[place];
    if (isUncertain && !candidates.empty() && forms.isUnknown(gradient))
      failUnknown(targets[target]->getNode());
    if (isUncertain && !forms.isOfSeed(gradient))
      missing.push_back({place, static_cast<unsigned>(target), candidates,
                         forms.isZero(gradient)});
    ++place;
  }
  return missing;
}

llvm::SmallVector<Targets::Chosen>
Targets::choose(llvm::ArrayRef<Missing> missing,
                llvm::ArrayRef<Node *> gradients,
                const MadeOfLoss &made) const {
  GradientForms forms(graph, made);
  // A part of the gradient flows through a younger value already.
  auto isMadeOf = [&](Node *younger, const Node *meant) {
    uint32_t mark = visitFlow(graph, younger, meant->order, [](Node *) {});
    return meant->epoch == mark;
  };
  llvm::SmallVector<Chosen> chosen;
  for (const Missing &each : missing) {
    llvm::ArrayRef<Node *> own = gradients.take_front(each.candidates.size());
    gradients = gradients.drop_front(own.size());
    Chosen &by = chosen.emplace_back();
    const auto *meant = llvm::find_if(
        own, [&](const Node *gradient) { return forms.isOfSeed(gradient); });
    if (meant != own.end()) {
      size_t place = meant - own.begin();
      by.meant = each.candidates[place];
      by.terms.push_back(*meant);
      for (size_t number = 0; number < place; ++number)
        if (!forms.isZero(own[number]) &&
            !isMadeOf(each.candidates[number], by.meant))
          by.terms.push_back(own[number]);
      by.isAdded = !each.isZero && !isMadeOf(values[each.target], by.meant);
    }
    for (Node *gradient : own)
      if (!llvm::is_contained(by.terms, gradient))
        graph.release(gradient);
  }
  return chosen;
}

std::optional<Targets::Doubt> Targets::findDoubt() {
  // Former values that lost history must not have led to: any of a Var none of
  // whose values is used; and of one that has one the same, and younger ones.
  llvm::SmallVector<Range> ranges;
  for (auto [var, value, isUsed] : llvm::zip_equal(targets, values, used)) {
    Node *present = var->getNode();
    if (isUsed)
      for (const Node *node = value; node && node->getRepeated();
           node = node->getRepeated()->value.get()) {
        uint64_t order = node->getRepeated()->value.getOrder();
        ranges.push_back(
            {value, order, order + 1, node->getRepeated()->lostChains, false});
      }
    // A call that was launched has given the node itself another value.
    uint64_t end = present->order + (present->wasRebound ? 1 : 0);
    if (!isUsed && var->getFirstOrder() < end)
      ranges.push_back({present, var->getFirstOrder(), end});
    else if (value != present)
      ranges.push_back({present, value->order, present->order});
  }
  return findCut(ranges);
}

std::optional<Targets::Doubt>
Targets::findDoubt(llvm::ArrayRef<Missing> missing,
                   llvm::ArrayRef<Chosen> chosen) {
  llvm::SmallVector<Range> ranges;
  for (auto [each, by] : llvm::zip_equal(missing, chosen)) {
    const Var *var = targets[each.target];
    uint64_t first = by.meant ? by.meant->order : var->getFirstOrder();
    if (first < values[each.target]->order)
      ranges.push_back({var->getNode(), first, values[each.target]->order});
  }
  return findCut(ranges);
}

std::optional<Targets::Doubt> Targets::findDoubtOfUncertain() const {
  llvm::SmallVector<Range> ranges;
  for (auto [var, value, isUncertain] :
       llvm::zip_equal(targets, values, areUncertain))
    if (isUncertain && var->getFirstOrder() < value->order)
      ranges.push_back({var->getNode(), var->getFirstOrder(), value->order});
  return findCut(ranges);
}

std::optional<Targets::Doubt>
Targets::findCut(llvm::ArrayRef<Range> ranges) const {
  if (ranges.empty())
    return std::nullopt;
  Doubt doubt;
  visitFlow(graph, outputs, /*first=*/0, [&](Node *node) {
    // Of several, one that an update has ended explains the most.
    bool isEnd = node->operands.empty() || !graph.isFlowing(node);
    if (!isEnd || (doubt.cut && !node->overwrittenAt))
      return;
    for (const Range &range : ranges)
      if (node != range.target &&
          node->getLost().mayBeIn(range.begin, range.end) &&
          (range.isOfAnyChain || (range.chains & node->endedChains)))
        doubt = {range.target, node};
  });
  if (!doubt.cut)
    return std::nullopt;
  return doubt;
}

/// Returns whether a result of a checkpoint is one of a branch or a loop in it,
/// which makes others of it.
static bool isOfLoopInside(const Node *node) {
  auto result = llvm::cast<mlir::OpResult>(node->value());
  while (metaop::isCheckpoint(result.getOwner())) {
    mlir::Value inside = metaop::getValueInside(result);
    if (!inside)
      return false;
    result = llvm::cast<mlir::OpResult>(inside);
  }
  return !metaop::findMadeOf(result).empty();
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
    if (graph.getInfo(node).mayReadResults)
      for (Node *value : values)
        if (value->op == node->op &&
            graph.getInfo(node).isMadeOf(node->number, value->number) &&
            (!metaop::isCheckpoint(node->op) || isOfLoopInside(value)))
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
