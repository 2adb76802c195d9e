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
// counted. What each body is given besides its arguments is captured
// (BodyEmitter.cpp).
//
// Loops whose trips nobody knows carry more than they are given: the counter of
// random numbers, if they draw some, and, if a condition ends them and there
// are only so many, the number of trips, which is checked in each.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/ControlFlow.h"

#include "BodyEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Recording/FunctionRecorder.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "MetaOps/Transforms/Autodiff/ScanBlocks.h"
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
// Functions with derivatives of their own
//===----------------------------------------------------------------------===//

std::vector<Var>
metaops::recordCustom(RecordingSession &session, FunctionRecorder &recorder,
                      llvm::ArrayRef<const Var *> results,
                      llvm::ArrayRef<bool> areGivenUp,
                      std::shared_ptr<FunctionCall> call,
                      llvm::ArrayRef<const RecordedBody *> rules) {
  llvm::SmallVector<Node *> given;
  llvm::SmallVector<BodyEmitter, 2> bodies;
  for (const RecordedBody *rule : rules)
    bodies.emplace_back(session, *rule, given);
  auto emitRules = [&](metaop::CustomDerivativeOp op) {
    auto values =
        llvm::map_to_vector(given, [](Node *node) { return node->value(); });
    OpBuilder builder(op.getContext());
    llvm::SmallVector<Location> places(
        std::max<size_t>(op.getNumResults(), op.getArguments().size()),
        op.getLoc());
    for (auto [number, region, body] : llvm::enumerate(op.getRules(), bodies)) {
      TypeRange types = number == 0 ? TypeRange(op.getResultTypes())
                                    : TypeRange(op.getArguments().getTypes());
      Block *block =
          builder.createBlock(&region, region.end(), types,
                              llvm::ArrayRef(places).take_front(types.size()));
      metaop::CustomYieldOp::create(
          builder, op.getLoc(),
          body.emit(builder, block->getArguments(), values));
    }
  };
  std::vector<Var> made = recorder.record(
      session, results, areGivenUp, std::move(call), rules.size(), emitRules);
  // Rules begin where the function's results end.
  int64_t drawn = 0;
  for (const RecordedBody *rule : rules)
    drawn = std::max(drawn, rule->function->getNumDrawn());
  session.getRecorder().skipRandom(drawn);
  return made;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

std::vector<Var> metaops::recordCheckpoint(RecordingSession &session,
                                           const RecordedBody &body,
                                           int64_t numKept) {
  Recorder &recorder = session.getRecorder();
  llvm::SmallVector<Node *> given;
  BodyEmitter emitter(session, body, given);
  Node *first = recorder.recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        auto region =
            metaop::createRegion(builder, location, [&](OpBuilder &inside) {
              return emitter.emit(inside, /*arguments=*/{}, values);
            });
        metaop::setCheckpoint(region, numKept);
        return region.getOperation();
      });
  recorder.skipRandom(body.function->getNumDrawn());
  return wrapFirst(session, first, body.function->getResults().size());
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

/// Returns handles on the first results of a scan: of what stands for it, if it
/// is to be made in blocks for its gradient.
static std::vector<Var> wrapScan(RecordingSession &session, Node *made,
                                 size_t count) {
  Recorder &recorder = session.getRecorder();
  Graph &graph = recorder.getGraph();
  auto scan = cast<metaop::ScanOp>(made->op);
  std::optional<int64_t> blockTrips;
  if (!graph.getStopsGradients())
    blockTrips = metaop::chooseBlockTrips(scan, recorder.getSavedBytes());
  if (!blockTrips)
    return wrapFirst(session, made, count);
  llvm::SmallVector<Value> values = metaop::emitInBlocks(
      graph.getBuilder(), scan, *blockTrips, recorder.getSavedBytes());
  graph.adoptAfter(scan);
  graph.release(made);
  auto nodes =
      llvm::map_to_vector(llvm::ArrayRef(values).take_front(count),
                          [&](Value value) { return graph.getNode(value); });
  return session.wrapAll(nodes);
}

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
/// The values that a loop carries whose trips nobody knows.
class CarriesBuilder {
public:
  CarriesBuilder(RecordingSession &session, llvm::ArrayRef<const Var *> first,
                 llvm::ArrayRef<const RecordedBody *> bodies,
                 std::optional<int64_t> maxTrips)
      : recorder(session.getRecorder()), maxTrips(maxTrips),
        numGiven(first.size()), given(session.getNodes(first)) {
    for (const RecordedBody *body : bodies) {
      draws |= body->function->drawsRandom();
      numDrawn += body->function->getNumDrawn();
    }
    auto addZero = [&] {
      given.push_back(recorder.scalar(Number::ofInt(0), DType::I64));
    };
    if (draws)
      addZero();
    if (maxTrips)
      addZero();
    numCarries = given.size();
    if (draws)
      given.push_back(drawKey(recorder));
  }

  /// Carries, the key of random numbers, and what else the operation is given.
  llvm::SmallVector<Node *> &getGiven() { return given; }
  size_t getNumCarries() const { return numCarries; }

  BodyEmitter::Stream getStream(OpBuilder &builder, Location location,
                                ValueRange carries, ValueRange values,
                                int64_t offset) const {
    if (!draws)
      return {};
    return {values[numCarries],
            addOffset(builder, location, carries[numGiven], offset)};
  }

  /// Adds the next values of what is carried beside the given values.
  void addNext(OpBuilder &builder, Location location, ValueRange carries,
               llvm::SmallVectorImpl<Value> &next) const {
    if (draws)
      next.push_back(addOffset(builder, location, carries[numGiven], numDrawn));
    if (!maxTrips)
      return;
    Value trips = addOffset(builder, location, carries[numCarries - 1], 1);
    next.push_back(metaop::CheckOp::create(builder, location, trips,
                                           IndexRange::ofTrips(*maxTrips)));
  }

private:
  Recorder &recorder;
  /// If numbers are drawn, the counter of the next one is carried, too.
  bool draws = false;
  /// The count of random numbers of a trip.
  int64_t numDrawn = 0;
  std::optional<int64_t> maxTrips;
  size_t numGiven, numCarries;
  llvm::SmallVector<Node *> given;
};
} // namespace

std::vector<Var> metaops::recordWhile(RecordingSession &session,
                                      llvm::ArrayRef<const Var *> first,
                                      const RecordedBody &condition,
                                      const RecordedBody &body,
                                      std::optional<int64_t> maxTrips) {
  int64_t numDrawnBefore = condition.function->getNumDrawn();
  CarriesBuilder loop(session, first, {&condition, &body}, maxTrips);
  llvm::SmallVector<Node *> &given = loop.getGiven();
  BodyEmitter before(session, condition, given, /*ownsStream=*/true);
  BodyEmitter after(session, body, given, /*ownsStream=*/true);
  size_t numGiven = first.size();
  Node *made = session.getRecorder().recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        ValueRange inits = values.take_front(loop.getNumCarries());
        auto emitBefore = [&](OpBuilder &inside, Location at,
                              ValueRange carries) {
          auto stream = loop.getStream(inside, at, carries, values, 0);
          Value goesOn =
              before.emit(inside, carries.take_front(numGiven), values, stream)
                  .front();
          Value flag =
              tensor::ExtractOp::create(inside, at, goesOn, ValueRange());
          scf::ConditionOp::create(inside, at, flag, carries);
        };
        auto emitAfter = [&](OpBuilder &inside, Location at,
                             ValueRange carries) {
          auto stream =
              loop.getStream(inside, at, carries, values, numDrawnBefore);
          llvm::SmallVector<Value> next =
              after.emit(inside, carries.take_front(numGiven), values, stream);
          loop.addNext(inside, at, carries, next);
          scf::YieldOp::create(inside, at, next);
        };
        auto op = scf::WhileOp::create(builder, location, typesOf(inits), inits,
                                       emitBefore, emitAfter);
        if (maxTrips)
          metaop::MetaOpDialect::MaxTripsAttrHelper(builder.getContext())
              .setAttr(op, builder.getI64IntegerAttr(*maxTrips));
        return op.getOperation();
      });
  return wrapFirst(session, made, numGiven);
}

std::vector<Var> metaops::recordCounted(RecordingSession &session,
                                        CountedRange range,
                                        llvm::ArrayRef<const Var *> first,
                                        const RecordedBody &body) {
  Recorder &recorder = session.getRecorder();
  Node *count = session.getNode(range.count);
  if (range.maxTrips)
    count = recorder.checkTrips(count, *range.maxTrips);
  llvm::SmallVector<const Var *> carried(first);
  carried.push_back(&range.lower);
  CarriesBuilder loop(session, carried, {&body}, /*maxTrips=*/std::nullopt);
  llvm::SmallVector<Node *> &given = loop.getGiven();
  BodyEmitter emitter(session, body, given, /*ownsStream=*/true);
  size_t numGiven = first.size();
  given.push_back(count);
  Node *made = recorder.recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        auto emit = [&](OpBuilder &inside, Location at, ValueRange carries,
                        ValueRange) {
          auto stream = loop.getStream(inside, at, carries, values, 0);
          llvm::SmallVector<Value> next = emitter.emit(
              inside, carries.take_front(numGiven + 1), values, stream);
          next.push_back(addOffset(inside, at, carries[numGiven], 1));
          loop.addNext(inside, at, carries, next);
          return next;
        };
        return metaop::createScan(
                   builder, location, {values.back(), range.maxTrips},
                   /*reverse=*/false, values.take_front(loop.getNumCarries()),
                   /*rows=*/ValueRange(), emit, recorder.getSavedBytes())
            .getOperation();
      });
  return wrapScan(session, made, numGiven);
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
  bool draws = body.function->drawsRandom();
  llvm::SmallVector<Node *> given = session.getNodes(first);
  llvm::append_range(given, session.getNodes(rows));
  if (draws) {
    given.push_back(recordCounters(recorder, range, numDrawn));
    given.push_back(recorder.randomKey());
  }
  size_t numRows = rows.size() + draws;
  BodyEmitter emitter(session, body, given, /*ownsStream=*/true);
  Node *made = recorder.recordRegions(
      given, [&](OpBuilder &builder, Location location, ValueRange values) {
        auto emit = [&](OpBuilder &inside, Location, ValueRange carries,
                        ValueRange rowsOfTrip) {
          llvm::SmallVector<Value> arguments(carries);
          llvm::append_range(arguments, rowsOfTrip.take_front(rows.size()));
          BodyEmitter::Stream stream;
          if (draws)
            stream = {values[first.size() + numRows], rowsOfTrip.back()};
          return emitter.emit(inside, arguments, values, stream);
        };
        auto scan =
            metaop::createScan(builder, location, range.trips, range.isReverse,
                               values.take_front(first.size()),
                               values.slice(first.size(), numRows), emit,
                               recorder.getSavedBytes());
        if (range.unroll > 0)
          scan.setUnroll(range.unroll);
        return scan.getOperation();
      });
  recorder.skipRandom(numDrawn * range.trips);
  return wrapScan(session, made, body.function->getResults().size());
}
