//===- Cases.h - Values that differ from case to case -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `min`, `max`, `abs`, `?:` and comparisons make values that no single affine
// expression gives. While an expression is evaluated, such a value is a tree:
// its leaves are affine, its inner nodes the greater, the lesser, or the one
// that a predicate selects, of two values. Arithmetic goes to the leaves. In
// the end an index must have come down to one leaf; a condition asks for the
// sign of the value, which turns the tree into a predicate:
//
//   max(a, b) >= 0          a >= 0 or b >= 0
//   min(a, b) >= 0          a >= 0 and b >= 0
//   (p ? a : b) >= 0        (p and a >= 0) or (not p and b >= 0)
//
// The ranges of the leaves decide what they can at every step.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_CASES_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_CASES_H

#include "AffineValue.h"
#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "Source.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <deque>

namespace metaops::indexexpression {

struct Predicate;

/// An index of unknown extent stays below this: a tensor that is longer than
/// this along one axis does not fit into any memory.
constexpr int64_t kMaxDynamicIndex = (int64_t{1} << 48) - 1;

/// A value; see above.
struct Value {
  enum class Kind { Affine, Max, Min, Select };
  Kind kind;
  /// Of the operator in the text that made this node, for errors.
  size_t offset;
  Range range;
  /// Of an affine value.
  AffineValue affine = {};
  /// Of the others. Select gives `left` where `predicate` holds.
  const Predicate *predicate = nullptr;
  const Value *left = nullptr;
  const Value *right = nullptr;

  bool isAffine() const { return kind == Kind::Affine; }
  std::optional<int64_t> getConstant() const { return range.getConstant(); }
};

/// Condition that holds for some iterations and not for others. True and False
/// are never operands.
struct Predicate {
  enum class Kind { False, True, NonNegative, Zero, NonZero, And, Or };
  Kind kind;
  /// The value of which NonNegative, Zero and NonZero speak.
  AffineValue affine = {};
  /// Of And and Or.
  const Predicate *left = nullptr;
  const Predicate *right = nullptr;
  /// Nodes of the predicate as a tree.
  unsigned size = 1;

  bool isTrue() const { return kind == Kind::True; }
  bool isFalse() const { return kind == Kind::False; }
};

/// Makes values and predicates, and owns them. A method that fails says so to
/// the source, at the operator's `offset`, and returns null; one that is given
/// null returns null.
class CaseBuilder {
public:
  /// `ranges` are those of the context's dims.
  CaseBuilder(Source &source, llvm::SmallVector<Range> ranges,
              const IndexContext &names)
      : source(source), ranges(std::move(ranges)), names(names),
        context(names.context) {}

  const Value *makeConstant(int64_t value, size_t offset);
  const Value *makeIndex(unsigned number, size_t offset);
  /// Adds to the context's computed indices.
  const Value *makeRead(unsigned extra, llvm::ArrayRef<const Value *> indices,
                        size_t offset);
  /// The expression that a value has to be where it is used; null if it is not
  /// affine.
  mlir::AffineExpr toAffine(const Value *value);

  const Value *add(const Value *left, const Value *right, size_t offset);
  const Value *subtract(const Value *left, const Value *right, size_t offset);
  const Value *scale(const Value *value, int64_t factor, size_t offset);
  const Value *multiply(const Value *left, const Value *right, size_t offset);
  const Value *divide(const Value *left, const Value *right, size_t offset);
  const Value *remainder(const Value *left, const Value *right, size_t offset);
  const Value *maximum(const Value *left, const Value *right, size_t offset);
  const Value *minimum(const Value *left, const Value *right, size_t offset);
  const Value *select(const Predicate *predicate, const Value *ifTrue,
                      const Value *ifFalse, size_t offset);

  const Predicate *isNonNegative(const Value *value, size_t offset);
  const Predicate *isZero(const Value *value, size_t offset);
  /// Returns whether `left % right` is zero, which needs no care for signs.
  const Predicate *isMultiple(const Value *left, const Value *right,
                              size_t offset);
  const Predicate *makeAnd(const Predicate *left, const Predicate *right,
                           size_t offset);
  const Predicate *makeOr(const Predicate *left, const Predicate *right,
                          size_t offset);
  const Predicate *makeNot(const Predicate *predicate, size_t offset);

private:
  using AffineFunction =
      llvm::function_ref<MaybeAffineValue(const AffineValue &)>;

  /// Applies `function` to all leaves. It must be monotone, `increasing` or
  /// not, where the value has a Max or Min.
  const Value *mapLeaves(const Value *value, bool increasing,
                         AffineFunction function, size_t offset);
  /// `value` with each Max and Min written as a Select.
  const Value *splitCases(const Value *value, size_t offset);
  /// The constant that `value` is, if it can be divided by.
  std::optional<int64_t> getDivisor(const Value *value, size_t offset);
  std::optional<int64_t> findConstant(const Value *value) const;
  /// Returns whether an operation on two values, the right one no constant, is
  /// computed.
  bool isComputed(const Value *left, const Value *right) const;
  const Value *makeComputed(ComputedIndex::Kind kind, unsigned extra,
                            llvm::ArrayRef<const Value *> operands,
                            size_t offset);

  const Value *makeAffine(MaybeAffineValue value, size_t offset);
  const Value *makeCase(Value value, size_t offset);
  const Value *makeExtremum(Value::Kind kind, const Value *left,
                            const Value *right, size_t offset);
  const Predicate *makeLeaf(Predicate::Kind kind, MaybeAffineValue value,
                            size_t offset);
  const Predicate *makePredicate(const Predicate &predicate, size_t offset);

  /// Counts one step of work; fails where there have been too many.
  bool spend(size_t offset);
  std::nullptr_t failTooLarge(size_t offset);

  Source &source;
  llvm::SmallVector<Range> ranges;
  const IndexContext &names;
  mlir::MLIRContext *context;
  unsigned steps = 0;
  /// Deques keep addresses.
  std::deque<Value> values;
  std::deque<Predicate> predicates;
};

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_CASES_H
