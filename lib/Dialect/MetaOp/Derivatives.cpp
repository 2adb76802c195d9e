//===- Derivatives.cpp - VJPs of element-wise and reindex ops -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every VJP is made of meta-operators that have VJPs themselves, or whose
// derivative is zero (cmp, sign, floor_div), so that gradients can be
// differentiated again. Where a formula has no value at a point though the
// derivative has one, its *operands* are replaced there, not only its result:
// the derivative of a select of a NaN is a NaN.
//
//===----------------------------------------------------------------------===//

#include "TensorEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Cotangents = SmallVector<Value>;

/// No gradient flows to any operand.
static Cotangents none(Operation *op) {
  return Cotangents(op->getNumOperands());
}

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

Cotangents NegOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  return {TensorEmitter(builder, getLoc()).neg(cotangents[0])};
}

Cotangents AbsOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return {emit.mul(cotangents[0], emit.create<SignOp>(getOperand()))};
}

Cotangents ExpOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  return {TensorEmitter(builder, getLoc()).mul(cotangents[0], getResult())};
}

Cotangents LogOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  return {TensorEmitter(builder, getLoc()).div(cotangents[0], getOperand())};
}

Cotangents SqrtOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  return {emit.div(emit.mul(cotangents[0], 0.5), getResult())};
}

Cotangents SinOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  return {emit.mul(cotangents[0], emit.create<CosOp>(getOperand()))};
}

Cotangents CosOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  Value sine = emit.create<SinOp>(getOperand());
  return {emit.neg(emit.mul(cotangents[0], sine))};
}

Cotangents TanhOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  Value one = emit.splat(getResult(), 1.0);
  Value square = emit.mul(getResult(), getResult());
  return {emit.mul(cotangents[0], emit.sub(one, square))};
}

Cotangents ErfOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  Value square = emit.mul(getOperand(), getOperand());
  Value bell = emit.create<ExpOp>(emit.neg(square));
  Value slope = emit.mul(bell, 2.0 * llvm::numbers::inv_sqrtpi);
  return {emit.mul(cotangents[0], slope)};
}

//===----------------------------------------------------------------------===//
// Binary ops
//===----------------------------------------------------------------------===//

Cotangents AddOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  return {cotangents[0], cotangents[0]};
}

Cotangents SubOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  return {cotangents[0], TensorEmitter(builder, getLoc()).neg(cotangents[0])};
}

Cotangents MulOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  Value toLhs = emit.mul(cotangents[0], getRhs());
  Value toRhs = emit.mul(cotangents[0], getLhs());
  return {toLhs, toRhs};
}

Cotangents DivOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  Value toLhs = emit.div(cotangents[0], getRhs());
  Value toRhs = emit.neg(emit.mul(toLhs, getResult()));
  return {toLhs, toRhs};
}

Cotangents ModOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  Value quotient = emit.create<FloorDivOp>(getLhs(), getRhs());
  return {cotangents[0], emit.neg(emit.mul(cotangents[0], quotient))};
}

/// d x^y / dx = y x^(y - 1). With y = 0 that is 0, also where x^-1 overflows:
/// there, x is replaced by 1.
static Value emitPowSlopeInBase(TensorEmitter &emit, Value x, Value y) {
  auto element = cast<FloatType>(getElementTypeOrSelf(x));
  double tiny = APFloat::getSmallestNormalized(element.getFloatSemantics())
                    .convertToDouble();
  Value magnitude = emit.create<AbsOp>(x);
  Value isSafe =
      emit.create<OrOp>(emit.compare(ComparePredicate::Ne, y, 0.0),
                        emit.compare(ComparePredicate::Ge, magnitude, tiny));
  Value one = emit.splat(x, 1.0);
  Value base = emit.select(isSafe, x, one);
  return emit.mul(y, emit.create<PowOp>(base, emit.sub(y, one)));
}

/// d x^y / dy = x^y ln x, and 0 where x = 0: there, x is replaced by 1.
static Value emitPowSlopeInExponent(TensorEmitter &emit, Value x, Value y) {
  Value isZero = emit.compare(ComparePredicate::Eq, x, 0.0);
  Value base = emit.select(isZero, emit.splat(x, 1.0), x);
  return emit.mul(emit.create<PowOp>(base, y), emit.create<LogOp>(base));
}

Cotangents PowOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  Value inBase = emitPowSlopeInBase(emit, getLhs(), getRhs());
  Value inExponent = emitPowSlopeInExponent(emit, getLhs(), getRhs());
  Value toBase = emit.mul(cotangents[0], inBase);
  Value toExponent = emit.mul(cotangents[0], inExponent);
  return {toBase, toExponent};
}

/// All to the operand that is chosen, half to each where they are equal.
/// `loses` is how lhs compares with rhs where rhs is chosen.
static Cotangents emitChoice(TensorEmitter &emit, Value lhs, Value rhs,
                             Value cotangent, ComparePredicate loses,
                             ComparePredicate wins) {
  Value zero = emit.splat(cotangent, 0.0);
  Value half = emit.mul(cotangent, 0.5);
  Value isTie = emit.compare(ComparePredicate::Eq, lhs, rhs);
  Value shared = emit.select(isTie, half, cotangent);
  Value toLhs = emit.select(emit.compare(loses, lhs, rhs), zero, shared);
  Value toRhs = emit.select(emit.compare(wins, lhs, rhs), zero, shared);
  return {toLhs, toRhs};
}

Cotangents MaxOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return emitChoice(emit, getLhs(), getRhs(), cotangents[0],
                    ComparePredicate::Lt, ComparePredicate::Gt);
}

Cotangents MinOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return emitChoice(emit, getLhs(), getRhs(), cotangents[0],
                    ComparePredicate::Gt, ComparePredicate::Lt);
}

//===----------------------------------------------------------------------===//
// Select, cast and views
//===----------------------------------------------------------------------===//

Cotangents SelectOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  Value zero = emit.splat(cotangents[0], 0.0);
  Value toTrue = emit.select(getCondition(), cotangents[0], zero);
  Value toFalse = emit.select(getCondition(), zero, cotangents[0]);
  return {Value(), toTrue, toFalse};
}

Cotangents CastOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getOperand()) || !isFloatTensor(getResult()))
    return none(*this);
  TensorEmitter emit(builder, getLoc());
  return {emit.cast(cotangents[0], getElementTypeOrSelf(getOperand()))};
}

Cotangents StopFuseOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return none(*this);
  return {cotangents[0]};
}

Cotangents ReshapeOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Cotangents result = none(*this);
  if (!isFloatTensor(getResult()))
    return result;
  TensorEmitter emit(builder, getLoc());
  result[0] = emit.create<ReshapeOp>(getSource().getType(), cotangents[0],
                                     emit.extents(getSource()));
  return result;
}

//===----------------------------------------------------------------------===//
// Reindexes
//===----------------------------------------------------------------------===//

/// What was read from a place is added up at that place. The source is operand
/// 0 of every reindex; symbols and extents get nothing.
static Cotangents vjpOfReindex(ReindexOpInterface op, OpBuilder &builder,
                               Value cotangent) {
  Cotangents result = none(op);
  if (!isFloatTensor(op.getSource()))
    return result;
  TensorEmitter emit(builder, op.getLoc());
  result[0] = emit.reindexReduce(ReduceKind::Add, cotangent, op.getSource(),
                                 op.getIndexAccess());
  return result;
}

#define METAOPS_REINDEX_VJP(OP)                                                \
  Cotangents OP::vjp(OpBuilder &builder, ValueRange cotangents) {              \
    return vjpOfReindex(*this, builder, cotangents[0]);                        \
  }
METAOPS_REINDEX_VJP(ReindexOp)
METAOPS_REINDEX_VJP(BroadcastOp)
METAOPS_REINDEX_VJP(TransposeOp)
METAOPS_REINDEX_VJP(SliceOp)
METAOPS_REINDEX_VJP(PadOp)
#undef METAOPS_REINDEX_VJP
