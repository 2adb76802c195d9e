//===- Derivatives.cpp - Products with Jacobians --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Jacobian of an element-wise op by an operand is diagonal: `applyPartial`
// multiplies by it, and both products are made of that. A linear op's JVP is
// the op itself, applied to the tangent.
//
// All are made of meta-operators that are differentiable themselves, or whose
// derivative is zero (cmp, sign, floor_div), so that gradients can be
// differentiated again. Where a formula has no value at a point though the
// derivative has one, its *operands* are replaced there, not only its result:
// the derivative of a select of a NaN is a NaN.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

/// Nothing flows to any operand.
static Products none(Operation *op) { return Products(op->getNumOperands()); }

//===----------------------------------------------------------------------===//
// Products of a diagonal Jacobian
//===----------------------------------------------------------------------===//

Products metaop::detail::vjpByPartials(Operation *op, OpBuilder &builder,
                                       ValueRange cotangents) {
  Products result = none(op);
  if (!isFloatTensor(op->getResult(0)))
    return result;
  auto partials = cast<PartialsOpInterface>(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (isFloatTensor(operand))
      result[number] = partials.applyPartial(builder, number, cotangents[0]);
  return result;
}

Products metaop::detail::jvpByPartials(Operation *op, OpBuilder &builder,
                                       ArrayRef<Value> tangents) {
  Value sum;
  auto partials = cast<PartialsOpInterface>(op);
  for (auto [number, tangent] : llvm::enumerate(tangents)) {
    Value term =
        tangent ? partials.applyPartial(builder, number, tangent) : Value();
    if (sum && term)
      sum = AddOp::create(builder, op->getLoc(), sum, term);
    else if (term)
      sum = term;
  }
  return {sum};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value NegOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  return TensorEmitter(builder, getLoc()).neg(value);
}

Value AbsOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<SignOp>(getOperand()));
}

Value AddOp::applyPartial(OpBuilder &, unsigned, Value value) { return value; }

Value SubOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  return operand == 0 ? value : TensorEmitter(builder, getLoc()).neg(value);
}

Value MulOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  return TensorEmitter(builder, getLoc())
      .mul(value, operand == 0 ? getRhs() : getLhs());
}

Value DivOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value quotient = emit.div(value, getRhs());
  return operand == 0 ? quotient : emit.neg(emit.mul(quotient, getResult()));
}

/// x - y floor(x / y).
Value ModOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  if (operand == 0)
    return value;
  TensorEmitter emit(builder, getLoc());
  Value quotient = emit.create<FloorDivOp>(getLhs(), getRhs());
  return emit.neg(emit.mul(value, quotient));
}

/// x - y trunc(x / y), where the quotient of the magnitudes is rounded down and
/// takes the sign.
Value FmodOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  if (operand == 0)
    return value;
  TensorEmitter emit(builder, getLoc());
  Value floor = emit.create<FloorDivOp>(emit.create<AbsOp>(getLhs()),
                                        emit.create<AbsOp>(getRhs()));
  Value quotient = emit.create<CopysignOp>(floor, emit.mul(getLhs(), getRhs()));
  return emit.neg(emit.mul(value, quotient));
}

Value FmaOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  if (operand == 2)
    return value;
  return TensorEmitter(builder, getLoc())
      .mul(value, operand == 0 ? getY() : getX());
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Emits a mask of where `operand` is chosen: it is a NaN, or does not lose to
/// the other one.
static Value emitIsChosen(TensorEmitter &emit, Value operand, Value other,
                          ComparePredicate isChosen) {
  Value isNaN = emit.compare(ComparePredicate::Ne, operand, operand);
  return emit.create<OrOp>(emit.compare(isChosen, operand, other), isNaN);
}

/// All to the operand that is chosen, half to each where both are. `isChosen`
/// is how a chosen number compares with the other one.
static Value emitShare(TensorEmitter &emit, Value operand, Value other,
                       Value value, ComparePredicate isChosen) {
  Value half = emit.mul(value, 0.5);
  Value isShared = emitIsChosen(emit, other, operand, isChosen);
  Value share = emit.select(isShared, half, value);
  return emit.select(emitIsChosen(emit, operand, other, isChosen), share,
                     emit.splat(value, 0.0));
}

Value MaxOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emitShare(emit, getOperand(operand), getOperand(1 - operand), value,
                   ComparePredicate::Ge);
}

Value MinOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emitShare(emit, getOperand(operand), getOperand(1 - operand), value,
                   ComparePredicate::Le);
}

Value SelectOp::applyPartial(OpBuilder &builder, unsigned operand,
                             Value value) {
  TensorEmitter emit(builder, getLoc());
  Value zero = emit.splat(value, 0.0);
  return operand == 1 ? emit.select(getCondition(), value, zero)
                      : emit.select(getCondition(), zero, value);
}

//===----------------------------------------------------------------------===//
// Casts and views
//===----------------------------------------------------------------------===//

Products CastOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getOperand()) || !isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return {emit.cast(cotangents[0], getElementTypeOrSelf(getOperand()))};
}

Products CastOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  if (!isFloatTensor(getResult()))
    return {Value()};
  TensorEmitter emit(builder, getLoc());
  return {emit.cast(tangents[0], getElementTypeOrSelf(getResult()))};
}

Products StopFuseOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  return {cotangents[0]};
}

Products StopFuseOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  return {tangents[0]};
}

Products BarrierOp::vjp(OpBuilder &, ValueRange cotangents) {
  return Products(cotangents.begin(), cotangents.end());
}

Products BarrierOp::jvp(OpBuilder &, ArrayRef<Value> tangents) {
  return Products(tangents.begin(), tangents.end());
}

Products TransferOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return {
      emit.create<TransferOp>(getType(), cotangents[0], getTo(), getFrom())};
}

Products TransferOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  return {emit.create<TransferOp>(getType(), tangents[0], getFrom(), getTo())};
}

Products ReshapeOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products result = none(*this);
  if (!isFloatTensor(getResult()))
    return result;
  TensorEmitter emit(builder, getLoc());
  result[0] = emit.create<ReshapeOp>(getSource().getType(), cotangents[0],
                                     emit.extents(getSource()));
  return result;
}

Products ReshapeOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  return {applyToSource(*this, builder, tangents[0])};
}

//===----------------------------------------------------------------------===//
// Reindexes
//===----------------------------------------------------------------------===//

/// Adds up at each place what was read from it. The source is operand 0 of
/// every reindex; symbols and extents get nothing.
static Products vjpOfReindex(ReindexOpInterface op, OpBuilder &builder,
                             Value cotangent) {
  Products result = none(op);
  if (!isFloatTensor(op.getSource()))
    return result;
  TensorEmitter emit(builder, op.getLoc());
  result[0] = emit.reindexReduce(Combiner::Add, cotangent, op.getSource(),
                                 op.getIndexAccess());
  return result;
}

#define METAOPS_REINDEX_PRODUCTS(OP)                                           \
  Products OP::vjp(OpBuilder &builder, ValueRange cotangents) {                \
    return vjpOfReindex(*this, builder, cotangents[0]);                        \
  }                                                                            \
  Products OP::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {             \
    return {applyToSource(*this, builder, tangents[0])};                       \
  }
METAOPS_REINDEX_PRODUCTS(ReindexOp)
METAOPS_REINDEX_PRODUCTS(BroadcastOp)
METAOPS_REINDEX_PRODUCTS(TransposeOp)
METAOPS_REINDEX_PRODUCTS(SliceOp)
METAOPS_REINDEX_PRODUCTS(PadOp)
#undef METAOPS_REINDEX_PRODUCTS
