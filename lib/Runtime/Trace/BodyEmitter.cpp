//===- BodyEmitter.cpp - Recorded functions in regions --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region has the operations of a body's steps. Numbers, arrays, and the keys
// and counters of random numbers are leaves of the graph around it: so they are
// no part of what is compiled. In a loop, counters depend on the trip, and are
// computed in the region.
//
// In a region there are no marks on values through which no gradient flows
// (Node::isStopped): such results get a `metaop.stop_grad`.
//
//===----------------------------------------------------------------------===//

#include "BodyEmitter.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "RecordStep.h"

using namespace mlir;
using namespace metaops;

/// Returns whether a step's value is made outside of the region.
static bool isLeaf(const RecordedFunction::Step &step, bool ownsStream) {
  switch (step.kind) {
  case RecordedFunction::Step::Kind::Operation:
    return isa<metaop::ScalarOp>(step.op);
  case RecordedFunction::Step::Kind::RandomKey:
  case RecordedFunction::Step::Kind::RandomCounter:
    return !ownsStream;
  default:
    return false;
  }
}

BodyEmitter::BodyEmitter(RecordingSession &session, const RecordedBody &body,
                         llvm::SmallVectorImpl<Node *> &given, bool ownsStream)
    : function(*body.function), ownsStream(ownsStream), begin(given.size()) {
  for (const Var &var : body.captured)
    given.push_back(session.getNode(var));
  for (const Var &var : function.getConstants())
    given.push_back(session.getNode(var));
  numCaptured = given.size() - begin;
  for (const Step &step : function.getSteps())
    if (isLeaf(step, ownsStream))
      given.push_back(recordLeaf(session, step));
}

Node *BodyEmitter::recordLeaf(RecordingSession &session,
                              const Step &step) const {
  Recorder &recorder = session.getRecorder();
  if (step.kind == Step::Kind::RandomKey)
    return recorder.randomKey();
  if (step.kind == Step::Kind::RandomCounter)
    return recorder.randomCounter(step.scalar);
  return recordStep(recorder, step, recorder.getLine(), {});
}

Value metaops::addOffset(OpBuilder &builder, Location location, Value counter,
                         int64_t offset) {
  if (offset == 0)
    return counter;
  auto type = cast<RankedTensorType>(counter.getType());
  Attribute number = builder.getIntegerAttr(type.getElementType(), offset);
  Value added = metaop::ConstantOp::create(
      builder, location, DenseElementsAttr::get(type, number));
  return metaop::AddOp::create(builder, location, counter, added);
}

void BodyEmitter::emitStep(OpBuilder &builder, const Step &step,
                           llvm::SmallVectorImpl<Value> &values) const {
  llvm::SmallVector<Value> operands;
  for (unsigned number : step.operands)
    operands.push_back(values[number]);
  Operation *op = step.clone(step.op->getLoc(), operands);
  builder.insert(op);
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (step.isStopped && isa<FloatType>(type.getElementType()))
      result = metaop::StopGradOp::create(builder, op->getLoc(), type, result);
    values.push_back(result);
  }
}

llvm::SmallVector<Value> BodyEmitter::emit(OpBuilder &builder,
                                           ValueRange arguments,
                                           ValueRange given,
                                           const Stream &stream) const {
  llvm::SmallVector<Value> values(arguments);
  llvm::append_range(values, given.slice(begin, numCaptured));
  auto leaf = given.drop_front(begin + numCaptured).begin();
  for (const Step &step : function.getSteps()) {
    if (isLeaf(step, ownsStream))
      values.push_back(*leaf++);
    else if (step.kind == Step::Kind::RandomKey)
      values.push_back(stream.key);
    else if (step.kind == Step::Kind::RandomCounter)
      values.push_back(
          addOffset(builder, step.op->getLoc(), stream.counter, step.scalar));
    else
      emitStep(builder, step, values);
  }
  return llvm::map_to_vector(function.getResults(),
                             [&](unsigned number) { return values[number]; });
}
