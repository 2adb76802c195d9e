//===- AffineValue.h - Affine expressions with their ranges -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_AFFINEVALUE_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_AFFINEVALUE_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace metaops::indexexpression {

/// Values that an expression can have, both ends included.
struct Range {
  int64_t low;
  int64_t high;

  std::optional<int64_t> getConstant() const {
    return low == high ? std::optional(low) : std::nullopt;
  }
};

/// The range of each index. That of an index without values is {0, 0}: nothing
/// is then ever evaluated, and everything that is said of it holds.
using IndexRanges = llvm::ArrayRef<Range>;

/// An affine expression, and what is known of it. Operations on these return
/// none where the result could leave 64 bits or has grown out of proportion.
struct AffineValue {
  mlir::AffineExpr expr;
  Range range;
  /// The value with all signs taken as plus; indices count as at least 1. It
  /// bounds the range, and every coefficient that MLIR's simplification of
  /// `expr`, which does not check for overflow, can come upon.
  int64_t magnitude;
  /// Nodes of `expr` as a tree, which is how MLIR walks it.
  unsigned size;

  static AffineValue makeConstant(int64_t value, mlir::MLIRContext *context);
  static AffineValue makeIndex(unsigned number, Range range,
                               mlir::MLIRContext *context);
};

using MaybeAffineValue = std::optional<AffineValue>;

MaybeAffineValue add(const AffineValue &left, const AffineValue &right);
MaybeAffineValue scale(const AffineValue &value, int64_t factor);
MaybeAffineValue subtract(const AffineValue &left, const AffineValue &right);

/// Remainder of the floor division by `divisor` > 0.
MaybeAffineValue floorRemainder(const AffineValue &value, int64_t divisor);
/// Quotient and remainder of C, for `divisor` > 0.
MaybeAffineValue truncatingQuotient(const AffineValue &value, int64_t divisor);
MaybeAffineValue truncatingRemainder(const AffineValue &value, int64_t divisor);

/// `value.range`, narrowed by what simplification of the expression tells:
/// that of `i0 + i1 - i0` is the range of i1.
Range narrowRange(const AffineValue &value, IndexRanges ranges);

/// The shortest form known of the expression, over `numIndices` dims.
mlir::AffineExpr simplify(const AffineValue &value, unsigned numIndices);

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_AFFINEVALUE_H
