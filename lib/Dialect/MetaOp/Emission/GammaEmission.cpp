//===- GammaEmission.cpp - The gamma function's logarithm -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lgamma, digamma and polygamma, computed in f64 also for f32: a float of 24
// bits next to a zero of the function then has a result of 24 bits, too.
//
// A positive argument z below 8 is moved to y = z + 8 by the recurrence
// gamma(z + 1) = z gamma(z), and there Stirling's series holds (Abramowitz and
// Stegun, Handbook of Mathematical Functions, 6.1.41 and 6.3.18). A negative
// one is reflected (6.1.17, 6.3.7). polygamma is a sum of powers, of which the
// Euler-Maclaurin formula has the end (23.2.9 and 6.4.10).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

using FloatPredicate = arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The Bernoulli numbers B_2, B_4, ...
static constexpr double kBernoulli[] = {1.0 / 6,   -1.0 / 30,    1.0 / 42,
                                        -1.0 / 30, 5.0 / 66,     -691.0 / 2730,
                                        7.0 / 6,   -3617.0 / 510};
/// The distance by which an argument is moved.
static constexpr int kShift = 8;

namespace {
/// Arithmetic on f64 values of one shape.
class Wide {
public:
  Wide(ScalarEmitter &emit, Type type) : emit(emit), type(type) {}

  Value constant(double value) { return emit.constant(type, value); }
  Value add(Value a, Value b) { return emit.create<arith::AddFOp>(a, b); }
  Value add(Value a, double b) { return add(a, constant(b)); }
  Value sub(Value a, Value b) { return emit.create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return emit.create<arith::MulFOp>(a, b); }
  Value mul(Value a, double b) { return mul(a, constant(b)); }
  Value div(Value a, Value b) { return emit.create<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) {
    return emit.create<math::FmaOp>(a, b, c);
  }
  Value log(Value a) { return emit.create<math::LogOp>(a); }
  Value pow(Value a, Value b) { return emit.create<math::PowFOp>(a, b); }
  Value negate(Value a) { return emit.create<arith::NegFOp>(a); }
  Value abs(Value a) { return emit.create<math::AbsFOp>(a); }
  Value round(Value a) { return emit.create<math::RoundEvenOp>(a); }
  Value select(Value condition, Value a, Value b) {
    return emit.select(condition, a, b);
  }
  Value both(Value a, Value b) { return emit.create<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return emit.create<arith::OrIOp>(a, b); }
  Value less(Value a, double b) {
    return emit.compare(FloatPredicate::OLT, a, constant(b));
  }
  Value equal(Value a, double b) {
    return emit.compare(FloatPredicate::OEQ, a, constant(b));
  }

  /// By Horner's rule; the coefficient of the highest power comes first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

  /// sin(pi f) and cos(pi f), |f| <= 1/2, by their Taylor series.
  Value sinOfHalfTurns(Value f) {
    return mul(f, polynomial(mul(f, f), getTaylor(/*first=*/1)));
  }
  Value cosOfHalfTurns(Value f) {
    return polynomial(mul(f, f), getTaylor(/*first=*/0));
  }

private:
  /// (-1)^k pi^(2k + first) / (2k + first)!
  static SmallVector<double> getTaylor(int first) {
    SmallVector<double> coefficients;
    double term = first ? llvm::numbers::pi : 1.0;
    for (int power = first; power < first + 24; power += 2) {
      coefficients.push_back(term);
      term *= -llvm::numbers::pi * llvm::numbers::pi /
              ((power + 1.0) * (power + 2.0));
    }
    std::reverse(coefficients.begin(), coefficients.end());
    return coefficients;
  }

  ScalarEmitter &emit;
  Type type;
};
} // namespace

/// `compute` of f64 values, rounded to the type of `like`.
template <typename ComputeT>
static Value computeWide(ScalarEmitter &emit, Value like, ComputeT compute) {
  Type type = like.getType();
  Type wide =
      ScalarEmitter::withElement(type, Float64Type::get(type.getContext()));
  Wide math(emit, wide);
  auto widen = [&](Value value) {
    return type == wide ? value : emit.create<arith::ExtFOp>(wide, value);
  };
  Value result = compute(math, widen);
  return type == wide ? result : emit.create<arith::TruncFOp>(type, result);
}

//===----------------------------------------------------------------------===//
// lgamma and digamma
//===----------------------------------------------------------------------===//

/// The coefficients B_2k / divisor(2k) of a series, the last one first.
static SmallVector<double>
getStirling(llvm::function_ref<double(double)> divisor) {
  SmallVector<double> coefficients;
  double even = 2;
  for (double number : kBernoulli) {
    coefficients.push_back(number / divisor(even));
    even += 2;
  }
  std::reverse(coefficients.begin(), coefficients.end());
  return coefficients;
}

/// ln gamma(y) for y >= 8.
static Value emitStirling(Wide &math, Value y) {
  Value inverse = math.div(math.constant(1.0), y);
  Value series =
      math.polynomial(math.mul(inverse, inverse),
                      getStirling([](double k) { return k * (k - 1); }));
  // (ln(2 pi) - 1) / 2
  Value rest = math.fma(series, inverse, math.constant(0.41893853320467274178));
  return math.fma(math.add(y, -0.5), math.add(math.log(y), -1.0), rest);
}

/// With z = |x| and R = (z + 1) ... (z + 7), y = z + 8, it is
///   ln gamma(y) - ln(z R) for positive x, and
///   ln(pi R / |sin(pi z)|) - ln gamma(y) for negative ones;
/// where z is large, y = z, and 1 and 1 / z are in the places of z R and R.
Value metaop::emitLgamma(ScalarEmitter &emit, Value x) {
  return computeWide(emit, x, [&](Wide &math, auto widen) {
    Value argument = widen(x);
    Value z = math.abs(argument);
    Value isNegative = math.less(argument, 0.0);
    Value isSmall = math.less(z, kShift);
    Value bounded = math.select(isSmall, z, math.constant(1.0));
    Value product = math.add(bounded, 1.0);
    for (int i = 2; i < kShift; ++i)
      product = math.mul(product, math.add(bounded, i));

    Value fraction = math.sub(z, math.round(z));
    Value sine = math.abs(math.sinOfHalfTurns(fraction));
    Value divisor = math.select(isSmall, sine, math.mul(z, sine));
    Value one = math.constant(1.0);
    Value reflected = math.div(
        math.mul(math.select(isSmall, product, one), llvm::numbers::pi),
        divisor);
    Value direct = math.select(isSmall, math.mul(z, product), one);
    Value log = math.log(math.select(isNegative, reflected, direct));
    Value stirling =
        emitStirling(math, math.select(isSmall, math.add(z, kShift), z));
    Value difference = math.sub(stirling, log);
    Value result = math.select(isNegative, math.negate(difference), difference);
    Value isPole = math.either(math.both(isNegative, math.equal(fraction, 0.0)),
                               math.equal(z, kInfinity));
    return math.select(isPole, math.constant(kInfinity), result);
  });
}

/// With w = x, or 1 - x for negative x, the sum of 1 / (w + k) is N / P with P
/// = w (w + 1) ... (w + 7) and N its derivative.
Value metaop::emitDigamma(ScalarEmitter &emit, Value x) {
  return computeWide(emit, x, [&](Wide &math, auto widen) {
    Value argument = widen(x);
    Value one = math.constant(1.0), zero = math.constant(0.0);
    Value isNegative = math.less(argument, 0.0);
    Value w = math.select(isNegative, math.sub(one, argument), argument);
    Value isSmall = math.less(w, kShift);
    Value bounded = math.select(isSmall, w, one);
    Value product = bounded, derivative = one;
    for (int i = 1; i < kShift; ++i) {
      Value factor = math.add(bounded, i);
      derivative = math.fma(derivative, factor, product);
      product = math.mul(product, factor);
    }
    Value moved = math.select(isSmall, math.div(derivative, product), zero);

    Value y = math.select(isSmall, math.add(w, kShift), w);
    Value inverse = math.div(one, y);
    Value square = math.mul(inverse, inverse);
    Value series =
        math.polynomial(square, getStirling([](double k) { return k; }));
    Value rest = math.fma(series, square, math.mul(inverse, 0.5));
    Value sum = math.sub(math.sub(math.log(y), rest), moved);

    Value fraction = math.sub(argument, math.round(argument));
    Value cotangent =
        math.div(math.cosOfHalfTurns(fraction), math.sinOfHalfTurns(fraction));
    cotangent = math.select(math.equal(fraction, 0.0), math.constant(kNaN),
                            math.mul(cotangent, llvm::numbers::pi));
    return math.select(isNegative, math.sub(sum, cotangent), sum);
  });
}

//===----------------------------------------------------------------------===//
// polygamma
//===----------------------------------------------------------------------===//

/// The sum of (x + k)^-s over k = 0, 1, ... for positive x.
static Value emitZeta(ScalarEmitter &outer, Value s, Value x) {
  Type floats = x.getType();
  Type integers = ScalarEmitter::withElement(
      floats, IntegerType::get(floats.getContext(), 64));
  Value power = outer.create<arith::NegFOp>(s);
  SmallVector<Value> summed = outer.loopWhileNonZero(
      {outer.constant(integers, kShift + 2), x, outer.constant(floats, 0.0)}, 0,
      [&](ScalarEmitter &emit, ValueRange state) -> SmallVector<Value> {
        Value left =
            emit.create<arith::AddIOp>(state[0], emit.constant(integers, -1));
        Value term = emit.create<math::PowFOp>(state[1], power);
        Value next =
            emit.create<arith::AddFOp>(state[1], emit.constant(floats, 1.0));
        return {left, next, emit.create<arith::AddFOp>(state[2], term)};
      });

  Wide math(outer, floats);
  Value y = summed[1];
  Value inverse = math.div(math.constant(1.0), y);
  Value square = math.mul(inverse, inverse);
  Value series = math.add(math.div(y, math.add(s, -1.0)), 0.5);
  Value factor = math.mul(s, inverse);
  double even = 2;
  for (double number : kBernoulli) {
    // B_2j / (2j)! s (s + 1) ... (s + 2j - 2) y^(1 - 2j)
    factor = math.mul(factor, 1.0 / even);
    series = math.fma(factor, math.constant(number), series);
    Value growth = math.mul(math.add(s, even - 1), math.add(s, even));
    factor =
        math.mul(math.mul(factor, growth), math.mul(square, 1.0 / (even + 1)));
    even += 2;
  }
  Value sum = math.fma(math.pow(y, power), series, summed[2]);
  // Of infinity 0, which the formula has as a product with infinity.
  return math.select(math.equal(x, kInfinity), math.constant(0.0), sum);
}

/// n!, for integers n.
static Value emitFactorial(ScalarEmitter &outer, Value n) {
  Type floats = n.getType();
  Type integers = ScalarEmitter::withElement(
      floats, IntegerType::get(floats.getContext(), 64));
  // From 171! on it is infinite.
  Value bounded = outer.create<arith::MinNumFOp>(
      outer.create<arith::MaxNumFOp>(n, outer.constant(floats, 0.0)),
      outer.constant(floats, 171.0));
  Value count = outer.create<arith::FPToSIOp>(integers, bounded);
  return outer.loopWhileNonZero(
      {count, outer.constant(floats, 1.0)}, 0,
      [&](ScalarEmitter &emit, ValueRange state) -> SmallVector<Value> {
        Value zero = emit.constant(integers, 0);
        Value isGoing = emit.compare(arith::CmpIPredicate::ne, state[0], zero);
        Value grown = emit.create<arith::MulFOp>(
            state[1], emit.create<arith::SIToFPOp>(floats, state[0]));
        Value less =
            emit.create<arith::AddIOp>(state[0], emit.constant(integers, -1));
        return {emit.select(isGoing, less, zero),
                emit.select(isGoing, grown, state[1])};
      })[1];
}

/// (-1)^s (s - 1)! Z(x), s = order + 1, where Z is the sum of (x + k)^-s. Of a
/// negative x it is the sum over all integers k, which has the period 1, less
/// that over the negative ones: with f the rest of x to the next integer,
///   f^-s + Z(1 + f) + (-1)^s (Z(1 - f) - Z(1 - x)).
/// Three rounds of one loop make these sums; positive x need one round.
Value metaop::emitPolygamma(ScalarEmitter &outer, Value order, Value x) {
  return computeWide(outer, x, [&](Wide &math, auto widen) {
    Value n = widen(order), argument = widen(x);
    Type floats = argument.getType();
    Type integers = ScalarEmitter::withElement(
        floats, IntegerType::get(floats.getContext(), 64));
    Value one = math.constant(1.0);
    Value s = math.add(n, 1.0);
    Value half = math.mul(s, 0.5);
    Value isEven = outer.compare(FloatPredicate::OEQ, half, math.round(half));
    Value parity = math.select(isEven, one, math.constant(-1.0));
    Value isPositive =
        outer.compare(FloatPredicate::OGT, argument, math.constant(0.0));
    Value fraction = math.sub(argument, math.round(argument));
    Value nearest = math.pow(math.abs(fraction), math.negate(s));
    nearest = math.select(math.less(fraction, 0.0), math.mul(parity, nearest),
                          nearest);

    Value rounds = outer.select(isPositive, outer.constant(integers, 1),
                                outer.constant(integers, 3));
    Value start = math.select(isPositive, math.constant(0.0), nearest);
    Value sum = outer.loopWhileNonZero(
        {rounds, start}, 0,
        [&](ScalarEmitter &emit, ValueRange state) -> SmallVector<Value> {
          Wide math(emit, floats);
          auto isRound = [&](int number) {
            return emit.compare(arith::CmpIPredicate::eq, state[0],
                                emit.constant(integers, number));
          };
          Value isFirst = isRound(3), isSecond = isRound(2);
          Value at =
              math.select(isFirst, math.sub(one, argument),
                          math.select(isSecond, math.add(fraction, 1.0),
                                      math.select(isPositive, argument,
                                                  math.sub(one, fraction))));
          Value weight = math.select(
              isFirst, math.negate(parity),
              math.select(math.either(isSecond, isPositive), one, parity));
          Value added = math.fma(weight, emitZeta(emit, s, at), state[1]);
          Value zero = emit.constant(integers, 0);
          Value isGoing =
              emit.compare(arith::CmpIPredicate::ne, state[0], zero);
          Value less =
              emit.create<arith::AddIOp>(state[0], emit.constant(integers, -1));
          return {emit.select(isGoing, less, zero),
                  math.select(isGoing, added, state[1])};
        })[1];

    Value result = math.mul(math.mul(parity, emitFactorial(outer, n)), sum);
    Value isOrder =
        math.both(outer.compare(FloatPredicate::OGE, n, one),
                  outer.compare(FloatPredicate::OEQ, n, math.round(n)));
    return math.select(isOrder, result, math.constant(kNaN));
  });
}
