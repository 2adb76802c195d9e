//===- BodyEmitter.cpp - Values of a stage's body -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that depends on the loop of the lanes is a vector; any other is a
// scalar, and broadcast where it meets vectors. Along that loop a place is
// invariant, of unit step, of a short step, of a constant step, or anything
// else; each has its own load: a scalar, a vector load, several with shuffles,
// a gather from constant lane offsets, a gather from computed offsets.
//
// Guards that do not depend on the lane are scalar conditions; the others are
// masks; those that hold wherever the iteration may be are none. What is not
// read is the read's fill value.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

Iteration::~Iteration() = default;

Value Iteration::emitElement(OpBuilder &b, Location loc, Value buffer,
                             Value place) const {
  return memref::LoadOp::create(b, loc, buffer, place);
}

Value LoopIteration::emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const {
  return emitAffine(b, loc, expr, loops, symbols);
}

//===----------------------------------------------------------------------===//
// Expressions and conditions
//===----------------------------------------------------------------------===//

/// The symbols that an expression uses; numbers out of tensors are those of the
/// iteration.
SmallVector<Value> BodyEmitter::emitSymbols(AffineExpr expr,
                                            const Iteration &at) {
  SmallVector<Value> symbols(bindings.symbols);
  for (auto [i, symbol] : llvm::enumerate(stage.symbols)) {
    if (symbol.kind != StageSymbol::Kind::Indirect ||
        !expr.isFunctionOfSymbol(i))
      continue;
    Value number = at.getValue(symbol.value);
    symbols[i] = emitIndexOf(b, loc, number, bindings.getLimit(i));
  }
  return symbols;
}

Value BodyEmitter::emitExpr(AffineExpr expr, const Iteration &at) {
  return at.emitIndex(expr, emitSymbols(expr, at));
}

/// The variables of the loops that some expressions use, that of the lanes as a
/// vector.
SmallVector<Value> BodyEmitter::emitLaneLoops(ArrayRef<AffineExpr> exprs,
                                              const Iteration &at) {
  SmallVector<Value> loops(stage.getNumLoops());
  for (auto [loop, variable] : llvm::enumerate(loops))
    if (llvm::any_of(exprs, [loop = loop](AffineExpr expr) {
          return expr.isFunctionOfDim(loop);
        }))
      variable = at.emitIndex(b.getAffineDimExpr(loop), bindings.symbols);
  if (at.getVectorLoop() < 0 || !loops[at.getVectorLoop()])
    return loops;
  Value &variable = loops[at.getVectorLoop()];
  variable = broadcastTo(b, loc, variable, lanes);
  Value steps =
      vector::StepOp::create(b, loc, VectorType::get(lanes, b.getIndexType()));
  variable = arith::AddIOp::create(b, loc, variable, steps);
  return loops;
}

/// The number of an expression of the loops in each lane.
Value BodyEmitter::emitLaneExpr(AffineExpr expr, const Iteration &at) {
  SmallVector<Value> symbols = emitSymbols(expr, at);
  return emitAffine(b, loc, expr, emitLaneLoops(expr, at), symbols);
}

/// Returns whether a check may leave 62 bits. Then it wraps, and is no longer
/// linear in the loops. Numbers out of tensors count as what indices are.
static bool mayWrap(const Stage &stage, AffineExpr check) {
  auto magnitude = findMagnitude(
      check,
      [&](unsigned loop) -> int64_t {
        int64_t extent = stage.getStaticExtent(loop);
        return ShapedType::isDynamic(extent) ? INT32_MAX : extent;
      },
      [](unsigned) -> int64_t { return INT32_MAX; });
  return *magnitude >= int64_t(1) << 62;
}

/// Emits the test that `check` is at least 0, of each lane if it depends on
/// them.
Value BodyEmitter::emitCheck(AffineExpr check, const Iteration &at) {
  if (!dependsOnLanes(check, at)) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                 emitExpr(check, at), zero);
  }
  if (auto step = stage.getStep(check, at.getVectorLoop());
      step && !mayWrap(stage, check))
    return emitLinearMask(b, loc, emitExpr(check, at), *step, lanes);
  Value numbers = emitLaneExpr(check, at);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, numbers,
                               broadcastTo(b, loc, zero, lanes));
}

using LoopBounds = std::pair<Iteration::Bound, Iteration::Bound>;

/// Returns the least that a check can be between bounds of the loops; none if
/// that is not known.
static Iteration::Bound
getLeast(const Stage &stage, AffineExpr check,
         llvm::function_ref<LoopBounds(unsigned)> getBounds) {
  unsigned numSymbols = stage.symbols.size();
  SmallVector<Iteration::Bound> least, most;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    auto [lower, upper] = getBounds(loop);
    least.push_back(lower);
    most.push_back(upper);
  }
  least.resize(least.size() + numSymbols);
  most.resize(most.size() + numSymbols);
  return getBoundForAffineExpr(check, stage.getNumLoops(), numSymbols, least,
                               most, /*isUpper=*/false);
}

/// Returns whether `check` is at least 0 wherever the iteration may be: of the
/// rows of a tile, the first alone may lie in front of an image, and of the
/// places of a window that is emitted, few.
bool BodyEmitter::mustHold(AffineExpr check, const Iteration &at) const {
  if (llvm::is_contained(holding, check))
    return true;
  if (mayWrap(stage, check))
    return false;
  auto least =
      getLeast(stage, check, [&](unsigned loop) { return at.getBounds(loop); });
  return least && *least >= 0;
}

/// Returns whether a check may fail in an iteration of the stage that is far
/// from those in which it holds. Of a border that is read over, memory is there
/// as a rule.
static bool mayFailFar(const Stage &stage, AffineExpr check) {
  constexpr int64_t nearby = 1024;
  auto least = getLeast(stage, check, [&](unsigned loop) -> LoopBounds {
    int64_t extent = stage.getStaticExtent(loop);
    bool isKnown = !ShapedType::isDynamic(extent) && !stage.isVarying(loop);
    return {0, isKnown ? Iteration::Bound(extent - 1) : std::nullopt};
  });
  return !least || *least < -nearby;
}

/// Returns whether a check holds in any lane; null unless lanes differ in it,
/// and it may fail far from where it holds. A masked load from memory that is
/// not there does nothing, but takes hundreds of cycles to find that out.
Value BodyEmitter::emitNearCheck(AffineExpr check, const Iteration &at) {
  std::optional<int64_t> step = stage.getStep(check, at.getVectorLoop());
  if (!dependsOnLanes(check, at) || !step || mayWrap(stage, check) ||
      mustHold(check, at) || !mayFailFar(stage, check))
    return {};
  Value greatest = emitExpr(check, at);
  if (*step > 0)
    greatest = emitIndexAdd(b, loc, greatest, *step * (lanes - 1));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, greatest,
                               zero);
}

void BodyEmitter::addChecks(ArrayRef<AffineExpr> checks, const Iteration &at,
                            Condition &condition) {
  for (AffineExpr check : checks) {
    if (mustHold(check, at))
      continue;
    Value &all = dependsOnLanes(check, at) ? condition.lanes : condition.scalar;
    all = emitAnd(b, loc, all, emitCheck(check, at));
  }
}

Value BodyEmitter::emitMask(const Condition &condition) {
  Value everywhere = condition.scalar;
  if (everywhere)
    everywhere = broadcastTo(b, loc, everywhere, lanes);
  return emitAnd(b, loc, everywhere, condition.lanes);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LaneAddress BodyEmitter::emitAddress(AffineExpr offset, const Iteration &at) {
  std::optional<int64_t> step = stage.getStep(offset, at.getVectorLoop());
  if (step == 1)
    return {emitExpr(offset, at), 1, {}, at.getDivisor(offset)};
  if (!step || std::abs(*step) >= INT32_MAX / lanes) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value places = emitLaneExpr(offset, at);
    return {zero, 0, broadcastTo(b, loc, places, lanes)};
  }
  Value base = emitExpr(offset, at);
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto type = VectorType::get(lanes, b.getI32Type());
  Value lane = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  // The step is a number like other strides.
  Value factor = arith::IndexCastOp::create(
      b, loc, b.getI32Type(), arith::ConstantIndexOp::create(b, loc, *step));
  return {
      base, *step,
      arith::MulIOp::create(b, loc, lane, broadcastTo(b, loc, factor, lanes))};
}

LaneAddress BodyEmitter::emitReadAddress(AffineExpr offset,
                                         const Iteration &at) {
  if (auto step = stage.getStep(offset, at.getVectorLoop());
      step && isShortStep(*step, lanes))
    return {emitExpr(offset, at), *step, {}};
  return emitAddress(offset, at);
}

Value BodyEmitter::emitScalarLoad(const StagePlace &place, Value buffer,
                                  Type element, const Iteration &at) {
  Value loaded = at.emitElement(b, loc, buffer, emitExpr(place.offset, at));
  return toComputeType(b, loc, loaded, element);
}

bool BodyEmitter::isVector(const StageWrite &write, const Iteration &at) const {
  return at.getVectorLoop() >= 0 && write.loops.test(at.getVectorLoop());
}

Value BodyEmitter::emitLoad(const StageWrite &write, Value mask,
                            const Iteration &at) {
  Value buffer = bindings.results[write.result];
  Type element = getElementTypeOrSelf(write.value);
  if (!isVector(write, at))
    return emitScalarLoad(write.place, buffer, element, at);
  auto type = VectorType::get(lanes, getMemoryType(element));
  Value unread;
  if (mask)
    unread = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  LaneAddress address = emitReadAddress(write.place.offset, at);
  Value loaded = emitVectorLoad(b, loc, type, buffer, address, mask, unread);
  return toComputeType(b, loc, loaded, element);
}

void BodyEmitter::emitStore(const StageWrite &write, Value value, Value mask,
                            const Iteration &at, llvm::MaybeAlign stream) {
  Value buffer = bindings.results[write.result];
  value = toMemoryType(b, loc, value, getElementTypeOrSelf(write.value));
  if (!isVector(write, at)) {
    memref::StoreOp::create(b, loc, value, buffer,
                            emitExpr(write.place.offset, at));
    return;
  }
  value = broadcastTo(b, loc, value, lanes);
  LaneAddress address = emitAddress(write.place.offset, at);
  emitVectorStore(b, loc, value, buffer, address, mask, stream);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value BodyEmitter::emitFill(const StageRead &read) {
  Type element = getElementTypeOrSelf(read.value.getType());
  Type type = getStorageType(element);
  TypedAttr fill = read.fill ? read.fill : b.getZeroAttr(type);
  if (auto integer = dyn_cast<IntegerAttr>(fill))
    fill = IntegerAttr::get(type, integer.getValue());
  return arith::ConstantOp::create(b, loc, fill);
}

/// Emits a read where a guard holds, null for always, and else the fill.
static Value emitGuarded(OpBuilder &b, Location loc, Value guard, Type type,
                         llvm::function_ref<Value()> read,
                         llvm::function_ref<Value()> fill) {
  if (!guard)
    return read();
  auto ifOp = scf::IfOp::create(b, loc, type, guard, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, loc, read());
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, loc, fill());
  return ifOp.getResult(0);
}

Value BodyEmitter::emitScalarRead(const StageRead &read, Value guard,
                                  const Iteration &at) {
  Value buffer = bindings.sources.lookup(read.source);
  Type element = getElementTypeOrSelf(read.value.getType());
  return emitGuarded(
      b, loc, guard, getStorageType(element),
      [&] { return emitScalarLoad(read.place, buffer, element, at); },
      [&] { return emitFill(read); });
}

/// A branch rather than a mask without lanes; see `emitNearCheck`.
Value BodyEmitter::emitVectorRead(const StageRead &read,
                                  const Condition &condition,
                                  const Iteration &at) {
  Value buffer = bindings.sources.lookup(read.source);
  Type element = getElementTypeOrSelf(read.value.getType());
  Value mask = condition.lanes ? emitAnd(b, loc, condition.lanes, at.emitMask())
                               : at.getMask();
  auto load = [&] {
    auto type = VectorType::get(lanes, getMemoryType(element));
    Value fill;
    if (mask)
      fill = toMemoryType(b, loc, broadcastTo(b, loc, emitFill(read), lanes),
                          element);
    LaneAddress address = emitReadAddress(read.place.offset, at);
    Value loaded = emitVectorLoad(b, loc, type, buffer, address,
                                  mask ? mask : at.emitMask(), fill);
    return toComputeType(b, loc, loaded, element);
  };
  return emitGuarded(
      b, loc, condition.scalar, VectorType::get(lanes, getStorageType(element)),
      load, [&] { return broadcastTo(b, loc, emitFill(read), lanes); });
}

Value BodyEmitter::emitRead(const StageRead &read, const Iteration &at) {
  Condition inRange, isChosen;
  addChecks(read.place.rangeChecks, at, inRange);
  bool isVector = dependsOnLanes(read.value, at);
  bool movesInMemory = dependsOnLanes(read.place.offset, at) || inRange.lanes;
  if (!isVector || movesInMemory) {
    addChecks(read.place.conditions, at, inRange);
    inRange.scalar = emitAnd(b, loc, inRange.scalar, at.emitExists());
    if (isVector)
      for (AffineExpr check : read.place.rangeChecks)
        inRange.scalar =
            emitAnd(b, loc, inRange.scalar, emitNearCheck(check, at));
    return isVector ? emitVectorRead(read, inRange, at)
                    : emitScalarRead(read, inRange.scalar, at);
  }
  // One element for all lanes, of which conditions choose some.
  inRange.scalar = emitAnd(b, loc, inRange.scalar, at.emitExists());
  Value scalar = emitScalarRead(read, inRange.scalar, at);
  addChecks(read.place.conditions, at, isChosen);
  Value mask = emitMask(isChosen);
  if (!mask)
    return broadcastTo(b, loc, scalar, lanes);
  return arith::SelectOp::create(b, loc, mask,
                                 broadcastTo(b, loc, scalar, lanes),
                                 broadcastTo(b, loc, emitFill(read), lanes));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value BodyEmitter::emitElementwise(Operation *op, const Iteration &at) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(at.getValue(operand));
  if (llvm::any_of(operands, [](Value operand) {
        return isa<VectorType>(operand.getType());
      }))
    for (Value &operand : operands)
      operand = broadcastTo(b, loc, operand, lanes);
  return cast<ElementwiseOpInterface>(op).emitScalar(b, operands);
}

/// A value that is made of the place in the iteration space.
Value BodyEmitter::emitGenerator(Operation *op, const Iteration &at) {
  SmallVector<Value> operands, indices, extents;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value buffer = bindings.sources.lookup(operand);
      operands.push_back(memref::LoadOp::create(b, loc, buffer, zero));
    }
  if (!isa<ConstantOp>(op)) {
    // An iota stands outside of loops that others of its indices depend on.
    SmallVector<AffineExpr> places(stage.toIterationSpace.getResults());
    if (auto iota = dyn_cast<IotaOp>(op))
      for (auto [dim, place] : llvm::enumerate(places))
        if (iota.getDimension() != dim)
          place = b.getAffineConstantExpr(0);
    bool isVector = dependsOnLanes(op->getResult(0), at);
    SmallVector<Value> loops = emitLaneLoops(places, at);
    for (AffineExpr place : places) {
      Value value = emitAffine(b, loc, place, loops, bindings.symbols);
      indices.push_back(isVector ? broadcastTo(b, loc, value, lanes) : value);
    }
    for (AffineExpr extent : stage.spaceExtents)
      extents.push_back(emitAffine(b, loc, extent, {}, bindings.symbols));
  }
  return cast<GeneratorOpInterface>(op).emitElement(b, operands, indices,
                                                    extents);
}

Value BodyEmitter::emitValue(Value value, const Iteration &at) {
  const StageRead *read = stage.findRead(value);
  if (read != stage.reads.end())
    return emitRead(*read, at);
  Operation *op = value.getDefiningOp();
  return isa<ElementwiseOpInterface>(op) ? emitElementwise(op, at)
                                         : emitGenerator(op, at);
}
