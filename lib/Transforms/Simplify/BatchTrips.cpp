//===- BatchTrips.cpp - Work of all trips at once -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip's product with a matrix that all trips read moves that matrix through
// the processor for few rows. Where no carry is made of it, or it of none, the
// products of all trips are one, of all rows:
//
//   scan rows(x = xs) { y = x @ w; ... }  ->  ys = xs @ w; scan rows(y = ys)
//
//   ys = scan { ...; yield h @ w }        ->  hs = scan { ...; yield h };
//                                             ys = hs @ w
//
// 1. Before the loop: reductions in the body that depend on rows, and on no
//    carry. They are computed with a leading dimension, from the rows and what
//    all trips read, and are rows of the loop.
// 2. Behind it: values that the loop yields as rows, and that are made of
//    reductions of repeated elements of which no carry is made. What elements
//    are repeated of becomes rows instead.
//
// In both, the rows that are made have at most `kMostGrowth` times the elements
// of those that they take the place of, and `kMostBytes` in all. Checks stay
// where they are, as they name the trip.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_BATCHTRIPSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Bounds rows by the elements of those that they take the place of.
static constexpr int64_t kMostGrowth = 4;
static constexpr int64_t kMostBytes = int64_t(1) << 28;

static int64_t countElements(Value value) {
  return countElements(cast<RankedTensorType>(value.getType()).getShape());
}

/// Returns whether a value is the result of a reduction to half of its elements
/// or less.
static bool isReduced(Value value) {
  auto reduce = value.getDefiningOp<ReindexReduceOpInterface>();
  return reduce &&
         countElements(reduce.getSource()) / 2 >= countElements(value);
}

//===----------------------------------------------------------------------===//
// The values of a trip
//===----------------------------------------------------------------------===//

namespace {
/// The values in the body of a loop, and what they depend on.
class TripValues {
public:
  explicit TripValues(ScanOp scan);

  bool isInside(Value value) const { return value.getParentBlock() == body; }
  /// Returns whether a value differs among trips.
  bool isVarying(Value value) const { return varying.contains(value); }
  /// Returns whether a value depends on a carry.
  bool isCarried(Value value) const { return carried.contains(value); }
  /// Returns whether an operation can be batched, of which those operands are
  /// that differ among trips.
  bool canBatch(Operation *op) const;

  /// Adds a row that takes the place of a value that no carry is in.
  void addRow(BlockArgument row) { varying.insert(row); }

private:
  Block *body;
  llvm::DenseSet<Value> varying, carried;
};

/// Emits values of a trip for all trips.
class TripBatch {
public:
  /// `getRows` returns the rows of a value that is not computed again; null for
  /// others.
  TripBatch(OpBuilder &builder, const TripValues &values, int64_t trips,
            llvm::function_ref<Value(Value)> getRows)
      : builder(builder), values(values), trips(trips), getRows(getRows) {}

  /// Returns a value for all trips; as it is where it is the same in all.
  Value emit(Value value);

private:
  Value emitAnew(Value value);

  OpBuilder &builder;
  const TripValues &values;
  int64_t trips;
  llvm::function_ref<Value(Value)> getRows;
  llvm::DenseMap<Value, Value> emitted;
};
} // namespace

TripValues::TripValues(ScanOp scan) : body(&scan.getBody().front()) {
  for (BlockArgument argument : body->getArguments()) {
    varying.insert(argument);
    if (argument.getArgNumber() < scan.getNumCarries())
      carried.insert(argument);
  }
  for (Operation &op : *body) {
    bool isVarying = false, isCarried = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        isVarying |= varying.contains(operand);
        isCarried |= carried.contains(operand);
      }
    });
    for (Value result : op.getResults()) {
      if (isVarying)
        varying.insert(result);
      if (isCarried)
        carried.insert(result);
    }
  }
}

bool TripValues::canBatch(Operation *op) const {
  llvm::SmallBitVector isBatched;
  for (Value operand : op->getOperands()) {
    isBatched.push_back(isVarying(operand));
    // All else that does not vary has left the loop, or has to stay in it.
    if (isInside(operand) && !isVarying(operand) &&
        !operand.getDefiningOp()->hasTrait<OpTrait::ConstantLike>())
      return false;
  }
  return isPure(op) && metaop::canBatch(op, isBatched);
}

Value TripBatch::emit(Value value) {
  if (!values.isInside(value))
    return value;
  if (Value made = emitted.lookup(value))
    return made;
  Value made = emitAnew(value);
  return emitted[value] = made;
}

Value TripBatch::emitAnew(Value value) {
  Operation *op = value.getDefiningOp();
  if (!values.isVarying(value))
    return builder.clone(*op)->getResult(
        cast<OpResult>(value).getResultNumber());
  if (Value rows = getRows(value))
    return rows;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(emit(operand));
  return emitBatched(builder, op, operands,
                     trips)[cast<OpResult>(value).getResultNumber()];
}

//===----------------------------------------------------------------------===//
// Before the loop
//===----------------------------------------------------------------------===//

namespace {
/// Work that depends on no carry.
class WorkBefore {
public:
  WorkBefore(ScanOp scan, TripValues &values, SmallVectorImpl<Value> &rows)
      : scan(scan), values(values), rows(rows) {}

  /// Emits reductions before the loop, and adds them to its rows and to the
  /// arguments of its body. Returns whether there are any.
  bool move();

private:
  bool canMove(Value value);
  bool isWorthRows(Value root);

  ScanOp scan;
  TripValues &values;
  SmallVectorImpl<Value> &rows;
  llvm::DenseMap<Value, bool> known;
};
} // namespace

/// Returns whether a value can be computed of rows and of what all trips read.
bool WorkBefore::canMove(Value value) {
  if (values.isCarried(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (!values.isVarying(value) || !op)
    return true;
  auto [found, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return found->second;
  bool can = values.canBatch(op) &&
             llvm::all_of(op->getOperands(),
                          [&](Value operand) { return canMove(operand); });
  return known[value] = can;
}

/// Returns whether the rows of a reduction are small beside what it is made of.
bool WorkBefore::isWorthRows(Value root) {
  llvm::SetVector<Value> seen;
  seen.insert(root);
  int64_t elements = 0;
  for (size_t next = 0; next < seen.size(); ++next) {
    Operation *op = seen[next].getDefiningOp();
    if (op && values.isInside(seen[next]))
      seen.insert(op->operand_begin(), op->operand_end());
    else
      elements = addCounts(elements, countElements(seen[next]));
  }
  return countElements(root) / kMostGrowth <= elements &&
         multiplyCounts(countBytes(root.getType()), *scan.getTrips()) <=
             kMostBytes;
}

bool WorkBefore::move() {
  Block &body = scan.getBody().front();
  SmallVector<Value> roots;
  for (Operation &op : body)
    if (op.getNumResults() == 1 && isReduced(op.getResult(0)) &&
        values.isVarying(op.getResult(0)) && canMove(op.getResult(0)) &&
        isWorthRows(op.getResult(0)))
      roots.push_back(op.getResult(0));
  OpBuilder builder(scan);
  auto getRows = [&](Value value) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? rows[argument.getArgNumber() - scan.getNumCarries()]
                    : Value();
  };
  TripBatch batch(builder, values, *scan.getTrips(), getRows);
  for (Value root : roots) {
    Value made = batch.emit(root);
    rows.push_back(made);
    BlockArgument row = body.addArgument(root.getType(), root.getLoc());
    root.replaceAllUsesWith(row);
    values.addRow(row);
  }
  return !roots.empty();
}

//===----------------------------------------------------------------------===//
// Behind the loop
//===----------------------------------------------------------------------===//

namespace {
/// Work of which no carry is made.
class WorkBehind {
public:
  WorkBehind(ScanOp scan, const TripValues &values,
             SmallVectorImpl<Value> &yielded)
      : scan(scan), numCarries(scan.getNumCarries()), values(values),
        yielded(yielded) {
    findHandedOut();
  }

  /// Finds results that are to be computed behind the loop, and adds the rows
  /// that they are made of to what it yields. Returns whether there are any.
  bool find();
  /// Emits these results behind a loop that has the body and yields the rows.
  void emit(ScanOp made);

private:
  void findHandedOut();
  bool isReducedLate(Value value);
  bool isRepeated(Value value);
  bool isRow(Value value) const;
  bool isYielded(Value value) const {
    return llvm::is_contained(ArrayRef(yielded).drop_front(numCarries), value);
  }
  llvm::SetVector<Value> findRows(Value value);
  bool isWorthRows(Value root, const llvm::SetVector<Value> &needed);

  ScanOp scan;
  unsigned numCarries;
  const TripValues &values;
  SmallVectorImpl<Value> &yielded;
  /// Operations from which nothing comes but rows.
  llvm::DenseSet<Operation *> handedOut;
  llvm::DenseMap<Value, bool> reducedLate, repeated;
  /// Numbers of the results.
  SmallVector<unsigned> moved;
};
} // namespace

void WorkBehind::findHandedOut() {
  Block &body = scan.getBody().front();
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool becomesRows = llvm::all_of(op.getUses(), [&](OpOperand &use) {
      return use.getOwner() == scan.getYield()
                 ? use.getOperandNumber() >= numCarries
                 : handedOut.contains(use.getOwner());
    });
    if (becomesRows && values.canBatch(&op))
      handedOut.insert(&op);
  }
}

/// Returns whether a value is, or is made of, a reduction of repeated elements
/// of which nothing is made but rows.
bool WorkBehind::isReducedLate(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !handedOut.contains(op))
    return false;
  auto [found, isNew] = reducedLate.try_emplace(value, false);
  if (!isNew)
    return found->second;
  bool is = (isReduced(value) && isRepeated(op->getOperand(0))) ||
            llvm::any_of(op->getOperands(),
                         [&](Value operand) { return isReducedLate(operand); });
  return reducedLate[value] = is;
}

/// Returns whether a value repeats the elements of others, and can be batched.
bool WorkBehind::isRepeated(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !values.isVarying(value) || !values.canBatch(op))
    return false;
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return countElements(reindex.getSource()) < countElements(value);
  if (!isa<ElementwiseOpInterface>(op))
    return false;
  auto [found, isNew] = repeated.try_emplace(value, false);
  if (!isNew)
    return found->second;
  bool is = llvm::any_of(op->getOperands(),
                         [&](Value operand) { return isRepeated(operand); });
  return repeated[value] = is;
}

/// Returns whether a value is a row that the loop is given.
bool WorkBehind::isRow(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && values.isInside(value) &&
         argument.getArgNumber() >= numCarries;
}

/// Returns the values of a trip that one behind the loop is made of.
llvm::SetVector<Value> WorkBehind::findRows(Value value) {
  llvm::SetVector<Value> seen, found;
  seen.insert(value);
  for (size_t next = 0; next < seen.size(); ++next) {
    Value each = seen[next];
    if (isReducedLate(each) || isRepeated(each))
      seen.insert(each.getDefiningOp()->operand_begin(),
                  each.getDefiningOp()->operand_end());
    else if (values.isVarying(each) && !isRow(each) && !isYielded(each))
      found.insert(each);
  }
  return found;
}

bool WorkBehind::isWorthRows(Value root, const llvm::SetVector<Value> &needed) {
  int64_t elements = 0, bytes = 0;
  for (Value each : needed) {
    elements = addCounts(elements, countElements(each));
    bytes = addCounts(bytes, countBytes(each.getType()));
  }
  return elements / kMostGrowth <= countElements(root) &&
         multiplyCounts(bytes, *scan.getTrips()) <= kMostBytes;
}

bool WorkBehind::find() {
  for (OpResult result : scan.getStackedRows()) {
    Value value = yielded[result.getResultNumber()];
    if (result.use_empty() || !isReducedLate(value))
      continue;
    llvm::SetVector<Value> needed = findRows(value);
    if (!isWorthRows(value, needed))
      continue;
    llvm::append_range(yielded, needed);
    moved.push_back(result.getResultNumber());
  }
  return !moved.empty();
}

void WorkBehind::emit(ScanOp made) {
  OpBuilder builder(made->getContext());
  builder.setInsertionPointAfter(made);
  auto getRows = [&](Value value) -> Value {
    if (isReducedLate(value) || isRepeated(value))
      return nullptr;
    if (isRow(value))
      return made
          .getRows()[cast<BlockArgument>(value).getArgNumber() - numCarries];
    auto found = llvm::find(made.getYieldedRows(), value);
    return made
        .getStackedRows()[std::distance(made.getYieldedRows().begin(), found)];
  };
  TripBatch batch(builder, values, *made.getTrips(), getRows);
  for (unsigned number : moved) {
    Value late = batch.emit(made.getYield().getOperand(number));
    made.getResult(number).replaceAllUsesWith(late);
  }
}

//===----------------------------------------------------------------------===//
// The loop in between
//===----------------------------------------------------------------------===//

/// Moves the body to a loop of other rows, which yields other values.
static ScanOp replaceLoop(ScanOp scan, ArrayRef<Value> rows,
                          ArrayRef<Value> yielded) {
  int64_t trips = *scan.getTrips();
  SmallVector<Type> types(scan.getResultTypes());
  for (Value value : yielded.drop_front(types.size())) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {trips};
    llvm::append_range(shape, type.getShape());
    types.push_back(type.clone(shape));
  }
  OpBuilder builder(scan);
  auto made = ScanOp::create(builder, scan.getLoc(), types, scan.getInits(),
                             rows, scan.getNumTrips(), scan.getReverse());
  made.setUnrollAttr(scan.getUnrollAttr());
  made->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  made.getBody().takeBody(scan.getBody());
  made.getYield()->setOperands(yielded);
  scan.replaceAllUsesWith(made.getResults().take_front(scan.getNumResults()));
  scan.erase();
  return made;
}

/// Moves work of a loop's trips out of it; returns whether there is any. Trips
/// that a number from memory counts may be few of those that there are rows for.
static bool batchTrips(ScanOp scan) {
  if (scan.getCount() || scan.getTrips().value_or(0) < 2)
    return false;
  // Inner loops have left work here.
  moveLoopInvariantCode(scan);
  TripValues values(scan);
  SmallVector<Value> rows(scan.getRows());
  bool isBefore = WorkBefore(scan, values, rows).move();
  SmallVector<Value> yielded(scan.getYield().getOperands());
  WorkBehind behind(scan, values, yielded);
  bool isBehind = behind.find();
  if (!isBefore && !isBehind)
    return false;
  behind.emit(replaceLoop(scan, rows, yielded));
  return true;
}

namespace {
struct BatchTripsPass : metaop::impl::BatchTripsPassBase<BatchTripsPass> {
  void runOnOperation() override {
    bool changed = false;
    // Inner loops first.
    getOperation().walk([&](ScanOp scan) { changed |= batchTrips(scan); });
    if (!changed)
      return markAllAnalysesPreserved();
    OpPassManager simplify(func::FuncOp::getOperationName());
    simplify.addPass(createSimplifyPass());
    if (failed(runPipeline(simplify, getOperation())))
      signalPassFailure();
  }
};
} // namespace
