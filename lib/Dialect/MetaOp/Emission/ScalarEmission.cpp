//===- ScalarEmission.cpp - Element-wise ops as arith and math ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emitScalar of arithmetic, comparison and conversion. Quotients are in
// DivisionEmission.cpp, what takes integers apart in BitEmission.cpp, functions
// of real numbers in their entries in FloatFunctionOps.td.
//
// Values have storage types, so whether an integer is signed is asked of the
// op's tensors. f16 and bf16 are computed with in f32 and rounded once per op.
// No operation emitted here traps or gives poison, whatever its operands.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::metaop;

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

Type metaop::getStorageType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return elementType;
}

//===----------------------------------------------------------------------===//
// Ops that are one operation for each kind of element
//===----------------------------------------------------------------------===//

template <typename MathOpT>
static Value emitFloat(OpBuilder &builder, Location loc, ValueRange operands) {
  ScalarEmitter emit(builder, loc);
  SmallVector<Value, 2> wide;
  for (Value operand : operands)
    wide.push_back(emit.widen(operand));
  Value result;
  if constexpr (MathOpT::template hasTrait<OpTrait::OneOperand>())
    result = emit.create<MathOpT>(wide[0]);
  else
    result = emit.create<MathOpT>(wide[0], wide[1]);
  return emit.narrow(result, operands[0].getType());
}

template <typename FloatOpT, typename SignedOpT, typename UnsignedOpT>
static Value emitNumber(OpBuilder &builder, Location loc, ValueRange operands,
                        Type element) {
  if (isa<FloatType>(element))
    return emitFloat<FloatOpT>(builder, loc, operands);
  if (isUnsigned(element))
    return UnsignedOpT::create(builder, loc, operands[0], operands[1]);
  return SignedOpT::create(builder, loc, operands[0], operands[1]);
}

#define METAOPS_EMIT_FLOAT(OP, TARGET)                                         \
  Value OP::emitScalar(OpBuilder &builder, ValueRange operands) {              \
    return emitFloat<TARGET>(builder, getLoc(), operands);                     \
  }
METAOPS_EMIT_FLOAT(FloorOp, math::FloorOp)
METAOPS_EMIT_FLOAT(CeilOp, math::CeilOp)
METAOPS_EMIT_FLOAT(RoundOp, math::RoundEvenOp)
METAOPS_EMIT_FLOAT(TruncOp, math::TruncOp)
METAOPS_EMIT_FLOAT(DivOp, arith::DivFOp)
#undef METAOPS_EMIT_FLOAT

#define METAOPS_EMIT_NUMBER(OP, FLOAT, SIGNED, UNSIGNED)                       \
  Value OP::emitScalar(OpBuilder &builder, ValueRange operands) {              \
    return emitNumber<FLOAT, SIGNED, UNSIGNED>(builder, getLoc(), operands,    \
                                               elementOf(getResult()));        \
  }
METAOPS_EMIT_NUMBER(AddOp, arith::AddFOp, arith::AddIOp, arith::AddIOp)
METAOPS_EMIT_NUMBER(SubOp, arith::SubFOp, arith::SubIOp, arith::SubIOp)
METAOPS_EMIT_NUMBER(MulOp, arith::MulFOp, arith::MulIOp, arith::MulIOp)
METAOPS_EMIT_NUMBER(MaxOp, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp)
METAOPS_EMIT_NUMBER(MinOp, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp)
#undef METAOPS_EMIT_NUMBER

#define METAOPS_EMIT_BITS(OP, TARGET)                                          \
  Value OP::emitScalar(OpBuilder &builder, ValueRange operands) {              \
    return TARGET::create(builder, getLoc(), operands[0], operands[1]);        \
  }
METAOPS_EMIT_BITS(AndOp, arith::AndIOp)
METAOPS_EMIT_BITS(OrOp, arith::OrIOp)
METAOPS_EMIT_BITS(XorOp, arith::XOrIOp)
#undef METAOPS_EMIT_BITS

Value FmaOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Value result =
      emit.create<math::FmaOp>(emit.widen(operands[0]), emit.widen(operands[1]),
                               emit.widen(operands[2]));
  return emit.narrow(result, operands[0].getType());
}

Value SelectOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return arith::SelectOp::create(builder, getLoc(), operands[0], operands[1],
                                 operands[2]);
}

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

Value NotOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Value x = operands[0];
  return emit.create<arith::XOrIOp>(x, emit.constant(x.getType(), -1));
}

Value NegOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  if (isa<FloatType>(elementOf(getResult())))
    return emitFloat<arith::NegFOp>(builder, getLoc(), operands);
  ScalarEmitter emit(builder, getLoc());
  Value x = operands[0];
  return emit.create<arith::SubIOp>(emit.constant(x.getType(), 0), x);
}

Value AbsOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Type element = elementOf(getResult());
  if (isa<FloatType>(element))
    return emitFloat<math::AbsFOp>(builder, getLoc(), operands);
  Value x = operands[0];
  if (isUnsigned(element))
    return x;
  ScalarEmitter emit(builder, getLoc());
  Value negated = emit.create<arith::SubIOp>(emit.constant(x.getType(), 0), x);
  return emit.create<arith::MaxSIOp>(x, negated);
}

Value SignOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getResult());
  Value x = emit.widen(operands[0]);
  Type type = x.getType();
  if (isa<FloatType>(element)) {
    Value zero = emit.constant(type, 0.0);
    Value result = emit.select(emit.compare(FloatPredicate::OLT, x, zero),
                               emit.constant(type, -1.0), zero);
    result = emit.select(emit.compare(FloatPredicate::OGT, x, zero),
                         emit.constant(type, 1.0), result);
    result = emit.select(emit.compare(FloatPredicate::UNO, x, x), x, result);
    return emit.narrow(result, operands[0].getType());
  }
  Value zero = emit.constant(type, 0);
  Value one = emit.constant(type, 1);
  if (isUnsigned(element))
    return emit.select(emit.compare(IntPredicate::ne, x, zero), one, zero);
  Value result = emit.select(emit.compare(IntPredicate::slt, x, zero),
                             emit.constant(type, -1), zero);
  return emit.select(emit.compare(IntPredicate::sgt, x, zero), one, result);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Ordered, so that a NaN makes the comparison false; `ne` is unordered.
static FloatPredicate getFloatPredicate(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return FloatPredicate::OEQ;
  case ComparePredicate::Ne:
    return FloatPredicate::UNE;
  case ComparePredicate::Lt:
    return FloatPredicate::OLT;
  case ComparePredicate::Le:
    return FloatPredicate::OLE;
  case ComparePredicate::Gt:
    return FloatPredicate::OGT;
  case ComparePredicate::Ge:
    return FloatPredicate::OGE;
  }
  llvm_unreachable("unknown predicate");
}

static IntPredicate getIntPredicate(ComparePredicate predicate,
                                    bool isUnsigned) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return IntPredicate::eq;
  case ComparePredicate::Ne:
    return IntPredicate::ne;
  case ComparePredicate::Lt:
    return isUnsigned ? IntPredicate::ult : IntPredicate::slt;
  case ComparePredicate::Le:
    return isUnsigned ? IntPredicate::ule : IntPredicate::sle;
  case ComparePredicate::Gt:
    return isUnsigned ? IntPredicate::ugt : IntPredicate::sgt;
  case ComparePredicate::Ge:
    return isUnsigned ? IntPredicate::uge : IntPredicate::sge;
  }
  llvm_unreachable("unknown predicate");
}

Value CmpOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarEmitter emit(builder, getLoc());
  Type element = elementOf(getLhs());
  if (isa<FloatType>(element))
    return emit.compare(getFloatPredicate(getPredicate()),
                        emit.widen(operands[0]), emit.widen(operands[1]));
  return emit.compare(getIntPredicate(getPredicate(), isUnsigned(element)),
                      operands[0], operands[1]);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// f64 to f32, rounded to odd: the significand of an inexact result is odd.
/// Rounding that to fewer bits gives what rounding the f64 at once would.
static Value emitRoundToOdd(ScalarEmitter &emit, Value value, Type f32) {
  MLIRContext *context = value.getContext();
  Type i32 = IntegerType::get(context, 32);
  Type f32Type = ScalarEmitter::withElement(value.getType(), f32);
  Type i32Type = ScalarEmitter::withElement(value.getType(), i32);

  Value nearest = emit.create<arith::TruncFOp>(f32Type, value);
  Value back = emit.create<arith::ExtFOp>(value.getType(), nearest);
  Value bits = emit.create<arith::BitcastOp>(i32Type, nearest);
  Value one = emit.constant(i32Type, 1);
  Value odd = emit.create<arith::AndIOp>(bits, one);
  Value isEven = emit.compare(IntPredicate::eq, odd, emit.constant(i32Type, 0));
  Value isInexact = emit.compare(FloatPredicate::ONE, back, value);
  // The other neighbour lies on the value's other side.
  Value rounded = emit.create<math::AbsFOp>(back);
  Value magnitude = emit.create<math::AbsFOp>(value);
  Value wasUp = emit.compare(FloatPredicate::OGT, rounded, magnitude);
  Value other = emit.select(wasUp, emit.create<arith::SubIOp>(bits, one),
                            emit.create<arith::AddIOp>(bits, one));
  Value change = emit.create<arith::AndIOp>(isEven, isInexact);
  return emit.create<arith::BitcastOp>(f32Type,
                                       emit.select(change, other, bits));
}

static Value emitFloatToFloat(ScalarEmitter &emit, Value value, Type to) {
  Type from = getElementTypeOrSelf(value);
  Type type = ScalarEmitter::withElement(value.getType(), to);
  if (from == to)
    return value;
  if (from.isF64() && to.getIntOrFloatBitWidth() == 16)
    value = emitRoundToOdd(emit, value, Float32Type::get(to.getContext()));
  // f16 and bf16 meet in f32.
  value = emit.widen(value);
  Type current = getElementTypeOrSelf(value);
  if (current == to)
    return value;
  if (to.getIntOrFloatBitWidth() > current.getIntOrFloatBitWidth())
    return emit.create<arith::ExtFOp>(type, value);
  return emit.create<arith::TruncFOp>(type, value);
}

/// Rounds a 64-bit integer of 2^53 or more to odd at its 53 upper bits, which
/// makes its conversion to f64 exact and later rounding right.
static Value emitOddUpperBits(ScalarEmitter &emit, Value value,
                              bool isUnsigned) {
  constexpr int64_t lowMask = 2047;
  constexpr int64_t limit = int64_t(1) << 53;
  Type type = value.getType();
  Value zero = emit.constant(type, 0);
  Value low = emit.create<arith::AndIOp>(value, emit.constant(type, lowMask));
  Value high = emit.create<arith::AndIOp>(value, emit.constant(type, ~lowMask));
  Value isInexact = emit.compare(IntPredicate::ne, low, zero);
  Value sticky = emit.select(isInexact, emit.constant(type, lowMask + 1), zero);
  Value odd = emit.create<arith::OrIOp>(high, sticky);
  // |value| < 2^53 as one unsigned comparison.
  Value fits =
      isUnsigned
          ? emit.compare(IntPredicate::ult, value, emit.constant(type, limit))
          : emit.compare(
                IntPredicate::ult,
                emit.create<arith::AddIOp>(value, emit.constant(type, limit)),
                emit.constant(type, 2 * limit));
  return emit.select(fits, value, odd);
}

static Value emitIntToFloat(ScalarEmitter &emit, Value value, Type from,
                            Type to) {
  MLIRContext *context = to.getContext();
  unsigned width = from.getIntOrFloatBitWidth();
  // To 16 bits by way of a float that holds the integer.
  Type middle = to;
  if (to.getIntOrFloatBitWidth() == 16) {
    middle = Float32Type::get(context);
    if (width > 16)
      middle = Float64Type::get(context);
    if (width == 64)
      value = emitOddUpperBits(emit, value, isUnsigned(from));
  }
  Type type = ScalarEmitter::withElement(value.getType(), middle);
  Value result = isUnsigned(from) ? emit.create<arith::UIToFPOp>(type, value)
                                  : emit.create<arith::SIToFPOp>(type, value);
  return emitFloatToFloat(emit, result, to);
}

/// Only numbers strictly inside of the range are converted, others are chosen:
/// the conversion itself is undefined for them.
static Value emitFloatToInt(ScalarEmitter &emit, Value value, Type to) {
  value = emit.widen(value);
  Type floatType = value.getType();
  unsigned width = to.getIntOrFloatBitWidth();
  bool toUnsigned = isUnsigned(to);
  Type intType = ScalarEmitter::withElement(floatType, getStorageType(to));

  double lowest = toUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  double end = std::ldexp(1.0, toUnsigned ? width : width - 1);
  Value low = emit.constant(floatType, lowest);
  Value high = emit.constant(floatType, end);
  Value isBelow = emit.compare(FloatPredicate::OLE, value, low);
  Value isAbove = emit.compare(FloatPredicate::OGE, value, high);
  Value isInside = emit.create<arith::AndIOp>(
      emit.compare(FloatPredicate::OGT, value, low),
      emit.compare(FloatPredicate::OLT, value, high));
  Value safe = emit.select(isInside, value, emit.constant(floatType, 0.0));
  Value result = toUnsigned ? emit.create<arith::FPToUIOp>(intType, safe)
                            : emit.create<arith::FPToSIOp>(intType, safe);

  APInt minimum =
      toUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt maximum =
      toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  result = emit.select(isBelow, emit.constant(intType, minimum), result);
  return emit.select(isAbove, emit.constant(intType, maximum), result);
}

static Value emitIntToInt(ScalarEmitter &emit, Value value, Type from,
                          Type to) {
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  Type type = ScalarEmitter::withElement(value.getType(), getStorageType(to));
  if (fromWidth > toWidth)
    return emit.create<arith::TruncIOp>(type, value);
  if (isUnsigned(from))
    return emit.create<arith::ExtUIOp>(type, value);
  return emit.create<arith::ExtSIOp>(type, value);
}

Value metaop::emitCast(OpBuilder &builder, Location loc, Value value, Type from,
                       Type to) {
  ScalarEmitter emit(builder, loc);
  if (from == to)
    return value;
  bool fromFloat = isa<FloatType>(from);
  if (to.isInteger(1)) {
    if (!fromFloat)
      return emit.compare(IntPredicate::ne, value,
                          emit.constant(value.getType(), 0));
    value = emit.widen(value);
    return emit.compare(FloatPredicate::UNE, value,
                        emit.constant(value.getType(), 0.0));
  }
  if (isa<FloatType>(to))
    return fromFloat ? emitFloatToFloat(emit, value, to)
                     : emitIntToFloat(emit, value, from, to);
  return fromFloat ? emitFloatToInt(emit, value, to)
                   : emitIntToInt(emit, value, from, to);
}

Value BitcastOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Type from = operands[0].getType();
  Type to =
      ScalarEmitter::withElement(from, getStorageType(elementOf(getResult())));
  if (from == to)
    return operands[0];
  return arith::BitcastOp::create(builder, getLoc(), to, operands[0]);
}

Value CastOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitCast(builder, getLoc(), operands[0], elementOf(getOperand()),
                  elementOf(getResult()));
}
