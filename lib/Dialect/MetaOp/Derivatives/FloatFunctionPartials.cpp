//===- FloatFunctionPartials.cpp - Derivatives of functions ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The partial derivatives of FloatFunctionOps.td and of pow. They use the
// result where that is exact enough, and formulas that neither overflow nor
// cancel where the derivative does not. The exception is tanh, whose derivative
// is the inner loop of recurrent networks.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

//===----------------------------------------------------------------------===//
// Powers and roots
//===----------------------------------------------------------------------===//

/// 1 / (2 r).
Value SqrtOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(emit.mul(value, 0.5), getResult());
}

/// -r / (2 x).
Value RsqrtOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value half = emit.mul(emit.div(getResult(), getOperand()), -0.5);
  return emit.mul(value, half);
}

/// 1 / (3 r^2).
Value CbrtOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value third = emit.mul(value, 1.0 / 3.0);
  return emit.div(emit.div(third, getResult()), getResult());
}

/// x / r, and 0 where r is: there, r is replaced by 1.
Value HypotOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value isZero = emit.compare(ComparePredicate::Eq, getResult(), 0.0);
  Value length = emit.select(isZero, emit.splat(getResult(), 1.0), getResult());
  return emit.mul(value, emit.div(getOperand(operand), length));
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

/// d x^y / dy = x^y ln x, and 0 where x^y is 0 or x = y = 0, though ln x is
/// infinite: there, x is replaced by 1.
static Value emitPowSlopeInExponent(TensorEmitter &emit, Value x, Value y) {
  double infinity = std::numeric_limits<double>::infinity();
  Value isFlatAtZero =
      emit.create<AndOp>(emit.compare(ComparePredicate::Eq, x, 0.0),
                         emit.compare(ComparePredicate::Ge, y, 0.0));
  Value isFlatAtInfinity =
      emit.create<AndOp>(emit.compare(ComparePredicate::Eq, x, infinity),
                         emit.compare(ComparePredicate::Lt, y, 0.0));
  Value isFlat = emit.create<OrOp>(isFlatAtZero, isFlatAtInfinity);
  Value base = emit.select(isFlat, emit.splat(x, 1.0), x);
  return emit.mul(emit.create<PowOp>(base, y), emit.create<LogOp>(base));
}

Value PowOp::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(
      value, operand == 0 ? emitPowSlopeInBase(emit, getLhs(), getRhs())
                          : emitPowSlopeInExponent(emit, getLhs(), getRhs()));
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

Value ExpOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  return TensorEmitter(builder, getLoc()).mul(value, getResult());
}

/// r ln 2.
Value Exp2Op::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.mul(getResult(), llvm::numbers::ln2));
}

/// e^x, of which r + 1 would lose the digits where r is near -1.
Value Expm1Op::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<ExpOp>(getOperand()));
}

Value LogOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  return TensorEmitter(builder, getLoc()).div(value, getOperand());
}

/// 1 / (x ln 2).
Value Log2Op::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(emit.mul(value, llvm::numbers::log2e), getOperand());
}

/// 1 / (x ln 10).
Value Log10Op::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(emit.mul(value, llvm::numbers::log10e), getOperand());
}

/// 1 / (1 + x).
Value Log1pOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(value, emit.add(getOperand(), emit.splat(getOperand(), 1.0)));
}

//===----------------------------------------------------------------------===//
// Trigonometric functions
//===----------------------------------------------------------------------===//

Value SinOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<CosOp>(getOperand()));
}

Value CosOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value sine = emit.create<SinOp>(getOperand());
  return emit.neg(emit.mul(value, sine));
}

/// 1 + r^2.
Value TanOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value square = emit.mul(getResult(), getResult());
  return emit.mul(value, emit.add(square, emit.splat(square, 1.0)));
}

/// 1 - x^2, rounded once. The factors 1 - x and 1 + x would be as exact, but
/// one of them is 0 at 1 and -1, where more derivatives have 0 times infinity.
static Value emitOneLessSquare(TensorEmitter &emit, Value x) {
  return emit.create<FmaOp>(emit.neg(x), x, emit.splat(x, 1.0));
}

/// (1 - x^2)^(1/2).
static Value emitOtherLeg(TensorEmitter &emit, Value x) {
  return emit.create<SqrtOp>(emitOneLessSquare(emit, x));
}

Value AsinOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(value, emitOtherLeg(emit, getOperand()));
}

Value AcosOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.neg(emit.div(value, emitOtherLeg(emit, getOperand())));
}

/// 1 / (1 + x^2), whose root does not overflow.
Value AtanOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value one = emit.splat(getOperand(), 1.0);
  Value root = emit.create<HypotOp>(getOperand(), one);
  return emit.div(emit.div(value, root), root);
}

/// y / (x^2 + y^2) and -x / (x^2 + y^2).
Value Atan2Op::applyPartial(OpBuilder &builder, unsigned operand, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value length = emit.create<HypotOp>(getLhs(), getRhs());
  Value other = operand == 0 ? Value(getRhs()) : emit.neg(getLhs());
  return emit.mul(value, emit.div(emit.div(other, length), length));
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

Value SinhOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<CoshOp>(getOperand()));
}

Value CoshOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<SinhOp>(getOperand()));
}

/// 1 - r^2, a pass over memory and no more. It cancels where |x| is large: f32
/// gives 0 from |x| = 9 on, where the derivative is 6.1e-8. cosh(x)^-2 would be
/// exact, but takes an exponential, and x beside r.
Value TanhOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value one = emit.splat(getResult(), 1.0);
  Value square = emit.mul(getResult(), getResult());
  return emit.mul(value, emit.sub(one, square));
}

/// (x^2 + 1)^(-1/2).
Value AsinhOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value one = emit.splat(getOperand(), 1.0);
  return emit.div(value, emit.create<HypotOp>(getOperand(), one));
}

/// (x^2 - 1)^(-1/2), of factors that do not overflow.
Value AcoshOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value one = emit.splat(getOperand(), 1.0);
  Value low = emit.create<SqrtOp>(emit.sub(getOperand(), one));
  Value high = emit.create<SqrtOp>(emit.add(getOperand(), one));
  return emit.div(emit.div(value, low), high);
}

/// 1 / (1 - x^2).
Value AtanhOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.div(value, emitOneLessSquare(emit, getOperand()));
}

//===----------------------------------------------------------------------===//
// Special functions and signs
//===----------------------------------------------------------------------===//

/// 2 / pi^(1/2) e^(-x^2).
static Value emitBell(TensorEmitter &emit, Value x) {
  Value bell = emit.create<ExpOp>(emit.neg(emit.mul(x, x)));
  return emit.mul(bell, 2.0 * llvm::numbers::inv_sqrtpi);
}

Value ErfOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emitBell(emit, getOperand()));
}

Value ErfcOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.neg(emit.mul(value, emitBell(emit, getOperand())));
}

/// pi^(1/2) / 2 e^(r^2).
Value ErfinvOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value power = emit.create<ExpOp>(emit.mul(getResult(), getResult()));
  return emit.mul(value, emit.mul(power, 0.5 / llvm::numbers::inv_sqrtpi));
}

Value LgammaOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  return emit.mul(value, emit.create<DigammaOp>(getOperand()));
}

Value DigammaOp::applyPartial(OpBuilder &builder, unsigned, Value value) {
  TensorEmitter emit(builder, getLoc());
  Value first = emit.splat(getOperand(), 1.0);
  return emit.mul(value, emit.create<PolygammaOp>(first, getOperand()));
}

/// The next one. Orders are integers, to which nothing flows.
Value PolygammaOp::applyPartial(OpBuilder &builder, unsigned operand,
                                Value value) {
  if (operand == 0)
    return nullptr;
  TensorEmitter emit(builder, getLoc());
  Value next = emit.add(getLhs(), emit.splat(getLhs(), 1.0));
  return emit.mul(value, emit.create<PolygammaOp>(next, getRhs()));
}

/// The product of both signs, and 0 where x is, as of |x|.
Value CopysignOp::applyPartial(OpBuilder &builder, unsigned operand,
                               Value value) {
  if (operand == 1)
    return nullptr;
  TensorEmitter emit(builder, getLoc());
  Value sign = emit.create<SignOp>(getLhs());
  Value other = emit.create<CopysignOp>(emit.splat(getRhs(), 1.0), getRhs());
  return emit.mul(value, emit.mul(sign, other));
}
