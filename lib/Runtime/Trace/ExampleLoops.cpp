//===- ExampleLoops.cpp - Loops of examples -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carry differs among examples if it begins so, or becomes so by a trip; the
// others stay as they are. Rows have the trips in front of the examples.
//
// If examples make other numbers of trips, the loop makes the most of them,
// all carries differ, and who is done keeps its own: a scan compares the number
// of each trip with how many the example makes, and any other loop asks the
// condition again in the trip. A loop that says how many trips it may make at
// most counts those of all beside that.
//
//===----------------------------------------------------------------------===//

#include "BodyEmitter.h"
#include "ExampleEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace metaops;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns a tensor with its first two dimensions exchanged.
static Value exchange(OpBuilder &builder, Location loc, Value value) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  std::swap(order[0], order[1]);
  return metaop::TransposeOp::create(builder, loc, value, order);
}

/// Returns the numbers of trips.
static Value emitNumbers(OpBuilder &builder, Location loc, int64_t trips) {
  auto type =
      RankedTensorType::get(ArrayRef<int64_t>(trips), builder.getI64Type());
  return metaop::IotaOp::create(builder, loc, type, 0,
                                /*extents=*/ValueRange());
}

/// Returns the number of the first trip.
static Value emitZero(OpBuilder &builder, Location loc) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return metaop::ConstantOp::create(builder, loc, type,
                                    DenseElementsAttr::get(type, int64_t(0)));
}

/// Returns which carries of a loop differ among examples: those that begin so,
/// or that become so by one trip.
llvm::SmallBitVector ExampleEmitter::findCarries(ValueRange inits,
                                                 ValueRange arguments,
                                                 ValueRange next,
                                                 Block &block) const {
  llvm::SmallBitVector differ(inits.size());
  for (auto [number, init] : llvm::enumerate(inits))
    differ[number] = isBatched(init);
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<Value> batched;
    for (unsigned number : differ.set_bits())
      batched.insert(arguments[number]);
    for (BlockArgument argument : block.getArguments())
      if (isBatched(argument))
        batched.insert(argument);
    flow(block, batched);
    for (unsigned number = 0; number < differ.size(); ++number)
      if (!differ[number] &&
          (batched.contains(next[number]) || isBatched(next[number])))
        differ[number] = changed = true;
  }
  return differ;
}

/// Returns the values with which a loop begins.
ExampleEmitter::Values
ExampleEmitter::emitInits(OpBuilder &builder, ValueRange inits,
                          const llvm::SmallBitVector &differ) const {
  Values made;
  for (auto [number, init] : llvm::enumerate(inits))
    made.push_back(differ[number] ? getBatched(builder, init) : get(init));
  return made;
}

/// Returns the next carries of a trip, of examples that go on, if `goesOn` is
/// given.
ExampleEmitter::Values
ExampleEmitter::emitNext(OpBuilder &builder, Location loc, Value goesOn,
                         ValueRange next, ValueRange carries,
                         const llvm::SmallBitVector &differ) const {
  Values made = emitInits(builder, next, differ);
  if (goesOn)
    for (auto [value, carry] : llvm::zip(made, carries))
      value = emitSelect(builder, loc, goesOn, value, carry);
  return made;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// A scan, and what is known of its examples.
struct ExampleEmitter::Scan {
  metaop::ScanOp op;
  /// Of the carries; and which of the rows that are yielded do, once known.
  llvm::SmallBitVector differ, rowsDiffer;
  /// Trips that each example makes; null where all make the same. The
  /// number of a trip is then the last row or, where nobody knows how many
  /// trips there may be, the last carry.
  Value count;
};

ExampleEmitter::Values ExampleEmitter::emitTrip(OpBuilder &builder,
                                                Location loc, Scan &scan,
                                                ValueRange carries,
                                                ValueRange rows) {
  auto outside = values;
  Block &block = scan.op.getBody().front();
  SmallVector<Value> given(carries.take_front(scan.op.getNumCarries()));
  llvm::append_range(given, rows);
  for (auto [argument, value] : llvm::zip(block.getArguments(), given))
    map(argument, value);
  Value goesOn;
  if (scan.count) {
    goesOn = metaop::CmpOp::create(
        builder, loc, metaop::ComparePredicate::Lt,
        metaop::repeatAlong(
            builder, loc, rows.empty() ? carries.back() : rows.back(), extent),
        scan.count);
    enter(builder, loc, goesOn, scan.op.getBody());
  }
  emitAll(builder, block);
  Values yielded = emitNext(builder, loc, goesOn, scan.op.getNextCarries(),
                            carries, scan.differ);
  if (scan.count && rows.empty())
    yielded.push_back(addOffset(builder, loc, carries.back(), 1));
  scan.rowsDiffer.clear();
  for (Value row : scan.op.getYieldedRows()) {
    yielded.push_back(get(row));
    scan.rowsDiffer.push_back(isBatched(row));
  }
  values = std::move(outside);
  return yielded;
}

void ExampleEmitter::emitScan(OpBuilder &builder, metaop::ScanOp op) {
  Location loc = op.getLoc();
  Block &block = op.getBody().front();
  SmallVector<Value> rows;
  for (auto [argument, row] :
       llvm::zip_equal(op.getRowArguments(), op.getRows())) {
    rows.push_back(isBatched(row) ? exchange(builder, loc, get(row))
                                  : get(row));
    // The stand-in of a row is known in a trip, that it differs is now.
    map(argument, isBatched(row) ? rows.back() : argument);
  }
  Scan scan = {op,
               findCarries(op.getInits(), block.getArguments(),
                           op.getNextCarries(), block),
               {},
               Value()};
  metaop::ScanTrips trips = op.getNumTrips();
  if (trips.count && isBatched(trips.count)) {
    scan.count = get(trips.count);
    scan.differ.set();
    if (trips.known)
      rows.push_back(emitNumbers(builder, loc, *trips.known));
    trips.count = emitReduce(builder, loc, metaop::Combiner::Max, scan.count);
  } else if (trips.count) {
    trips.count = get(trips.count);
  }
  Values inits = emitInits(builder, op.getInits(), scan.differ);
  if (scan.count && !trips.known)
    inits.push_back(emitZero(builder, loc));
  auto made = metaop::createScan(
      builder, loc, trips, op.getReverse(), inits, rows,
      [&](OpBuilder &inside, Location at, ValueRange carries,
          ValueRange rowsOfTrip) {
        return emitTrip(inside, at, scan, carries, rowsOfTrip);
      },
      savedBytes);
  made.setUnrollAttr(op.getUnrollAttr());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  unsigned numCarries = op.getNumCarries();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    Value standIn = made.getResult(number);
    bool isRow = number >= numCarries && scan.rowsDiffer[number - numCarries];
    map(result, isRow ? exchange(builder, loc, standIn) : standIn);
  }
}

//===----------------------------------------------------------------------===//
// Loops with a condition
//===----------------------------------------------------------------------===//

/// A loop, and what is known of its examples.
struct ExampleEmitter::While {
  scf::WhileOp op;
  /// The condition, as a tensor.
  Value condition;
  /// Of the carries.
  llvm::SmallBitVector differ;
  /// Examples end in other trips.
  bool isPartial = false;
  /// The most trips, which the last carry counts, where that is so.
  std::optional<int64_t> maxTrips = {};
};

Value ExampleEmitter::emitCondition(OpBuilder &builder, While &loop,
                                    ValueRange carries) {
  Block &block = *loop.op.getBeforeBody();
  for (auto [argument, carry] : llvm::zip(block.getArguments(), carries))
    map(argument, carry);
  for (Operation &op : block.without_terminator())
    if (!isa<tensor::ExtractOp>(op))
      emit(builder, &op);
  return loop.isPartial ? getBatched(builder, loop.condition)
                        : get(loop.condition);
}

ExampleEmitter::Values ExampleEmitter::emitTrip(OpBuilder &builder,
                                                Location loc, While &loop,
                                                ValueRange carries) {
  auto outside = values;
  Block &block = *loop.op.getAfterBody();
  Value goesOn =
      loop.isPartial ? emitCondition(builder, loop, carries) : Value();
  for (auto [argument, carry] : llvm::zip(block.getArguments(), carries))
    map(argument, carry);
  if (loop.isPartial)
    enter(builder, loc, goesOn, loop.op.getAfter());
  emitAll(builder, block);
  Values yielded =
      emitNext(builder, loc, goesOn, block.getTerminator()->getOperands(),
               carries, loop.differ);
  if (loop.maxTrips)
    yielded.push_back(metaop::CheckOp::create(
        builder, loc, addOffset(builder, loc, carries.back(), 1),
        IndexRange::ofTrips(*loop.maxTrips)));
  values = std::move(outside);
  return yielded;
}

/// Returns a loop of which it is known what differs.
ExampleEmitter::While ExampleEmitter::analyze(scf::WhileOp op) const {
  Block &before = *op.getBeforeBody(), &after = *op.getAfterBody();
  scf::ConditionOp condition = op.getConditionOp();
  auto extract = condition.getCondition().getDefiningOp<tensor::ExtractOp>();
  if (!extract || !llvm::equal(condition.getArgs(), before.getArguments()))
    failUnbatched(op);
  While loop = {op, extract.getTensor(),
                findCarries(op.getInits(), after.getArguments(),
                            after.getTerminator()->getOperands(), after)};
  llvm::DenseSet<Value> batched;
  for (unsigned number : loop.differ.set_bits())
    batched.insert(before.getArgument(number));
  flow(before, batched);
  loop.isPartial =
      batched.contains(loop.condition) || isBatched(loop.condition);
  if (loop.isPartial) {
    loop.differ.set();
    loop.maxTrips = metaop::getMaxTrips(op);
  }
  return loop;
}

void ExampleEmitter::emitWhile(OpBuilder &builder, scf::WhileOp op) {
  Location loc = op.getLoc();
  While loop = analyze(op);
  Values inits = emitInits(builder, op.getInits(), loop.differ);
  if (loop.maxTrips)
    inits.push_back(emitZero(builder, loc));
  auto types = ValueRange(inits).getTypes();
  // Regions are filled here, as in `emitIf`.
  auto made = scf::WhileOp::create(builder, loc, types, inits,
                                   /*beforeBuilder=*/nullptr,
                                   /*afterBuilder=*/nullptr);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = made.getBeforeBody(), *after = made.getAfterBody();
  builder.setInsertionPointToStart(before);
  Value goesOn = emitCondition(builder, loop, before->getArguments());
  if (loop.isPartial)
    goesOn = emitReduce(builder, loc, metaop::Combiner::Or, goesOn);
  Value flag =
      tensor::ExtractOp::create(builder, loc, goesOn, /*indices=*/ValueRange());
  scf::ConditionOp::create(builder, loc, flag, before->getArguments());
  builder.setInsertionPointToStart(after);
  scf::YieldOp::create(builder, loc,
                       emitTrip(builder, loc, loop, after->getArguments()));
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [result, standIn] : llvm::zip(op.getResults(), made.getResults()))
    map(result, standIn);
}
