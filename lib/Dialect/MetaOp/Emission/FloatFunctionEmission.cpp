//===- FloatFunctionEmission.cpp - Formulas of functions ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emission of the entries of FloatFunctionOps.td that are more than one
// operation.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::metaop;

using FloatPredicate = arith::CmpFPredicate;

static Value emitPolynomial(ScalarEmitter &emit, Value x,
                            ArrayRef<double> coefficients) {
  Value sum = emit.constant(x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = emit.create<math::FmaOp>(sum, x,
                                   emit.constant(x.getType(), coefficient));
  return sum;
}

/// Squares of f32 are exact in f64 and do not overflow. Those of f64 are taken
/// of numbers that a power of two has brought near to 1.
Value metaop::emitHypot(ScalarEmitter &emit, Value x, Value y) {
  Type type = x.getType();
  x = emit.create<math::AbsFOp>(x);
  y = emit.create<math::AbsFOp>(y);
  Value infinity = emit.constant(type, std::numeric_limits<double>::infinity());
  Value isInfinite =
      emit.create<arith::OrIOp>(emit.compare(FloatPredicate::OEQ, x, infinity),
                                emit.compare(FloatPredicate::OEQ, y, infinity));

  auto root = [&](Value a, Value b) {
    Value square = emit.create<arith::MulFOp>(a, a);
    return emit.create<math::SqrtOp>(emit.create<math::FmaOp>(b, b, square));
  };
  Value result;
  if (getElementTypeOrSelf(type).isF32()) {
    Type wide =
        ScalarEmitter::withElement(type, Float64Type::get(type.getContext()));
    result = emit.create<arith::TruncFOp>(
        type, root(emit.create<arith::ExtFOp>(wide, x),
                   emit.create<arith::ExtFOp>(wide, y)));
  } else {
    Value one = emit.constant(type, 1.0);
    Value up = emit.constant(type, 0x1p600),
          down = emit.constant(type, 0x1p-600);
    Value larger = emit.create<arith::MaximumFOp>(x, y);
    Value isLarge =
        emit.compare(FloatPredicate::OGT, larger, emit.constant(type, 0x1p500));
    Value isSmall = emit.compare(FloatPredicate::OLT, larger,
                                 emit.constant(type, 0x1p-500));
    Value scale = emit.select(isLarge, down, emit.select(isSmall, up, one));
    Value back = emit.select(isLarge, up, emit.select(isSmall, down, one));
    Value scaled = root(emit.create<arith::MulFOp>(x, scale),
                        emit.create<arith::MulFOp>(y, scale));
    result = emit.create<arith::MulFOp>(scaled, back);
  }
  return emit.select(isInfinite, infinity, result);
}

/// A first value for x >= 0, with `rest` = 1 - x: seven digits by w = -ln(1 -
/// x^2) (Giles, "Approximating the erfinv function", GPU Computing Gems, 2011),
/// and three beyond, where erfc y is next to e^(-y^2) / (y pi^(1/2)).
static Value emitErfinvGuess(ScalarEmitter &emit, Value x, Value rest) {
  static constexpr double central[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {
      -0.000200214257, 0.000100950558, 0.00134934322,
      -0.00367342844,  0.00573950773,  -0.0076224613,
      0.00943887047,   1.00167406,     2.83297682};
  Type type = x.getType();
  Value square = emit.create<arith::MulFOp>(
      rest, emit.create<arith::AddFOp>(emit.constant(type, 1.0), x));
  Value w = emit.create<arith::NegFOp>(emit.create<math::LogOp>(square));
  Value inner = emitPolynomial(
      emit, emit.create<arith::SubFOp>(w, emit.constant(type, 2.5)), central);
  Value root = emit.create<math::SqrtOp>(w);
  Value outer = emitPolynomial(
      emit, emit.create<arith::SubFOp>(root, emit.constant(type, 3.0)), tail);
  Value isCentral =
      emit.compare(FloatPredicate::OLT, w, emit.constant(type, 5.0));
  Value near =
      emit.create<arith::MulFOp>(emit.select(isCentral, inner, outer), x);

  constexpr double rootOfPi = 1.7724538509055160273;
  Value level = emit.create<arith::NegFOp>(emit.create<math::LogOp>(
      emit.create<arith::MulFOp>(rest, emit.constant(type, rootOfPi))));
  Value lower = emit.create<math::FmaOp>(emit.create<math::LogOp>(level),
                                         emit.constant(type, -0.5), level);
  Value isFar = emit.compare(FloatPredicate::OGT, w, emit.constant(type, 16.0));
  return emit.select(isFar, emit.create<math::SqrtOp>(lower), near);
}

/// One step of Halley's method on erf y - x, which triples the digits: with
/// d = (erf y - x) / erf' y it is y - d / (1 + y d). Near 1, erfc and 1 - x
/// tell numbers apart that erf and x do not.
static Value emitErfinvStep(ScalarEmitter &emit, Value y, Value x, Value rest) {
  Type type = y.getType();
  Value below = emit.create<arith::SubFOp>(emit.create<math::ErfOp>(y), x);
  Value above = emit.create<arith::SubFOp>(rest, emit.create<math::ErfcOp>(y));
  Value isBelow =
      emit.compare(FloatPredicate::OLT, x, emit.constant(type, 0.5));
  Value error = emit.select(isBelow, below, above);
  Value square = emit.create<arith::MulFOp>(y, y);
  constexpr double halfRootOfPi = 0.88622692545275801365;
  Value inverseSlope = emit.create<arith::MulFOp>(
      emit.create<math::ExpOp>(square), emit.constant(type, halfRootOfPi));
  Value d = emit.create<arith::MulFOp>(error, inverseSlope);
  Value curvature = emit.create<math::FmaOp>(y, d, emit.constant(type, 1.0));
  return emit.create<arith::SubFOp>(y,
                                    emit.create<arith::DivFOp>(d, curvature));
}

/// erfinv(x) / x of an f32 in f64, within 2^-32, by w as above.
static Value emitSingleErfinv(ScalarEmitter &emit, Value x, Value rest) {
  static constexpr double central[] = {
      -2.7958439418247785e-13, -2.0518355778285447e-11, 1.2861534493310113e-10,
      8.1983408927917504e-10,  -1.0897165813084162e-08, 1.3782117336190171e-08,
      4.7880115235389653e-07,  -3.4174095494464782e-06, -4.9961570578701011e-06,
      0.00021825108172421166,  -0.0012527078778775313,  -0.0041773180425937039,
      0.24664027674226432,     1.5014093511310731};
  static constexpr double tail[] = {
      9.6331391191117375e-06, -2.5292494213604456e-05, -2.8787281021093468e-05,
      0.00020188330025305823, -0.00029406101953951977, -0.00014541603651146783,
      0.0014870701919527628,  -0.0035598680608322614,  0.0056846960822474419,
      -0.0076436809934422572, 0.0094455496325416659,   1.0016752728308558,
      2.8329767984568268};
  Type type = x.getType();
  Value square = emit.create<arith::MulFOp>(
      rest, emit.create<arith::AddFOp>(emit.constant(type, 1.0), x));
  Value w = emit.create<arith::NegFOp>(emit.create<math::LogOp>(square));
  Value inner = emitPolynomial(
      emit, emit.create<arith::SubFOp>(w, emit.constant(type, 2.5)), central);
  Value root = emit.create<math::SqrtOp>(w);
  Value outer = emitPolynomial(
      emit, emit.create<arith::SubFOp>(root, emit.constant(type, 3.0)), tail);
  Value isCentral =
      emit.compare(FloatPredicate::OLT, w, emit.constant(type, 5.0));
  return emit.create<arith::MulFOp>(emit.select(isCentral, inner, outer), x);
}

Value metaop::emitErfinv(ScalarEmitter &emit, Value x) {
  Type type = x.getType();
  bool isSingle = getElementTypeOrSelf(type).isF32();
  Type wide =
      ScalarEmitter::withElement(type, Float64Type::get(type.getContext()));
  Value argument = isSingle ? emit.create<arith::ExtFOp>(wide, x) : x;
  Value one = emit.constant(wide, 1.0);
  Value magnitude = emit.create<math::AbsFOp>(argument);
  Value rest = emit.create<arith::SubFOp>(one, magnitude);
  Value y;
  if (isSingle) {
    y = emitSingleErfinv(emit, magnitude, rest);
  } else {
    y = emitErfinvGuess(emit, magnitude, rest);
    y = emitErfinvStep(emit, y, magnitude, rest);
    y = emitErfinvStep(emit, y, magnitude, rest);
  }
  Value infinity = emit.constant(wide, std::numeric_limits<double>::infinity());
  y = emit.select(emit.compare(FloatPredicate::OEQ, magnitude, one), infinity,
                  y);
  y = emit.create<math::CopySignOp>(y, argument);
  return isSingle ? emit.create<arith::TruncFOp>(type, y) : y;
}
