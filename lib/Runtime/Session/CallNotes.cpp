//===- CallNotes.cpp - Programs of calls in terms of the calls ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call that has been recorded and run tells which leaf of its program is
// which argument, constant or number, and which output is a result or replaces
// an argument. A later call is launched by these notes (RepeatedCall.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedCall.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

using Source = RepeatedCall::Source;

void CallValues::addNumber(const Node *node,
                           const RecordedFunction::Step &step) {
  using Kind = RecordedFunction::Step::Kind;
  if (step.kind == Kind::RandomKey)
    numbers[node] = {Source::Kind::RandomKey};
  else if (step.kind == Kind::RandomCounter)
    numbers[node] = {Source::Kind::RandomCounter, 0, step.scalar};
  else if (node->isScalar)
    numbers[node] = {Source::Kind::Scalar, 0, step.scalar};
}

namespace {
/// Finds out what the program that the planner has planned last takes and
/// gives.
class CallNotes {
public:
  CallNotes(const CallValues &values, const RecordedFunction &function)
      : values(values), function(function) {}

  /// Returns false where something of the program is unknown.
  bool note(const Slice &slice, RepeatedCall &call) const {
    for (const Node *leaf : slice.leaves) {
      std::optional<Source> source = find(leaf);
      if (!source)
        return false;
      source->isReplaced = source->kind == Source::Kind::Argument &&
                           values.arguments[source->index]->getNode() != leaf;
      call.arguments.push_back(*source);
    }
    for (const Node *output : slice.outputs) {
      std::optional<RepeatedCall::Replacement> replacement =
          findRebound(output);
      if (!replacement && !isResult(output))
        return false;
      call.endsHistories |= replacement && replacement->isEnd;
      call.replaced.push_back(replacement);
    }
    for (const Var &result : values.results) {
      std::optional<RepeatedCall::Result> found = find(result.getNode(), slice);
      if (!found)
        return false;
      found->hadFormer = !result.getFormer().empty();
      call.endsHistories |= found->isEnded;
      call.results.push_back(*found);
    }
    return areAllComputed(call);
  }

private:
  std::optional<Source> find(const Node *leaf) const {
    const auto *at = llvm::find(values.before, leaf);
    if (at != values.before.end())
      return Source{Source::Kind::Argument,
                    unsigned(at - values.before.begin())};
    for (auto [index, constant] : llvm::enumerate(function.getConstants()))
      if (constant.getNode() == leaf)
        return Source{Source::Kind::Constant, unsigned(index)};
    auto number = values.numbers.find(leaf);
    if (number == values.numbers.end())
      return std::nullopt;
    return number->second;
  }

  std::optional<RepeatedCall::Replacement>
  findRebound(const Node *output) const {
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (var->getNode() == output && values.before[index] != output)
        return RepeatedCall::Replacement{
            unsigned(index), output->endedChains != 0,
            output->getRepeated() != nullptr, isMadeOfRebound(output)};
    return std::nullopt;
  }

  bool isResult(const Node *output) const {
    return llvm::any_of(values.results, [&](const Var &result) {
      return result.getNode() == output;
    });
  }

  std::optional<RepeatedCall::Result> find(const Node *result,
                                           const Slice &slice) const {
    // A history that a gradient may be asked for through is not to be lost.
    if (!result->operands.empty() || result->isScalar)
      return std::nullopt;
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (var->getNode() == result)
        return RepeatedCall::Result{false, unsigned(index)};
    auto output = llvm::find(slice.outputs, result);
    if (output == slice.outputs.end())
      return std::nullopt;
    // Its history may have ended with what the call has rebound.
    bool isEnded = result->endedChains != 0 || !result->getLost().empty();
    return RepeatedCall::Result{true, unsigned(output - slice.outputs.begin()),
                                isEnded, isMadeOfRebound(result),
                                result->getLostChains() != 0};
  }

  /// Returns whether an ended result, or what an argument is rebound to, was
  /// made of a value that another argument has had last in the call.
  bool isMadeOfRebound(const Node *result) const {
    return llvm::any_of(values.arguments, [&](const Var *var) {
      const Node *node = var->getNode();
      if (node == result || !node->getRepeated())
        return false;
      uint64_t order = node->getRepeated()->value.getOrder();
      return (node->getRepeated()->lostChains & result->endedChains) &&
             result->getLost().mayBeIn(order, order + 1);
    });
  }

  /// Returns whether the program gives each Var that is rebound its value.
  bool areAllComputed(const RepeatedCall &call) const {
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (!var->isGivenAway() && var->getNode() != values.before[index] &&
          llvm::none_of(call.replaced, [&, number = index](const auto &each) {
            return each && each->argument == number;
          }))
        return false;
    return true;
  }

  const CallValues &values;
  const RecordedFunction &function;
};
} // namespace

std::vector<Node *> SessionImpl::findEnding(const CallValues &values) {
  llvm::SmallPtrSet<const Node *, 16> former;
  uint64_t first = ~uint64_t(0);
  for (auto [var, before] : llvm::zip_equal(values.arguments, values.before))
    if (var->getNode() != before) {
      former.insert(before);
      first = std::min(first, before->order);
    }
  std::vector<Node *> ending;
  if (former.empty())
    return ending;
  for (const Var &result : values.results) {
    uint32_t mark = graph.startTraversal();
    std::vector<Node *> stack{result.getNode()};
    bool reaches = false;
    while (!stack.empty() && !reaches) {
      Node *node = stack.back();
      stack.pop_back();
      if (std::exchange(node->epoch, mark) == mark || node->order < first)
        continue;
      reaches = former.contains(node);
      if (!graph.isFlowing(node))
        continue;
      // Other values that regions read are read again, and not written over.
      if (graph.getInfo(node).hasRegions)
        graph.forEachFlowSource(node,
                                [&](Node *source) { stack.push_back(source); });
      else
        stack.insert(stack.end(), node->operands.begin(), node->operands.end());
    }
    if (reaches)
      ending.push_back(result.getNode());
  }
  return ending;
}

llvm::SmallSetVector<Node *, 8>
SessionImpl::findAsked(const CallValues &values,
                       llvm::ArrayRef<Node *> ending) {
  for (Node *node : ending)
    node->isDifferentiated = true;
  llvm::SmallSetVector<Node *, 8> asked;
  for (const Var &result : values.results)
    if (!result.getNode()->isLeaf())
      asked.insert(result.getNode());
  return asked;
}

void SessionImpl::endCall(RepeatedCall &call, const RecordedFunction &function,
                          const CallValues &values) {
  call = RepeatedCall();
  // Former values of Vars that were rebound may be written over.
  dropped.release();
  std::vector<Node *> ending = findEnding(values);
  llvm::SmallSetVector<Node *, 8> asked = findAsked(values, ending);
  int64_t runs = runner.getNumRuns();
  planner.setGiven(values.given, recorder.getLine());
  llvm::scope_exit forget([&] { planner.setGiven({}, recorder.getLine()); });
  if (!updates.empty()) {
    flushUpdates(asked.getArrayRef());
  } else {
    runner.compute(asked.getArrayRef(), RunKind::Asked);
    graph.collect();
    planner.endOverwrittenHistories();
  }
  for (Node *node : ending) {
    node->overwrittenAt = recorder.getLine();
    node->isEndedByCall = true;
  }
  graph.endHistoriesAt(ending);
  if (runner.getNumRuns() != runs + 1 ||
      !CallNotes(values, function).note(planner.getSlice(), call))
    return;
  call.donatable.assign(planner.getDonatable().begin(),
                        planner.getDonatable().end());
  call.chain = graph.makeChain();
  call.flags =
      programs.getFlags(programs.getCompiler(*runner.getLastRun()->device));
  auto record = std::make_shared<RunRecord>(*runner.getLastRun());
  record->wasCompiled = false;
  call.record = std::move(record);
}
