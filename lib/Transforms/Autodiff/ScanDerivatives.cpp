//===- ScanDerivatives.cpp - Derivatives of scans -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In reverse mode a scan becomes one over the same rows the other way round:
//
//   c, ys = scan(c0, xs) { c', y = f(c, x, w) }
//
//   dc0, dw, dxs = scan reverse (dc, 0, [starts of c, xs, dys]) {
//     dc', dw', dx = vjp of f at (c, x, w), of (dc, dy);  yield dc', dw + dw',
//     dx
//   }
//
// Sums of captures' gradients, such as dw, are computed behind the loop where
// that moves less memory (SumsBehindScan.cpp). The starts of the carries are
// rows that the scan yields (SavedRows.h); one that does not is run again, in
// blocks where these rows are too many bytes (ScanBlocks.h).
// Each trip's operations are run again, too, as far as its derivative reads
// them and the scan does not yield them.
//
// In forward mode a scan moves on with its carries and their tangents at once.
// Scans that are made here save rows of their own, and are differentiated again
// without being run again.
//
//===----------------------------------------------------------------------===//

#include "ScanDerivatives.h"

#include "ActiveOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "MetaOps/Transforms/Autodiff/ScanBlocks.h"
#include "SumsBehindScan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <optional>

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Trips that are run again
//===----------------------------------------------------------------------===//

/// Copies the operations of a scan's body, and returns what it yields.
static SmallVector<Value> cloneTrip(OpBuilder &builder, ScanOp scan,
                                    ValueRange arguments, IRMapping &mapping) {
  mapping.map(scan.getBody().getArguments(), arguments);
  return cloneBody(builder, scan.getBody().front(), mapping,
                   scan.getYield().getOperands());
}

static bool yieldsStarts(ScanOp scan) {
  return llvm::all_of(
      scan.getBody().getArguments().take_front(scan.getNumCarries()),
      [&](BlockArgument carry) {
        return llvm::all_of(findReads(carry), [&](Value read) {
          return bool(findRows(scan, read));
        });
      });
}

/// Returns the scan, or one that also yields the starts of its carries, behind
/// the same results.
static ScanOp getWithStarts(OpBuilder &builder, ScanOp scan,
                            int64_t savedBytes) {
  if (yieldsStarts(scan))
    return scan;
  int64_t ofStarts = multiplyCounts(countStartBytes(scan.getRegionIterArgs()),
                                    scan.getTrips().value_or(0));
  ScanOp again = createScan(
      builder, scan.getLoc(), scan.getNumTrips(), scan.getReverse(),
      scan.getInits(), scan.getRows(),
      [&](OpBuilder &inside, Location, ValueRange begun, ValueRange rows) {
        SmallVector<Value> arguments(begun);
        llvm::append_range(arguments, rows);
        IRMapping mapping;
        return cloneTrip(inside, scan, arguments, mapping);
      },
      std::max(savedBytes, ofStarts));
  again.makeTripsLike(scan);
  return again;
}

//===----------------------------------------------------------------------===//
// Reverse mode
//===----------------------------------------------------------------------===//

namespace {
/// The scan that gives a scan's gradients.
class ReverseScan {
public:
  /// There is a cotangent, or null, for each of the scan's first results.
  ReverseScan(OpBuilder &builder, ScanOp scan, ArrayRef<Value> cotangents,
              ArrayRef<Value> inputs, int64_t savedBytes)
      : builder(builder), scan(scan), inputs(inputs), savedBytes(savedBytes) {
    // All trips read the other values from around the loop.
    for (Value capture : findCaptures(scan))
      if (llvm::is_contained(inputs, capture))
        captures.push_back(capture);
    addOperands(cotangents);
  }

  SmallVector<Value> run();

private:
  void addOperands(ArrayRef<Value> cotangents);
  void addSaved();
  SmallVector<Value> takeArguments(OpBuilder &inside, Location loc,
                                   ValueRange &rowsOfTrip,
                                   SmallVectorImpl<Value> &ofSaved);
  SmallVector<Value> emitTrip(OpBuilder &inside, Location loc,
                              ValueRange carries, ValueRange rowsOfTrip);
  SmallVector<Value> addCaptures(OpBuilder &inside, Location loc,
                                 ValueRange sums, ArrayRef<Value> gradients);
  Value getStacked(ScanOp made, Value row) const;
  SmallVector<Value> getCaptureGradients(ScanOp made);

  OpBuilder &builder;
  ScanOp scan;
  ArrayRef<Value> inputs;
  int64_t savedBytes;
  SmallVector<Value> captures;
  /// Numbers of the values that the body yields which have cotangents.
  SmallVector<unsigned> outputs;
  /// Cotangents of the carries that are floats, and sums of captures'.
  SmallVector<Value> inits;
  unsigned numFloatCarries = 0;
  /// Of the carries, null where none is needed.
  SmallVector<Value> starts;
  /// Results of operations of the body that the scan yields.
  SmallVector<Value> saved;
  /// Starts, what is saved, the scan's own rows, and cotangents of those that
  /// it yields.
  SmallVector<Value> rows;
  /// Gradients of captures that are summed up behind the loop, of a trip; null
  /// for others.
  SmallVector<Value> ofTrip;
  std::optional<SumsBehindScan> sums;
};
} // namespace

void ReverseScan::addOperands(ArrayRef<Value> cotangents) {
  Location loc = scan.getLoc();
  unsigned numCarries = scan.getNumCarries();
  for (unsigned number = 0; number < numCarries; ++number) {
    Value result = scan.getResult(number), cotangent = cotangents[number];
    if (!isFloatTensor(result))
      continue;
    outputs.push_back(number);
    inits.push_back(cotangent ? cotangent
                              : splatLike(builder, loc, result, 0.0));
  }
  numFloatCarries = inits.size();
  for (Value capture : captures)
    inits.push_back(splatLike(builder, loc, capture, 0.0));
  addSaved();
  llvm::append_range(rows, scan.getRows());
  for (unsigned number = numCarries; number < cotangents.size(); ++number)
    if (cotangents[number]) {
      outputs.push_back(number);
      rows.push_back(cotangents[number]);
    }
}

void ReverseScan::addSaved() {
  for (BlockArgument carry :
       scan.getBody().getArguments().take_front(scan.getNumCarries())) {
    bool isRead = llvm::is_contained(findReads(carry), carry);
    starts.push_back(isRead ? findRows(scan, carry) : Value());
    if (starts.back())
      rows.push_back(starts.back());
  }
  llvm::SetVector<Value> readable = findSaved(scan);
  for (auto [ofTrip, stacked] :
       llvm::zip_equal(scan.getYieldedRows(), scan.getStackedRows()))
    if (readable.remove(ofTrip)) {
      saved.push_back(ofTrip);
      rows.push_back(stacked);
    }
}

/// Takes the arguments of the scan's body, and what is saved, from the rows of
/// a trip. A start that no derivative reads, apart from what is saved, is
/// zeros.
SmallVector<Value> ReverseScan::takeArguments(OpBuilder &inside, Location loc,
                                              ValueRange &rowsOfTrip,
                                              SmallVectorImpl<Value> &ofSaved) {
  SmallVector<Value> arguments;
  auto take = [&](size_t count) {
    ValueRange taken = rowsOfTrip.take_front(count);
    rowsOfTrip = rowsOfTrip.drop_front(count);
    return taken;
  };
  for (auto [start, argument] :
       llvm::zip(starts, scan.getBody().getArguments())) {
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    arguments.push_back(
        start ? take(1).front()
              : splatLike(inside, loc, argument,
                          cast<TypedAttr>(inside.getZeroAttr(element))));
  }
  llvm::append_range(ofSaved, take(saved.size()));
  llvm::append_range(arguments, take(scan.getRows().size()));
  return arguments;
}

SmallVector<Value> ReverseScan::emitTrip(OpBuilder &inside, Location loc,
                                         ValueRange carries,
                                         ValueRange rowsOfTrip) {
  SmallVector<Value> ofSaved;
  SmallVector<Value> arguments =
      takeArguments(inside, loc, rowsOfTrip, ofSaved);
  IRMapping mapping;
  SmallVector<Value> again = cloneTrip(inside, scan, arguments, mapping);
  SmallVector<Value> differentiated = llvm::map_to_vector(
      outputs, [&](unsigned number) { return again[number]; });
  SmallVector<Value> seeds(carries.take_front(numFloatCarries));
  llvm::append_range(seeds, rowsOfTrip);
  SmallVector<Value> targets = keepFloats(arguments);
  llvm::append_range(targets, captures);
  SmallVector<Value> gradients = llvm::cantFail(
      differentiate(inside, differentiated, seeds, targets, {savedBytes}));
  for (auto [ofTrip, row] : llvm::zip_equal(saved, ofSaved)) {
    Value made = mapping.lookup(ofTrip);
    llvm::replace(gradients, made, row);
    made.replaceAllUsesWith(row);
  }

  // Carries, captures, rows, and rows that sums are made of.
  SmallVector<Value> yielded(ArrayRef(gradients).take_front(numFloatCarries));
  llvm::append_range(
      yielded, addCaptures(inside, loc, carries.drop_front(numFloatCarries),
                           ArrayRef(gradients).take_back(captures.size())));
  llvm::append_range(yielded, ArrayRef(gradients)
                                  .drop_front(numFloatCarries)
                                  .drop_back(captures.size()));
  for (Value row : sums->getRows())
    if (!sums->isOwnRow(row))
      yielded.push_back(row);
  return yielded;
}

static bool isZeros(Value value) {
  return matchPattern(value, m_AnyZeroFloat());
}

/// Adds a gradient to a sum. Windows are put into the sum, and touch no more.
static Value addTo(OpBuilder &builder, Location loc, Value sum,
                   Value gradient) {
  if (isZeros(gradient))
    return sum;
  auto insert = gradient.getDefiningOp<InsertOp>();
  if (!insert || insert.getKind() != Combiner::Add)
    return AddOp::create(builder, loc, sum, gradient);
  return InsertOp::create(builder, loc, Combiner::Add, insert.getPart(),
                          addTo(builder, loc, sum, insert.getDest()),
                          insert.getStarts());
}

/// Adds what a trip contributes to captures' gradients to the sums, unless that
/// is better done behind the loop.
SmallVector<Value> ReverseScan::addCaptures(OpBuilder &inside, Location loc,
                                            ValueRange carried,
                                            ArrayRef<Value> gradients) {
  sums.emplace(inside.getInsertionBlock(), inits.size(), *scan.getTrips(),
               savedBytes);
  SmallVector<Value> next;
  for (auto [sum, gradient] : llvm::zip_equal(carried, gradients)) {
    // Of rows that no trip has made there is no sum.
    bool isBehind = !scan.getCount() && sums->add(gradient);
    ofTrip.push_back(isBehind ? gradient : nullptr);
    next.push_back(isBehind ? sum : addTo(inside, loc, sum, gradient));
  }
  return next;
}

/// Returns all rows of a value of the loop that was made.
Value ReverseScan::getStacked(ScanOp made, Value row) const {
  if (sums->isOwnRow(row))
    return made
        .getRows()[cast<BlockArgument>(row).getArgNumber() - inits.size()];
  auto found = llvm::find(made.getYieldedRows(), row);
  return made
      .getStackedRows()[std::distance(made.getYieldedRows().begin(), found)];
}

SmallVector<Value> ReverseScan::getCaptureGradients(ScanOp made) {
  SmallVector<Value> gradients;
  for (auto [sum, gradient] : llvm::zip_equal(
           made.getLastCarries().drop_front(numFloatCarries), ofTrip))
    gradients.push_back(gradient ? sums->emitSum(builder, gradient,
                                                 [&](Value row) {
                                                   return getStacked(made, row);
                                                 })
                                 : Value(sum));
  // Erase operations of a trip that only these sums needed.
  OpBuilder inside(made.getYield());
  inside.setListener(builder.getListener());
  eraseUnused(inside, /*before=*/nullptr, /*kept=*/{});
  return gradients;
}

/// Drops rows that the trips do not read.
static void dropUnread(ScanOp made) {
  for (unsigned number = made.getRows().size(); number-- > 0;) {
    BlockArgument row = made.getRowArguments()[number];
    if (!row.use_empty())
      continue;
    made.getRowsMutable().erase(number);
    made.getBody().eraseArgument(row.getArgNumber());
  }
}

SmallVector<Value> ReverseScan::run() {
  Location loc = scan.getLoc();
  ScanOp made = createScan(
      builder, loc, scan.getNumTrips(), !scan.getReverse(), inits, rows,
      [&](OpBuilder &inside, Location at, ValueRange carries, ValueRange row) {
        return emitTrip(inside, at, carries, row);
      },
      savedBytes);
  made.makeTripsLike(scan);
  // One value may be several things to a scan.
  llvm::DenseMap<Value, Value> gradientOf;
  auto add = [&](Value input, Value gradient) {
    Value &sum = gradientOf[input];
    sum = sum ? Value(AddOp::create(builder, loc, sum, gradient)) : gradient;
  };
  SmallVector<Value> sources = keepFloats(scan.getInits());
  SmallVector<Value> gradients(made.getResults().take_front(sources.size()));
  llvm::append_range(sources, captures);
  llvm::append_range(gradients, getCaptureGradients(made));
  dropUnread(made);
  llvm::append_range(sources, keepFloats(scan.getRows()));
  llvm::append_range(gradients, made.getStackedRows());
  for (auto [source, gradient] : llvm::zip(sources, gradients))
    if (llvm::is_contained(inputs, source))
      add(source, gradient);
  return llvm::map_to_vector(
      inputs, [&](Value input) { return gradientOf.lookup(input); });
}

/// Emits the gradients of a scan that is made in blocks, in a region of their
/// own: what is between its inputs and its results are the blocks alone.
static SmallVector<Value> differentiateInBlocks(OpBuilder &builder, ScanOp scan,
                                                int64_t blockTrips,
                                                ArrayRef<Value> cotangents,
                                                ArrayRef<Value> inputs,
                                                int64_t savedBytes) {
  auto region = scf::ExecuteRegionOp::create(builder, scan.getLoc(),
                                             TypeRange(ValueRange(inputs)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&region.getRegion().emplaceBlock());
  SmallVector<Value> results =
      emitInBlocks(builder, scan, blockTrips, savedBytes);
  SmallVector<Value> outputs, seeds;
  for (auto [result, cotangent] : llvm::zip(results, cotangents))
    if (cotangent) {
      outputs.push_back(result);
      seeds.push_back(cotangent);
    }
  scf::YieldOp::create(builder, scan.getLoc(),
                       llvm::cantFail(differentiate(builder, outputs, seeds,
                                                    inputs, {savedBytes})));
  return SmallVector<Value>(region.getResults());
}

SmallVector<Value> metaop::differentiateScan(OpBuilder &builder, ScanOp scan,
                                             ArrayRef<Value> cotangents,
                                             ArrayRef<Value> inputs,
                                             int64_t savedBytes) {
  if (!yieldsStarts(scan))
    if (std::optional<int64_t> blockTrips = chooseBlockTrips(scan, savedBytes))
      return differentiateInBlocks(builder, scan, *blockTrips, cotangents,
                                   inputs, savedBytes);
  return ReverseScan(builder, getWithStarts(builder, scan, savedBytes),
                     cotangents, inputs, savedBytes)
      .run();
}

//===----------------------------------------------------------------------===//
// Forward mode
//===----------------------------------------------------------------------===//

SmallVector<Value>
metaop::pushForwardScan(OpBuilder &builder, ScanOp scan,
                        llvm::function_ref<Value(Value)> getTangent,
                        int64_t savedBytes) {
  SmallVector<Value> inits(scan.getInits()), rows(scan.getRows());
  auto getOrZeros = [&](Value value) {
    Value tangent = getTangent(value);
    return tangent ? tangent : splatLike(builder, scan.getLoc(), value, 0.0);
  };
  // Numbers of the body's arguments that are floats and move.
  SmallVector<unsigned> movingCarries, movingRows;
  for (auto [number, init] : llvm::enumerate(scan.getInits()))
    if (isFloatTensor(init)) {
      movingCarries.push_back(number);
      inits.push_back(getOrZeros(init));
    }
  for (auto [number, row] : llvm::enumerate(scan.getRows()))
    if (Value tangent = isFloatTensor(row) ? getTangent(row) : nullptr) {
      movingRows.push_back(number);
      rows.push_back(tangent);
    }
  SmallVector<Value> captures, directions;
  for (Value capture : findCaptures(scan))
    if (Value tangent = getTangent(capture)) {
      captures.push_back(capture);
      directions.push_back(tangent);
    }
  unsigned numCarries = scan.getNumCarries(), numRows = scan.getRows().size();
  ScanOp made = createScan(
      builder, scan.getLoc(), scan.getNumTrips(), scan.getReverse(), inits,
      rows,
      [&](OpBuilder &inside, Location, ValueRange carries, ValueRange row) {
        SmallVector<Value> arguments(carries.take_front(numCarries));
        llvm::append_range(arguments, row.take_front(numRows));
        IRMapping mapping;
        SmallVector<Value> yielded =
            cloneTrip(inside, scan, arguments, mapping);
        SmallVector<Value> moving, tangents;
        for (unsigned number : movingCarries)
          moving.push_back(carries[number]);
        for (unsigned number : movingRows)
          moving.push_back(row[number]);
        llvm::append_range(moving, captures);
        llvm::append_range(tangents, carries.drop_front(numCarries));
        llvm::append_range(tangents, row.drop_front(numRows));
        llvm::append_range(tangents, directions);
        SmallVector<Value> moved = llvm::cantFail(pushForward(
            inside, keepFloats(yielded), moving, tangents, {savedBytes}));
        // Carries, their tangents, and tangents of rows.
        SmallVector<Value> all(ArrayRef(yielded).take_front(numCarries));
        llvm::append_range(all, moved);
        return all;
      },
      savedBytes);
  made.makeTripsLike(scan);
  return SmallVector<Value>(
      made.getResults()
          .drop_front(numCarries)
          .take_front(keepFloats(scan.getResults()).size()));
}
