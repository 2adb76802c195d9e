//===- StageValues.cpp - Reads, operations and stores of a stage ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that depends on the vector loop is a vector of lanes; any other is a
// scalar, computed once outside of the vector loop and broadcast where it meets
// vectors. Along the vector loop a place is invariant, of unit step, of a short
// step, of a constant step, or anything else; each has its own load: a scalar,
// a vector load, several with shuffles, a gather from constant lane offsets, a
// gather from computed offsets.
// Guards that do not depend on the lane are scalar conditions; the others are
// masks. Of a result that is stored past the caches, what is masked is not.
//
//===----------------------------------------------------------------------===//

#include "AffineEmitter.h"
#include "MetaOps/Transforms/Schedule/ShortSteps.h"
#include "MetaOps/Transforms/Schedule/StreamResults.h"
#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Expressions and guards
//===----------------------------------------------------------------------===//

SmallVector<Value> StageEmitter::getLoopValues(unsigned copy, bool asVector) {
  SmallVector<Value> loops(loopVariables);
  if (isUnrolled && copy && loops[unrollLoop]) {
    int64_t step = isVectorLoop(unrollLoop) ? lanes : 1;
    loops[unrollLoop] = emitIndexAdd(b, loc, loops[unrollLoop], copy * step);
    if (isClamped)
      loops[unrollLoop] = emitClamp(loops[unrollLoop]);
  }
  if (asVector && isVectorOpen()) {
    auto type = VectorType::get(lanes, b.getIndexType());
    Value first = broadcastTo(b, loc, loops[vectorLoop], lanes);
    Value steps = vector::StepOp::create(b, loc, type);
    loops[vectorLoop] = arith::AddIOp::create(b, loc, first, steps);
  }
  return loops;
}

Value StageEmitter::emitExpr(AffineExpr expr, unsigned copy, bool asVector) {
  SmallVector<Value> symbols(bindings.symbols);
  for (auto [i, symbol] : llvm::enumerate(stage.symbols)) {
    if (symbol.kind != StageSymbol::Kind::Indirect ||
        !expr.isFunctionOfSymbol(i))
      continue;
    Value number = getValue(symbol.value, copy);
    Type type = b.getIndexType();
    if (auto vector = dyn_cast<VectorType>(number.getType()))
      type = vector.clone(type);
    symbols[i] = arith::IndexCastOp::create(b, loc, type, number);
  }
  return emitAffine(b, loc, expr, getLoopValues(copy, asVector), symbols);
}

Value StageEmitter::mergeMask(Value guard, Value mask) {
  return emitAnd(b, loc, guard ? broadcastTo(b, loc, guard, lanes) : Value(),
                 mask);
}

void StageEmitter::addChecks(ArrayRef<AffineExpr> checks, unsigned copy,
                             Value &guard, Value &mask) {
  for (AffineExpr check : checks) {
    if (llvm::is_contained(ends, check))
      continue;
    if (!dependsOnVector(check)) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                          emitExpr(check, copy), zero);
      guard = emitAnd(b, loc, guard, holds);
      continue;
    }
    if (auto factor = stage.getStep(check, vectorLoop)) {
      mask = emitAnd(
          b, loc, mask,
          emitLinearMask(b, loc, emitExpr(check, copy), *factor, lanes));
      continue;
    }
    Value value = emitExpr(check, copy, /*asVector=*/true);
    Value zeros =
        broadcastTo(b, loc, arith::ConstantIndexOp::create(b, loc, 0), lanes);
    mask = emitAnd(
        b, loc, mask,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, zeros));
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value StageEmitter::toComputeType(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value StageEmitter::toMemoryType(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Type type = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), type);
  return arith::ExtUIOp::create(b, loc, type, value);
}

Value StageEmitter::emitLaneOffsets(AffineExpr offset, unsigned copy,
                                    Value &base) {
  if (auto step = stage.getStep(offset, vectorLoop);
      step && std::abs(*step) < INT32_MAX / lanes) {
    base = emitExpr(offset, copy);
    SmallVector<int32_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), 0);
    auto type = VectorType::get(lanes, b.getI32Type());
    Value lane = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    // The step is a number like other strides.
    Value factor = arith::IndexCastOp::create(
        b, loc, b.getI32Type(), arith::ConstantIndexOp::create(b, loc, *step));
    return arith::MulIOp::create(b, loc, lane,
                                 broadcastTo(b, loc, factor, lanes));
  }
  base = arith::ConstantIndexOp::create(b, loc, 0);
  return broadcastTo(b, loc, emitExpr(offset, copy, /*asVector=*/true), lanes);
}

static Value emitAllLanes(OpBuilder &b, Location loc, int64_t lanes) {
  auto type = VectorType::get(lanes, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true));
}

Value StageEmitter::emitLoad(const StagePlace &place, Value buffer,
                             Type element, unsigned copy, bool asVector,
                             Value mask, Value fill) {
  if (!asVector) {
    Value loaded =
        memref::LoadOp::create(b, loc, buffer, emitExpr(place.offset, copy));
    return toComputeType(loaded, element);
  }
  auto type = VectorType::get(lanes, getMemoryType(element));
  Value passThrough;
  if (mask)
    passThrough = fill ? toMemoryType(broadcastTo(b, loc, fill, lanes), element)
                       : arith::ConstantOp::create(b, loc, b.getZeroAttr(type))
                             .getResult();
  Value loaded;
  if (stage.getStep(place.offset, vectorLoop) == 1) {
    Value offset = emitExpr(place.offset, copy);
    if (mask)
      loaded = vector::MaskedLoadOp::create(
          b, loc, type, buffer, ValueRange{offset}, mask, passThrough);
    else
      loaded = vector::LoadOp::create(b, loc, type, buffer, ValueRange{offset});
    return toComputeType(loaded, element);
  }
  if (auto step = stage.getStep(place.offset, vectorLoop);
      step && isShortStep(*step, lanes))
    return toComputeType(
        emitRunLoad(place, buffer, type, *step, copy, mask, passThrough),
        element);
  Value base;
  Value offsets = emitLaneOffsets(place.offset, copy, base);
  if (!mask) {
    mask = emitAllLanes(b, loc, lanes);
    passThrough = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  loaded = vector::GatherOp::create(b, loc, type, buffer, ValueRange{base},
                                    offsets, mask, passThrough);
  return toComputeType(loaded, element);
}

llvm::MaybeAlign StageEmitter::getStream(const StageWrite &write) const {
  if (!llvm::is_contained(schedule.getStream(), write.result))
    return {};
  return llvm::Align(*getStreamAlignment(stage, write, schedule));
}

void StageEmitter::emitStore(const StagePlace &place, Value buffer,
                             Type element, unsigned copy, bool asVector,
                             Value mask, Value value, llvm::MaybeAlign stream) {
  value = toMemoryType(value, element);
  if (!asVector) {
    memref::StoreOp::create(b, loc, value, buffer,
                            emitExpr(place.offset, copy));
    return;
  }
  value = broadcastTo(b, loc, value, lanes);
  if (stage.getStep(place.offset, vectorLoop) == 1) {
    Value offset = emitExpr(place.offset, copy);
    if (mask)
      vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{offset}, mask,
                                    value);
    else
      vector::StoreOp::create(b, loc, value, buffer, ValueRange{offset},
                              /*nontemporal=*/stream.has_value(), stream);
    return;
  }
  Value base;
  Value offsets = emitLaneOffsets(place.offset, copy, base);
  if (!mask)
    mask = emitAllLanes(b, loc, lanes);
  vector::ScatterOp::create(b, loc, /*resultType=*/Type(), buffer,
                            ValueRange{base}, offsets, mask, value);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value StageEmitter::emitGuardedScalar(const StageRead &read, Value buffer,
                                      Value guard, unsigned copy) {
  Type element = getElementTypeOrSelf(read.value.getType());
  if (!guard)
    return emitLoad(read.place, buffer, element, copy, /*asVector=*/false,
                    nullptr, nullptr);
  auto ifOp = scf::IfOp::create(b, loc, getStorageType(element), guard,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, loc,
                       emitLoad(read.place, buffer, element, copy,
                                /*asVector=*/false, nullptr, nullptr));
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, loc, emitFill(read));
  return ifOp.getResult(0);
}

/// A branch rather than a mask without lanes: a masked load from memory that is
/// not there does nothing, but takes hundreds of cycles to find that out.
Value StageEmitter::emitGuardedVector(const StageRead &read, Value buffer,
                                      Value guard, Value mask, unsigned copy) {
  Type element = getElementTypeOrSelf(read.value.getType());
  auto load = [&] {
    return emitLoad(read.place, buffer, element, copy, /*asVector=*/true, mask,
                    mask ? emitFill(read) : Value());
  };
  if (!guard)
    return load();
  auto type = VectorType::get(lanes, getStorageType(element));
  auto ifOp = scf::IfOp::create(b, loc, type, guard, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, loc, load());
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, loc, broadcastTo(b, loc, emitFill(read), lanes));
  return ifOp.getResult(0);
}

Value StageEmitter::emitFill(const StageRead &read) {
  Type element = getElementTypeOrSelf(read.value.getType());
  Type type = getStorageType(element);
  TypedAttr fill = read.fill ? read.fill : b.getZeroAttr(type);
  if (auto integer = dyn_cast<IntegerAttr>(fill))
    fill = IntegerAttr::get(type, integer.getValue());
  return arith::ConstantOp::create(b, loc, fill);
}

Value StageEmitter::emitReadCopy(const StageRead &read, unsigned copy) {
  Value buffer = bindings.sources.lookup(read.source);
  Value guard, mask;
  bool isVector =
      isVectorOpen() && stage.getLoopsOf(read.value).test(vectorLoop);
  addChecks(read.place.rangeChecks, copy, guard, mask);
  bool movesInMemory = dependsOnVector(read.place.offset) || mask;
  if (!isVector || movesInMemory) {
    addChecks(read.place.conditions, copy, guard, mask);
    guard = emitAnd(b, loc, guard, emitIsCopyLeft(copy));
    if (!isVector)
      return emitGuardedScalar(read, buffer, guard, copy);
    return emitGuardedVector(read, buffer, guard,
                             emitAnd(b, loc, mask, tailMask), copy);
  }
  // One element for all lanes, of which conditions choose some.
  guard = emitAnd(b, loc, guard, emitIsCopyLeft(copy));
  Value scalar = emitGuardedScalar(read, buffer, guard, copy);
  Value conditionGuard, conditionMask;
  addChecks(read.place.conditions, copy, conditionGuard, conditionMask);
  return arith::SelectOp::create(b, loc,
                                 mergeMask(conditionGuard, conditionMask),
                                 broadcastTo(b, loc, scalar, lanes),
                                 broadcastTo(b, loc, emitFill(read), lanes));
}

void StageEmitter::emitRead(const StageRead &read) {
  if (isTransposed(read.place))
    return emitTileRead(read);
  Copies copies;
  for (unsigned copy = 0; copy < getNumCopies(read.value); ++copy)
    copies.push_back(emitReadCopy(read, copy));
  values[read.value] = std::move(copies);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

unsigned StageEmitter::getNumCopies(Value value) const {
  return isUnrolled && stage.getLoopsOf(value).test(unrollLoop) ? unroll : 1;
}

Value StageEmitter::getValue(Value value, unsigned copy) const {
  const Copies &copies = values.find(value)->second;
  return copies.size() == 1 ? copies[0] : copies[copy];
}

Value StageEmitter::emitElementwise(Operation *op, unsigned copy) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getValue(operand, copy));
  return metaop::emitElementwise(b, loc, op, std::move(operands), lanes);
}

Value StageEmitter::emitGenerator(Operation *op, unsigned copy) {
  SmallVector<Value> operands, indices, extents;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value buffer = bindings.sources.lookup(operand);
      operands.push_back(memref::LoadOp::create(b, loc, buffer, zero));
    }
  if (!isa<ConstantOp>(op)) {
    bool isVector =
        isVectorOpen() && stage.getLoopsOf(op->getResult(0)).test(vectorLoop);
    SmallVector<Value> loops = getLoopValues(copy, isVector);
    auto iota = dyn_cast<IotaOp>(op);
    for (auto [dim, index] :
         llvm::enumerate(stage.toIterationSpace.getResults())) {
      // An iota stands outside of loops that others of its indices depend on.
      bool isUsed = !iota || iota.getDimension() == dim;
      Value value = isUsed ? emitAffine(b, loc, index, loops, bindings.symbols)
                           : arith::ConstantIndexOp::create(b, loc, 0);
      indices.push_back(isVector ? broadcastTo(b, loc, value, lanes) : value);
    }
    for (AffineExpr extent : stage.spaceExtents)
      extents.push_back(emitAffine(b, loc, extent, {}, bindings.symbols));
  }
  return cast<GeneratorOpInterface>(op).emitElement(b, operands, indices,
                                                    extents);
}

void StageEmitter::emitOperation(Operation *op) {
  Value result = op->getResult(0);
  if (isa<IndirectOpInterface>(op)) {
    emitRead(*stage.findRead(result));
    return;
  }
  Copies copies;
  for (unsigned copy = 0; copy < getNumCopies(result); ++copy)
    copies.push_back(isa<ElementwiseOpInterface>(op) ? emitElementwise(op, copy)
                                                     : emitGenerator(op, copy));
  values[result] = std::move(copies);
}
