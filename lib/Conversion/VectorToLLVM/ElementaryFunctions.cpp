//===- ElementaryFunctions.cpp - Exponentials and logarithms of f32 -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is straight arithmetic of the shape of its argument, the same
// for vectors and scalars, so a result has the same bits in whatever lane it is
// computed. `math.fma` rounds once. Errors are in docs/Spec.md.
//
// exp: e^x = 2^n e^r, where n is the integer next to x / ln 2 and |r| <= ln 2 /
// 2. ln 2 is subtracted in two parts, of which n times the first is exact
// (Cody and Waite, Software Manual for the Elementary Functions, chapter 6). n
// comes from adding 1.5 * 2^23, whose last bit is worth 1 (Muller et al.,
// Handbook of Floating-Point Arithmetic, on rounding to integers); with 127
// added too, the low bits of the sum are the exponent of 2^n. As 2^n itself may
// be no normal number, it is multiplied in two parts: a result below the normal
// numbers is rounded once more there, and one that is too large is infinite.
//
// expm1, of which tanh and erf are made: e^x - 1 = 2^n (e^r - 1) + (2^n - 1).
// Nothing cancels: where n is 0, the polynomial e^r - 1 is the result.
//
// tanh |x| = E / (E + 2), E = expm1(2 |x|). Three roundings are too many where
// E is small, so there it is |x| + (E - 2 |x| - |x| E) / (E + 2): a small
// correction of a number that is exact.
//
// erf |x| = -expm1(-u(|x|)), where u(t) = -log(1 - erf t) = t + t p(t) is
// smooth and t, which is exact, the larger part of it where erf is small.
//
// log: x = 2^n m, sqrt(1/2) <= m < sqrt(2), by integer arithmetic on the bits
// of x (as in FreeBSD's e_logf.c); log x = n ln 2 + log m. log1p adds to the
// logarithm of 1 + x what that sum has lost by rounding, divided by it (Higham,
// Accuracy and Stability of Numerical Algorithms, section 1.14).
//
// The coefficients are those of bench/fit_polynomials.py: they make the largest
// error of the function least, relative to its value.
//
//===----------------------------------------------------------------------===//

#include "ElementaryFunctions.h"
#include "PtxArithmetic.h"

#include <limits>

using namespace mlir;
using metaop::Arithmetic;
using metaop::PtxArithmetic;

// Coefficients, that of the highest power first.

/// e^r = p(r), |r| <= ln 2 / 2, within 2^-28.3.
static constexpr float kExp[] = {
    0.00138209469f, 0.00836868398f, 0.0416682661f, 0.166665211f,
    0.49999994f,    1.0f,           1.0f};
/// e^r - 1 = r + r^2 p(r), |r| <= ln 2 / 2, within 2^-26.1.
static constexpr float kExpm1[] = {0.00138706574f, 0.00836626161f,
                                   0.0416674353f, 0.166665465f, 0.49999997f};
/// -log(1 - erf t) = t + t p(t), 0 <= t <= 3.95; erf within 2^-27.8.
static constexpr float kErf[] = {
    -9.38742778e-06f, 0.000118856791f,  -0.000637350138f,
    0.00167565932f,   -0.000169494655f, -0.0191478245f,
    0.102776304f,     0.636619568f,     0.128379166f};
/// log(1 + f) = f + f^2 p(f), sqrt(1/2) <= 1 + f <= sqrt(2), within 2^-27.3.
static constexpr float kLog[] = {-0.0763880163f, 0.127648935f,  -0.131599963f,
                                 0.142012253f,   -0.166233271f, 0.200012535f,
                                 -0.250008225f,  0.333333313f,  -0.5f};

/// ln 2 in two parts; the first has 15 bits, so n times it is exact.
static constexpr float kLn2High = 0.693145751953125f;
static constexpr float kLn2Low = 1.42860677e-06f;
static constexpr float kLn2 = 0.693147182f;
/// 1 / ln 2, and what it lacks.
static constexpr float kLog2E = 1.44269502f;
static constexpr float kLog2ELow = 1.92596303e-08f;

/// The bits of a float that are its exponent come after 23 others.
static constexpr int64_t kMantissaBits = 23;
static constexpr int64_t kExponentMask = 0xff800000;
static constexpr int64_t kSmallestNormal = 0x00800000;
/// sqrt(1/2), as bits.
static constexpr int64_t kSqrtHalf = 0x3f3504f3;

namespace {
/// x = n ln 2 + r, for integers n of which 2^n is a normal number.
struct Reduced {
  Value r;
  /// n + 127, where the low bits are looked at.
  Value biased;
};
} // namespace

static Reduced reduceByLn2(Arithmetic &math, Value x) {
  // Numbers of this size have no bits after the binary point.
  Value shift = math.constant(0x1.8p23f + 127.0f);
  Value sum = math.fma(x, math.constant(kLog2E), shift);
  Value n = math.sub(sum, shift);
  Value r = math.fma(n, math.constant(-kLn2High), x);
  r = math.fma(n, math.constant(-kLn2Low), r);
  return {r, math.toBits(sum)};
}

/// e^r 2^n, and 0 where x, which has the sign of n, is below `lowest`. A 0
/// comes of a factor 0: processors take long to find that a product is too
/// small, and what a softmax masks is far below.
static Value emitScaledPower(Arithmetic &math, const Reduced &reduced, Value x,
                             float lowest) {
  auto [r, biased] = reduced;
  Value power = math.polynomial(r, kExp);
  // 2^n as 2^(n + 64) 2^-64 for negative x, else as 2^(n - 64) 2^64.
  Value isNegative = math.less(x, math.constant(0.0f));
  Value offset = math.select(isNegative, math.bits(64 << kMantissaBits),
                             math.bits(-(64 << kMantissaBits)));
  Value small = math.select(math.less(x, math.constant(lowest)),
                            math.constant(0.0f), math.constant(0x1p-64f));
  Value rest = math.select(isNegative, small, math.constant(0x1p64f));
  Value scale = math.fromBits(math.addBits(math.toExponent(biased), offset));
  return math.mul(math.mul(power, scale), rest);
}

static Value emitExp(Arithmetic &math, Value x) {
  // Beyond these the result is 0 and infinity.
  constexpr float lowest = -104.0f;
  Value bounded = math.atMost(math.atLeast(x, lowest), 89.0f);
  return emitScaledPower(math, reduceByLn2(math, bounded), x, lowest);
}

static Value emitExp2(Arithmetic &math, Value x) {
  constexpr float lowest = -150.0f;
  Value bounded = math.atMost(math.atLeast(x, lowest), 128.0f);
  // The difference of x and the integer next to it is exact.
  Value shift = math.constant(0x1.8p23f + 127.0f);
  Value sum = math.add(bounded, shift);
  Value rest = math.sub(bounded, math.sub(sum, shift));
  Reduced reduced = {math.mul(rest, math.constant(kLn2)), math.toBits(sum)};
  return emitScaledPower(math, reduced, x, lowest);
}

/// e^x - 1 where 2^n is a normal number.
static Value emitBoundedExpm1(Arithmetic &math, Value x) {
  auto [r, biased] = reduceByLn2(math, x);
  Value power = math.fma(math.mul(r, r), math.polynomial(r, kExpm1), r);
  Value scale = math.fromBits(math.toExponent(biased));
  return math.fma(scale, power, math.sub(scale, math.constant(1.0f)));
}

/// Below -18, e^x is less than half of the last bit of 1. 2^n may be too large
/// where the result is not, so half of all is computed.
static Value emitExpm1(Arithmetic &math, Value x) {
  Value bounded = math.atMost(math.atLeast(x, -18.0f), 89.0f);
  auto [r, biased] = reduceByLn2(math, bounded);
  Value power = math.fma(math.mul(r, r), math.polynomial(r, kExpm1), r);
  Value halved = math.subBits(math.toExponent(biased),
                              math.bits(int64_t(1) << kMantissaBits));
  Value scale = math.fromBits(halved);
  Value half = math.fma(scale, power, math.sub(scale, math.constant(0.5f)));
  return math.copySign(math.add(half, half), x);
}

template <typename ArithmeticT, Value (ArithmeticT::*divide)(Value, Value)>
static Value emitTanh(ArithmeticT &math, Value x) {
  Value magnitude = math.atMost(math.abs(x), 10.0f);
  Value twice = math.add(magnitude, magnitude);
  Value grown = emitBoundedExpm1(math, twice);
  Value isSmall = math.less(magnitude, math.constant(0.625f));
  Value correction =
      math.fma(math.negate(magnitude), grown, math.sub(grown, twice));
  // A numerator below 2^-102 is one of an x that hides it. For all arguments,
  // and reciprocals that are a unit off, GPUs have the quotient that `div` has.
  Value quotient = (math.*divide)(math.select(isSmall, correction, grown),
                                  math.add(grown, math.constant(2.0f)));
  Value corrected = math.add(quotient, magnitude);
  return math.copySign(math.select(isSmall, corrected, quotient), x);
}

static Value emitErf(Arithmetic &math, Value x) {
  // From this bound on the result rounds to 1.
  Value t = math.atMost(math.abs(x), 3.95f);
  Value u = math.fma(math.polynomial(t, kErf), t, t);
  return math.copySign(emitBoundedExpm1(math, math.negate(u)), x);
}

namespace {
/// x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
struct Significand {
  Value n, f;
};
} // namespace

static Significand splitNumber(Arithmetic &math, Value x) {
  // Numbers below the normal ones are scaled up.
  Value isTiny = math.less(x, math.fromBits(math.bits(kSmallestNormal)));
  Value scaled = math.select(isTiny, math.mul(x, math.constant(0x1p23f)), x);

  Value bits = math.toBits(scaled);
  Value distance = math.subBits(bits, math.bits(kSqrtHalf));
  Value exponent = math.fromExponent(distance);
  exponent =
      math.select(isTiny, math.subBits(exponent, math.bits(23)), exponent);
  Value exponentBits = math.maskBits(distance, kExponentMask);
  Value m = math.fromBits(math.subBits(bits, exponentBits));
  return {math.toFloat(exponent), math.sub(m, math.constant(1.0f))};
}

/// log(1 + f).
static Value emitShortLog(Arithmetic &math, Value f) {
  return math.fma(math.mul(f, f), math.polynomial(f, kLog), f);
}

/// `sum`, which is a logarithm of positive numbers: infinity has itself, 0 the
/// negative one, and what is below none.
static Value emitLogLimits(Arithmetic &math, Value x, Value sum) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Value zero = math.constant(0.0f);
  sum = math.select(math.less(x, math.constant(kInfinity)), sum, x);
  Value pole = math.select(math.equal(x, zero), math.constant(-kInfinity),
                           math.constant(kNaN));
  return math.select(math.less(zero, x), sum, pole);
}

static Value emitLog(Arithmetic &math, Value x) {
  auto [n, f] = splitNumber(math, x);
  Value sum = emitShortLog(math, f);
  sum = math.fma(n, math.constant(kLn2Low), sum);
  sum = math.fma(n, math.constant(kLn2High), sum);
  return emitLogLimits(math, x, sum);
}

/// Of powers of two it is n, which is exact.
static Value emitLog2(Arithmetic &math, Value x) {
  auto [n, f] = splitNumber(math, x);
  Value part = emitShortLog(math, f);
  Value sum = math.fma(part, math.constant(kLog2ELow), n);
  sum = math.fma(part, math.constant(kLog2E), sum);
  return emitLogLimits(math, x, sum);
}

/// log u + c / u, where u is 1 + x rounded and c what the rounding took away.
static Value emitLog1p(Arithmetic &math, Value x) {
  Value one = math.constant(1.0f);
  Value zero = math.constant(0.0f);
  Value u = math.add(one, x);
  // If |x| is larger than 1, it is the 1 that has lost digits.
  Value fromX = math.sub(x, math.sub(u, one));
  Value fromOne = math.sub(one, math.sub(u, x));
  Value isLarge = math.less(one, x);
  Value lost = math.select(isLarge, fromOne, fromX);
  Value log = emitLog(math, u);
  Value sum = math.add(log, math.div(lost, u));
  // At the ends, -1 and infinity, u has no rest.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  sum = math.select(math.less(zero, u), sum, log);
  sum = math.select(math.less(u, math.constant(kInfinity)), sum, log);
  return math.select(math.equal(x, zero), x, sum);
}

namespace {
template <typename OpT, auto emit, typename ArithmeticT = Arithmetic>
struct ExpandElementaryFunction : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    ArithmeticT math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emit(math, op.getOperand()));
    return success();
  }
};
} // namespace

void metaop::populateElementaryFunctionPatterns(RewritePatternSet &patterns,
                                                bool isForGpu) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandElementaryFunction<math::ExpOp, emitExp>,
               ExpandElementaryFunction<math::Exp2Op, emitExp2>,
               ExpandElementaryFunction<math::ExpM1Op, emitExpm1>,
               ExpandElementaryFunction<math::LogOp, emitLog>,
               ExpandElementaryFunction<math::Log2Op, emitLog2>,
               ExpandElementaryFunction<math::Log1pOp, emitLog1p>,
               ExpandElementaryFunction<math::ErfOp, emitErf>>(context);
  if (isForGpu)
    patterns.add<ExpandElementaryFunction<
        math::TanhOp, emitTanh<PtxArithmetic, &PtxArithmetic::normalQuotient>,
        PtxArithmetic>>(context);
  else
    patterns.add<ExpandElementaryFunction<
        math::TanhOp, emitTanh<Arithmetic, &Arithmetic::div>>>(context);
}
