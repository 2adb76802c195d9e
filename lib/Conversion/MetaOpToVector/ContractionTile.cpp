//===- ContractionTile.cpp - The tile of a contraction --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has a copy of each value for each of its elements, or vectors along
// the lanes, that the value depends on: of one factor some vectors, of the
// other some numbers, which are broadcast, of their product and its sum all.
//
// Places of copies are the place of the first one and a distance, which is the
// same in all iterations: it becomes part of the address.
//
// Results that are not contiguous along the lanes are scattered. Where they are
// so along another dimension (`transpose`), the sums are transposed in
// registers before they are stored: rows of the tile become lanes, by as many
// rounds of shuffles as its width has bits. Rows that are neighbours in memory
// are stored together.
//
//===----------------------------------------------------------------------===//

#include "ContractionEmitter.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "Transpose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

unsigned ContractionEmitter::getNumCopies() const {
  unsigned number = 1;
  for (int64_t size : sizes)
    number *= size;
  return number;
}

/// Copies are numbered along the dimensions of the stage, that of the lanes
/// last: the vectors of a row follow each other.
ContractionEmitter::Copy ContractionEmitter::getCopy(unsigned number) const {
  Copy copy(sizes.size(), 0);
  auto take = [&](int64_t dim) {
    copy[dim] = number % sizes[dim];
    number /= sizes[dim];
  };
  take(lanesDim);
  for (int64_t dim = sizes.size(); dim-- > 0;)
    if (dim != lanesDim)
      take(dim);
  return copy;
}

unsigned ContractionEmitter::getNumber(const Copy &copy) const {
  unsigned number = 0;
  for (int64_t dim = 0, end = sizes.size(); dim < end; ++dim)
    if (dim != lanesDim)
      number = number * sizes[dim] + copy[dim];
  return number * sizes[lanesDim] + copy[lanesDim];
}

/// The value of an expression of constant steps in a copy, for the first lane.
Value ContractionEmitter::emitExpr(AffineExpr expr, const Copy &copy) {
  Value &base = bases[expr];
  if (!base)
    base = emitAffine(b, loc, expr, position, bindings.symbols);
  int64_t distance = 0;
  Value result = base;
  for (auto [dim, number] : llvm::enumerate(copy)) {
    int64_t step = number == 0 ? 0 : *stage.getStep(expr, dim);
    if (step == 0)
      continue;
    bool isLane = static_cast<int64_t>(dim) == lanesDim;
    if (!left[dim] || isLane || number < whole[dim]) {
      distance += number * step * (isLane ? lanes : 1);
      continue;
    }
    // Behind the end the last iteration is done again.
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value last = arith::SubIOp::create(b, loc, left[dim], one);
    Value at = arith::MinSIOp::create(
        b, loc, arith::ConstantIndexOp::create(b, loc, number), last);
    Value factor = arith::ConstantIndexOp::create(b, loc, step);
    result = arith::AddIOp::create(b, loc, result,
                                   arith::MulIOp::create(b, loc, at, factor));
  }
  return emitIndexAdd(b, loc, result, distance);
}

/// Returns whether a copy lies before the ends of its loops; null if it must.
Value ContractionEmitter::getValid(const Copy &copy) {
  Value valid;
  for (auto [dim, number] : llvm::enumerate(copy))
    if (left[dim] && number > 0 && number >= whole[dim] &&
        static_cast<int64_t>(dim) != lanesDim) {
      Value at = arith::ConstantIndexOp::create(b, loc, number);
      valid = emitAnd(b, loc, valid,
                      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                            at, left[dim]));
    }
  return valid;
}

/// The lanes of a copy that lie before the end of their loop; null for all.
Value ContractionEmitter::getLaneMask(const Copy &copy) {
  if (!left[lanesDim])
    return nullptr;
  int64_t before = copy[lanesDim] * lanes;
  if (copy[lanesDim] < whole[lanesDim])
    return nullptr;
  return emitTailMask(b, loc, emitIndexAdd(b, loc, left[lanesDim], -before),
                      lanes);
}

/// Evaluation of the body for a copy. Copies behind the end of a loop exist all
/// the same: they are not stored.
class ContractionEmitter::CopyIteration : public Iteration {
public:
  CopyIteration(ContractionEmitter &owner, const Copy &copy)
      : Iteration(owner.lanesDim), owner(owner), copy(copy) {}

  Value emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const override {
    return owner.emitExpr(expr, copy);
  }
  Value getValue(Value value) const override {
    return owner.getValue(value, copy);
  }
  Value emitMask() const override { return owner.getLaneMask(copy); }

private:
  ContractionEmitter &owner;
  const Copy &copy;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A value of the body in a copy; one that does not depend on a dimension is
/// the same in all copies along it.
Value ContractionEmitter::getValue(Value value, Copy copy) {
  for (auto [dim, number] : llvm::enumerate(copy))
    if (!stage.getLoopsOf(value).test(dim))
      number = 0;
  std::pair<void *, unsigned> key(value.getAsOpaquePointer(), getNumber(copy));
  if (auto found = values.find(key); found != values.end())
    return found->second;
  Value result = body.emitValue(value, CopyIteration(*this, copy));
  values[key] = result;
  return result;
}

/// Asks for the vectors that some later iteration of the innermost loop reads.
void ContractionEmitter::prefetch() {
  int64_t dim = schedule.getLevels().back().dim;
  for (const StageRead &read : stage.reads) {
    auto step = stage.getStep(read.place.offset, dim);
    if (!stage.getLoopsOf(read.value).test(lanesDim) || !step)
      continue;
    Copy copy(sizes.size(), 0);
    for (; copy[lanesDim] < sizes[lanesDim]; ++copy[lanesDim]) {
      Value offset = emitIndexAdd(b, loc, emitExpr(read.place.offset, copy),
                                  *step * schedule.getPrefetch());
      emitPrefetch(b, loc, bindings.sources.lookup(read.source), offset);
    }
  }
}

void ContractionEmitter::accumulate() {
  bases.clear();
  values.clear();
  if (schedule.getPrefetch() > 0)
    prefetch();
  for (auto [number, sum] : llvm::enumerate(accumulators)) {
    Value value = getValue(stage.writes.front().value, getCopy(number));
    value = broadcastTo(b, loc, reduction.emitWiden(b, loc, value), lanes);
    sum = reduction.emitCombine(b, loc, sum, value);
  }
  bases.clear();
  values.clear();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Stores sums, or adds them to memory, where blocks of the sum stand outside.
void ContractionEmitter::storeTile() {
  auto store = [&](bool adds) {
    bases.clear();
    schedule.getTranspose() < 0 ? storeCopies(adds) : storeTransposed(adds);
    bases.clear();
  };
  if (!isFirst) {
    store(/*adds=*/false);
    return;
  }
  auto ifOp = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  store(/*adds=*/false);
  b.setInsertionPointToStart(ifOp.elseBlock());
  store(/*adds=*/true);
}

/// Lanes that are `step` elements apart.
LaneAddress ContractionEmitter::emitAddress(Value offset, int64_t step) {
  if (step == 1)
    return {offset, 1, {}};
  Value numbers =
      vector::StepOp::create(b, loc, VectorType::get(lanes, b.getIndexType()));
  Value steps =
      broadcastTo(b, loc, arith::ConstantIndexOp::create(b, loc, step), lanes);
  return {offset, step, arith::MulIOp::create(b, loc, numbers, steps)};
}

/// Stores a vector, or adds it to what is in memory.
void ContractionEmitter::emitStore(Value value, const LaneAddress &at,
                                   Value mask, bool adds) {
  Value buffer = bindings.results.front();
  if (adds) {
    auto type = cast<VectorType>(value.getType());
    Value old = emitVectorLoad(b, loc, type, buffer, at, mask);
    value = reduction.emitCombine(b, loc, old, value);
  }
  emitVectorStore(b, loc, value, buffer, at, mask);
}

void ContractionEmitter::storeCopies(bool adds) {
  const StageWrite &write = stage.writes.front();
  for (auto [number, sum] : llvm::enumerate(accumulators)) {
    Copy copy = getCopy(number);
    Condition exists{getValid(copy), getLaneMask(copy)};
    body.addChecks(write.place.rangeChecks, CopyIteration(*this, copy), exists);
    Value offset = emitExpr(write.place.offset, copy);
    Value result = reduction.emitNarrow(b, loc, sum);
    emitIf(b, loc, exists.scalar, [&] {
      int64_t step = *stage.getStep(write.place.offset, lanesDim);
      emitStore(result, emitAddress(offset, step), exists.lanes, adds);
    });
  }
}

/// Stores each vector along the lanes as columns: the rows of the tile, so many
/// as there are lanes at a time.
void ContractionEmitter::storeTransposed(bool adds) {
  // Outside of the guards of lanes.
  emitExpr(stage.writes.front().place.offset, getCopy(0));
  for (AffineExpr check : stage.writes.front().place.rangeChecks)
    emitExpr(check, getCopy(0));
  SmallVector<unsigned> rows;
  for (unsigned number = 0; number < accumulators.size(); ++number)
    if (getCopy(number)[lanesDim] == 0)
      rows.push_back(number);
  for (int64_t vector = 0; vector < sizes[lanesDim]; ++vector)
    for (size_t first = 0; first < rows.size(); first += lanes)
      storeColumns(ArrayRef(rows).slice(
                       first, std::min<size_t>(lanes, rows.size() - first)),
                   vector, adds);
}

void ContractionEmitter::storeColumns(ArrayRef<unsigned> rows, int64_t vector,
                                      bool adds) {
  const StageWrite &write = stage.writes.front();
  SmallVector<Value, 4> sums;
  for (unsigned row : rows)
    sums.push_back(reduction.emitNarrow(b, loc, accumulators[row + vector]));
  sums.resize(lanes, sums.back());
  SmallVector<Value, 4> columns = emitTranspose(b, loc, std::move(sums), lanes);
  // Rows that are neighbours in memory, and all of which there are.
  auto isNeighbour = [&](unsigned row, unsigned next) {
    Copy copy = getCopy(row), other = getCopy(next);
    int64_t distance = 0;
    for (int64_t dim = 0, end = sizes.size(); dim < end; ++dim)
      if (other[dim] != copy[dim])
        distance +=
            (other[dim] - copy[dim]) * *stage.getStep(write.place.offset, dim);
    return distance == 1;
  };
  for (auto [lane, column] : llvm::enumerate(columns))
    for (unsigned begin = 0, end; begin < rows.size(); begin = end) {
      end = begin + 1;
      while (end < rows.size() && isNeighbour(rows[end - 1], rows[end]))
        ++end;
      storeRun(column, begin, rows.slice(begin, end - begin),
               vector * lanes + lane, adds);
    }
}

/// Which of the lanes hold one of `rows` that is before the ends of its loops;
/// null if all do.
Value ContractionEmitter::getRowMask(ArrayRef<unsigned> rows) {
  auto type = VectorType::get(lanes, b.getI1Type());
  SmallVector<bool> exists(lanes, false);
  std::fill_n(exists.begin(), rows.size(), true);
  Value mask = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(exists)));
  bool isWhole = static_cast<int64_t>(rows.size()) == lanes;
  for (auto [lane, row] : llvm::enumerate(rows))
    if (Value valid = getValid(getCopy(row))) {
      isWhole = false;
      mask = vector::InsertOp::create(b, loc, valid, mask,
                                      static_cast<int64_t>(lane));
    }
  return isWhole ? Value() : mask;
}

/// Returns whether the tile's lane is before the ends of its loops; null if it
/// must.
Value ContractionEmitter::emitIsLaneValid(int64_t lane, const Copy &copy) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value valid;
  if (left[lanesDim])
    valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                  emitIndexAdd(b, loc, left[lanesDim], -lane),
                                  zero);
  for (AffineExpr check : stage.writes.front().place.rangeChecks) {
    Value number = emitIndexAdd(b, loc, emitExpr(check, copy),
                                lane * *stage.getStep(check, lanesDim));
    valid = emitAnd(
        b, loc, valid,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, number, zero));
  }
  return valid;
}

/// Stores the elements of a column, one for each of `rows`, which are
/// neighbours in memory; the first of them stands at `position`.
void ContractionEmitter::storeRun(Value column, unsigned position,
                                  ArrayRef<unsigned> rows, int64_t lane,
                                  bool adds) {
  AffineExpr place = stage.writes.front().place.offset;
  if (position > 0) {
    SmallVector<int64_t> order(lanes, 0);
    std::iota(order.begin(), order.begin() + rows.size(), position);
    column = vector::ShuffleOp::create(b, loc, column, column, order);
  }
  Copy copy = getCopy(rows.front());
  // The first row itself may be behind an end, and others after it are not.
  int64_t distance = lane * *stage.getStep(place, lanesDim);
  for (auto [dim, number] : llvm::enumerate(copy))
    if (number > 0)
      distance += number * *stage.getStep(place, dim);
  emitIf(b, loc, emitIsLaneValid(lane, copy), [&] {
    Value first = emitExpr(place, getCopy(0));
    Value offset = emitIndexAdd(b, loc, first, distance);
    emitStore(column, {offset, 1, {}}, getRowMask(rows), adds);
  });
}
