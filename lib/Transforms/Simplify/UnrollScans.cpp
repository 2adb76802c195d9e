//===- UnrollScans.cpp - Trips of loops one behind the other --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops are measured while all are there. Then, inner ones first,
//
// 1. A scan that makes all of its trips at once is replaced by the operations
//    of its trips, one after the other.
// 2. Of one that makes k at once, n / k iterations are left, each of k trips,
//    over rows in groups of k. What is left over, n % k trips, stands behind
//    the loop.
//
// A trip reads its row by a reindex, or has the value that is in that row where
// a concat makes the rows, as an unrolled loop before does. Rows that are made
// become a concat.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RowGroups.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_UNROLLSCANSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the value that a concat has put into a row, alone; null if there is
/// none.
static Value findPart(Value rows, int64_t number) {
  auto concat = rows.getDefiningOp<ConcatOp>();
  if (!concat || concat.getDim() != 0)
    return nullptr;
  for (const Placement &placement : concat.getPlacements())
    if (Value part = concat.getOperand(placement.operand);
        placement.starts[0] == number && getTensorType(part).getDimSize(0) == 1)
      return part;
  return nullptr;
}

static Value takeRow(OpBuilder &b, Location loc, Value rows, int64_t number) {
  if (Value part = findPart(rows, number))
    return ReshapeOp::create(b, loc, getRowType(getTensorType(rows)), part);
  return readRows(b, loc, rows, number, std::nullopt);
}

/// Returns values as rows of one tensor, behind and in front of others.
static Value stack(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  SmallVector<Value> parts;
  for (Value value : values)
    parts.push_back(ReshapeOp::create(
        b, loc, getStackedType(getTensorType(value), 1), value));
  return ConcatOp::create(b, loc, parts, /*dim=*/0);
}

//===----------------------------------------------------------------------===//
// Trips
//===----------------------------------------------------------------------===//

namespace {
/// Emits trips of a scan, one after the other.
class TripEmitter {
public:
  /// `rows` are what the scan reads, or groups of it.
  TripEmitter(ScanOp scan, ValueRange inits, ValueRange rows)
      : scan(scan), carries(inits), rows(rows),
        made(scan.getYieldedRows().size()) {}

  /// Emits so many trips, which read rows from one on, in the scan's order.
  void emit(OpBuilder &b, int64_t first, int64_t count);

  ArrayRef<Value> getCarries() const { return carries; }
  /// Returns the rows of each result that the trips have made.
  SmallVector<Value> stackRows(OpBuilder &b) {
    return llvm::map_to_vector(made, [&](SmallVectorImpl<Value> &values) {
      if (scan.getReverse())
        std::reverse(values.begin(), values.end());
      return stack(b, scan.getLoc(), values);
    });
  }

private:
  void emitTrip(OpBuilder &b, int64_t row);

  ScanOp scan;
  SmallVector<Value> carries;
  ValueRange rows;
  /// Of each result that has rows, in the order of the trips.
  SmallVector<SmallVector<Value>> made;
};
} // namespace

void TripEmitter::emitTrip(OpBuilder &b, int64_t row) {
  IRMapping mapping;
  mapping.map(scan.getRegionIterArgs(), carries);
  for (auto [argument, value] : llvm::zip_equal(scan.getRowArguments(), rows))
    if (!argument.use_empty())
      mapping.map(argument, takeRow(b, scan.getLoc(), value, row));
  for (Operation &op : scan.getBody().front().without_terminator())
    b.clone(op, mapping);
  auto find = [&](Value value) { return mapping.lookupOrDefault(value); };
  carries = llvm::map_to_vector(scan.getNextCarries(), find);
  for (auto [values, yielded] : llvm::zip_equal(made, scan.getYieldedRows()))
    values.push_back(find(yielded));
}

void TripEmitter::emit(OpBuilder &b, int64_t first, int64_t count) {
  for (int64_t trip = 0; trip < count; ++trip)
    emitTrip(b, scan.getReverse() ? first + count - 1 - trip : first + trip);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Replaces a scan by all of its trips.
static void unrollAll(IRRewriter &b, ScanOp scan) {
  TripEmitter trips(scan, scan.getInits(), scan.getRows());
  trips.emit(b, 0, *scan.getTrips());
  SmallVector<Value> results(trips.getCarries());
  llvm::append_range(results, trips.stackRows(b));
  b.replaceOp(scan, results);
}

/// Makes a loop of the trips whose rows are in groups, of `factor` trips, each
/// an iteration.
static ScanOp makeGroups(IRRewriter &b, ScanOp scan, const RowGroups &groups,
                         int64_t factor) {
  Location loc = scan.getLoc();
  SmallVector<Value> rows = llvm::map_to_vector(
      scan.getRows(), [&](Value value) { return groups.group(b, loc, value); });
  auto made = ScanOp::create(
      b, loc, groups.getNumGroups(), scan.getReverse(), scan.getInits(), rows,
      [&](OpBuilder &inside, Location at, ValueRange carries,
          ValueRange groupsOfRows) {
        TripEmitter trips(scan, carries, groupsOfRows);
        trips.emit(inside, 0, factor);
        SmallVector<Value> yielded(trips.getCarries());
        llvm::append_range(yielded, trips.stackRows(inside));
        ScanYieldOp::create(inside, at, yielded);
      });
  made.setUnroll(1);
  made->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  return made;
}

/// Leaves a loop that makes several trips in each iteration.
static void unrollGroups(IRRewriter &b, ScanOp scan, int64_t factor) {
  RowGroups groups(*scan.getTrips(), factor, scan.getReverse());
  ScanOp made = makeGroups(b, scan, groups, factor);
  TripEmitter trips(scan, made.getLastCarries(), scan.getRows());
  trips.emit(b, groups.getFirstLeft(), groups.getNumLeft());
  SmallVector<Value> results(trips.getCarries());
  SmallVector<Value> left(made.getStackedRows().size());
  if (groups.getNumLeft() > 0)
    left = trips.stackRows(b);
  for (auto [grouped, rest] : llvm::zip_equal(made.getStackedRows(), left))
    results.push_back(groups.join(b, scan.getLoc(), grouped, rest));
  b.replaceOp(scan, results);
}

/// Returns whether all extents of what a scan takes and gives are known.
static bool isStatic(ScanOp scan) {
  auto isKnown = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  return llvm::all_of(scan->getOperandTypes(), isKnown) &&
         llvm::all_of(scan->getResultTypes(), isKnown);
}

namespace {
struct UnrollScansPass : metaop::impl::UnrollScansPassBase<UnrollScansPass> {
  void runOnOperation() override {
    IRRewriter b(&getContext());
    SmallVector<std::pair<ScanOp, int64_t>> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](ScanOp scan) {
      int64_t factor = scan.getTripsAtOnce();
      if (factor > 1 && isStatic(scan))
        loops.emplace_back(scan, factor);
    });
    for (auto [scan, factor] : loops) {
      b.setInsertionPoint(scan);
      if (factor == static_cast<int64_t>(*scan.getTrips()))
        unrollAll(b, scan);
      else
        unrollGroups(b, scan, factor);
    }
  }
};
} // namespace
