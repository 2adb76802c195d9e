//===- ControlFlow.cpp - Branches and loops of recorded bodies ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A branch becomes an `scf.if` in an `scf.execute_region`, where the condition
// is read; a loop becomes an `scf.while`, or a `metaop.scan` if its trips are
// known. What each body is given besides its
// arguments is captured (BodyEmitter.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/ControlFlow.h"

#include "BodyEmitter.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

using namespace mlir;
using namespace metaops;

/// Returns handles on the first results of an operation.
static std::vector<Var> wrapFirst(RecordingSession &session, Node *first,
                                  size_t count) {
  llvm::SmallVector<Node *> nodes;
  for (Node *node : resultsOf(first))
    nodes.push_back(node);
  return session.wrapAll(llvm::ArrayRef(nodes).take_front(count));
}

static llvm::SmallVector<Type> typesOf(ValueRange values) {
  return llvm::SmallVector<Type>(values.getTypes());
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

std::vector<Var> metaops::recordIf(RecordingSession &session,
                                   const Var &condition,
                                   const RecordedBody &onTrue,
                                   const RecordedBody &onFalse,
                                   llvm::ArrayRef<const Var *> operands) {
  Recorder &recorder = session.getRecorder();
  llvm::SmallVector<Node *> given = {session.getNode(condition)};
  llvm::append_range(given, session.getNodes(operands));
  BodyEmitter thenBody(session, onTrue, given),
      elseBody(session, onFalse, given);
  llvm::SmallVector<Type> types;
  for (unsigned number = 0; number < onTrue.function->getResults().size();
       ++number)
    types.push_back(onTrue.function->getResultType(number));
  Node *first = recorder.recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        auto region = scf::ExecuteRegionOp::create(builder, location, types);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(&region.getRegion().emplaceBlock());
        Value flag = tensor::ExtractOp::create(builder, location,
                                               values.front(), ValueRange());
        auto emit = [&](const BodyEmitter &body) {
          return [&](OpBuilder &inside, Location at) {
            scf::YieldOp::create(
                inside, at,
                body.emit(inside, values.slice(1, operands.size()), values));
          };
        };
        auto branch = scf::IfOp::create(builder, location, flag, emit(thenBody),
                                        emit(elseBody));
        scf::YieldOp::create(builder, location, branch.getResults());
        return region.getOperation();
      });
  recorder.skipRandom(std::max(onTrue.function->getNumDrawn(),
                               onFalse.function->getNumDrawn()));
  return wrapFirst(session, first, types.size());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Draws a key for a stream of random numbers.
static Node *drawKey(Recorder &recorder) {
  Node *halves = recorder.cast(recorder.random({2}, DType::U32), DType::I64);
  auto take = [&](int64_t place) {
    IndexItem item;
    item.kind = IndexItem::Kind::Integer;
    item.start = place;
    return recorder.getItem(halves, item);
  };
  Node *high = recorder.binary("mul", take(0), Number::ofInt(int64_t(1) << 32));
  return recorder.binary("add", high, take(1));
}

namespace {
/// An `scf.while` that is built.
class WhileBuilder {
public:
  WhileBuilder(RecordingSession &session, llvm::ArrayRef<const Var *> first,
               const RecordedBody &condition, const RecordedBody &body)
      : session(session), recorder(session.getRecorder()),
        numCarries(first.size()),
        numDrawnBefore(condition.function->getNumDrawn()),
        numDrawn(numDrawnBefore + body.function->getNumDrawn()),
        given(session.getNodes(first)) {
    if (numDrawn > 0) {
      given.push_back(recorder.scalar(Number::ofInt(0), DType::I64));
      given.push_back(drawKey(recorder));
    }
    before.emplace(session, condition, given, /*ownsStream=*/true);
    after.emplace(session, body, given, /*ownsStream=*/true);
  }

  std::vector<Var> build() {
    Node *first = recorder.recordRegions(
        given, [&](OpBuilder &builder, Location location, ValueRange values) {
          return emit(builder, location, values);
        });
    return wrapFirst(session, first, numCarries);
  }

private:
  /// If numbers are drawn, the counter of the next one is carried, too.
  bool draws() const { return numDrawn > 0; }

  BodyEmitter::Stream getStream(OpBuilder &builder, Location location,
                                ValueRange carries, ValueRange values,
                                int64_t offset) const {
    if (!draws())
      return {};
    return {values[numCarries + 1],
            addOffset(builder, location, carries.back(), offset)};
  }

  Operation *emit(OpBuilder &builder, Location location, ValueRange values) {
    ValueRange inits = values.take_front(numCarries + draws());
    auto emitBefore = [&](OpBuilder &inside, Location at, ValueRange carries) {
      auto stream = getStream(inside, at, carries, values, 0);
      llvm::SmallVector<Value> results =
          before->emit(inside, carries.take_front(numCarries), values, stream);
      Value flag =
          tensor::ExtractOp::create(inside, at, results.front(), ValueRange());
      scf::ConditionOp::create(inside, at, flag, carries);
    };
    auto emitAfter = [&](OpBuilder &inside, Location at, ValueRange carries) {
      auto stream = getStream(inside, at, carries, values, numDrawnBefore);
      llvm::SmallVector<Value> results =
          after->emit(inside, carries.take_front(numCarries), values, stream);
      if (draws())
        results.push_back(addOffset(inside, at, carries.back(), numDrawn));
      scf::YieldOp::create(inside, at, results);
    };
    return scf::WhileOp::create(builder, location, typesOf(inits), inits,
                                emitBefore, emitAfter);
  }

  RecordingSession &session;
  Recorder &recorder;
  size_t numCarries;
  /// Counts of random numbers: of the condition, and of a trip.
  int64_t numDrawnBefore, numDrawn;
  llvm::SmallVector<Node *> given;
  std::optional<BodyEmitter> before, after;
};
} // namespace

std::vector<Var> metaops::recordWhile(RecordingSession &session,
                                      llvm::ArrayRef<const Var *> first,
                                      const RecordedBody &condition,
                                      const RecordedBody &body) {
  return WhileBuilder(session, first, condition, body).build();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Returns the counter of the first random number of each trip, by rows.
static Node *recordCounters(Recorder &recorder, ScanRange range,
                            int64_t numDrawn) {
  Node *trips = recorder.iota({range.trips}, 0, DType::I64);
  if (range.isReverse)
    trips = recorder.binary("sub", Number::ofInt(range.trips - 1), trips);
  Node *offsets = recorder.binary("mul", trips, Number::ofInt(numDrawn));
  return recorder.binary("add", offsets, recorder.randomCounter(0));
}

std::vector<Var> metaops::recordScan(RecordingSession &session, ScanRange range,
                                     llvm::ArrayRef<const Var *> first,
                                     llvm::ArrayRef<const Var *> rows,
                                     const RecordedBody &body) {
  Recorder &recorder = session.getRecorder();
  int64_t numDrawn = body.function->getNumDrawn();
  llvm::SmallVector<Node *> given = session.getNodes(first);
  llvm::append_range(given, session.getNodes(rows));
  if (numDrawn > 0) {
    given.push_back(recordCounters(recorder, range, numDrawn));
    given.push_back(recorder.randomKey());
  }
  size_t numRows = rows.size() + (numDrawn > 0);
  BodyEmitter emitter(session, body, given, /*ownsStream=*/true);
  Node *made = recorder.recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        auto emit = [&](OpBuilder &inside, Location, ValueRange carries,
                        ValueRange rowsOfTrip) {
          llvm::SmallVector<Value> arguments(carries);
          llvm::append_range(arguments, rowsOfTrip.take_front(rows.size()));
          BodyEmitter::Stream stream;
          if (numDrawn > 0)
            stream = {values[first.size() + numRows], rowsOfTrip.back()};
          return emitter.emit(inside, arguments, values, stream);
        };
        return metaop::createScan(builder, location, range.trips,
                                  range.isReverse,
                                  values.take_front(first.size()),
                                  values.slice(first.size(), numRows), emit,
                                  recorder.getSavedBytes())
            .getOperation();
      });
  recorder.skipRandom(numDrawn * range.trips);
  return wrapFirst(session, made, body.function->getResults().size());
}
