//===- AccessAnalysis.h - Where an index access is in bounds ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ANALYSIS_ACCESSANALYSIS_H
#define METAOPS_DIALECT_METAOP_ANALYSIS_ACCESSANALYSIS_H

#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>

namespace mlir::metaop {

/// The integers between two bounds, both included; a missing bound is unknown.
struct IndexInterval {
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;

  bool isSingleValue() const { return lower && upper && *lower == *upper; }
};

/// The values of `expr` where each dim runs over its extent, which may be
/// dynamic, and symbols are anything. Sound, not exact: it looks at each
/// operand on its own. No extent may be zero.
IndexInterval getInterval(AffineExpr expr, ArrayRef<int64_t> extents);

/// `expr` in simpler terms, the same at each point of the extents: `d0 mod 4`
/// is `d0` where d0 is below 4.
AffineExpr simplifyInRange(AffineExpr expr, unsigned numDims,
                           unsigned numSymbols, ArrayRef<int64_t> extents);

/// Conditions under which an element takes part in an access.
struct AccessBounds {
  /// The element takes part if and only if all of these are >= 0. They are over
  /// the dims and symbols of the access; symbol `numSymbols + k` is the extent
  /// of dimension k of the accessed tensor, used only where that is dynamic.
  SmallVector<AffineExpr> checks;
  /// No element takes part.
  bool alwaysOutside = false;

  bool isInBounds() const { return checks.empty() && !alwaysOutside; }
};

/// Says that an iteration dimension and a dimension of the accessed tensor have
/// the same extent, for extents that are not static.
using SameExtentFn =
    llvm::function_ref<bool(unsigned iterationDim, unsigned accessedDim)>;

/// The checks that `access` needs, given the extents of the iteration space and
/// of the accessed tensor. What can be proven is left out.
AccessBounds getAccessBounds(const IndexAccess &access,
                             ArrayRef<int64_t> iterationExtents,
                             ArrayRef<int64_t> accessedExtents,
                             SameExtentFn sameExtent = nullptr);
/// The same for an op, where dynamic extents are compared by `haveSameExtent`.
AccessBounds getAccessBounds(ReindexOpInterface op);
AccessBounds getAccessBounds(ReindexReduceOpInterface op);

bool isInBounds(const IndexAccess &access, ArrayRef<int64_t> iterationExtents,
                ArrayRef<int64_t> accessedExtents);
bool isInBounds(ReindexOpInterface op);
bool isInBounds(ReindexReduceOpInterface op);

/// Returns whether `expr >= 0` follows from `other >= 0` in the range of the
/// dims.
bool isImpliedBy(AffineExpr expr, AffineExpr other, unsigned numDims,
                 unsigned numSymbols, ArrayRef<int64_t> extents);

/// Origin of an extent: dimension `dim` of `value`, or the index `value` itself
/// where `dim` is -1.
struct ExtentOrigin {
  Value value;
  int64_t dim;

  bool operator==(const ExtentOrigin &other) const {
    return value == other.value && dim == other.dim;
  }
};

/// Follows the extent of a dimension of a tensor through element-wise ops,
/// extent operands, `tensor.dim` and the arguments of stages and kernels.
ExtentOrigin getExtentOrigin(Value tensor, unsigned dim);

/// Returns whether the two extents are known to be equal.
bool haveSameExtent(Value lhs, unsigned lhsDim, Value rhs, unsigned rhsDim);

/// Returns whether each floordiv, ceildiv and mod is by a positive constant.
bool hasOnlyPositiveConstantDivisors(AffineMap map);
bool hasOnlyPositiveConstantDivisors(IntegerSet set);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_ANALYSIS_ACCESSANALYSIS_H
