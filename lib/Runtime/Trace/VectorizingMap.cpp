//===- VectorizingMap.cpp - Functions of all examples at once -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the function are recorded one by one. A step whose operands are
// the same for all examples is recorded as it is, so a product of two weights
// is one product. Any other takes the dimension (ExampleEmitter.cpp).
//
// If the examples draw different numbers, counters are batched: that of an
// example begins where those of the examples before it end. A function that
// draws once has the numbers of all examples from one operation, which counts
// through them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/VectorizingMap.h"

#include "ExampleEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "RecordStep.h"

using namespace mlir;
using namespace metaops;

namespace {
/// The replay of a function for all examples.
class MappedReplay {
public:
  MappedReplay(RecordingSession &session, const RecordedFunction &function,
               int64_t extent, ExampleRandomness randomness)
      : session(session), recorder(session.getRecorder()),
        graph(recorder.getGraph()), stops(graph.getStopsGradients()),
        function(function), extent(extent), randomness(randomness) {}
  ~MappedReplay() { graph.setStopsGradients(stops); }
  MappedReplay(const MappedReplay &) = delete;
  MappedReplay &operator=(const MappedReplay &) = delete;

  void add(Node *node, bool isBatched) { values.push_back({node, isBatched}); }
  std::vector<MappedResult> run();

private:
  using Step = RecordedFunction::Step;

  struct Value {
    Node *node;
    bool isBatched;
    /// The counter of the first random number of each example.
    bool isCounter = false;
  };

  void record(const Step &step);
  void recordBatched(const Step &step);
  Node *recordCounters(int64_t offset);
  bool drawsAll(const Step &step) const;
  Node *drawAll(const Step &step);

  RecordingSession &session;
  Recorder &recorder;
  Graph &graph;
  bool stops;
  const RecordedFunction &function;
  int64_t extent;
  ExampleRandomness randomness;
  llvm::SmallVector<Value, 64> values;
};
} // namespace

std::vector<MappedResult> MappedReplay::run() {
  for (const Step &step : function.getSteps())
    record(step);
  bool differ = randomness == ExampleRandomness::Different;
  recorder.skipRandom(function.getNumDrawn() * (differ ? extent : 1));
  std::vector<MappedResult> results;
  for (unsigned number : function.getResults())
    results.push_back(
        {session.wrap(values[number].node), values[number].isBatched});
  return results;
}

void MappedReplay::record(const Step &step) {
  if (step.kind == Step::Kind::RandomKey)
    return add(recorder.randomKey(), /*isBatched=*/false);
  if (step.kind == Step::Kind::RandomCounter) {
    if (randomness != ExampleRandomness::Different)
      return add(recorder.randomCounter(step.scalar), /*isBatched=*/false);
    values.push_back({recordCounters(step.scalar), /*isBatched=*/true,
                      /*isCounter=*/true});
    return;
  }
  assert(step.kind == Step::Kind::Operation && "a body rebinds nothing");
  llvm::SmallBitVector isBatched;
  for (unsigned number : step.operands)
    isBatched.push_back(values[number].isBatched);
  graph.setStopsGradients(stops || step.isStopped);
  if (isBatched.any())
    return drawsAll(step) ? add(drawAll(step), /*isBatched=*/true)
                          : recordBatched(step);
  auto sources = llvm::map_to_vector(
      step.operands, [&](unsigned number) { return values[number].node; });
  Node *first = recordStep(recorder, step, step.op->getLoc(), sources);
  for (Node *result : resultsOf(first))
    add(result, /*isBatched=*/false);
}

void MappedReplay::recordBatched(const Step &step) {
  ExampleEmitter emitter(extent, recorder.getSavedBytes());
  SmallVector<mlir::Value> operands(step.op->getOperands());
  llvm::append_range(operands, metaop::findCaptures(step.op));
  for (auto [operand, number] : llvm::zip_equal(operands, step.operands))
    emitter.map(operand, values[number].node->value());
  Block &block = graph.getBlock();
  Operation *last = block.empty() ? nullptr : &block.back();
  try {
    emitter.emit(graph.getBuilder(), step.op);
  } catch (...) {
    // Nobody knows yet of what was emitted.
    while (!block.empty() && &block.back() != last)
      block.back().erase();
    throw;
  }
  auto results =
      llvm::map_to_vector(step.op->getResults(), [&](mlir::Value result) {
        return emitter.getBatched(graph.getBuilder(), result);
      });
  graph.adoptAfter(last);
  for (mlir::Value result : results)
    add(graph.getNode(result), /*isBatched=*/true);
}

/// Returns the counter of a random number of each example.
Node *MappedReplay::recordCounters(int64_t offset) {
  Node *examples = recorder.iota({extent}, 0, DType::I64);
  Node *before =
      recorder.binary("mul", examples, Number::ofInt(function.getNumDrawn()));
  return recorder.binary("add", before, recorder.randomCounter(offset));
}

/// Returns whether the numbers that a step draws for an example follow those of
/// the example before.
bool MappedReplay::drawsAll(const Step &step) const {
  return isa<metaop::RandomOp>(step.op) && values[step.operands[1]].isCounter &&
         metaop::countElements(
             cast<RankedTensorType>(step.op->getResult(0).getType())
                 .getShape()) == function.getNumDrawn();
}

/// Draws the numbers of all examples.
Node *MappedReplay::drawAll(const Step &step) {
  auto type = cast<RankedTensorType>(step.op->getResult(0).getType());
  Node *key = values[step.operands[0]].node;
  Node *counter = recorder.randomCounter(0);
  OpBuilder &builder = graph.getBuilder();
  return graph.adopt(metaop::RandomOp::create(
      builder, step.op->getLoc(), metaop::getStackedType(type, extent),
      key->value(), counter->value(), /*extents=*/ValueRange()));
}

/// Returns the line of the first random numbers of a function.
static std::string describeDraw(const RecordedFunction &function) {
  std::string line;
  for (const RecordedFunction::Step &step : function.getSteps())
    if (step.op && line.empty())
      step.op->walk([&](metaop::RandomOp random) {
        line = " at " + formatLine(random.getLoc());
        return WalkResult::interrupt();
      });
  return line;
}

std::vector<MappedResult>
metaops::recordMapped(RecordingSession &session, const RecordedBody &body,
                      llvm::ArrayRef<const Var *> arguments,
                      const llvm::SmallBitVector &areBatched, int64_t extent,
                      ExampleRandomness randomness) {
  const RecordedFunction &function = *body.function;
  if (function.getNumDrawn() != 0 && randomness == ExampleRandomness::Error)
    fail(
        ErrorKind::Runtime,
        "vmap: the function draws random numbers" + describeDraw(function) +
            "; say randomness=\"different\" for other numbers in each example, "
            "or \"same\" for the same ones, or give it a batch of keys");
  MappedReplay replay(session, function, extent, randomness);
  for (auto [number, argument] : llvm::enumerate(arguments))
    replay.add(session.getNode(*argument), areBatched.test(number));
  for (const Var &var : body.captured)
    replay.add(session.getNode(var), /*isBatched=*/false);
  for (const Var &var : function.getConstants())
    replay.add(session.getNode(var), /*isBatched=*/false);
  return replay.run();
}
