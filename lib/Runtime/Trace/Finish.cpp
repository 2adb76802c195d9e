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

  void run(llvm::ArrayRef<Node *> outputs) {
    findNeeded(outputs);
    addArguments();
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
    function.numDrawn = trace.getRecorder().getNumDrawn();
    markKept();
    markLast();
  }

private:
  void findNeeded(llvm::ArrayRef<Node *> outputs) {
    llvm::SmallVector<Node *> stack(outputs);
    for (const auto &[node, events] : trace.events)
      for (const Trace::Event &event : events)
        if (event.kind != Trace::Event::Kind::Differentiate)
          stack.push_back(event.value);
    while (!stack.empty()) {
      Node *node = stack.pop_back_val();
      if (needed.insert(node->op).second)
        stack.append(node->operands.begin(), node->operands.end());
    }
  }

  void addValue(Node *node) { numbers[node] = numValues++; }

  void addArguments() {
    auto add = [&](Node *node) {
      function.types.push_back(node->type());
      addValue(node);
    };
    for (const Trace::Variable &variable : trace.variables)
      add(variable.node);
    llvm::for_each(trace.numbers, add);
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
    step.op = node->op;
    step.signature = node->signature;
    for (Node *operand : node->operands)
      step.operands.push_back(numbers.at(operand));
    step.scalar = node->scalar;
    step.isStopped = node->isStopped;
    function.steps.push_back(std::move(step));
    for (Node *result : resultsOf(node))
      addValue(result);
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
    if (step.rebinds() && !llvm::is_contained(function.rebound, step.argument))
      function.rebound.push_back(step.argument);
    function.steps.push_back(std::move(step));
  }

  /// Updates and gradients may run programs, which let go of what nothing holds
  /// or reads.
  void markKept() {
    std::vector<Step> &steps = function.steps;
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
      for (unsigned i = 0, e = step.getNumResults(); i < e; ++i)
        step.isKept |= lastReaders[--value] > nextRun;
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
  TraceFinisher(*this, *function).run(results);
  return function;
}
