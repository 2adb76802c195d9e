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
// 1. Before the loop: sums in the body that depend on rows, and on no carry.
//    They are computed with a leading dimension, from the rows and what all
//    trips read, and are rows of the loop.
// 2. Behind it: values that the loop yields as rows, and that are made of sums
//    of repeated elements of which no carry is made. What elements are repeated
//    of becomes rows instead.
//
// In both, what is in memory for all trips is `kSmallBytes`, or has at most
// `kMostGrowth` times the elements of the rows that it takes the place of, and
// `kMostBytes`: a loop may be there to save memory. Checks stay where they are,
// as they name the trip. So do windows that move with the trips, and random
// numbers. So do other reductions on their own: gradients compare a maximum
// with the elements that it is of, and kernels round each in their way.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
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

static constexpr int64_t kMostGrowth = 4;
static constexpr int64_t kSmallBytes = int64_t(1) << 24;
static constexpr int64_t kMostBytes = int64_t(1) << 28;

static int64_t countElements(Value value) {
  return countElements(cast<RankedTensorType>(value.getType()).getShape());
}

/// Returns whether a value is a sum of twice its elements or more.
static bool isSum(Value value) {
  auto reduce = value.getDefiningOp<ReindexReduceOpInterface>();
  return reduce && reduce.getReduceKind() == Combiner::Add &&
         countElements(reduce.getSource()) / 2 >= countElements(value);
}

/// Returns whether kernels write the results of an operation, whatever reads
/// them.
static bool isInMemory(Operation *op) {
  return !isa<ElementwiseOpInterface, ReindexOpInterface, ReshapeOp>(op);
}

/// Returns whether values of all trips may be in memory in place of rows.
static bool isWorth(int64_t elements, int64_t bytes, int64_t ofRows,
                    int64_t trips) {
  int64_t all = multiplyCounts(bytes, trips);
  return all <= kSmallBytes ||
         (all <= kMostBytes && elements / kMostGrowth <= ofRows);
}

//===----------------------------------------------------------------------===//
// The values of a trip
//===----------------------------------------------------------------------===//

namespace {
/// The values in the body of a loop, and what they depend on.
class TripValues {
public:
  explicit TripValues(ScanOp scan);

  Block &getBody() const { return *body; }
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
  /// `getRows` returns the rows of a value that is not computed again.
  TripBatch(OpBuilder &builder, const TripValues &values, int64_t trips,
            llvm::function_ref<Value(Value)> getRows)
      : builder(builder), values(values), trips(trips), getRows(getRows) {}

  /// Emits these operations of the body, operands before users.
  void emit(const llvm::DenseSet<Operation *> &ops);
  /// Returns a value for all trips; as it is where it is the same in all.
  Value get(Value value);

private:
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

/// Returns whether each trip reads or writes at places of its own, or draws
/// other numbers.
static bool isMoving(Operation *op, const llvm::SmallBitVector &isBatched) {
  if (isa<InsertOp>(op))
    return isBatched.find_last() >= 2;
  if (isa<ReindexOpInterface, ReindexReduceOpInterface, SortOp>(op))
    return isBatched.find_last() >= 1;
  return isa<RandomOp>(op);
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
  return isPure(op) && !isMoving(op, isBatched) &&
         metaop::canBatch(op, isBatched);
}

Value TripBatch::get(Value value) {
  if (!values.isInside(value))
    return value;
  Value &made = emitted[value];
  if (!made)
    made = values.isVarying(value)
               ? getRows(value)
               : builder.clone(*value.getDefiningOp())->getResult(0);
  return made;
}

void TripBatch::emit(const llvm::DenseSet<Operation *> &ops) {
  for (Operation &op : values.getBody()) {
    if (!ops.contains(&op) || emitted.contains(op.getResult(0)))
      continue;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(get(operand));
    for (auto [result, made] : llvm::zip_equal(
             op.getResults(), emitBatched(builder, &op, operands, trips)))
      emitted[result] = made;
  }
}

//===----------------------------------------------------------------------===//
// Before the loop
//===----------------------------------------------------------------------===//

namespace {
/// Work that depends on no carry.
class WorkBefore {
public:
  WorkBefore(ScanOp scan, TripValues &values, SmallVectorImpl<Value> &rows)
      : scan(scan), values(values), rows(rows) {
    for (BlockArgument argument : scan.getRowArguments())
      rowElements[argument] = countElements(argument);
    for (Operation &op : scan.getBody().front().without_terminator())
      add(&op);
  }

  /// Emits sums before the loop, and adds them to its rows and to the arguments
  /// of its body. Returns whether there are any.
  bool move();

private:
  void add(Operation *op);
  llvm::DenseSet<Operation *> findOps() const;

  ScanOp scan;
  TripValues &values;
  SmallVectorImpl<Value> &rows;
  /// Values that can be computed before the loop, and the elements of the
  /// largest row that each is made of.
  llvm::DenseMap<Value, int64_t> rowElements;
  SmallVector<Value> roots;
};
} // namespace

void WorkBefore::add(Operation *op) {
  int64_t ofRows = 0;
  for (Value operand : op->getOperands()) {
    if (!values.isVarying(operand))
      continue;
    auto found = rowElements.find(operand);
    if (found == rowElements.end())
      return;
    ofRows = std::max(ofRows, found->second);
  }
  if (op->getNumResults() == 0 || !values.isVarying(op->getResult(0)) ||
      !values.canBatch(op))
    return;
  int64_t elements = 0, bytes = 0;
  for (Value result : op->getResults()) {
    elements = addCounts(elements, countElements(result));
    bytes = addCounts(bytes, countBytes(result.getType()));
  }
  bool isRoot = isSum(op->getResult(0));
  if (isInMemory(op) && !isWorth(elements, bytes, ofRows, *scan.getTrips()))
    return;
  for (Value result : op->getResults())
    rowElements[result] = isRoot ? countElements(result) : ofRows;
  if (isRoot)
    roots.push_back(op->getResult(0));
}

/// Returns the operations that the sums are made of.
llvm::DenseSet<Operation *> WorkBefore::findOps() const {
  llvm::DenseSet<Operation *> ops;
  SmallVector<Value> pending(roots);
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && values.isVarying(value) && ops.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return ops;
}

bool WorkBefore::move() {
  OpBuilder builder(scan);
  auto getRows = [&](Value value) -> Value {
    return rows[cast<BlockArgument>(value).getArgNumber() -
                scan.getNumCarries()];
  };
  TripBatch batch(builder, values, *scan.getTrips(), getRows);
  batch.emit(findOps());
  for (Value root : roots) {
    rows.push_back(batch.get(root));
    BlockArgument row =
        scan.getBody().addArgument(root.getType(), root.getLoc());
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
    findRepeated();
  }

  /// Finds results that are to be computed behind the loop, and adds the rows
  /// that they are made of to what it yields. Returns whether there are any.
  bool find();
  /// Emits these results behind a loop that has the body and yields the rows.
  void emit(ScanOp made);

private:
  /// The parts that a value behind the loop is made of.
  struct Parts {
    llvm::SetVector<Value> rows;
    llvm::DenseSet<Operation *> ops;
    int64_t elements = 0, bytes = 0;

    void count(Value value) {
      elements = addCounts(elements, countElements(value));
      bytes = addCounts(bytes, countBytes(value.getType()));
    }
  };

  void findHandedOut();
  void findRepeated();
  bool isRow(Value value) const;
  bool isYielded(Value value) const {
    return llvm::is_contained(ArrayRef(yielded).drop_front(numCarries), value);
  }
  Parts findParts(Value root) const;

  ScanOp scan;
  unsigned numCarries;
  const TripValues &values;
  SmallVectorImpl<Value> &yielded;
  /// Operations from which nothing comes but rows.
  llvm::DenseSet<Operation *> handedOut;
  /// Values that repeat the elements of others, and can be batched.
  llvm::DenseSet<Value> repeated;
  /// Values that are, or are made of, sums of repeated elements of which
  /// nothing is made but rows.
  llvm::DenseSet<Value> summedLate;
  /// Numbers of the results, and the operations that these are made of.
  SmallVector<unsigned> moved;
  llvm::DenseSet<Operation *> ops;
};
} // namespace

void WorkBehind::findHandedOut() {
  for (Operation &op : llvm::reverse(values.getBody().without_terminator())) {
    bool becomesRows = llvm::all_of(op.getUses(), [&](OpOperand &use) {
      return use.getOwner() == scan.getYield()
                 ? use.getOperandNumber() >= numCarries
                 : handedOut.contains(use.getOwner());
    });
    if (becomesRows && values.canBatch(&op))
      handedOut.insert(&op);
  }
}

void WorkBehind::findRepeated() {
  for (Operation &op : values.getBody().without_terminator()) {
    if (op.getNumResults() == 0 || !values.canBatch(&op))
      continue;
    Value result = op.getResult(0);
    auto isRepeated = [&](Value operand) { return repeated.contains(operand); };
    auto isLate = [&](Value operand) { return summedLate.contains(operand); };
    if (auto reindex = dyn_cast<ReindexOpInterface>(op)) {
      if (countElements(reindex.getSource()) < countElements(result))
        repeated.insert(result);
    } else if (isa<ElementwiseOpInterface>(op) &&
               llvm::any_of(op.getOperands(), isRepeated)) {
      repeated.insert(result);
    }
    if (handedOut.contains(&op) &&
        ((isSum(result) && isRepeated(op.getOperand(0))) ||
         llvm::any_of(op.getOperands(), isLate)))
      summedLate.insert(op.result_begin(), op.result_end());
  }
}

/// Returns whether a value is a row that the loop is given.
bool WorkBehind::isRow(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && values.isInside(value) &&
         argument.getArgNumber() >= numCarries;
}

WorkBehind::Parts WorkBehind::findParts(Value root) const {
  Parts parts;
  llvm::SetVector<Value> seen;
  seen.insert(root);
  for (size_t next = 0; next < seen.size(); ++next) {
    Value each = seen[next];
    if (summedLate.contains(each) || repeated.contains(each)) {
      Operation *op = each.getDefiningOp();
      parts.ops.insert(op);
      seen.insert(op->operand_begin(), op->operand_end());
      if (each != root && isInMemory(op))
        parts.count(each);
    } else if (values.isVarying(each) && !isRow(each) && !isYielded(each)) {
      parts.rows.insert(each);
      parts.count(each);
    }
  }
  return parts;
}

bool WorkBehind::find() {
  for (OpResult result : scan.getStackedRows()) {
    Value value = yielded[result.getResultNumber()];
    if (result.use_empty() || !summedLate.contains(value))
      continue;
    Parts parts = findParts(value);
    if (!isWorth(parts.elements, parts.bytes, countElements(value),
                 *scan.getTrips()))
      continue;
    llvm::append_range(yielded, parts.rows);
    ops.insert(parts.ops.begin(), parts.ops.end());
    moved.push_back(result.getResultNumber());
  }
  return !moved.empty();
}

void WorkBehind::emit(ScanOp made) {
  OpBuilder builder(made->getContext());
  builder.setInsertionPointAfter(made);
  auto getRows = [&](Value value) -> Value {
    if (isRow(value))
      return made
          .getRows()[cast<BlockArgument>(value).getArgNumber() - numCarries];
    auto found = llvm::find(made.getYieldedRows(), value);
    return made
        .getStackedRows()[std::distance(made.getYieldedRows().begin(), found)];
  };
  TripBatch batch(builder, values, *made.getTrips(), getRows);
  batch.emit(ops);
  for (unsigned number : moved)
    made.getResult(number).replaceAllUsesWith(
        batch.get(made.getYield().getOperand(number)));
}

//===----------------------------------------------------------------------===//
// The loop in between
//===----------------------------------------------------------------------===//

/// Moves the body to a loop of other rows, which yields other values.
static ScanOp replaceLoop(ScanOp scan, ArrayRef<Value> rows,
                          ArrayRef<Value> yielded) {
  int64_t trips = *scan.getTrips();
  SmallVector<Type> types(scan.getResultTypes());
  for (Value value : yielded.drop_front(types.size()))
    types.push_back(
        getStackedType(cast<RankedTensorType>(value.getType()), trips));
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
/// that a number from memory counts may be few of those that there are rows
/// for, and a loop of blocks is there to save memory, as is one that computes
/// something again behind a barrier.
static bool batchTrips(ScanOp scan) {
  if (scan.getCount() || scan.getTrips().value_or(0) < 2)
    return false;
  // Inner loops have left work here.
  moveLoopInvariantCode(scan);
  if (MetaOpDialect::BlocksAttrHelper(scan.getContext()).isAttrPresent(scan) ||
      !scan.getBody().getOps<BarrierOp>().empty())
    return false;
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
