//===- ThreadSums.cpp - What threads have of reductions -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread has an accumulator for each copy that a result keeps: a vector where
// it keeps the dimension of the lanes. They travel through loops as scf.for
// arguments. The copies along reduced dimensions are combined as a tree before
// they are added: fewer registers, and a chain of one addition for each step.
// So are the lanes along one.
//
// Iterations that are not there, or that the write leaves out, are the
// identity.
//
//===----------------------------------------------------------------------===//

#include "ThreadSums.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

ThreadSums::ThreadSums(GpuFunction &function, ThreadTile &tile, unsigned opened)
    : function(function), b(function.getBuilder()), loc(function.getLoc()),
      tile(tile), levels(tile.getLevels()), stage(levels.getStage()) {
  for (const StageWrite &write : stage.writes)
    startOf.push_back(isCombined(write) ? levels.getSumDepth(write, opened)
                                        : levels.getNumLevels() + 1);
  registers.resize(stage.writes.size());
}

Reduction ThreadSums::getReduction(const StageWrite &write) const {
  return {*write.kind, getElementTypeOrSelf(write.value)};
}

Value ThreadSums::emitIdentity(const StageWrite &write) const {
  int64_t lanes = tile.hasLanes(write.loops) ? tile.getNumLanes() : 1;
  return getReduction(write).emitIdentity(b, loc, lanes);
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

bool ThreadSums::isGuarded(const StageWrite &write) const {
  for (int64_t dim = 0; dim < levels.getNumDims(); ++dim)
    if (!write.loops.test(dim) && levels.mayExceed(dim))
      return true;
  return false;
}

/// Returns whether an iteration, or each lane of a vector of them, takes part;
/// null for always. Along the dimensions that are kept, what does not exist is
/// dropped when results are stored.
Value ThreadSums::emitTakesPart(const StageWrite &write,
                                const TilePlace &place) {
  llvm::SmallBitVector reduced = write.loops;
  reduced.flip();
  auto emitAt = [&](const TilePlace &at) {
    ThreadTile::Point point(tile, at, reduced);
    Condition condition;
    tile.getEmitter().addChecks(write.place.rangeChecks, point, condition);
    tile.getEmitter().addChecks(write.place.conditions, point, condition);
    condition.scalar = emitAnd(b, loc, condition.scalar, point.emitExists());
    return condition;
  };
  int64_t lanes = tile.getNumLanes();
  if (lanes > 1 && tile.splitsVectors() && tile.hasLanes(reduced)) {
    SmallVector<Value> each;
    for (int64_t lane = 0; lane < lanes; ++lane)
      each.push_back(emitAt(place.withLane(lane)).scalar);
    return vector::FromElementsOp::create(
        b, loc, VectorType::get(lanes, b.getI1Type()), each);
  }
  Condition condition = emitAt(place);
  return condition.lanes ? tile.getEmitter().emitMask(condition)
                         : condition.scalar;
}

/// Emits the addend of a copy: a vector where the write keeps the lanes, or has
/// to add them up.
Value ThreadSums::emitTerm(const StageWrite &write, const TilePlace &place) {
  Reduction reduction = getReduction(write);
  Value value = reduction.emitWiden(b, loc, tile.getValue(write.value, place));
  value = broadcastTo(b, loc, value, tile.getNumLanes());
  Value guard = emitTakesPart(write, place);
  if (!guard)
    return value;
  Value identity = reduction.emitIdentity(b, loc, tile.getNumLanes());
  return arith::SelectOp::create(b, loc, guard, value, identity);
}

Value ThreadSums::emitTree(const Reduction &reduction,
                           MutableArrayRef<Value> values) {
  for (size_t count = values.size(); count > 1; count = (count + 1) / 2)
    for (size_t i = 0; i < count / 2; ++i)
      values[i] =
          reduction.emitCombine(b, loc, values[i], values[i + (count + 1) / 2]);
  return values.front();
}

Value ThreadSums::emitAcrossLanes(const Reduction &reduction, Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    lanes.push_back(vector::ExtractOp::create(b, loc, vector, lane));
  return emitTree(reduction, lanes);
}

void ThreadSums::accumulate(unsigned index) {
  const StageWrite &write = stage.writes[index];
  Reduction reduction = getReduction(write);
  SmallVector<SmallVector<Value>> terms(registers[index].size());
  tile.forEachPlace(tile.getAllDims(), [&](const TilePlace &place) {
    terms[tile.getNumber(place, write.loops)].push_back(emitTerm(write, place));
  });
  for (auto [sum, parts] : llvm::zip_equal(registers[index], terms)) {
    Value part = emitTree(reduction, parts);
    if (!tile.hasLanes(write.loops))
      part = emitAcrossLanes(reduction, part);
    sum = reduction.emitCombine(b, loc, sum, part);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void ThreadSums::open(unsigned depth) {
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (startOf[i] == depth)
      registers[i].assign(tile.getNumCopies(write.loops), emitIdentity(write));
}

void ThreadSums::close(unsigned depth, bool isRepeated, TakeFn take) {
  SmallVector<ThreadPartials> partials;
  SmallVector<unsigned> numbers;
  for (auto [i, write] : llvm::enumerate(stage.writes)) {
    if (startOf[i] != depth)
      continue;
    numbers.push_back(i);
    partials.push_back(
        {getReduction(write), write.loops, std::move(registers[i])});
    registers[i].clear();
  }
  if (partials.empty())
    return;
  emitBlockReduction(function, levels, partials, isRepeated);
  for (auto [number, part] : llvm::zip_equal(numbers, partials)) {
    for (Value &value : part.values)
      value = part.reduction.emitNarrow(b, loc, value);
    take(number, std::move(part.values));
  }
}

SmallVector<Value> ThreadSums::getActive(unsigned depth) const {
  SmallVector<Value> active;
  for (auto [copies, start] : llvm::zip_equal(registers, startOf))
    if (start <= depth)
      active.append(copies.begin(), copies.end());
  return active;
}

void ThreadSums::setActive(unsigned depth, ValueRange active) {
  for (auto [copies, start] : llvm::zip_equal(registers, startOf))
    if (start <= depth)
      for (Value &copy : copies) {
        copy = active.front();
        active = active.drop_front();
      }
}

void ThreadSums::emitAnew(unsigned depth, ValueRange before,
                          llvm::function_ref<void()> emit) {
  auto forActive = [&](auto change) {
    for (auto [i, write] : llvm::enumerate(stage.writes))
      if (startOf[i] <= depth && !registers[i].empty())
        change(write, registers[i]);
  };
  forActive([&](const StageWrite &write, ThreadTile::Copies &copies) {
    copies.assign(copies.size(), emitIdentity(write));
  });
  emit();
  forActive([&](const StageWrite &write, ThreadTile::Copies &copies) {
    for (Value &copy : copies) {
      copy = getReduction(write).emitCombine(b, loc, before.front(), copy);
      before = before.drop_front();
    }
  });
}

bool ThreadSums::accumulateError(unsigned depth) const {
  for (auto [write, start] : llvm::zip_equal(stage.writes, startOf))
    if (start <= depth && getReduction(write).accumulatesError())
      return true;
  return false;
}

bool ThreadSums::startOutside(unsigned depth) const {
  for (auto [write, start] : llvm::zip_equal(stage.writes, startOf))
    if (start < depth && isCombined(write))
      return true;
  return false;
}
