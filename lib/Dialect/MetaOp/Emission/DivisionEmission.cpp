//===- DivisionEmission.cpp - Quotients and remainders --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emitScalar of what divides and rounds. Processors trap where a divisor is 0
// and where the lowest integer is divided by -1, so both are replaced.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

namespace {
/// A divisor with which `divsi`, `remsi`, `divui` and `remui` are defined for
/// every dividend: 1 in the place of 0 and, if signed, of -1 (the lowest
/// integer has no negative).
struct SafeDivisor {
  Value value;
  Value isZero;
  Value isMinusOne; // null if unsigned

  SafeDivisor(ScalarEmitter &emit, Value divisor, bool isUnsigned) {
    Type type = divisor.getType();
    isZero = emit.compare(IntPredicate::eq, divisor, emit.constant(type, 0));
    Value replaced = isZero;
    if (!isUnsigned) {
      isMinusOne =
          emit.compare(IntPredicate::eq, divisor, emit.constant(type, -1));
      replaced = emit.create<arith::OrIOp>(isZero, isMinusOne);
    }
    value = emit.select(replaced, emit.constant(type, 1), divisor);
  }
};
} // namespace

/// x - y * trunc(x / y). Modulo 1, which stands in for 0 and -1, gives the 0
/// that is wanted.
Value FmodOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getResult());
  if (isa<FloatType>(element)) {
    Value result = emit.create<arith::RemFOp>(emit.widen(operands[0]),
                                              emit.widen(operands[1]));
    return emit.narrow(result, operands[0].getType());
  }
  SafeDivisor divisor(emit, operands[1], isUnsigned(element));
  if (isUnsigned(element))
    return emit.create<arith::RemUIOp>(operands[0], divisor.value);
  return emit.create<arith::RemSIOp>(operands[0], divisor.value);
}

/// Returns whether truncation and floor differ: the remainder is not zero, and
/// its sign is not that of the divisor.
static Value emitNeedsFloor(ScalarEmitter &emit, Value remainder,
                            Value divisor) {
  Value zero = emit.constant(remainder.getType(), 0);
  Value inexact = emit.compare(IntPredicate::ne, remainder, zero);
  Value signs = emit.create<arith::XOrIOp>(remainder, divisor);
  Value differ = emit.compare(IntPredicate::slt, signs, zero);
  return emit.create<arith::AndIOp>(inexact, differ);
}

/// `floor(x / y)` as if no quotient were rounded, wherever its digits fit the
/// type. Rounding never takes a quotient below the integer that it is above, so
/// that the floor of the rounded one is right or one too high: then the sign of
/// what is left, which `fma` rounds once, is not that of y. As in NumPy, an
/// infinite x gives a NaN unless y is 0, and an infinite y gives 0 or -1.
static Value emitFloatFloorDiv(ScalarEmitter &emit, Value x, Value y) {
  Type type = x.getType();
  Value zero = emit.constant(type, 0.0);
  Value quotient = emit.create<arith::DivFOp>(x, y);
  Value floor = emit.create<math::FloorOp>(quotient);
  // Of the quotient 0, x is left: 0 times an infinite y would be a NaN.
  Value isZero = emit.compare(FloatPredicate::OEQ, floor, zero);
  Value negated = emit.create<arith::NegFOp>(floor);
  Value rest = emit.select(isZero, x, emit.create<math::FmaOp>(negated, y, x));
  Value isBelow = emit.compare(FloatPredicate::OLT, rest, zero);
  Value isAbove = emit.compare(FloatPredicate::OGT, rest, zero);
  Value wantsBelow = emit.compare(FloatPredicate::OLT, y, zero);
  Value isTooHigh = emit.select(wantsBelow, isAbove, isBelow);
  Value one = emit.constant(type, 1.0);
  Value result =
      emit.select(isTooHigh, emit.create<arith::SubFOp>(floor, one), floor);
  Value magnitude = emit.create<math::AbsFOp>(x);
  Value infinity = emit.constant(type, std::numeric_limits<double>::infinity());
  Value isInfinite = emit.create<arith::AndIOp>(
      emit.compare(FloatPredicate::OEQ, magnitude, infinity),
      emit.compare(FloatPredicate::UNE, y, zero));
  Value nan = emit.constant(type, std::numeric_limits<double>::quiet_NaN());
  return emit.select(isInfinite, nan, result);
}

Value FloorDivOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getResult());
  Type type = operands[0].getType();
  if (isa<FloatType>(element)) {
    Value quotient = emitFloatFloorDiv(emit, emit.widen(operands[0]),
                                       emit.widen(operands[1]));
    return emit.narrow(quotient, type);
  }

  Value x = operands[0];
  SafeDivisor divisor(emit, operands[1], isUnsigned(element));
  Value zero = emit.constant(type, 0);
  if (isUnsigned(element)) {
    Value quotient = emit.create<arith::DivUIOp>(x, divisor.value);
    return emit.select(divisor.isZero, zero, quotient);
  }
  Value quotient = emit.create<arith::DivSIOp>(x, divisor.value);
  Value product = emit.create<arith::MulIOp>(quotient, divisor.value);
  Value remainder = emit.create<arith::SubIOp>(x, product);
  Value below = emit.create<arith::SubIOp>(quotient, emit.constant(type, 1));
  Value result = emit.select(emitNeedsFloor(emit, remainder, divisor.value),
                             below, quotient);
  result = emit.select(divisor.isMinusOne, emit.create<arith::SubIOp>(zero, x),
                       result);
  return emit.select(divisor.isZero, zero, result);
}

/// `fmod` is exact, where `x - y * floor(x / y)` loses the digits of a large
/// quotient; what is left is to give the remainder the sign of y.
static Value emitFloatMod(ScalarEmitter &emit, Value x, Value y) {
  Type type = x.getType();
  Value zero = emit.constant(type, 0.0);
  Value remainder = emit.create<arith::RemFOp>(x, y);
  Value isNegative = emit.compare(FloatPredicate::OLT, remainder, zero);
  Value wantsNegative = emit.compare(FloatPredicate::OLT, y, zero);
  Value differ = emit.create<arith::XOrIOp>(isNegative, wantsNegative);
  Value moved = emit.create<arith::AddFOp>(remainder, y);
  Value result = emit.select(differ, moved, remainder);
  // A remainder of zero has no sign to compare; it takes that of y.
  Value signedZero =
      emit.select(wantsNegative, emit.constant(type, -0.0), zero);
  Value isZero = emit.compare(FloatPredicate::OEQ, remainder, zero);
  return emit.select(isZero, signedZero, result);
}

Value ModOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getResult());
  if (isa<FloatType>(element)) {
    Value result =
        emitFloatMod(emit, emit.widen(operands[0]), emit.widen(operands[1]));
    return emit.narrow(result, operands[0].getType());
  }

  // Modulo 1, which stands in for 0 and -1, gives the 0 that is wanted.
  SafeDivisor divisor(emit, operands[1], isUnsigned(element));
  if (isUnsigned(element))
    return emit.create<arith::RemUIOp>(operands[0], divisor.value);
  Value remainder = emit.create<arith::RemSIOp>(operands[0], divisor.value);
  Value moved = emit.create<arith::AddIOp>(remainder, divisor.value);
  return emit.select(emitNeedsFloor(emit, remainder, divisor.value), moved,
                     remainder);
}

//===----------------------------------------------------------------------===//
// Greatest common divisor
//===----------------------------------------------------------------------===//

/// Euclid's algorithm on numbers without sign, in all lanes until the last has
/// found its divisor.
Value GcdOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  SmallVector<Value> start(operands);
  if (!isUnsigned(elementOf(getResult())))
    for (Value &value : start)
      value = emit.absInteger(value);
  Type type = start[0].getType();

  return emit
      .loopWhileNonZero(
          start, /*counter=*/1,
          [&](ScalarEmitter &emit, ValueRange state) -> SmallVector<Value> {
            Value zero = emit.constant(type, 0);
            Value isDone = emit.compare(IntPredicate::eq, state[1], zero);
            Value divisor =
                emit.select(isDone, emit.constant(type, 1), state[1]);
            Value rest = emit.create<arith::RemUIOp>(state[0], divisor);
            return {emit.select(isDone, state[0], state[1]),
                    emit.select(isDone, zero, rest)};
          })
      .front();
}
