//===- ScanBlocks.cpp - Scans that keep each k-th carry -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks are as long as takes the least memory: k trips have their starts kept
// and what is dear to compute again, and n / k blocks their starts, so that k
// is a part of the square root of n. Trips that fill no block are a scan behind
// the blocks:
//
//   c = scan n / k carries(c) { scan k carries(c) };  scan n mod k carries(c)
//
// Of a loop whose trips a number counts, each block makes those that are left,
// k at most:
//
//   scan ceil(count / k) most ceil(n / k) carries(c, left = count) {
//     scan left most k carries(c);  left - k
//   }
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/ScanBlocks.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/RowGroups.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "RegionDerivatives.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Lengths of blocks
//===----------------------------------------------------------------------===//

/// Fewer trips are not worth blocks, and so many lengths of these are tried.
static constexpr int64_t kFewestTrips = 4, kMostTried = 4096;

namespace {
/// The bytes that are kept for the gradient of a scan in blocks.
struct KeptBytes {
  /// Of each start of a block.
  int64_t ofBlock = 0;
  /// Of each trip of a block: its start, and what is dear to compute again.
  int64_t ofTrip = 0;
  /// Of the rows of all trips, which are copied where some fill no block.
  int64_t ofRows = 0;

  int64_t count(int64_t trips, int64_t length) const {
    int64_t left = trips % length;
    int64_t ofStarts = addCounts(multiplyCounts(trips / length, ofBlock),
                                 multiplyCounts(length + left, ofTrip));
    return left > 0 ? addCounts(ofStarts, ofRows) : ofStarts;
  }
};
} // namespace

/// Returns how many trips a block has for the fewest bytes to be kept, about:
/// a number near the best one that divides the trips, if there is one, as trips
/// behind the blocks cost copies of rows.
static int64_t findLength(int64_t trips, const KeptBytes &kept) {
  double best =
      std::sqrt(static_cast<double>(trips) * static_cast<double>(kept.ofBlock) /
                static_cast<double>(kept.ofTrip));
  auto length = std::max<int64_t>(static_cast<int64_t>(best), 2);
  std::optional<int64_t> found;
  int64_t least = length / 2 + 1;
  for (int64_t each = least; each < std::min(2 * length, least + kMostTried);
       ++each)
    if (trips % each == 0 &&
        (!found || kept.count(trips, each) < kept.count(trips, *found)))
      found = each;
  if (found)
    return *found;
  // A single trip is no loop any more, and checks would not name it.
  while (trips % length == 1)
    ++length;
  return length;
}

/// Counts the bytes of a trip's rows, those that it takes and that it yields.
static int64_t countRowBytes(ValueRange carries, ArrayRef<Value> yielded) {
  int64_t bytes = 0;
  for (Value row : carries.front().getParentBlock()->getArguments().drop_front(
           carries.size()))
    bytes = addCounts(bytes, countBytes(row.getType()));
  for (Value row : yielded.drop_front(carries.size()))
    bytes = addCounts(bytes, countBytes(row.getType()));
  return bytes;
}

std::optional<int64_t> metaop::chooseBlockTrips(ValueRange carries,
                                                ArrayRef<Value> yielded,
                                                int64_t trips,
                                                int64_t savedBytes) {
  int64_t ofStart = countStartBytes(carries);
  if (trips < kFewestTrips || multiplyCounts(ofStart, trips) <= savedBytes)
    return std::nullopt;
  KeptBytes kept;
  kept.ofRows = multiplyCounts(trips, countRowBytes(carries, yielded));
  for (Value carry : carries)
    if (!findReads(carry).empty())
      kept.ofBlock = addCounts(kept.ofBlock, countBytes(carry.getType()));
  kept.ofTrip = addCounts(ofStart, countDearBytes(carries, yielded));
  int64_t length = findLength(trips, kept);
  kept.ofTrip = ofStart;
  return kept.count(trips, length) < multiplyCounts(trips, ofStart)
             ? std::optional(length)
             : std::nullopt;
}

std::optional<int64_t> metaop::chooseBlockTrips(ScanOp scan,
                                                int64_t savedBytes) {
  std::optional<int64_t> trips = scan.getTrips();
  bool hasRows = !scan.getRows().empty() || !scan.getStackedRows().empty();
  if (!trips || (scan.getCount() && (hasRows || scan.getReverse())) ||
      (!scan.getCount() && scan.getTripsAtOnce() == *trips))
    return std::nullopt;
  SmallVector<Value> yielded(scan.getYield().getOperands());
  return chooseBlockTrips(scan.getRegionIterArgs(), yielded, *trips,
                          savedBytes);
}

//===----------------------------------------------------------------------===//
// Loops of blocks
//===----------------------------------------------------------------------===//

namespace {
/// Emits a scan as a loop of blocks.
class BlockEmitter {
public:
  BlockEmitter(OpBuilder &builder, ScanOp scan, int64_t length,
               int64_t savedBytes)
      : builder(builder), scan(scan), length(length), savedBytes(savedBytes) {}

  SmallVector<Value> emitKnown();
  SmallVector<Value> emitCounted();

private:
  ScanOp emitTrips(OpBuilder &b, ScanTrips trips, ValueRange inits,
                   ValueRange rows);
  ScanOp emitBlocks(ScanTrips blocks, ValueRange inits, ValueRange rows,
                    ScanBody emitBlock);
  void setFirstTrip(ScanOp behind, int64_t number);
  Value emitNumber(int64_t number);

  OpBuilder &builder;
  ScanOp scan;
  int64_t length, savedBytes;
};
} // namespace

/// Emits a scan of some of the trips, which keeps all of their starts.
ScanOp BlockEmitter::emitTrips(OpBuilder &b, ScanTrips trips, ValueRange inits,
                               ValueRange rows) {
  auto emitBody = [&](OpBuilder &inside, Location, ValueRange carries,
                      ValueRange rowsOfTrip) {
    IRMapping mapping;
    mapping.map(scan.getRegionIterArgs(), carries);
    mapping.map(scan.getRowArguments(), rowsOfTrip);
    return cloneBody(inside, scan.getBody().front(), mapping,
                     scan.getYield().getOperands());
  };
  int64_t ofStarts =
      multiplyCounts(countStartBytes(scan.getRegionIterArgs()), *trips.known);
  ScanOp made = createScan(b, scan.getLoc(), trips, scan.getReverse(), inits,
                           rows, emitBody, std::max(savedBytes, ofStarts));
  if (!trips.count)
    made.setUnroll(scan.getUnroll().value_or(1));
  return made;
}

/// Emits the loop of the blocks, each of which yields the scan's carries and
/// rows.
ScanOp BlockEmitter::emitBlocks(ScanTrips blocks, ValueRange inits,
                                ValueRange rows, ScanBody emitBlock) {
  auto build = [&](OpBuilder &inside, Location at, ValueRange carries,
                   ValueRange groups) {
    SmallVector<Value> yielded = emitBlock(inside, at, carries, groups);
    for (Value carry : carries)
      llvm::append_range(yielded, findReads(carry));
    ScanYieldOp::create(inside, at, yielded);
  };
  auto made = ScanOp::create(builder, scan.getLoc(), blocks, scan.getReverse(),
                             inits, rows, build);
  if (!blocks.count)
    made.setUnroll(1);
  MetaOpDialect::BlocksAttrHelper(builder.getContext())
      .setAttr(made, builder.getUnitAttr());
  return made;
}

/// Notes which trip is the first one of a scan. Only checks name it.
void BlockEmitter::setFirstTrip(ScanOp behind, int64_t number) {
  auto find = [](CheckOp) { return WalkResult::interrupt(); };
  if (behind.getBody().walk(find).wasInterrupted())
    MetaOpDialect::FirstTripAttrHelper(builder.getContext())
        .setAttr(behind, builder.getI64IntegerAttr(number));
}

SmallVector<Value> BlockEmitter::emitKnown() {
  Location loc = scan.getLoc();
  unsigned numCarries = scan.getNumCarries();
  RowGroups groups(*scan.getTrips(), length, scan.getReverse());
  auto emitBlock = [&](OpBuilder &inside, Location, ValueRange carries,
                       ValueRange rows) {
    ScanOp block = emitTrips(inside, length, carries, rows);
    return SmallVector<Value>(
        block.getResults().take_front(scan.getNumResults()));
  };
  SmallVector<Value> rows = llvm::map_to_vector(scan.getRows(), [&](Value all) {
    return groups.group(builder, loc, all);
  });
  ScanOp blocks =
      emitBlocks(groups.getNumGroups(), scan.getInits(), rows, emitBlock);
  SmallVector<Value> results(blocks.getLastCarries());
  SmallVector<Value> left(scan.getNumResults());
  if (int64_t numLeft = groups.getNumLeft()) {
    rows = llvm::map_to_vector(scan.getRows(), [&](Value all) {
      return groups.takeLeft(builder, loc, all);
    });
    ScanOp behind = emitTrips(builder, numLeft, results, rows);
    setFirstTrip(behind, length * groups.getNumGroups());
    llvm::copy(behind.getResults().take_front(left.size()), left.begin());
    llvm::copy(behind.getLastCarries(), results.begin());
  }
  for (unsigned number = numCarries; number < left.size(); ++number)
    results.push_back(
        groups.join(builder, loc, blocks.getResult(number), left[number]));
  return results;
}

/// Emits a number of trips.
Value BlockEmitter::emitNumber(int64_t number) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return ConstantOp::create(
      builder, scan.getLoc(),
      DenseElementsAttr::get(type, builder.getI64IntegerAttr(number)));
}

SmallVector<Value> BlockEmitter::emitCounted() {
  Location loc = scan.getLoc();
  int64_t most = *scan.getTrips();
  Value ofBlock = emitNumber(length);
  Value count = MinOp::create(builder, loc, scan.getCount(), emitNumber(most));
  Value filled = AddOp::create(builder, loc, count, emitNumber(length - 1));
  Value blocks = FloorDivOp::create(builder, loc, filled, ofBlock);
  SmallVector<Value> inits(scan.getInits());
  inits.push_back(count);
  auto emitBlock = [&](OpBuilder &inside, Location at, ValueRange carries,
                       ValueRange) {
    ScanOp block = emitTrips(inside, {carries.back(), length},
                             carries.drop_back(), /*rows=*/{});
    SmallVector<Value> next(block.getLastCarries());
    next.push_back(SubOp::create(inside, at, carries.back(), ofBlock));
    return next;
  };
  ScanOp made = emitBlocks({blocks, llvm::divideCeil(most, length)}, inits,
                           /*rows=*/{}, emitBlock);
  return SmallVector<Value>(made.getLastCarries().drop_back());
}

SmallVector<Value> metaop::emitInBlocks(OpBuilder &builder, ScanOp scan,
                                        int64_t blockTrips,
                                        int64_t savedBytes) {
  BlockEmitter blocks(builder, scan, blockTrips, savedBytes);
  return scan.getCount() ? blocks.emitCounted() : blocks.emitKnown();
}
