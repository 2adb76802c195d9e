//===- SavedRows.cpp - Rows that a scan saves for its gradient ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure decides what a scan yields beside what it is asked for:
//
// 1. What derivatives read of the start of each carry: all of it, parts, or
//    nothing (CarryReads.cpp).
// 2. Sums of twice their elements or more, and results of routines; then those
//    of operations with regions. Each is to change from trip to
//    trip, and not just to be summed up: what a sum is made of, no derivative
//    reads. Where derivatives read parts of one alone, it is these. They are
//    taken in the order of the body as long as the bytes of all rows fit.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/SavedRows.h"

#include "CarryReads.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Autodiff/ScanBlocks.h"
#include "RegionDerivatives.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Values that are dear to compute again
//===----------------------------------------------------------------------===//

/// Returns whether an operation computes much for each element of its results,
/// apart from those with regions.
static bool isDear(Operation *op) {
  if (isa<RoutineOpInterface>(op))
    return true;
  auto reduce = dyn_cast<ReindexReduceOpInterface>(op);
  if (!reduce || reduce.getReduceKind() != Combiner::Add)
    return false;
  return isPartOf(op->getResult(0).getType(), reduce.getSource().getType());
}

namespace {
/// Values of a scan's body that are worth their rows.
class SavedValues {
public:
  SavedValues(Block &body, int64_t trips, int64_t savedBytes)
      : body(body), trips(trips), bytesLeft(savedBytes) {
    findVarying();
  }

  /// Returns those that fit, apart from what is a row already. The first of
  /// what is yielded are the next carries.
  SmallVector<Value> choose(ArrayRef<Value> yielded, size_t numCarries);

private:
  void findVarying();
  void add(Operation *op, ArrayRef<Value> rows);

  Block &body;
  int64_t trips, bytesLeft;
  /// Operations whose results differ among trips.
  llvm::DenseSet<Operation *> varying;
  SmallVector<Value> chosen;
};
} // namespace

void SavedValues::findVarying() {
  auto isVarying = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op ? varying.contains(op) : value.getParentBlock() == &body;
  };
  for (Operation &op : body)
    if (llvm::any_of(getInputs(&op), isVarying))
      varying.insert(&op);
}

void SavedValues::add(Operation *op, ArrayRef<Value> rows) {
  // Of a table that a branch has put a row into, trips may read a row.
  for (Value result : op->getResults())
    for (Value read : findReads(result)) {
      auto type = dyn_cast<RankedTensorType>(read.getType());
      if (!type || !type.hasStaticShape() || llvm::is_contained(rows, read) ||
          llvm::is_contained(chosen, read))
        continue;
      int64_t bytes = countBytes(type);
      if (trips > 0 && bytes > bytesLeft / trips)
        continue;
      bytesLeft -= bytes * trips;
      chosen.push_back(read);
    }
}

/// Returns the operations that what is yielded is made of.
static llvm::DenseSet<Operation *> findLive(Block &body,
                                            ArrayRef<Value> yielded) {
  llvm::DenseSet<Operation *> live;
  SmallVector<Value> pending(yielded);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == &body && live.insert(op).second)
      llvm::append_range(pending, getInputs(op));
  }
  return live;
}

SmallVector<Value> SavedValues::choose(ArrayRef<Value> yielded,
                                       size_t numCarries) {
  ArrayRef<Value> rows = yielded.drop_front(numCarries);
  llvm::DenseSet<Operation *> live = findLive(body, yielded);
  auto changes = [&](Operation &op) {
    return varying.contains(&op) && live.contains(&op);
  };
  for (Operation &op : body)
    if (changes(op) && isDear(&op))
      add(&op, rows);
  for (Operation &op : body)
    if (changes(op) && isControlFlow(&op))
      add(&op, rows);
  return chosen;
}

//===----------------------------------------------------------------------===//
// Scans that yield it
//===----------------------------------------------------------------------===//

/// Adds the rows that derivatives read to what a body yields.
static void addSavedRows(SmallVectorImpl<Value> &yielded, ValueRange carries,
                         Block &body, int64_t trips, int64_t savedBytes) {
  int64_t ofStarts = multiplyCounts(countStartBytes(carries), trips);
  // A value that is only yielded is summed up, so all are chosen before any is
  // yielded.
  SmallVector<Value> saved =
      SavedValues(body, trips, std::max<int64_t>(savedBytes - ofStarts, 0))
          .choose(yielded, carries.size());
  auto addRow = [&](Value row) {
    // A carry may be what another one becomes, and no row.
    if (!llvm::is_contained(ArrayRef(yielded).drop_front(carries.size()), row))
      yielded.push_back(row);
  };
  for (Value carry : carries)
    llvm::for_each(findReads(carry), addRow);
  llvm::for_each(saved, addRow);
}

ScanOp metaop::createScan(OpBuilder &builder, Location loc, ScanTrips trips,
                          bool reverse, ValueRange inits, ValueRange rows,
                          ScanBody emitBody, int64_t savedBytes) {
  auto build = [&](OpBuilder &inside, Location at, ValueRange carries,
                   ValueRange rowsOfTrip) {
    SmallVector<Value> yielded = emitBody(inside, at, carries, rowsOfTrip);
    if (trips.known &&
        !chooseBlockTrips(carries, yielded, *trips.known, savedBytes))
      addSavedRows(yielded, carries, *inside.getInsertionBlock(), *trips.known,
                   savedBytes);
    ScanYieldOp::create(inside, at, yielded);
  };
  return ScanOp::create(builder, loc, trips, reverse, inits, rows, build);
}

SmallVector<Value> metaop::findReads(Value carry) {
  auto parts = findReadParts(carry);
  return parts ? *parts : SmallVector<Value>({carry});
}

int64_t metaop::countStartBytes(ValueRange carries) {
  int64_t bytes = 0;
  for (Value carry : carries)
    for (Value read : findReads(carry))
      bytes = addCounts(bytes, countBytes(read.getType()));
  return bytes;
}

int64_t metaop::countDearBytes(ValueRange carries, ArrayRef<Value> yielded) {
  if (carries.empty())
    return 0;
  int64_t bytes = 0;
  SavedValues values(*carries.front().getParentBlock(), /*trips=*/1, kMaxCount);
  for (Value value : values.choose(yielded, carries.size()))
    bytes = addCounts(bytes, countBytes(value.getType()));
  return bytes;
}

llvm::SetVector<Value> metaop::findSaved(ScanOp scan) {
  llvm::SetVector<Value> saved;
  for (Value carry : scan.getRegionIterArgs())
    for (Value part : findReads(carry))
      if (part != carry)
        saved.insert(part);
  for (Operation &op : scan.getBody().front())
    if (isDear(&op) || isControlFlow(&op))
      for (Value result : op.getResults()) {
        saved.insert(result);
        saved.insert_range(findReads(result));
      }
  return saved;
}

llvm::SmallBitVector metaop::findReadResults(ScanOp scan) {
  llvm::SetVector<Value> read = findSaved(scan);
  for (BlockArgument carry : scan.getRegionIterArgs())
    if (llvm::is_contained(findReads(carry), carry))
      read.insert(carry);
  llvm::SmallBitVector results(scan.getNumResults());
  for (auto [number, row] : llvm::enumerate(scan.getYieldedRows()))
    results[scan.getNumCarries() + number] = read.contains(row);
  return results;
}

Value metaop::findRows(ScanOp scan, Value ofTrip) {
  for (auto [yielded, stacked] :
       llvm::zip_equal(scan.getYieldedRows(), scan.getStackedRows()))
    if (yielded == ofTrip)
      return stacked;
  return nullptr;
}
