//===- WideFunctions.cpp - Functions of f32 by way of f64 -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of f32 that are computed in f64 lanes and rounded once. There a
// formula may lose ten digits of what f32 does not see, so most are what a
// textbook says (Abramowitz and Stegun, Handbook of Mathematical Functions,
// chapters 4 and 7), and numbers below the normal ones of f32 need no care. The
// logarithm of f64 is here, too: others are made of it; and powers of f64 that
// are rounded to f32.
//
// log: as in ElementaryFunctions.cpp, with log(1 + f) = f - s (f - R), where s
// = f / (2 + f) (as in FreeBSD's e_log.c).
//
// sin, cos, tan: up to 2^30, x less n pi / 2, where pi / 2 is a sum of two f64
// numbers (Cody and Waite, "Software Manual for the Elementary Functions",
// 1980, chapter 8). Beyond, in a branch, x = M 2^k with an M below 2^50. 2^k 2
// / pi, less a multiple of 4, is a sum of three f64 numbers for each of four k;
// the products with M, less the integer n next to them, are the argument in
// quarter turns (Payne and Hanek, "Radian reduction for trigonometric
// functions", SIGNUM, 1983).
//
// The tables are those of bench/fit_polynomials.py --wide.
//
//===----------------------------------------------------------------------===//

#include "WideFunctions.h"
#include "Arithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using metaop::Arithmetic;

// Coefficients, that of the highest power first.

/// e^r, within 2^-39.8.
static constexpr double kExp[] = {
    2.4875810109435333e-05, 0.0001991593979227908, 0.0013888822509497093,
    0.008333265966980254,   0.041666666884913557,  0.16666666891698129,
    0.49999999999811595,    0.99999999997970801,   0.99999999999999967};
/// (e^r - 1 - r) / r^2, within 2^-39.9.
static constexpr double kExpm1[] = {
    2.7617578862640645e-06, 2.4867934240627047e-05, 0.00019841224612295358,
    0.0013888839015271989,  0.0083333333441674221,  0.041666666786603156,
    0.1666666666666268,     0.49999999999954947};
/// 2 (atanh(s) - s) / s^3, of s^2, within 2^-50.0.
static constexpr double kLog[] = {0.1465719988192335,  0.15328107763413346,
                                  0.18183009524694055, 0.22222209282686861,
                                  0.28571428638867191, 0.39999999999866942,
                                  0.66666666666666718};
/// (sin r - r) / r^3, of r^2, within 2^-42.4.
static constexpr double kSin[] = {
    -2.4804335394483466e-08, 2.7555976769929005e-06, -0.00019841266869634414,
    0.0083333333310295233, -0.1666666666666381};
/// (cos r - 1 + r^2 / 2) / r^4, of r^2, within 2^-44.2.
static constexpr double kCos[] = {
    2.069958157858174e-09, -2.7556358476719601e-07, 2.4801585172780636e-05,
    -0.001388888888723583, 0.04166666666666461};
/// (asin t - t) / t^3, of t^2, within 2^-41.6.
static constexpr double kAsin[] = {0.027906608581542969, -0.002939015626907353,
                                   0.015675142034888269, 0.013188092317432164,
                                   0.017441462048634549, 0.022366069663776505,
                                   0.030382182543664493, 0.044642852445350031,
                                   0.075000000035752246, 0.16666666666662194};
/// atan(t) / t, of t^2, within 2^-36.4.
static constexpr double kAtan[] = {
    0.00041923393867625194, -0.003195461834616629, 0.011427729645781124,
    -0.02600614172204219,   0.043646729133535726,  -0.060222052188906229,
    0.074952660911191224,   -0.090491801147733211, 0.11105306907877154,
    -0.14285225625340939,   0.19999978337002625,   -0.33333332951665584,
    0.99999999998873701};
/// (t + 4) e^(t^2) erfc(t), of (t - 4) / (t + 4), within 2^-39.6.
static constexpr double kErfc[] = {
    -5.1992020635566977e-06, -3.3932907812039008e-05, -1.037187939715489e-05,
    0.00018144325821198052,  -0.00044970761363303955, -0.00028050153927369786,
    0.006110901867073631,    -0.026370356556288863,   0.076381620316259974,
    -0.17401089970594452,    0.33085158368865947,     -0.54085383298181711,
    0.77320870232969807,     -0.97654872906086765,    1.0959956610002766};

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
static constexpr double kPi = llvm::numbers::pi;
/// ln 2 in two parts; the first has 32 bits.
static constexpr double kLn2High = 0x1.62e42feep-1;
static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = n ln 2 + r, and 2^n.
struct Reduced {
  Value r, scale;
};
} // namespace

static Reduced reduceByLn2(Arithmetic &math, Value x) {
  // Numbers of this size have no bits after the binary point.
  Value shift = math.constant(0x1.8p52 + 1023.0);
  Value sum = math.fma(x, math.constant(llvm::numbers::log2e), shift);
  Value n = math.sub(sum, shift);
  Value r = math.fma(n, math.constant(-llvm::numbers::ln2), x);
  return {r, math.fromBits(math.toExponent(math.toBits(sum)))};
}

/// e^x, and what rounds to 0 or to infinity where that does.
static Value emitExp(Arithmetic &math, Value x) {
  Value bounded = math.atMost(math.atLeast(x, -110.0), 90.0);
  auto [r, scale] = reduceByLn2(math, bounded);
  return math.mul(math.polynomial(r, kExp), scale);
}

/// e^x - 1 for 0 <= x.
static Value emitExpm1(Arithmetic &math, Value x) {
  auto [r, scale] = reduceByLn2(math, math.atMost(x, 91.0));
  Value power = math.fma(math.mul(r, r), math.polynomial(r, kExpm1), r);
  return math.fma(scale, power, math.sub(scale, math.constant(1.0)));
}

/// n ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
static Value emitLogOfParts(Arithmetic &math, Value n, Value f) {
  Value s = math.div(f, math.add(f, math.constant(2.0)));
  Value square = math.mul(s, s);
  Value rest = math.mul(square, math.polynomial(square, kLog));
  Value half = math.mul(math.mul(f, f), math.constant(0.5));
  Value sum =
      math.fma(s, math.add(half, rest), math.mul(n, math.constant(kLn2Low)));
  sum = math.sub(f, math.sub(half, sum));
  return math.fma(n, math.constant(kLn2High), sum);
}

namespace {
/// x = 2^n m, sqrt(1/2) <= m < sqrt(2).
struct Parts {
  Value n, m, inverseScale;
};
} // namespace

static Parts split(Arithmetic &math, Value x) {
  constexpr int64_t sqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t exponentMask = static_cast<int64_t>(0xfff0000000000000);
  Value bits = math.toBits(x);
  Value distance = math.subBits(bits, math.bits(sqrtHalf));
  Value exponentBits = math.maskBits(distance, exponentMask);
  Value m = math.fromBits(math.subBits(bits, exponentBits));
  constexpr int64_t one = 0x3ff0000000000000;
  Value inverse = math.fromBits(math.subBits(math.bits(one), exponentBits));
  return {math.toFloat(math.fromExponent(distance)), m, inverse};
}

/// The logarithm of a normal number.
static Value emitNormalLog(Arithmetic &math, Value x) {
  Parts parts = split(math, x);
  return emitLogOfParts(math, parts.n, math.sub(parts.m, math.constant(1.0)));
}

/// Infinity has itself, 0 the negative one, and what is below none.
static Value emitLogLimits(Arithmetic &math, Value x, Value log) {
  log = math.select(math.less(x, kInfinity), log, x);
  Value pole = math.select(math.equal(x, 0.0), math.constant(-kInfinity),
                           math.constant(kNaN));
  return math.select(math.less(math.constant(0.0), x), log, pole);
}

/// log(1 + x) for 0 <= x, which keeps the digits of a small x: f = x where n is
/// 0.
static Value emitLog1p(Arithmetic &math, Value x) {
  Parts parts = split(math, math.add(x, math.constant(1.0)));
  Value rest = math.sub(parts.inverseScale, math.constant(1.0));
  Value f = math.fma(x, parts.inverseScale, rest);
  Value log = emitLogOfParts(math, parts.n, f);
  return math.select(math.less(x, kInfinity), log, x);
}

/// Of any f64.
static Value emitLog(Arithmetic &math, Value x) {
  Value isTiny = math.less(x, 0x1p-1022);
  Value scaled = math.select(isTiny, math.mul(x, math.constant(0x1p54)), x);
  Parts parts = split(math, scaled);
  Value n =
      math.select(isTiny, math.sub(parts.n, math.constant(54.0)), parts.n);
  Value log = emitLogOfParts(math, n, math.sub(parts.m, math.constant(1.0)));
  return emitLogLimits(math, x, log);
}

static Value emitLog10(Arithmetic &math, Value x) {
  Value log = emitNormalLog(math, x);
  log = math.mul(log, math.constant(llvm::numbers::log10e));
  return emitLogLimits(math, x, log);
}

/// |x|^y = e^(y log |x|). Its sign, and where there is no such number, are as
/// C11 has them (annex F.10.4.4).
static Value emitPowByLog(Arithmetic &math, Value x, Value y, Value log) {
  Value magnitude = math.abs(x);
  Value power = emitExp(math, math.mul(y, log));
  Value one = math.constant(1.0);
  Value half = math.mul(y, math.constant(0.5));
  Value isInteger = math.equal(y, math.floor(y));
  Value isEven = math.equal(half, math.floor(half));
  Value isOdd = math.both(isInteger, math.negation(isEven));
  power = math.select(isOdd, math.copySign(power, x), power);
  Value isNegative =
      math.both(math.less(x, 0.0), math.less(magnitude, kInfinity));
  Value isNone = math.both(isNegative, math.negation(isInteger));
  power = math.select(isNone, math.constant(kNaN), power);
  Value isUnit =
      math.both(math.equal(magnitude, 1.0), math.equal(math.abs(y), kInfinity));
  Value isOne =
      math.either(math.either(math.equal(y, 0.0), isUnit), math.equal(x, 1.0));
  return math.select(isOne, one, power);
}

static Value emitPow(Arithmetic &math, Value x, Value y) {
  Value size = math.abs(x);
  Value log = emitLogLimits(math, size, emitNormalLog(math, size));
  return emitPowByLog(math, x, y, log);
}

/// Of any f64, to be rounded to f32.
static Value emitAnyPow(Arithmetic &math, Value x, Value y) {
  return emitPowByLog(math, x, y, emitLog(math, math.abs(x)));
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

/// (E + E / (E + 1)) / 2, E = e^|x| - 1.
static Value emitSinh(Arithmetic &math, Value x) {
  Value grown = emitExpm1(math, math.abs(x));
  Value quotient = math.div(grown, math.add(grown, math.constant(1.0)));
  Value sum = math.mul(math.add(grown, quotient), math.constant(0.5));
  return math.copySign(sum, x);
}

static Value emitCosh(Arithmetic &math, Value x) {
  Value bounded = math.atMost(math.abs(x), 91.0);
  auto [r, scale] = reduceByLn2(math, bounded);
  Value power = math.mul(math.polynomial(r, kExp), scale);
  Value sum = math.add(power, math.div(math.constant(1.0), power));
  return math.mul(sum, math.constant(0.5));
}

/// log(1 + t), t = |x| + x^2 / (1 + (x^2 + 1)^(1/2)).
static Value emitAsinh(Arithmetic &math, Value x) {
  Value magnitude = math.abs(x);
  Value one = math.constant(1.0);
  Value square = math.mul(x, x);
  Value root = math.sqrt(math.add(square, one));
  Value rest = math.div(square, math.add(root, one));
  // Of infinity, the quotient would be one of infinities.
  rest = math.select(math.less(magnitude, kInfinity), rest, magnitude);
  return math.copySign(emitLog1p(math, math.add(magnitude, rest)), x);
}

/// log(1 + t), t = d + (d (d + 2))^(1/2), d = x - 1.
static Value emitAcosh(Arithmetic &math, Value x) {
  Value d = math.sub(x, math.constant(1.0));
  Value product = math.mul(d, math.add(d, math.constant(2.0)));
  Value log = emitLog1p(math, math.add(d, math.sqrt(product)));
  return math.select(math.less(x, 1.0), math.constant(kNaN), log);
}

/// log(1 + t) / 2, t = 2 |x| / (1 - |x|).
static Value emitAtanh(Arithmetic &math, Value x) {
  Value magnitude = math.abs(x);
  Value twice = math.add(magnitude, magnitude);
  Value t = math.div(twice, math.sub(math.constant(1.0), magnitude));
  Value half = math.mul(emitLog1p(math, t), math.constant(0.5));
  Value isBeyond = math.less(math.constant(1.0), magnitude);
  half = math.select(isBeyond, math.constant(kNaN), half);
  return math.copySign(half, x);
}

//===----------------------------------------------------------------------===//
// Trigonometric functions
//===----------------------------------------------------------------------===//

namespace {
/// The sine and the cosine of r, |r| <= pi / 4, of x = n pi / 2 + r.
struct Turned {
  Value sine, cosine;
  Value isOdd, isBack;
};
} // namespace

/// pi / 2 in two parts, and the angles for which they are enough: no f32 up to
/// there is nearer to a multiple than 2^-28.
static constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0,
                        kHalfPiLow = 0x1.1a62633145c07p-54,
                        kLargeAngle = 0x1p30;

/// 2^k 2 / pi, less a multiple of 4, in three parts.
static constexpr struct {
  /// For the arguments from here on, to which 2^k is the unit.
  double from, unit;
  double parts[3];
} kQuarterTurns[] = {
    {0x1p49,
     0x1p-26,
     {0x1.b9391054a7f0ap+0, -0x1.505c1596447e5p-55, 0x1.b14acc9e21c82p-109}},
    {0x1p76,
     0x1p-53,
     {-0x1.5ac07b1505c16p+0, 0x1.a6ee06db14acdp-54, -0x1.8778df7c035d4p-108}},
    {0x1p103,
     0x1p-80,
     {-0x1.505c1596447e5p-1, 0x1.b14acc9e21c82p-55, 0x1.fe5163abdebbcp-112}}};
static constexpr double kFirstParts[] = {
    0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109};

/// a + b, and what the sum has lost by rounding (Knuth's two-sum).
static std::pair<Value, Value> addExactly(Arithmetic &math, Value a, Value b) {
  Value sum = math.add(a, b);
  Value second = math.sub(sum, a);
  Value lost =
      math.add(math.sub(a, math.sub(sum, second)), math.sub(b, second));
  return {sum, lost};
}

/// r and n of an x of any size.
static SmallVector<Value> reduceLarge(Arithmetic &math, Value x) {
  Value m = x, parts[3];
  for (int i = 0; i < 3; ++i)
    parts[i] = math.constant(kFirstParts[i]);
  for (const auto &range : kQuarterTurns) {
    Value isBelow = math.less(x, range.from);
    m = math.select(isBelow, m, math.mul(x, math.constant(range.unit)));
    for (int i = 0; i < 3; ++i)
      parts[i] = math.select(isBelow, parts[i], math.constant(range.parts[i]));
  }

  Value turns = math.mul(m, parts[0]);
  Value lost = math.fma(m, parts[0], math.negate(turns));
  Value n = math.round(turns);
  Value second = math.mul(m, parts[1]);
  Value rest = math.fma(m, parts[1], math.negate(second));
  rest = math.fma(m, parts[2], rest);
  auto [high, low] = addExactly(math, math.sub(turns, n), lost);
  auto [sum, error] = addExactly(math, high, second);
  Value more = math.round(sum);
  Value turn =
      math.add(math.sub(sum, more), math.add(rest, math.add(low, error)));
  return {math.mul(turn, math.constant(kPi / 2)), math.add(n, more)};
}

static Turned reduceByQuarterTurns(Arithmetic &math, Value x) {
  Value n = math.round(math.mul(x, math.constant(2 / kPi)));
  Value r = math.fma(n, math.constant(-kHalfPiHigh), x);
  r = math.fma(n, math.constant(-kHalfPiLow), r);
  SmallVector<Value> reduced =
      math.selectSeldom(math.less(math.constant(kLargeAngle), x),
                        [&] { return reduceLarge(math, x); }, {r, n});
  r = reduced[0];
  n = reduced[1];
  // The last bits of n are the last ones of a number of this size.
  Value bits = math.toBits(math.add(n, math.constant(0x1.8p52)));
  Value isOdd = math.isSet(bits, 1), isBack = math.isSet(bits, 2);
  Value square = math.mul(r, r);
  Value sine = math.fma(math.mul(r, square), math.polynomial(square, kSin), r);
  Value cosine =
      math.fma(math.mul(square, square), math.polynomial(square, kCos),
               math.fma(square, math.constant(-0.5), math.constant(1.0)));
  return {sine, cosine, isOdd, isBack};
}

static Value emitSin(Arithmetic &math, Value x) {
  Turned turned = reduceByQuarterTurns(math, math.abs(x));
  Value sine = math.select(turned.isOdd, turned.cosine, turned.sine);
  sine = math.select(turned.isBack, math.negate(sine), sine);
  return math.mul(sine, math.copySign(math.constant(1.0), x));
}

static Value emitCos(Arithmetic &math, Value x) {
  Turned turned = reduceByQuarterTurns(math, math.abs(x));
  Value cosine =
      math.select(turned.isOdd, math.negate(turned.sine), turned.cosine);
  return math.select(turned.isBack, math.negate(cosine), cosine);
}

static Value emitTan(Arithmetic &math, Value x) {
  auto [sine, cosine, isOdd, isBack] = reduceByQuarterTurns(math, math.abs(x));
  Value tangent = math.div(math.select(isOdd, math.negate(cosine), sine),
                           math.select(isOdd, sine, cosine));
  return math.mul(tangent, math.copySign(math.constant(1.0), x));
}

/// asin t, 0 <= t <= 1/2.
static Value emitShortAsin(Arithmetic &math, Value t, Value square) {
  Value rest = math.polynomial(square, kAsin);
  return math.fma(math.mul(t, square), rest, t);
}

namespace {
/// asin |x|, which is `angle`, or pi / 2 - 2 `angle` where |x| > 1/2.
struct Arc {
  Value angle, isFar;
};
} // namespace

static Arc emitArc(Arithmetic &math, Value x) {
  Value magnitude = math.abs(x);
  Value isFar = math.less(math.constant(0.5), magnitude);
  Value half =
      math.mul(math.sub(math.constant(1.0), magnitude), math.constant(0.5));
  Value square = math.select(isFar, half, math.mul(x, x));
  Value t = math.select(isFar, math.sqrt(half), magnitude);
  return {emitShortAsin(math, t, square), isFar};
}

static Value emitAsin(Arithmetic &math, Value x) {
  auto [angle, isFar] = emitArc(math, x);
  Value far = math.fma(angle, math.constant(-2.0), math.constant(kPi / 2));
  return math.copySign(math.select(isFar, far, angle), x);
}

static Value emitAcos(Arithmetic &math, Value x) {
  auto [angle, isFar] = emitArc(math, x);
  Value isNegative = math.less(x, 0.0);
  Value twice = math.add(angle, angle);
  Value far =
      math.select(isNegative, math.sub(math.constant(kPi), twice), twice);
  Value near = math.sub(math.constant(kPi / 2), math.copySign(angle, x));
  return math.select(isFar, far, near);
}

/// atan t, 0 <= t <= 1.
static Value emitShortAtan(Arithmetic &math, Value t) {
  return math.mul(t, math.polynomial(math.mul(t, t), kAtan));
}

static Value emitAtan(Arithmetic &math, Value x) {
  Value magnitude = math.abs(x);
  Value isFar = math.less(math.constant(1.0), magnitude);
  Value inverse = math.div(math.constant(1.0), magnitude);
  Value angle = emitShortAtan(math, math.select(isFar, inverse, magnitude));
  Value other = math.sub(math.constant(kPi / 2), angle);
  return math.copySign(math.select(isFar, other, angle), x);
}

static Value emitAtan2(Arithmetic &math, Value y, Value x) {
  Value height = math.abs(y), width = math.abs(x);
  Value isSteep = math.less(width, height);
  Value quotient = math.div(math.select(isSteep, width, height),
                            math.select(isSteep, height, width));
  // Two infinities are at 45 degrees, two zeros at none.
  Value isSame = math.equal(width, height);
  Value isZero = math.equal(height, 0.0);
  Value limit = math.select(isZero, math.constant(0.0), math.constant(1.0));
  quotient = math.select(isSame, limit, quotient);
  Value angle = emitShortAtan(math, quotient);
  angle = math.select(isSteep, math.sub(math.constant(kPi / 2), angle), angle);
  // The sign of a zero counts, too.
  Value isBack = math.less(math.copySign(math.constant(1.0), x), 0.0);
  angle = math.select(isBack, math.sub(math.constant(kPi), angle), angle);
  return math.copySign(angle, y);
}

//===----------------------------------------------------------------------===//
// Other functions
//===----------------------------------------------------------------------===//

/// A third of the bits is within 4% of the root; two steps of Halley's method
/// triple the digits each.
static Value emitCbrt(Arithmetic &math, Value x) {
  Value magnitude = math.abs(x);
  Value third =
      math.mul(math.toFloat(math.toBits(magnitude)), math.constant(1.0 / 3.0));
  // Two thirds of the exponent's bias, less what makes the error least.
  Value root = math.fromBits(
      math.addBits(math.toInteger(third), math.bits(0x2a9f7893782da1ce)));
  for (int i = 0; i < 2; ++i) {
    Value cube = math.mul(math.mul(root, root), root);
    Value above = math.add(cube, math.add(magnitude, magnitude));
    Value below = math.add(math.add(cube, cube), magnitude);
    root = math.mul(root, math.div(above, below));
  }
  Value isNumber = math.both(math.less(math.constant(0.0), magnitude),
                             math.less(magnitude, kInfinity));
  return math.select(isNumber, math.copySign(root, x), x);
}

/// e^(-t^2) P(u) / (t + 4), u = (t - 4) / (t + 4), t = |x| (Shepherd and
/// Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x",
/// Mathematics of Computation, 1981).
static Value emitErfc(Arithmetic &math, Value x) {
  // From this bound on the result rounds to 0.
  Value t = math.atMost(math.abs(x), 10.2);
  Value four = math.constant(4.0);
  Value inverse = math.div(math.constant(1.0), math.add(t, four));
  Value u = math.mul(math.sub(t, four), inverse);
  Value bell = emitExp(math, math.negate(math.mul(t, t)));
  Value result = math.mul(math.mul(bell, inverse), math.polynomial(u, kErfc));
  Value other = math.sub(math.constant(2.0), result);
  return math.select(math.less(x, 0.0), other, result);
}

namespace {
template <typename OpT, Value (*emit)(Arithmetic &, Value)>
struct ExpandUnary : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    Arithmetic wide = Arithmetic(rewriter, op.getLoc(), op.getType()).getWide();
    Value result = emit(wide, wide.widen(op.getOperand()));
    rewriter.replaceOp(op, wide.narrow(result, op.getType()));
    return success();
  }
};

template <typename OpT, Value (*emit)(Arithmetic &, Value, Value)>
struct ExpandBinary : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    Arithmetic wide = Arithmetic(rewriter, op.getLoc(), op.getType()).getWide();
    Value result = emit(wide, wide.widen(op.getLhs()), wide.widen(op.getRhs()));
    rewriter.replaceOp(op, wide.narrow(result, op.getType()));
    return success();
  }
};

/// Expands a power of f64 that all its readers round to f32.
struct ExpandRoundedPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern<math::PowFOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    bool isRounded = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<arith::TruncFOp>(user) &&
             getElementTypeOrSelf(user->getResult(0)).isF32();
    });
    if (!getElementTypeOrSelf(op.getType()).isF64() || !isRounded)
      return rewriter.notifyMatchFailure(op, "needs the digits of f64");
    Arithmetic math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emitAnyPow(math, op.getLhs(), op.getRhs()));
    return success();
  }
};

struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern<math::LogOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return rewriter.notifyMatchFailure(op, "is not of f64");
    Arithmetic math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emitLog(math, op.getOperand()));
    return success();
  }
};
} // namespace

void metaop::populateWideFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<
      ExpandUnary<math::Log10Op, emitLog10>,
      ExpandUnary<math::SinhOp, emitSinh>, ExpandUnary<math::CoshOp, emitCosh>,
      ExpandUnary<math::AsinhOp, emitAsinh>,
      ExpandUnary<math::AcoshOp, emitAcosh>,
      ExpandUnary<math::AtanhOp, emitAtanh>, ExpandUnary<math::SinOp, emitSin>,
      ExpandUnary<math::CosOp, emitCos>, ExpandUnary<math::TanOp, emitTan>,
      ExpandUnary<math::AsinOp, emitAsin>, ExpandUnary<math::AcosOp, emitAcos>,
      ExpandUnary<math::AtanOp, emitAtan>, ExpandUnary<math::CbrtOp, emitCbrt>,
      ExpandUnary<math::ErfcOp, emitErfc>,
      ExpandBinary<math::Atan2Op, emitAtan2>,
      ExpandBinary<math::PowFOp, emitPow>, ExpandRoundedPow, ExpandLog>(
      patterns.getContext());
}
