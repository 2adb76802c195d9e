//===- ElementwiseFolds.cpp - Folds of the arithmetic ops -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants are folded where all are splats and the result is exact, whatever
// computes it. NaN, the infinities and the sign of zero are kept.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "SplatFolding.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using FloatUnaryFn = llvm::function_ref<APFloat(APFloat)>;
using IntUnaryFn = llvm::function_ref<APInt(APInt)>;
using FloatBinaryFn = llvm::function_ref<APFloat(APFloat, APFloat)>;
using IntBinaryFn = llvm::function_ref<APInt(APInt, APInt)>;

/// Folds a splat; a null function stands for an element type that is not
/// folded.
template <typename OpT>
static OpFoldResult foldSplat(OpT op, Attribute operand, FloatUnaryFn floatFn,
                              IntUnaryFn intFn) {
  Type type = op.getType();
  if (isFloat(op.getResult())) {
    auto x = splatOf<APFloat>(operand, type);
    return x && floatFn ? makeSplat(type, floatFn(*x)) : Attribute();
  }
  auto x = splatOf<APInt>(operand, type);
  return x && intFn ? makeSplat(type, intFn(*x)) : Attribute();
}

template <typename OpT>
static OpFoldResult foldSplats(OpT op, Attribute lhs, Attribute rhs,
                               FloatBinaryFn floatFn, IntBinaryFn intFn) {
  Type type = op.getType();
  if (isFloat(op.getResult())) {
    auto x = splatOf<APFloat>(lhs, type), y = splatOf<APFloat>(rhs, type);
    return x && y && floatFn ? makeSplat(type, floatFn(*x, *y)) : Attribute();
  }
  auto x = splatOf<APInt>(lhs, type), y = splatOf<APInt>(rhs, type);
  return x && y && intFn ? makeSplat(type, intFn(*x, *y)) : Attribute();
}

//===----------------------------------------------------------------------===//
// Unary folds
//===----------------------------------------------------------------------===//

/// f(f(x)) = x.
template <typename OpT> static OpFoldResult foldInvolution(OpT op) {
  if (auto inner = op.getOperand().template getDefiningOp<OpT>())
    return replaceBy(op, inner.getOperand());
  return {};
}

/// f(f(x)) = f(x).
template <typename OpT> static OpFoldResult foldIdempotent(OpT op) {
  if (op.getOperand().template getDefiningOp<OpT>())
    return replaceBy(op, op.getOperand());
  return {};
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult inner = foldInvolution(*this))
    return inner;
  return foldSplat(
      *this, adaptor.getOperand(), [](APFloat x) { return neg(x); },
      [](APInt x) { return -x; });
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult inner = foldInvolution(*this))
    return inner;
  return foldSplat(*this, adaptor.getOperand(), nullptr,
                   [](APInt x) { return ~x; });
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (isUnsigned(getResult()))
    return replaceBy(*this, getOperand());
  if (OpFoldResult inner = foldIdempotent(*this))
    return inner;
  return foldSplat(
      *this, adaptor.getOperand(), [](APFloat x) { return abs(x); },
      [](APInt x) { return x.abs(); });
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult inner = foldIdempotent(*this))
    return inner;
  bool isUnsignedInt = isUnsigned(getResult());
  return foldSplat(
      *this, adaptor.getOperand(),
      [](APFloat x) {
        if (x.isNaN())
          return x;
        if (x.isZero())
          return APFloat::getZero(x.getSemantics());
        return APFloat::getOne(x.getSemantics(), x.isNegative());
      },
      [=](APInt x) {
        if (x.isZero())
          return x;
        if (!isUnsignedInt && x.isNegative())
          return APInt::getAllOnes(x.getBitWidth());
        return APInt(x.getBitWidth(), 1);
      });
}

template <typename OpT>
static OpFoldResult foldRounding(OpT op, Attribute operand,
                                 APFloat::roundingMode mode) {
  if (OpFoldResult inner = foldIdempotent(op))
    return inner;
  return foldSplat(
      op, operand,
      [=](APFloat x) {
        x.roundToIntegral(mode);
        return x;
      },
      nullptr);
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldRounding(*this, adaptor.getOperand(), APFloat::rmTowardNegative);
}
OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldRounding(*this, adaptor.getOperand(), APFloat::rmTowardPositive);
}
OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  return foldRounding(*this, adaptor.getOperand(),
                      APFloat::rmNearestTiesToEven);
}

OpFoldResult TruncOp::fold(FoldAdaptor adaptor) {
  return foldRounding(*this, adaptor.getOperand(), APFloat::rmTowardZero);
}

//===----------------------------------------------------------------------===//
// Binary folds. Commutative ops have their constant on the right.
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // 0.0 is not neutral: -0.0 + 0.0 is 0.0.
  if (isSplat(adaptor.getRhs(), -0.0))
    return replaceBy(*this, getLhs());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x + y; },
      [](APInt x, APInt y) { return x + y; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0))
    return replaceBy(*this, getLhs());
  if (!isFloat(getResult()) && getLhs() == getRhs())
    return makeSplat(getType(), 0);
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x - y; },
      [](APInt x, APInt y) { return x - y; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return replaceBy(*this, getLhs());
  if (!isFloat(getResult()) && isSplat(adaptor.getRhs(), 0.0))
    return replaceBy(*this, getRhs());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x * y; },
      [](APInt x, APInt y) { return x * y; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return replaceBy(*this, getLhs());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return x / y; }, nullptr);
}

/// Quotient and remainder, rounded as `metaop.floor_div` and `metaop.mod` say.
static std::pair<APInt, APInt> floorDivMod(const APInt &x, const APInt &y,
                                           bool isUnsignedInt) {
  APInt zero(x.getBitWidth(), 0);
  if (y.isZero())
    return {zero, zero};
  if (isUnsignedInt)
    return {x.udiv(y), x.urem(y)};
  APInt quotient = x.sdiv(y), remainder = x.srem(y);
  if (!remainder.isZero() && remainder.isNegative() != y.isNegative()) {
    quotient -= 1;
    remainder += y;
  }
  return {quotient, remainder};
}

OpFoldResult FloorDivOp::fold(FoldAdaptor adaptor) {
  if (!isFloat(getResult()) && isSplat(adaptor.getRhs(), 1.0))
    return replaceBy(*this, getLhs());
  bool isUnsignedInt = isUnsigned(getResult());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(), nullptr,
      [=](APInt x, APInt y) { return floorDivMod(x, y, isUnsignedInt).first; });
}

OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  if (!isFloat(getResult()) && isSplat(adaptor.getRhs(), 1.0))
    return makeSplat(getType(), 0);
  bool isUnsignedInt = isUnsigned(getResult());
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), nullptr,
                    [=](APInt x, APInt y) {
                      return floorDivMod(x, y, isUnsignedInt).second;
                    });
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return replaceBy(*this, getLhs());
  // Even where x is NaN.
  if (isSplat(adaptor.getRhs(), 0.0) || isSplat(adaptor.getRhs(), -0.0))
    return makeSplat(getType(), 1);
  return {};
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return replaceBy(*this, getLhs());
  bool isUnsignedInt = isUnsigned(getResult());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return maximum(x, y); },
      [=](APInt x, APInt y) {
        return isUnsignedInt ? llvm::APIntOps::umax(x, y)
                             : llvm::APIntOps::smax(x, y);
      });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return replaceBy(*this, getLhs());
  bool isUnsignedInt = isUnsigned(getResult());
  return foldSplats(
      *this, adaptor.getLhs(), adaptor.getRhs(),
      [](APFloat x, APFloat y) { return minimum(x, y); },
      [=](APInt x, APInt y) {
        return isUnsignedInt ? llvm::APIntOps::umin(x, y)
                             : llvm::APIntOps::smin(x, y);
      });
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplat(adaptor.getRhs(), -1.0))
    return replaceBy(*this, getLhs());
  if (isSplat(adaptor.getRhs(), 0.0))
    return replaceBy(*this, getRhs());
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), nullptr,
                    [](APInt x, APInt y) { return x & y; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplat(adaptor.getRhs(), 0.0))
    return replaceBy(*this, getLhs());
  if (isSplat(adaptor.getRhs(), -1.0))
    return replaceBy(*this, getRhs());
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), nullptr,
                    [](APInt x, APInt y) { return x | y; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0))
    return replaceBy(*this, getLhs());
  if (getLhs() == getRhs())
    return makeSplat(getType(), 0);
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), nullptr,
                    [](APInt x, APInt y) { return x ^ y; });
}
