//===- ThreadTile.cpp - A body in the registers of a thread ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that depends on the dimension of the lanes is a vector. It is
// accessed as one where its elements are neighbours in memory and either all or
// none of them are to be accessed; otherwise lane by lane. There are no masks:
// a GPU has no instruction that takes one.
//
// Places of a tile's elements are that of its first and constants, where steps
// are constant: one address serves all accesses.
//
// Elements of other blocks of a cluster are read one by one.
//
// If the tile may reach behind the end of a dimension, each access stands under
// a condition, and what is not read is the fill value. Arithmetic is done on it
// in any case, and dropped.
//
//===----------------------------------------------------------------------===//

#include "ThreadTile.h"
#include "Addresses.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

ThreadTile::ThreadTile(OpBuilder &b, const ThreadLevels &levels,
                       const StageBindings &bindings)
    : b(b), loc(levels.getStage().op->getLoc()), levels(levels),
      stage(levels.getStage()),
      emitter(b, stage, bindings, levels.getSchedule().getVectorWidth()),
      lanes(levels.getSchedule().getVectorWidth()),
      lanesDim(levels.getSchedule().getVectorDim()) {
  state.positions.resize(levels.getNumDims());
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// The dimension along which a point has lanes.
static int64_t findVectorLoop(const ThreadTile &tile, const TilePlace &place,
                              int64_t dim) {
  return tile.getNumLanes() > 1 && place.lane < 0 ? dim : -1;
}

ThreadTile::Point::Point(ThreadTile &owner, TilePlace place, Dims dims)
    : Iteration(findVectorLoop(owner, place, owner.lanesDim)), owner(owner),
      place(std::move(place)), dims(std::move(dims)) {}

Value ThreadTile::Point::emitIndex(AffineExpr expr,
                                   ArrayRef<Value> symbols) const {
  SmallVector<Value> positions(owner.levels.getNumDims());
  int64_t constant = 0;
  for (auto [dim, position] : llvm::enumerate(positions)) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> step = owner.stage.getStep(expr, dim);
    position =
        step ? owner.state.positions[dim] : owner.emitPosition(dim, place);
    if (step)
      constant += *step * owner.getDistance(dim, place);
  }
  Value first = emitAffine(owner.b, owner.loc, expr, positions, symbols);
  return emitIndexAdd(owner.b, owner.loc, first, constant);
}

Value ThreadTile::Point::getValue(Value value) const {
  return owner.getValue(value, place);
}

std::pair<Iteration::Bound, Iteration::Bound>
ThreadTile::Point::getBounds(unsigned loop) const {
  int64_t extent = owner.stage.getStaticExtent(loop);
  if (ShapedType::isDynamic(extent))
    return {};
  // Loops that vary are the same code however long they are.
  if (owner.stage.isVarying(loop))
    return {0, std::nullopt};
  return {0, extent - 1};
}

Value ThreadTile::Point::emitExists() const {
  return owner.emitExists(place, dims);
}

Value ThreadTile::Point::emitElement(OpBuilder &b, Location loc, Value buffer,
                                     Value place) const {
  int64_t elements = owner.clusterMemories.lookup(buffer);
  if (elements == 0)
    return Iteration::emitElement(b, loc, buffer, place);
  Value size = arith::ConstantIndexOp::create(b, loc, elements);
  Value block = arith::DivUIOp::create(b, loc, place, size);
  Value own = arith::RemUIOp::create(b, loc, place, size);
  return emitClusterLoad(b, loc, buffer, own, block);
}

int64_t ThreadTile::Point::getDivisor(AffineExpr expr) const {
  if (place.lane >= 0)
    return 1;
  MLIRContext *context = expr.getContext();
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < owner.levels.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim, context) *
                   owner.levels.getDivisor(dim));
  expr = expr.replaceDims(dims);
  for (auto [symbol, divisor] : owner.divisors) {
    AffineExpr number = getAffineSymbolExpr(symbol, context);
    expr = expr.replace(number, number * divisor);
  }
  int64_t divisor = expr.getLargestKnownDivisor();
  // 0 has every divisor.
  return divisor == 0 ? owner.lanes : divisor;
}

int64_t ThreadTile::getDistance(int64_t dim, const TilePlace &place) const {
  int64_t distance = place.copies[dim] * levels.getSweep(dim);
  if (dim == lanesDim && place.lane > 0)
    distance += place.lane;
  return distance;
}

Value ThreadTile::emitPosition(int64_t dim, const TilePlace &place) {
  return emitIndexAdd(b, loc, state.positions[dim], getDistance(dim, place));
}

Value ThreadTile::emitExists(const TilePlace &place, const Dims &dims) {
  Value exists;
  if (state.isWhole)
    return exists;
  for (unsigned dim : dims.set_bits()) {
    if (!levels.mayExceed(dim))
      continue;
    Value extent =
        emitter.emitExpr(stage.extents[dim], Point(*this, place, dims));
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           emitPosition(dim, place), extent);
    exists = emitAnd(b, loc, exists, isInside);
  }
  return exists;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

TilePlace ThreadTile::getPlace(unsigned number, const Dims &dims) const {
  TilePlace place{SmallVector<int64_t>(levels.getNumDims(), 0)};
  for (int64_t dim = levels.getNumDims(); dim-- > 0;)
    if (dims.test(dim)) {
      place.copies[dim] = number % levels.getNumCopies(dim);
      number /= levels.getNumCopies(dim);
    }
  return place;
}

void ThreadTile::forEachPlace(
    const Dims &dims, llvm::function_ref<void(const TilePlace &)> visit) const {
  unsigned count = getNumCopies(dims);
  for (unsigned number = 0; number < count; ++number)
    visit(getPlace(number, dims));
}

unsigned ThreadTile::getNumCopies(const Dims &dims) const {
  unsigned count = 1;
  for (unsigned dim : dims.set_bits())
    count *= levels.getNumCopies(dim);
  return count;
}

unsigned ThreadTile::getNumber(const TilePlace &place, const Dims &dims) const {
  unsigned number = 0;
  for (unsigned dim : dims.set_bits())
    number = number * levels.getNumCopies(dim) + place.copies[dim];
  return number;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns whether all lanes of a place are accessed or none, as neighbours.
bool ThreadTile::isVectorAccess(const StagePlace &place) const {
  auto dependsOnLanes = [&](AffineExpr expr) {
    return stage.dependsOn(expr, lanesDim);
  };
  return stage.getStep(place.offset, lanesDim) == 1 &&
         llvm::none_of(place.rangeChecks, dependsOnLanes) &&
         llvm::none_of(place.conditions, dependsOnLanes);
}

/// Returns whether the lanes of a read's value are read at once: neighbours, or
/// one element for all, of which conditions may choose some.
bool ThreadTile::canReadVector(const StageRead &read) const {
  bool isWhole = !splitsVectors() || unguarded.contains(read.value);
  if (inCluster.contains(read.value))
    return false;
  if (isVectorAccess(read.place))
    return isWhole;
  auto dependsOnLanes = [&](AffineExpr expr) {
    return stage.dependsOn(expr, lanesDim);
  };
  return !dependsOnLanes(read.place.offset) &&
         llvm::none_of(read.place.rangeChecks, dependsOnLanes) && isWhole;
}

/// Returns the value of the writer's copy; dimensions of both are those that
/// number the same one of the tensor.
Value ThreadTile::getKept(Value value, const TilePlace &place) const {
  const RegisterValue *kept = registers.lookup(value);
  const StageRead &read = *stage.findRead(value);
  unsigned number = 0;
  for (unsigned dim : kept->dims.set_bits()) {
    int64_t copy = 0;
    for (auto [there, here] :
         llvm::zip_equal(kept->write->map.getResults(), read.map.getResults()))
      if (there.isFunctionOfDim(dim))
        if (auto reader = dyn_cast<AffineDimExpr>(here))
          copy = place.copies[reader.getPosition()];
    number = number * kept->levels->getNumCopies(dim) + copy;
  }
  return kept->copies[number];
}

Value ThreadTile::getValue(Value value, const TilePlace &place) {
  const Copies &copies = state.values.find(value)->second;
  Value found = copies[getNumber(place, stage.getLoopsOf(value))];
  if (place.lane >= 0 && isa<VectorType>(found.getType()))
    return vector::ExtractOp::create(b, loc, found, place.lane);
  return found;
}

Value ThreadTile::getOperand(Value value, Value operand, unsigned copy) {
  return getValue(operand, getPlace(copy, stage.getLoopsOf(value)));
}

bool ThreadTile::isGuarded(Value value) const {
  if (stage.findRead(value) == stage.reads.end() || unguarded.contains(value) ||
      registers.contains(value))
    return false;
  return llvm::any_of(stage.getLoopsOf(value).set_bits(),
                      [&](unsigned dim) { return levels.mayExceed(dim); });
}

Value ThreadTile::emitCopy(Value value, const TilePlace &place,
                           const Dims &dims) {
  if (registers.contains(value))
    return getKept(value, place);
  const StageRead *read = stage.findRead(value);
  bool isRead = read != stage.reads.end();
  Dims heeded =
      isRead && !unguarded.contains(value) ? dims : Dims(levels.getNumDims());
  if (!hasLanes(dims) || !isRead || canReadVector(*read))
    return emitter.emitValue(value, Point(*this, place, heeded));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(
        emitter.emitValue(value, Point(*this, place.withLane(lane), heeded)));
  auto type = VectorType::get(lanes, elements.front().getType());
  return vector::FromElementsOp::create(b, loc, type, elements);
}

void ThreadTile::emit(Value value) {
  const Dims &dims = stage.getLoopsOf(value);
  Copies copies;
  forEachPlace(dims, [&](const TilePlace &place) {
    copies.push_back(emitCopy(value, place, dims));
  });
  state.values[value] = std::move(copies);
}

void ThreadTile::store(const StageWrite &write, Value value,
                       const TilePlace &place, Value condition) {
  auto storeAt = [&](const TilePlace &at, Value element) {
    Point point(*this, at, write.loops);
    Condition inRange;
    emitter.addChecks(write.place.rangeChecks, point, inRange);
    Value exists = emitAnd(b, loc, condition, point.emitExists());
    emitIf(b, loc, emitAnd(b, loc, exists, inRange.scalar),
           [&] { emitter.emitStore(write, element, /*mask=*/{}, point); });
  };
  bool isVector = isVectorAccess(write.place) && !splitsVectors();
  if (!hasLanes(write.loops) || isVector) {
    storeAt(place, value);
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value element = value;
    if (isa<VectorType>(value.getType()))
      element = vector::ExtractOp::create(b, loc, value, lane);
    storeAt(place.withLane(lane), element);
  }
}
