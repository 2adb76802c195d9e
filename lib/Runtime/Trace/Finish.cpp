//===- Finish.cpp - The steps of a recorded function ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When a trace is finished, its block is walked once: each operation that a
// result or a rebound Var needs becomes a step, and so does all that was noted
// between operations, in the order in which it was recorded. So a replay
// records the same operations in the same order as a call of the function
// would, and its programs have the same keys.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Trace/Trace.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

namespace metaops {
/// Makes the steps of a function.
class TraceFinisher {
public:
  using Step = RecordedFunction::Step;

  TraceFinisher(Trace &trace, RecordedFunction &function)
      : trace(trace), function(function), graph(trace.parts->graph) {}

  void run(llvm::ArrayRef<Node *> outputs,
           llvm::ArrayRef<const Var *> ofOutputs) {
    addArguments();
    addSteps(outputs);
    addFormer(ofOutputs);
    function.differentiated = std::move(trace.differentiated);
    function.numDrawn = trace.getRecorder().getNumDrawn();
    markRead();
    markLast();
  }

  /// Makes a function of these values, in the place of the trace's arguments,
  /// in which nothing is rebound or drawn.
  void run(llvm::ArrayRef<Node *> outputs, llvm::ArrayRef<Node *> arguments) {
    trace.events.clear();
    llvm::for_each(arguments, [&](Node *node) { addArgument(node); });
    addSteps(outputs);
    markRead();
  }

private:
  void addSteps(llvm::ArrayRef<Node *> outputs) {
    findNeeded(outputs);
    graph.forEachNode([&](Node *node) {
      if (needed.contains(node->op) && !numbers.contains(node))
        addOperation(node);
      // Events behind the operation follow the last of its results.
      if (auto found = trace.events.find(node); found != trace.events.end())
        llvm::for_each(found->second,
                       [&](const Trace::Event &event) { addEvent(event); });
    });
    for (Node *output : outputs) {
      function.results.push_back(numbers.at(output));
      function.resultTypes.push_back(output->type());
    }
    function.formerOfResults.resize(outputs.size());
  }

  /// Notes the values that outputs' Vars have had before, as far as a call
  /// makes them.
  void addFormer(llvm::ArrayRef<const Var *> ofOutputs) {
    for (auto [number, var] : llvm::enumerate(ofOutputs))
      for (const NodeRef &ref : var->getFormer())
        if (auto found = numbers.find(ref.get()); found != numbers.end())
          function.formerOfResults[number].push_back(found->second);
  }

  void findNeeded(llvm::ArrayRef<Node *> outputs) {
    llvm::SmallVector<Node *> stack(outputs);
    for (const auto &[node, events] : trace.events)
      for (const Trace::Event &event : events)
        if (event.kind != Trace::Event::Kind::Differentiate)
          stack.push_back(event.value);
    while (!stack.empty()) {
      Node *node = stack.pop_back_val();
      if (numbers.contains(node))
        continue;
      if (needed.insert(node->op).second)
        stack.append(node->operands.begin(), node->operands.end());
    }
  }

  void addValue(Node *node) { numbers[node] = numValues++; }

  void addArgument(Node *node) {
    function.types.push_back(node->type());
    addValue(node);
  }

  void addArguments() {
    for (const Trace::Variable &variable : trace.variables)
      addArgument(variable.node);
    llvm::for_each(trace.numbers, [&](Node *node) { addArgument(node); });
    for (const Node *number : trace.numbers)
      function.numberTypes.push_back(number->dtype);
    llvm::for_each(trace.constantNodes, [&](Node *node) { addValue(node); });
    function.constants = std::move(trace.constants);
  }

  void addOperation(Node *node) {
    const SignatureInfo &info = graph.getInfo(node);
    if (info.isTransfer)
      fail(ErrorKind::Runtime,
           "while a function is recorded, there can be no '" +
               node->op->getName().getStringRef() + "'");
    Step step;
    auto drawn = trace.isCounter.find(node->order);
    if (node->isScalar && drawn != trace.isCounter.end())
      step.kind =
          drawn->second ? Step::Kind::RandomCounter : Step::Kind::RandomKey;
    function.readsStream |= step.kind != Step::Kind::Operation;
    step.op = node->op;
    step.signature = node->signature;
    for (Node *operand : node->operands)
      step.operands.push_back(numbers.at(operand));
    step.scalar = node->scalar;
    step.isStopped = node->isStopped;
    function.steps.push_back(std::move(step));
    for (Node *result : resultsOf(node))
      addValue(result);
    for (const Node *result : resultsOf(node))
      if (result->getRepeated())
        if (auto found = numbers.find(result->getRepeated()->value.get());
            found != numbers.end())
          function.repeated.emplace_back(numbers.at(result), found->second);
  }

  void addEvent(const Trace::Event &event) {
    Step step;
    step.argument = event.variable;
    switch (event.kind) {
    case Trace::Event::Kind::Update: {
      // The call's update makes a value in the place of the trace's.
      step.kind = Step::Kind::Update;
      step.operands.push_back(numbers.at(event.value->operands.front()));
      step.op = event.value->op;
      assert(function.steps.back().op == step.op);
      function.steps.pop_back();
      break;
    }
    case Trace::Event::Kind::Assign:
      step.kind = Step::Kind::Assign;
      step.operands.push_back(numbers.at(event.value));
      break;
    case Trace::Event::Kind::Differentiate:
      step.kind = Step::Kind::Differentiate;
      if (!needed.contains(event.value->op))
        return;
      step.operands.push_back(numbers.at(event.value));
      for (Node *target : event.targets)
        if (numbers.contains(target))
          step.operands.push_back(numbers.at(target));
      break;
    }
    function.assigns |= step.kind == Step::Kind::Assign;
    if (step.rebinds() && !llvm::is_contained(function.rebound, step.argument))
      function.rebound.push_back(step.argument);
    function.steps.push_back(std::move(step));
  }

  /// Says who reads the results of steps: updates and gradients may run
  /// programs, which let go of what nothing holds or reads.
  void markRead() {
    std::vector<Step> &steps = function.steps;
    llvm::SmallDenseSet<unsigned> ofResults(function.results.begin(),
                                            function.results.end());
    for (llvm::ArrayRef<unsigned> former : function.formerOfResults)
      ofResults.insert(former.begin(), former.end());
    llvm::SmallDenseSet<unsigned> assigned;
    for (const Step &step : steps)
      if (step.kind == Step::Kind::Assign)
        assigned.insert(step.operands.front());
    // By value, the last step that reads it; results are read at the end.
    std::vector<size_t> lastReaders(numValues);
    for (auto [number, step] : llvm::enumerate(steps))
      for (unsigned operand : step.operands)
        lastReaders[operand] = number;
    for (unsigned result : function.results)
      lastReaders[result] = steps.size();
    size_t value = numValues, nextRun = steps.size();
    for (size_t number = steps.size(); number-- > 0;) {
      Step &step = steps[number];
      if (step.kind == Step::Kind::Update ||
          step.kind == Step::Kind::Differentiate)
        nextRun = number;
      for (unsigned i = 0, e = step.getNumResults(); i < e; ++i) {
        step.isKept |= lastReaders[--value] > nextRun;
        step.isOfResult |= ofResults.contains(value);
        step.isAssigned |= assigned.contains(value);
      }
    }
  }

  void markLast() {
    llvm::SmallDenseSet<unsigned> rebound;
    for (Step &step : llvm::reverse(function.steps))
      if (step.rebinds())
        step.isLast = rebound.insert(step.argument).second;
  }

  Trace &trace;
  RecordedFunction &function;
  Graph &graph;
  llvm::SmallPtrSet<Operation *, 32> needed;
  llvm::DenseMap<const Node *, unsigned> numbers;
  unsigned numValues = 0;
};
} // namespace metaops

std::shared_ptr<const RecordedFunction>
Trace::finish(llvm::ArrayRef<const Var *> outputs) {
  llvm::SmallVector<Node *> results = getNodes(outputs);
  for (Node *result : results)
    parts->graph.pin(result);
  std::shared_ptr<RecordedFunction> function(new RecordedFunction(
      std::static_pointer_cast<const Trace>(shared_from_this())));
  TraceFinisher(*this, *function).run(results, outputs);
  return function;
}

//===----------------------------------------------------------------------===//
// Linear functions
//===----------------------------------------------------------------------===//

namespace {
/// Finds what a function of tangents reads beside these.
class ResidualFinder {
public:
  ResidualFinder(Graph &graph, llvm::ArrayRef<Node *> tangents) {
    moving.insert(tangents.begin(), tangents.end());
    graph.forEachNode([&](Node *node) {
      if (llvm::any_of(node->operands,
                       [&](Node *operand) { return moving.contains(operand); }))
        moving.insert(node);
    });
  }

  /// Returns values that depend on no tangent, and that what depends on one
  /// reads, or is, on the way to the outputs. Numbers are none of them.
  llvm::SmallVector<Node *> find(llvm::ArrayRef<Node *> outputs) {
    llvm::SetVector<Node *> found;
    llvm::SmallPtrSet<Node *, 32> seen;
    llvm::SmallVector<Node *> stack(outputs);
    while (!stack.empty()) {
      Node *node = stack.pop_back_val();
      if (!seen.insert(node).second)
        continue;
      if (moving.contains(node))
        stack.append(node->operands.begin(), node->operands.end());
      else if (node->isPlaceholder || node->isScalar || !node->operands.empty())
        found.insert(node);
    }
    return found.takeVector();
  }

private:
  llvm::SmallPtrSet<Node *, 32> moving;
};
} // namespace

Trace::Linearized Trace::finishLinear(llvm::ArrayRef<const Var *> outputs,
                                      llvm::ArrayRef<const Var *> moved,
                                      size_t firstTangent) {
  llvm::SmallVector<Node *> values = getNodes(outputs),
                            tangents = getNodes(moved);
  llvm::ArrayRef<Node *> given =
      llvm::ArrayRef(arguments).drop_front(firstTangent);
  llvm::SmallVector<Node *> residuals =
      ResidualFinder(parts->graph, given).find(tangents);
  llvm::append_range(values, residuals);
  for (llvm::ArrayRef<Node *> results :
       {llvm::ArrayRef(values), llvm::ArrayRef(tangents)})
    for (Node *result : results)
      parts->graph.pin(result);
  auto make = [&] {
    return std::shared_ptr<RecordedFunction>(new RecordedFunction(
        std::static_pointer_cast<const Trace>(shared_from_this())));
  };
  auto ofValues = make(), ofTangents = make();
  TraceFinisher(*this, *ofValues)
      .run(values, /*ofOutputs=*/llvm::ArrayRef<const Var *>());
  size_t numResiduals = residuals.size();
  llvm::append_range(residuals, given);
  TraceFinisher(*this, *ofTangents).run(tangents, residuals);
  return {ofValues, ofTangents, numResiduals};
}
