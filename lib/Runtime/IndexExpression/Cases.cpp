//===- Cases.cpp - Values that differ from case to case -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include <algorithm>

using namespace llvm;

namespace metaops::indexexpression {

/// Steps that the cases of one expression may take. What people write takes a
/// few dozen; the number of cases can double with each operator.
static constexpr unsigned kMaxSteps = 1 << 16;
/// The size of the largest predicate made.
static constexpr unsigned kMaxPredicateSize = 4096;

bool CaseBuilder::spend(size_t offset) {
  if (++steps <= kMaxSteps)
    return true;
  source.fail(offset, "too many cases",
              "fewer of min, max, abs, ?: and "
              "comparisons within one another");
  return false;
}

std::nullptr_t CaseBuilder::failTooLarge(size_t offset) {
  source.fail(offset, "the result is too large",
              "values that fit into 64 bits, and an expression of moderate "
              "size");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Value *CaseBuilder::makeAffine(MaybeAffineValue value, size_t offset) {
  if (!value)
    return failTooLarge(offset);
  values.push_back({Value::Kind::Affine, offset, value->range, *value});
  return &values.back();
}

const Value *CaseBuilder::makeConstant(int64_t value, size_t offset) {
  return makeAffine(AffineValue::makeConstant(value, context), offset);
}

const Value *CaseBuilder::makeIndex(unsigned number, size_t offset) {
  return makeAffine(AffineValue::makeIndex(number, ranges[number], context),
                    offset);
}

mlir::AffineExpr CaseBuilder::toAffine(const Value *value) {
  if (!value)
    return nullptr;
  if (value->isAffine())
    return simplify(value->affine, names.getNumDims());
  source.fail(value->offset,
              "the ranges of the indices do not decide this, and an index has "
              "to be affine",
              "an affine expression; for a value that changes from case to "
              "case, use an overflow condition, or 'where' on the result");
  return nullptr;
}

const Value *CaseBuilder::makeComputed(ComputedIndex::Kind kind, unsigned extra,
                                       ArrayRef<const Value *> operands,
                                       size_t offset) {
  ComputedIndex index{kind, extra, {}};
  for (const Value *operand : operands) {
    mlir::AffineExpr expr = toAffine(operand);
    if (!expr)
      return nullptr;
    index.operands.push_back(expr);
  }
  names.computed->push_back(std::move(index));
  // It may have either sign.
  ranges.push_back({-kMaxDynamicIndex, kMaxDynamicIndex});
  return makeIndex(ranges.size() - 1, offset);
}

const Value *CaseBuilder::makeRead(unsigned extra,
                                   ArrayRef<const Value *> indices,
                                   size_t offset) {
  return makeComputed(ComputedIndex::Kind::Read, extra, indices, offset);
}

bool CaseBuilder::isComputed(const Value *left, const Value *right) const {
  return !names.extraRanks.empty() && left && right && left->isAffine() &&
         right->isAffine() && !findConstant(right);
}

/// Makes a Max, Min or Select, or the operand that it always is. `offset` is of
/// the operator at work, `value.offset` of the one that brought the cases.
const Value *CaseBuilder::makeCase(Value value, size_t offset) {
  if (!value.left || !value.right || !spend(offset))
    return nullptr;
  Range left = value.left->range, right = value.right->range;
  if (left.getConstant() && left.getConstant() == right.getConstant())
    return value.left;
  switch (value.kind) {
  case Value::Kind::Max:
    if (left.low >= right.high)
      return value.left;
    if (right.low >= left.high)
      return value.right;
    value.range = {std::max(left.low, right.low),
                   std::max(left.high, right.high)};
    break;
  case Value::Kind::Min:
    if (left.high <= right.low)
      return value.left;
    if (right.high <= left.low)
      return value.right;
    value.range = {std::min(left.low, right.low),
                   std::min(left.high, right.high)};
    break;
  default:
    value.range = {std::min(left.low, right.low),
                   std::max(left.high, right.high)};
  }
  values.push_back(value);
  return &values.back();
}

const Value *CaseBuilder::makeExtremum(Value::Kind kind, const Value *left,
                                       const Value *right, size_t offset) {
  if (!left || !right)
    return nullptr;
  if (left->isAffine() && right->isAffine()) {
    MaybeAffineValue difference =
        indexexpression::subtract(left->affine, right->affine);
    if (!difference)
      return failTooLarge(offset);
    Range range = narrowRange(*difference, ranges);
    if (range.low >= 0)
      return kind == Value::Kind::Max ? left : right;
    if (range.high <= 0)
      return kind == Value::Kind::Max ? right : left;
  }
  Value value = {kind, offset, {}};
  value.left = left;
  value.right = right;
  return makeCase(value, offset);
}

const Value *CaseBuilder::maximum(const Value *left, const Value *right,
                                  size_t offset) {
  return makeExtremum(Value::Kind::Max, left, right, offset);
}

const Value *CaseBuilder::minimum(const Value *left, const Value *right,
                                  size_t offset) {
  return makeExtremum(Value::Kind::Min, left, right, offset);
}

const Value *CaseBuilder::select(const Predicate *predicate,
                                 const Value *ifTrue, const Value *ifFalse,
                                 size_t offset) {
  if (!predicate || !ifTrue || !ifFalse)
    return nullptr;
  if (predicate->isTrue())
    return ifTrue;
  if (predicate->isFalse())
    return ifFalse;
  Value value = {Value::Kind::Select, offset, {}};
  value.predicate = predicate;
  value.left = ifTrue;
  value.right = ifFalse;
  return makeCase(value, offset);
}

const Value *CaseBuilder::mapLeaves(const Value *value, bool increasing,
                                    AffineFunction function, size_t offset) {
  if (!value || !spend(offset))
    return nullptr;
  if (value->isAffine())
    return makeAffine(function(value->affine), offset);
  Value mapped = *value;
  if (!increasing && value->kind == Value::Kind::Max)
    mapped.kind = Value::Kind::Min;
  if (!increasing && value->kind == Value::Kind::Min)
    mapped.kind = Value::Kind::Max;
  mapped.left = mapLeaves(value->left, increasing, function, offset);
  mapped.right = mapLeaves(value->right, increasing, function, offset);
  return makeCase(mapped, offset);
}

const Value *CaseBuilder::splitCases(const Value *value, size_t offset) {
  if (!value || value->isAffine() || !spend(offset))
    return value && value->isAffine() ? value : nullptr;
  const Predicate *predicate = value->predicate;
  if (value->kind == Value::Kind::Max)
    predicate =
        isNonNegative(subtract(value->left, value->right, offset), offset);
  if (value->kind == Value::Kind::Min)
    predicate =
        isNonNegative(subtract(value->right, value->left, offset), offset);
  return select(predicate, splitCases(value->left, offset),
                splitCases(value->right, offset), value->offset);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

const Value *CaseBuilder::add(const Value *left, const Value *right,
                              size_t offset) {
  if (!left || !right)
    return nullptr;
  if (left->isAffine())
    return mapLeaves(
        right, /*increasing=*/true,
        [&](const AffineValue &leaf) {
          return indexexpression::add(left->affine, leaf);
        },
        offset);
  if (right->isAffine())
    return mapLeaves(
        left, /*increasing=*/true,
        [&](const AffineValue &leaf) {
          return indexexpression::add(leaf, right->affine);
        },
        offset);
  if (!spend(offset))
    return nullptr;
  Value sum = *left;
  sum.left = add(left->left, right, offset);
  sum.right = add(left->right, right, offset);
  return makeCase(sum, offset);
}

const Value *CaseBuilder::subtract(const Value *left, const Value *right,
                                   size_t offset) {
  return add(left, scale(right, -1, offset), offset);
}

const Value *CaseBuilder::scale(const Value *value, int64_t factor,
                                size_t offset) {
  return mapLeaves(
      value, /*increasing=*/factor >= 0,
      [&](const AffineValue &leaf) {
        return indexexpression::scale(leaf, factor);
      },
      offset);
}

const Value *CaseBuilder::multiply(const Value *left, const Value *right,
                                   size_t offset) {
  if (!left || !right || !spend(offset))
    return nullptr;
  if (std::optional<int64_t> factor = findConstant(right))
    return scale(left, *factor, offset);
  if (std::optional<int64_t> factor = findConstant(left))
    return scale(right, *factor, offset);
  if (isComputed(left, right))
    return makeComputed(ComputedIndex::Kind::Product, 0, {left, right}, offset);
  if (left->isAffine() && right->isAffine()) {
    source.fail(offset,
                "the product of two values that both depend on indices is not "
                "affine",
                "a constant on one side of '*'");
    return nullptr;
  }
  if (left->isAffine())
    std::swap(left, right);
  const Value *cases = splitCases(left, offset);
  if (!cases || cases->isAffine())
    return multiply(cases, right, offset);
  return select(cases->predicate, multiply(cases->left, right, offset),
                multiply(cases->right, right, offset), cases->offset);
}

std::optional<int64_t> CaseBuilder::findConstant(const Value *value) const {
  std::optional<int64_t> constant = value->getConstant();
  if (!constant && value->isAffine())
    constant = narrowRange(value->affine, ranges).getConstant();
  return constant;
}

std::optional<int64_t> CaseBuilder::getDivisor(const Value *value,
                                               size_t offset) {
  if (!value)
    return std::nullopt;
  std::optional<int64_t> divisor = findConstant(value);
  if (!divisor)
    source.fail(offset, "the divisor depends on indices", "a constant divisor");
  else if (*divisor == 0)
    source.fail(offset, "division by zero", "a divisor other than 0");
  else
    return divisor;
  return std::nullopt;
}

const Value *CaseBuilder::divide(const Value *left, const Value *right,
                                 size_t offset) {
  if (isComputed(left, right))
    return makeComputed(ComputedIndex::Kind::Quotient, 0, {left, right},
                        offset);
  std::optional<int64_t> divisor = getDivisor(right, offset);
  if (!left || !divisor)
    return nullptr;
  const Value *quotient = mapLeaves(
      left, /*increasing=*/true,
      [&](const AffineValue &leaf) {
        AffineValue narrowed = leaf;
        narrowed.range = narrowRange(leaf, ranges);
        return truncatingQuotient(narrowed, std::abs(*divisor));
      },
      offset);
  return *divisor < 0 ? scale(quotient, -1, offset) : quotient;
}

const Value *CaseBuilder::remainder(const Value *left, const Value *right,
                                    size_t offset) {
  if (isComputed(left, right))
    return makeComputed(ComputedIndex::Kind::Remainder, 0, {left, right},
                        offset);
  std::optional<int64_t> divisor = getDivisor(right, offset);
  if (!left || !divisor)
    return nullptr;
  // The divisor's sign has no part in it.
  return mapLeaves(
      splitCases(left, offset), /*increasing=*/true,
      [&](const AffineValue &leaf) {
        AffineValue narrowed = leaf;
        narrowed.range = narrowRange(leaf, ranges);
        return truncatingRemainder(narrowed, std::abs(*divisor));
      },
      offset);
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

const Predicate *CaseBuilder::makePredicate(const Predicate &predicate,
                                            size_t offset) {
  if (!spend(offset))
    return nullptr;
  predicates.push_back(predicate);
  return &predicates.back();
}

/// Says `kind` of `value`, decided by its range where that can be.
const Predicate *CaseBuilder::makeLeaf(Predicate::Kind kind,
                                       MaybeAffineValue value, size_t offset) {
  if (!value)
    return failTooLarge(offset);
  value->range = narrowRange(*value, ranges);
  auto [low, high] = value->range;
  bool isNeverZero = low > 0 || high < 0;
  bool isAlwaysZero = low == 0 && high == 0;
  bool holds = false, fails = false;
  switch (kind) {
  case Predicate::Kind::NonNegative:
    holds = low >= 0;
    fails = high < 0;
    break;
  case Predicate::Kind::Zero:
    holds = isAlwaysZero;
    fails = isNeverZero;
    break;
  default:
    holds = isNeverZero;
    fails = isAlwaysZero;
  }
  if (holds)
    return makePredicate({Predicate::Kind::True}, offset);
  if (fails)
    return makePredicate({Predicate::Kind::False}, offset);

  return makePredicate({kind, *value}, offset);
}

const Predicate *CaseBuilder::isNonNegative(const Value *value, size_t offset) {
  if (!value || !spend(offset))
    return nullptr;
  if (value->isAffine())
    return makeLeaf(Predicate::Kind::NonNegative, value->affine, offset);
  const Predicate *left = isNonNegative(value->left, offset);
  const Predicate *right = isNonNegative(value->right, offset);
  switch (value->kind) {
  case Value::Kind::Max:
    return makeOr(left, right, offset);
  case Value::Kind::Min:
    return makeAnd(left, right, offset);
  default:
    return makeOr(makeAnd(value->predicate, left, offset),
                  makeAnd(makeNot(value->predicate, offset), right, offset),
                  offset);
  }
}

const Predicate *CaseBuilder::isZero(const Value *value, size_t offset) {
  if (!value || !spend(offset))
    return nullptr;
  if (value->isAffine())
    return makeLeaf(Predicate::Kind::Zero, value->affine, offset);
  if (value->kind != Value::Kind::Select)
    return makeAnd(isNonNegative(value, offset),
                   isNonNegative(scale(value, -1, offset), offset), offset);
  const Predicate *left = isZero(value->left, offset);
  const Predicate *right = isZero(value->right, offset);
  return makeOr(makeAnd(value->predicate, left, offset),
                makeAnd(makeNot(value->predicate, offset), right, offset),
                offset);
}

const Predicate *CaseBuilder::isMultiple(const Value *left, const Value *right,
                                         size_t offset) {
  if (isComputed(left, right))
    return isZero(remainder(left, right, offset), offset);
  std::optional<int64_t> divisor = getDivisor(right, offset);
  if (!left || !divisor)
    return nullptr;
  return isZero(mapLeaves(
                    splitCases(left, offset), /*increasing=*/true,
                    [&](const AffineValue &leaf) {
                      return floorRemainder(leaf, std::abs(*divisor));
                    },
                    offset),
                offset);
}

const Predicate *CaseBuilder::makeAnd(const Predicate *left,
                                      const Predicate *right, size_t offset) {
  if (!left || !right)
    return nullptr;
  if (left->isFalse() || right->isTrue())
    return left;
  if (right->isFalse() || left->isTrue())
    return right;
  Predicate result = {Predicate::Kind::And, {}, left, right};
  result.size = left->size + right->size + 1;
  return result.size > kMaxPredicateSize ? failTooLarge(offset)
                                         : makePredicate(result, offset);
}

const Predicate *CaseBuilder::makeOr(const Predicate *left,
                                     const Predicate *right, size_t offset) {
  if (!left || !right)
    return nullptr;
  if (left->isTrue() || right->isFalse())
    return left;
  if (right->isTrue() || left->isFalse())
    return right;
  Predicate result = {Predicate::Kind::Or, {}, left, right};
  result.size = left->size + right->size + 1;
  return result.size > kMaxPredicateSize ? failTooLarge(offset)
                                         : makePredicate(result, offset);
}

const Predicate *CaseBuilder::makeNot(const Predicate *predicate,
                                      size_t offset) {
  if (!predicate || !spend(offset))
    return nullptr;
  switch (predicate->kind) {
  case Predicate::Kind::False:
    return makePredicate({Predicate::Kind::True}, offset);
  case Predicate::Kind::True:
    return makePredicate({Predicate::Kind::False}, offset);
  case Predicate::Kind::Zero:
    return makeLeaf(Predicate::Kind::NonZero, predicate->affine, offset);
  case Predicate::Kind::NonZero:
    return makeLeaf(Predicate::Kind::Zero, predicate->affine, offset);
  case Predicate::Kind::And:
    return makeOr(makeNot(predicate->left, offset),
                  makeNot(predicate->right, offset), offset);
  case Predicate::Kind::Or:
    return makeAnd(makeNot(predicate->left, offset),
                   makeNot(predicate->right, offset), offset);
  case Predicate::Kind::NonNegative:
    break;
  }
  // not a >= 0 is -a - 1 >= 0.
  MaybeAffineValue negated = indexexpression::scale(predicate->affine, -1);
  if (negated)
    negated =
        indexexpression::add(*negated, AffineValue::makeConstant(-1, context));
  return makeLeaf(Predicate::Kind::NonNegative, negated, offset);
}

} // namespace metaops::indexexpression
