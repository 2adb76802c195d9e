//===- BitEmission.cpp - Shifts, counts, powers, neighbours ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emitScalar of what takes numbers apart into their bits: shifts, which
// processors leave undefined for amounts as large as the number is wide; the
// count of set bits; integer powers, by squaring; and the neighbours of a
// float, which are those of its bits as an integer.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::metaop;

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

Value PopcountOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return math::CtPopOp::create(builder, getLoc(), operands[0]);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// Returns whether an amount is less than the width. A negative one is not: as
/// a number without sign it is large.
static Value emitIsInside(ScalarEmitter &emit, Value amount) {
  unsigned width = getElementTypeOrSelf(amount).getIntOrFloatBitWidth();
  return emit.compare(IntPredicate::ult, amount,
                      emit.constant(amount.getType(), int64_t(width)));
}

Value ShlOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Value isInside = emitIsInside(emit, operands[1]);
  Value zero = emit.constant(operands[1].getType(), 0);
  Value amount = emit.select(isInside, operands[1], zero);
  Value shifted = emit.create<arith::ShLIOp>(operands[0], amount);
  return emit.select(isInside, shifted, zero);
}

Value ShrOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Value isInside = emitIsInside(emit, operands[1]);
  Type type = operands[1].getType();
  if (isUnsigned(elementOf(getResult()))) {
    Value zero = emit.constant(type, 0);
    Value amount = emit.select(isInside, operands[1], zero);
    Value shifted = emit.create<arith::ShRUIOp>(operands[0], amount);
    return emit.select(isInside, shifted, zero);
  }
  // All bits but the sign moved out leave its copies.
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value most = emit.constant(type, int64_t(width - 1));
  return emit.create<arith::ShRSIOp>(operands[0],
                                     emit.select(isInside, operands[1], most));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// x^y of integers by squaring, in all lanes until no exponent has bits left.
/// A negative power is 1 / x^-y truncated: 0 but for 1 and -1.
static Value emitIntegerPower(ScalarEmitter &emit, Value x, Value y,
                              bool isUnsigned) {
  Type type = x.getType();
  Value zero = emit.constant(type, 0);
  Value one = emit.constant(type, 1);
  Value exponent = y;
  Value isNegative;
  if (!isUnsigned) {
    isNegative = emit.compare(IntPredicate::slt, y, zero);
    // Of 1 and -1 a power depends on its last bit alone, which -y shares.
    exponent =
        emit.select(isNegative, emit.create<arith::AndIOp>(y, one), exponent);
  }
  SmallVector<Value> start = {one, x, exponent};
  Value power =
      emit.loopWhileNonZero(
              start, /*counter=*/2,
              [&](ScalarEmitter &emit, ValueRange state) -> SmallVector<Value> {
                Value one = emit.constant(type, 1);
                Value bit = emit.create<arith::AndIOp>(state[2], one);
                Value isSet = emit.compare(IntPredicate::eq, bit, one);
                Value product = emit.create<arith::MulIOp>(state[0], state[1]);
                return {emit.select(isSet, product, state[0]),
                        emit.create<arith::MulIOp>(state[1], state[1]),
                        emit.create<arith::ShRUIOp>(state[2], one)};
              })
          .front();
  if (isUnsigned)
    return power;
  Value isUnit = emit.compare(IntPredicate::eq, emit.absInteger(x), one);
  Value truncated = emit.select(isUnit, power, zero);
  return emit.select(isNegative, truncated, power);
}

Value PowOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getResult());
  if (!isa<FloatType>(element))
    return emitIntegerPower(emit, operands[0], operands[1],
                            isUnsigned(element));
  Value result = emit.create<math::PowFOp>(emit.widen(operands[0]),
                                           emit.widen(operands[1]));
  return emit.narrow(result, operands[0].getType());
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// Away from zero, the next float is the one of the next bits; from zero, it is
/// the smallest number with the sign of y.
Value NextafterOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Value x = operands[0], y = operands[1];
  Value wideX = emit.widen(x), wideY = emit.widen(y);
  Type floats = x.getType(), wide = wideX.getType();
  unsigned width = getElementTypeOrSelf(floats).getIntOrFloatBitWidth();
  Type integers =
      ScalarEmitter::withElement(floats, builder.getIntegerType(width));

  Value bits = emit.create<arith::BitcastOp>(integers, x);
  Value one = emit.constant(integers, 1);
  Value signBit = emit.constant(integers, APInt::getSignMask(width));
  Value wideZero = emit.constant(wide, 0.0);
  Value isUp = emit.compare(FloatPredicate::OLT, wideX, wideY);
  Value isPositive = emit.compare(FloatPredicate::OGT, wideX, wideZero);
  // Both up and positive, or neither: the magnitude grows.
  Value differs = emit.create<arith::XOrIOp>(isUp, isPositive);
  Value next = emit.select(differs, emit.create<arith::SubIOp>(bits, one),
                           emit.create<arith::AddIOp>(bits, one));
  Value signOfY = emit.create<arith::AndIOp>(
      emit.create<arith::BitcastOp>(integers, y), signBit);
  Value fromZero = emit.create<arith::OrIOp>(signOfY, one);
  Value isZero = emit.compare(FloatPredicate::OEQ, wideX, wideZero);
  next = emit.select(isZero, fromZero, next);

  Value result = emit.create<arith::BitcastOp>(floats, next);
  result =
      emit.select(emit.compare(FloatPredicate::OEQ, wideX, wideY), y, result);
  Value sum = emit.narrow(emit.create<arith::AddFOp>(wideX, wideY), floats);
  return emit.select(emit.compare(FloatPredicate::UNO, wideX, wideY), sum,
                     result);
}
