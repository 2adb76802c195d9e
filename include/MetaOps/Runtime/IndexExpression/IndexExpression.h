//===- IndexExpression.h - Strings that name an element ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index expression says, for an iteration (i0, i1, ...), which element of a
// tensor is meant: `x.reindex((N, C, 8, 8), ["i0", "i1", "i2*2", "7-i3"])`.
//
//   conditional := or [ "?" conditional ":" conditional ]
//   or          := and { "||" and }
//   and         := equality { "&&" equality }
//   equality    := relation [ ("==" | "!=") relation ]
//   relation    := sum [ ("<" | "<=" | ">" | ">=") sum ]
//   sum         := product { ("+" | "-") product }
//   product     := unary { ("*" | "/" | "%") unary }
//   unary       := ("-" | "+" | "!") unary | primary
//   primary     := integer | name | "(" conditional ")"
//                | ("min" | "max") "(" conditional "," conditional ")"
//                | "abs" "(" conditional ")" | "@eK" "(" arguments ")"
//
// The names are i0, i1, ... (the iteration), xshapeK, yshapeK (extents of x and
// y), xstrideK, ystrideK (distance, in elements, between neighbours along axis
// K of a contiguous x or y), XDIM and YDIM (their ranks).
//
// Operators mean what they mean in C on 64-bit integers: `/` truncates toward
// zero and `%` has the sign of its left operand. Affine expressions know only
// the floor division of MLIR; the ranges of the indices decide which form is
// right, and where both signs occur the difference is expressed exactly by one
// more floor division.
//
// `@eK(...)` is an element of the integer tensor K, an extra, at indices that
// are affine in the iteration's own. Each such read counts as one more index,
// behind those of the iteration, of either sign.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_INDEXEXPRESSION_INDEXEXPRESSION_H
#define METAOPS_RUNTIME_INDEXEXPRESSION_INDEXEXPRESSION_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace metaops {

/// An index that is no affine function of the iteration's: an element of an
/// extra, or the product, quotient or remainder of two indices, as in C. What
/// is divided by zero is out of all ranges.
struct ComputedIndex {
  enum class Kind { Read, Product, Quotient, Remainder };
  Kind kind;
  /// Of a read.
  unsigned extra = 0;
  /// The indices of the read, or the two operands, over the dims of the
  /// iteration and the computed indices before this one.
  llvm::SmallVector<mlir::AffineExpr> operands;
};

/// Meanings of the names of an index expression. A dynamic extent is
/// mlir::ShapedType::kDynamic: an iteration may have one, while the name of an
/// extent or stride that depends on one is refused.
struct IndexContext {
  /// Extent K is the number of values of iK.
  llvm::ArrayRef<int64_t> iterationShape;
  llvm::ArrayRef<int64_t> xShape;
  llvm::ArrayRef<int64_t> yShape;
  /// Owns the affine expressions that are made; never null.
  mlir::MLIRContext *context;
  /// The ranks of the extras.
  llvm::ArrayRef<unsigned> extraRanks = {};
  /// The computed indices of the texts before, to which those of this text are
  /// added. Number n is dim `iterationShape.size() + n`. Not used where there
  /// are no extras: then, all indices are affine.
  std::vector<ComputedIndex> *computed = nullptr;

  unsigned getNumDims() const {
    return iterationShape.size() + (computed ? computed->size() : 0);
  }
};

/// Parses `text` into an affine expression over the dims of the iteration
/// (iK is dK). `min`, `max`, `abs`, `?:` and comparisons may be used where the
/// ranges of the indices decide them. The error says what is wrong, shows the
/// place, and says what was expected there.
llvm::Expected<mlir::AffineExpr>
parseIndexExpression(llvm::StringRef text, const IndexContext &context);

/// `expr >= 0`, or `expr == 0`.
struct IndexConstraint {
  mlir::AffineExpr expr;
  bool isEquality;
};

/// A condition that no list of constraints can say.
struct ConditionTree {
  enum class Kind {
    NonNegative, ///< expr >= 0
    Zero,        ///< expr == 0
    NonZero,     ///< expr != 0
    All,         ///< every operand holds
    Any,         ///< some operand holds
  };
  Kind kind;
  /// Of the first three kinds.
  mlir::AffineExpr expr;
  /// Of the last two; at least two, none of them of the same kind.
  std::vector<ConditionTree> operands;

  /// As text, such as `(d0 - 2 >= 0 or d1 == 0)`.
  void print(llvm::raw_ostream &os) const;
};

/// When an iteration is *in* range, which is the negation of the overflow
/// condition as it was written.
struct ConditionResult {
  /// A convex domain: all of these hold. None means always in range; the single
  /// constraint `-1 >= 0` means never.
  llvm::SmallVector<IndexConstraint> constraints;
  /// A domain that is not convex: this holds, and `constraints` is empty.
  std::optional<ConditionTree> tree;

  bool isConvex() const { return !tree; }
};

/// Parses an overflow condition: where its value is not zero, the iteration is
/// out of range. `min`, `max`, `abs`, `?:` and comparisons may be used freely.
llvm::Expected<ConditionResult>
parseOverflowCondition(llvm::StringRef text, const IndexContext &context);

} // namespace metaops

#endif // METAOPS_RUNTIME_INDEXEXPRESSION_INDEXEXPRESSION_H
