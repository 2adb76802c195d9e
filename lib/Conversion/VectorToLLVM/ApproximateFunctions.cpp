//===- ApproximateFunctions.cpp - Functions rounded to halves on GPUs -----===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of f32 that are rounded to f16 or bf16 next, and marked so (`afn`),
// by instructions that a GPU's special function unit computes: 2^x, log2 x, 1 /
// x, square roots, and quotients by these, to which the PTX manual gives errors
// of about 2^-22. Halves have 8 or 11 binary digits, of the 24 that are
// otherwise computed. All numbers below are relative errors.
//
// exp: 2^(x log2 e). The product's error grows with x, whose magnitude is below
// 104 where the result is neither 0 nor infinite: 2^-17, and 2^-19 for f16.
//
// log: log2 x, whose error next to 1 is absolute. The logarithm of a number of
// bf16 is no less than 2^-8 there, which makes it 2^-14; one of f16 may be
// less, so f16 keeps the polynomial.
//
// tanh |x| = 1 - 2 / (e^(2 |x|) + 1) from 1/2 on. Below, where that cancels,
// x (1 + x^2 p(x^2)).
//
// erf |x| = 1 - 2^-v(|x|) from 0.7 on, where v(t) = -log2(1 - erf t). Below,
// x p(x^2).
//
// The coefficients are those of bench/fit_polynomials.py --approximate.
//
//===----------------------------------------------------------------------===//

#include "ApproximateFunctions.h"
#include "PtxArithmetic.h"

using namespace mlir;
using metaop::PtxArithmetic;

// Coefficients, that of the highest power first.

/// tanh x = x (1 + x^2 p(x^2)), 0 <= x <= 1/2, within 2^-20.6.
static constexpr float kTanh[] = {-0.0447510481f, 0.132053748f, -0.333281606f};
/// erf x = x p(x^2), 0 <= x <= 0.7, within 2^-19.0.
static constexpr float kShortErf[] = {-0.0222477466f, 0.111462235f,
                                      -0.37599206f, 1.12837708f};
/// -log2(1 - erf t), 0.7 <= t <= 3; erf within 2^-20.0.
static constexpr float kLongErf[] = {-0.0114060584f, 0.105562851f, 0.967653155f,
                                     1.60084355f, 0.00576975988f};

static constexpr float kLog2E = 1.44269502f;
static constexpr float kLn2 = 0.693147182f;

static Value emitExp(PtxArithmetic &math, Value x) {
  return math.exp2(math.mul(x, math.constant(kLog2E)));
}

static Value emitExp2(PtxArithmetic &math, Value x) { return math.exp2(x); }

static Value emitLog(PtxArithmetic &math, Value x) {
  return math.mul(math.log2(x), math.constant(kLn2));
}

static Value emitLog2(PtxArithmetic &math, Value x) { return math.log2(x); }

static Value emitSqrt(PtxArithmetic &math, Value x) { return math.sqrt(x); }

static Value emitRsqrt(PtxArithmetic &math, Value x) { return math.rsqrt(x); }

static Value emitTanh(PtxArithmetic &math, Value x) {
  Value one = math.constant(1.0);
  Value square = math.mul(x, x);
  Value near =
      math.mul(x, math.fma(square, math.polynomial(square, kTanh), one));

  Value magnitude = math.abs(x);
  Value power = math.normalExp2(math.mul(magnitude, math.constant(2 * kLog2E)));
  Value inverse = math.reciprocal(math.add(power, one));
  Value far = math.fma(inverse, math.constant(-2.0), one);
  return math.select(math.less(magnitude, 0.5), near, math.copySign(far, x));
}

static Value emitErf(PtxArithmetic &math, Value x) {
  Value near = math.mul(x, math.polynomial(math.mul(x, x), kShortErf));

  Value magnitude = math.abs(x);
  // From this bound on the result rounds to 1.
  Value t = math.atMost(magnitude, 3.0);
  Value rest = math.normalExp2(math.negate(math.polynomial(t, kLongErf)));
  Value far = math.sub(math.constant(1.0), rest);
  return math.select(math.less(magnitude, 0.7), near, math.copySign(far, x));
}

static Value emitQuotient(PtxArithmetic &math, Value a, Value b) {
  return math.quotient(a, b);
}

/// Returns whether the operation may be approximated, and all that reads it
/// rounds it to halves.
static bool mayApproximate(arith::ArithFastMathInterface op) {
  arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
  return flags &&
         arith::bitEnumContainsAll(flags.getValue(),
                                   arith::FastMathFlags::afn) &&
         getElementTypeOrSelf(op->getResult(0)).isF32() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<arith::TruncFOp>(user);
         });
}

/// Returns whether some reader rounds it to f16.
static bool isRoundedToF16(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return getElementTypeOrSelf(user->getResult(0)).isF16();
  });
}

namespace {
template <typename OpT, auto emit> struct Approximate : OpRewritePattern<OpT> {
  // Before the polynomials.
  explicit Approximate(MLIRContext *context)
      : OpRewritePattern<OpT>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!mayApproximate(op))
      return rewriter.notifyMatchFailure(op, "needs all its digits");
    if (isa<math::LogOp, math::Log2Op>(*op) && isRoundedToF16(op))
      return rewriter.notifyMatchFailure(op, "is too near to 0 at 1");
    PtxArithmetic math(rewriter, op.getLoc(), op.getType());
    if constexpr (OpT::template hasTrait<OpTrait::OneOperand>())
      rewriter.replaceOp(op, emit(math, op->getOperand(0)));
    else
      rewriter.replaceOp(op, emit(math, op->getOperand(0), op->getOperand(1)));
    return success();
  }
};
} // namespace

void metaop::populateApproximateFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<
      Approximate<math::ExpOp, emitExp>, Approximate<math::Exp2Op, emitExp2>,
      Approximate<math::LogOp, emitLog>, Approximate<math::Log2Op, emitLog2>,
      Approximate<math::TanhOp, emitTanh>, Approximate<math::ErfOp, emitErf>,
      Approximate<math::SqrtOp, emitSqrt>,
      Approximate<math::RsqrtOp, emitRsqrt>,
      Approximate<arith::DivFOp, emitQuotient>>(patterns.getContext());
}
