//===- AffineValue.cpp - Affine expressions with their ranges -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How C's division becomes floor division, for a divisor c > 0:
//
//   a >= 0 everywhere:  a / c = a floordiv c
//   a <= 0 everywhere:  a / c = -(-a floordiv c)
//   both signs:         a / c = (a - s * (c - 1)) floordiv c, where s, which is
//                       a floordiv B for a B above |a|, is -1 where a is
//                       negative and 0 elsewhere
//
// The last holds since rounding a / c up is rounding (a + c - 1) / c down. The
// remainder follows the same cases; it is a - c * (a / c) in the last.
//
//===----------------------------------------------------------------------===//

#include "AffineValue.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using mlir::AffineExpr;

namespace metaops::indexexpression {

/// The size of the largest expression made. Beyond it, recursion over the tree
/// that an expression stands for could take too much time or stack.
static constexpr unsigned kMaxSize = 4096;
/// The size of the largest expression that is simplified to know its range.
static constexpr unsigned kMaxSizeToSimplify = 256;

AffineValue AffineValue::makeConstant(int64_t value,
                                      mlir::MLIRContext *context) {
  return {getAffineConstantExpr(value, context),
          {value, value},
          value < 0 ? -value : value,
          1};
}

AffineValue AffineValue::makeIndex(unsigned number, Range range,
                                   mlir::MLIRContext *context) {
  return {getAffineDimExpr(number, context), range,
          std::max<int64_t>(range.high, 1), 1};
}

/// Adds the nodes of `expr` to `size`, and stops once they are too many.
static void countNodes(AffineExpr expr, unsigned &size) {
  if (++size > kMaxSize)
    return;
  if (auto binary = dyn_cast<mlir::AffineBinaryOpExpr>(expr)) {
    countNodes(binary.getLHS(), size);
    countNodes(binary.getRHS(), size);
  }
}

static MaybeAffineValue makeValue(AffineExpr expr, Range range,
                                  int64_t magnitude) {
  unsigned size = 0;
  countNodes(expr, size);
  if (size > kMaxSize)
    return std::nullopt;
  return AffineValue{expr, range, magnitude, size};
}

/// `expr * factor`, as a sum where `expr` is one, so that terms can cancel.
static AffineExpr distribute(AffineExpr expr, int64_t factor) {
  if (expr.getKind() != mlir::AffineExprKind::Add)
    return expr * factor;
  auto sum = cast<mlir::AffineBinaryOpExpr>(expr);
  return distribute(sum.getLHS(), factor) + distribute(sum.getRHS(), factor);
}

MaybeAffineValue add(const AffineValue &left, const AffineValue &right) {
  int64_t magnitude;
  if (AddOverflow(left.magnitude, right.magnitude, magnitude))
    return std::nullopt;
  return makeValue(
      left.expr + right.expr,
      {left.range.low + right.range.low, left.range.high + right.range.high},
      magnitude);
}

MaybeAffineValue scale(const AffineValue &value, int64_t factor) {
  if (factor == 0)
    return AffineValue::makeConstant(0, value.expr.getContext());
  int64_t magnitude;
  if (factor == INT64_MIN ||
      MulOverflow(value.magnitude, std::abs(factor), magnitude))
    return std::nullopt;
  int64_t ends[] = {value.range.low * factor, value.range.high * factor};
  return makeValue(distribute(value.expr, factor),
                   {std::min(ends[0], ends[1]), std::max(ends[0], ends[1])},
                   magnitude);
}

MaybeAffineValue subtract(const AffineValue &left, const AffineValue &right) {
  MaybeAffineValue negated = scale(right, -1);
  return negated ? add(left, *negated) : std::nullopt;
}

static MaybeAffineValue floorQuotient(const AffineValue &value,
                                      int64_t divisor) {
  return makeValue(value.expr.floorDiv(divisor),
                   {divideFloorSigned(value.range.low, divisor),
                    divideFloorSigned(value.range.high, divisor)},
                   value.magnitude);
}

MaybeAffineValue floorRemainder(const AffineValue &value, int64_t divisor) {
  // Simplification writes it as value - divisor * quotient.
  int64_t magnitude;
  if (AddOverflow(value.magnitude, divisor, magnitude))
    return std::nullopt;
  Range range = {0, divisor - 1};
  if (value.range.low >= 0)
    range.high = std::min(range.high, value.range.high);
  return makeValue(value.expr % divisor, range, magnitude);
}

/// -1 where `value` is negative, else 0.
static MaybeAffineValue makeSign(const AffineValue &value) {
  uint64_t bound = NextPowerOf2(value.magnitude);
  if (bound > static_cast<uint64_t>(INT64_MAX))
    return std::nullopt;
  MaybeAffineValue sign = floorQuotient(value, bound);
  // No coefficient is a multiple of the bound, so that the quotient stays one.
  if (sign)
    sign->magnitude = 1;
  return sign;
}

MaybeAffineValue truncatingQuotient(const AffineValue &value, int64_t divisor) {
  if (divisor == 1)
    return value;
  if (value.range.low >= 0)
    return floorQuotient(value, divisor);
  if (value.range.high <= 0) {
    MaybeAffineValue negated = scale(value, -1);
    MaybeAffineValue quotient =
        negated ? floorQuotient(*negated, divisor) : std::nullopt;
    return quotient ? scale(*quotient, -1) : std::nullopt;
  }
  MaybeAffineValue sign = makeSign(value);
  MaybeAffineValue round = sign ? scale(*sign, 1 - divisor) : std::nullopt;
  MaybeAffineValue dividend = round ? add(value, *round) : std::nullopt;
  MaybeAffineValue quotient =
      dividend ? floorQuotient(*dividend, divisor) : std::nullopt;
  if (quotient)
    quotient->range = {value.range.low / divisor, value.range.high / divisor};
  return quotient;
}

MaybeAffineValue truncatingRemainder(const AffineValue &value,
                                     int64_t divisor) {
  if (divisor == 1)
    return AffineValue::makeConstant(0, value.expr.getContext());
  if (value.range.low >= 0)
    return floorRemainder(value, divisor);
  if (value.range.high <= 0) {
    MaybeAffineValue negated = scale(value, -1);
    MaybeAffineValue remainder =
        negated ? floorRemainder(*negated, divisor) : std::nullopt;
    return remainder ? scale(*remainder, -1) : std::nullopt;
  }
  MaybeAffineValue quotient = truncatingQuotient(value, divisor);
  MaybeAffineValue multiple =
      quotient ? scale(*quotient, divisor) : std::nullopt;
  MaybeAffineValue remainder =
      multiple ? subtract(value, *multiple) : std::nullopt;
  if (remainder)
    remainder->range = {std::max(value.range.low, 1 - divisor),
                        std::min(value.range.high, divisor - 1)};
  return remainder;
}

/// The range of `expr`, or none where its ends leave 64 bits.
static std::optional<Range> computeRange(AffineExpr expr, IndexRanges ranges) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return ranges[dim.getPosition()];
  auto binary = dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = computeRange(binary.getLHS(), ranges);
  auto right = computeRange(binary.getRHS(), ranges);
  if (!left || !right)
    return std::nullopt;

  Range result;
  if (binary.getKind() == mlir::AffineExprKind::Add) {
    if (AddOverflow(left->low, right->low, result.low) ||
        AddOverflow(left->high, right->high, result.high))
      return std::nullopt;
    return result;
  }
  std::optional<int64_t> constant = right->getConstant();
  if (!constant)
    return std::nullopt;
  switch (binary.getKind()) {
  case mlir::AffineExprKind::Mul:
    if (MulOverflow(left->low, *constant, result.low) ||
        MulOverflow(left->high, *constant, result.high))
      return std::nullopt;
    if (*constant < 0)
      std::swap(result.low, result.high);
    return result;
  case mlir::AffineExprKind::FloorDiv:
    if (*constant <= 0)
      return std::nullopt;
    return Range{divideFloorSigned(left->low, *constant),
                 divideFloorSigned(left->high, *constant)};
  case mlir::AffineExprKind::Mod:
    if (*constant <= 0)
      return std::nullopt;
    if (left->low >= 0 && left->high < *constant)
      return left;
    return Range{0, *constant - 1};
  default:
    return std::nullopt;
  }
}

Range narrowRange(const AffineValue &value, IndexRanges ranges) {
  if (value.size > kMaxSizeToSimplify)
    return value.range;
  AffineExpr simplified =
      simplifyAffineExpr(value.expr, ranges.size(), /*numSymbols=*/0);
  std::optional<Range> range = computeRange(simplified, ranges);
  if (!range)
    return value.range;
  return {std::max(range->low, value.range.low),
          std::min(range->high, value.range.high)};
}

AffineExpr simplify(const AffineValue &value, unsigned numIndices) {
  if (value.size > kMaxSizeToSimplify)
    return value.expr;
  AffineExpr simplified =
      simplifyAffineExpr(value.expr, numIndices, /*numSymbols=*/0);
  // It brings terms together, but also writes out remainders.
  unsigned size = 0;
  countNodes(simplified, size);
  return size < value.size ? simplified : value.expr;
}

} // namespace metaops::indexexpression
