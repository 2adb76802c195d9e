//===- RecordedFunction.cpp - Functions that are recorded once ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/RecordedFunction.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "MetaOps/Runtime/Trace/Trace.h"
#include "RecordStep.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <unordered_map>

using namespace mlir;
using namespace metaops;

unsigned RecordedFunction::Step::getNumResults() const {
  return op ? op->getNumResults() : 0;
}

size_t RecordedFunction::getNumOperations() const {
  return llvm::count_if(steps, [](const Step &step) {
    return step.kind == Step::Kind::Operation;
  });
}

Operation *RecordedFunction::Step::clone(Location location,
                                         ValueRange values) const {
  if (op->getNumRegions() == 0)
    return Operation::create(location, op->getName(), op->getResultTypes(),
                             values, op->getDiscardableAttrDictionary(),
                             op->getPropertiesStorage(), /*successors=*/{},
                             /*numRegions=*/0);
  IRMapping mapping;
  mapping.map(op->getOperands(), values.take_front(op->getNumOperands()));
  mapping.map(metaop::findCaptures(op),
              values.drop_front(op->getNumOperands()));
  Operation *made = op->clone(mapping);
  if (location != op->getLoc())
    made->walk([&](Operation *inner) { inner->setLoc(location); });
  return made;
}

static bool areOfTypes(llvm::ArrayRef<Var *> arguments,
                       llvm::ArrayRef<RankedTensorType> types) {
  return llvm::equal(arguments, types, [](const Var *argument, auto type) {
    return argument->getType() == type;
  });
}

bool RecordedFunction::takes(llvm::ArrayRef<Var *> arguments) const {
  return areOfTypes(arguments, types);
}

bool RecordedFunction::takes(llvm::ArrayRef<Var *> arguments,
                             llvm::ArrayRef<Number> numbers) const {
  return numbers.size() == numberTypes.size() &&
         areOfTypes(arguments, llvm::ArrayRef(types).drop_back(numbers.size()));
}

std::vector<Var>
RecordedFunction::makeNumbers(RecordingSession &session,
                              llvm::ArrayRef<Number> numbers) const {
  std::vector<Var> made;
  for (auto [number, type] : llvm::zip_equal(numbers, numberTypes))
    made.push_back(session.wrap(session.getRecorder().scalar(number, type)));
  return made;
}

/// Returns false if two of the captured values are one now, which the operation
/// captures once.
static bool capturesOnce(Operation *op, llvm::ArrayRef<Node *> sources) {
  auto captured = sources.drop_front(op->getNumOperands());
  llvm::SmallPtrSet<Node *, 16> seen(captured.begin(), captured.end());
  return seen.size() == captured.size();
}

Node *metaops::recordStep(Recorder &recorder,
                          const RecordedFunction::Step &step, Location location,
                          llvm::ArrayRef<Node *> sources) {
  auto operands = llvm::map_to_vector<4>(
      sources, [](const Node *source) { return source->value(); });
  Operation *op = step.clone(location, operands);
  Graph &graph = recorder.getGraph();
  graph.getBuilder().insert(op);
  Node *node = capturesOnce(op, sources)
                   ? graph.adopt(op, sources, step.signature)
                   : graph.adopt(op);
  node->scalar = step.scalar;
  return node;
}

/// A call that is recorded.
class RecordedFunction::Replay {
public:
  Replay(const RecordedFunction &function, RecordingSession &session,
         llvm::ArrayRef<Var *> arguments, Mode mode, Listener listener)
      : function(function), session(session), arguments(arguments), mode(mode),
        listener(listener), recorder(session.getRecorder()),
        graph(recorder.getGraph()), stops(graph.getStopsGradients()) {
    // An argument's former value may be read when it has been rebound.
    auto add = [&](const Var &var) {
      values.push_back(session.getNode(var));
      keep(values.back());
    };
    for (const Var *argument : arguments)
      add(*argument);
    llvm::for_each(function.constants, add);
  }
  ~Replay() {
    graph.setStopsGradients(stops);
    for (const NodeRef &result : replaced)
      if (Node *node = result.get())
        graph.setReplaced(node, false);
    llvm::for_each(kept, [&](Node *node) { graph.unpin(node); });
  }
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;

  std::vector<Var> run() {
    for (const Step &step : function.steps)
      run(step);
    recorder.skipRandom(function.numDrawn);
    graph.setStopsGradients(stops);
    std::vector<Var> results = session.wrapAll(llvm::map_to_vector(
        function.results, [&](unsigned number) { return values[number]; }));
    for (auto [result, numbers] :
         llvm::zip_equal(results, function.formerOfResults))
      for (unsigned number : numbers)
        if (Node *node = findFormer(number))
          session.addFormer(result, node);
    return results;
  }

private:
  void keep(Node *node) {
    graph.pin(node);
    kept.push_back(node);
  }

  void addResults(const Step &step, Node *first) {
    if (listener)
      listener(first, step);
    for (Node *result : resultsOf(first)) {
      unsigned number = values.size();
      values.push_back(result);
      if (step.isKept)
        keep(result);
      if (step.isOfResult)
        noteOfResult(number, result);
      if (step.isAssigned)
        hold(result);
    }
    // Nothing has let go of the values that it may repeat yet.
    for (; nextRepeated != function.repeated.end() &&
           nextRepeated->first < values.size();
         ++nextRepeated)
      graph.setRepeated(values[nextRepeated->first],
                        values[nextRepeated->second]);
  }

  /// Returns a value that a result has had before; null if it is gone.
  Node *findFormer(unsigned number) const {
    auto found = formerValues.find(number);
    // Arguments and constants are kept.
    return found == formerValues.end() ? values[number] : found->second.get();
  }

  void noteOfResult(unsigned number, Node *node) {
    if (llvm::any_of(function.formerOfResults, [&](const auto &numbers) {
          return llvm::is_contained(numbers, number);
        })) {
      node->wasRebound = true;
      formerValues.try_emplace(number, node);
    }
    if (llvm::is_contained(function.results, number))
      hold(node);
  }

  /// Holds a value by which a gradient may be asked for through what the call
  /// rebinds, before a Var holds it.
  void hold(Node *node) {
    if (mode != Mode::Call || !function.assigns || node->isReplaced)
      return;
    graph.setReplaced(node, true);
    replaced.emplace_back(node);
  }

  void run(const Step &step) {
    auto operand = [&](unsigned i) { return values[step.operands[i]]; };
    switch (step.kind) {
    case Step::Kind::Operation:
      return addResults(step, clone(step));
    case Step::Kind::RandomKey:
      return addResults(step, recorder.randomKey());
    case Step::Kind::RandomCounter:
      return addResults(step, recorder.randomCounter(step.scalar));
    case Step::Kind::Update:
      return addResults(step, rebind(step, operand(0)));
    case Step::Kind::Assign:
      rebind(step, operand(0));
      return;
    case Step::Kind::Differentiate: {
      llvm::SmallVector<Node *> targets;
      for (unsigned number : llvm::drop_begin(step.operands))
        targets.push_back(values[number]);
      session.prepareTargets(operand(0), targets);
      llvm::for_each(targets, [&](Node *node) { graph.setTarget(node); });
      operand(0)->isDifferentiated = true;
      return;
    }
    }
  }

  /// Rebinds an argument, and returns its value behind the step.
  Node *rebind(const Step &step, Node *value) {
    Var &argument = *arguments[step.argument];
    bool isUpdate = step.kind == Step::Kind::Update;
    if (mode == Mode::Call && !step.isLast)
      return addFormer(step, isUpdate ? recorder.stopGrad(value) : value);
    if (mode == Mode::Call && !isUpdate) {
      rebindWithoutHistory(argument, addFormer(step, value));
    } else if (isUpdate) {
      session.update(argument, value);
    } else {
      session.assign(argument, value);
    }
    for (Node *between : former.lookup(step.argument))
      session.addFormer(argument, between);
    Node *node = session.getNode(argument);
    if (mode == Mode::Call && !isUpdate)
      graph.setRepeated(node, value);
    return node;
  }

  /// Notes a value that an argument has before its last one: a gradient by it
  /// may be by this. Returns the value.
  Node *addFormer(const Step &step, Node *value) {
    keep(value);
    value->wasRebound = true;
    former[step.argument].push_back(value);
    return value;
  }

  /// Rebinds an argument of a call, and has a gradient through what it was made
  /// of be an error.
  void rebindWithoutHistory(Var &argument, Node *value) {
    if (value->type() == argument.getType())
      session.update(argument, value);
    else
      session.assign(argument, recorder.stopGrad(value));
    Node *rebound = session.getNode(argument);
    if (stops)
      return;
    graph.endAt(rebound, value, recorder.getLine());
    rebound->isEndedByCall = rebound->overwrittenAt != nullptr;
  }

  /// Records a step's operation of other values; returns its first result.
  Node *clone(const Step &step) {
    auto sources = llvm::map_to_vector<4>(
        step.operands, [&](unsigned number) { return values[number]; });
    graph.setStopsGradients(stops || step.isStopped);
    return recordStep(
        recorder, step,
        mode == Mode::Inline ? recorder.getLine() : step.op->getLoc(), sources);
  }

  const RecordedFunction &function;
  RecordingSession &session;
  llvm::ArrayRef<Var *> arguments;
  Mode mode;
  Listener listener;
  Recorder &recorder;
  Graph &graph;
  bool stops;
  llvm::SmallVector<Node *, 64> values;
  std::vector<std::pair<unsigned, unsigned>>::const_iterator nextRepeated =
      function.repeated.begin();
  llvm::SmallVector<Node *> kept;
  /// Values that results have had before their last ones, as far as they are
  /// still there.
  std::unordered_map<unsigned, NodeRef> formerValues;
  /// Results, and what is assigned, that are held from where they are made.
  std::vector<NodeRef> replaced;
  /// Of each argument, what it was rebound to before.
  llvm::SmallDenseMap<unsigned, llvm::SmallVector<Node *, 2>, 4> former;
};

std::vector<Var> RecordedFunction::replay(RecordingSession &session,
                                          llvm::ArrayRef<Var *> arguments,
                                          Mode mode, Listener listener) const {
  assert(takes(arguments) && "of other types");
  return Replay(*this, session, arguments, mode, listener).run();
}
