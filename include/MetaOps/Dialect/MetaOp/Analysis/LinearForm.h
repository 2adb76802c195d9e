//===- LinearForm.h - Linear expressions as factors -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ANALYSIS_LINEARFORM_H
#define METAOPS_DIALECT_METAOP_ANALYSIS_LINEARFORM_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::metaop {

/// A sum of dimensions, each times a factor, and a constant.
struct LinearForm {
  /// Returns the form of an expression of so many dimensions; nothing where the
  /// expression has symbols, quotients or remainders, or a number overflows.
  static std::optional<LinearForm> get(AffineExpr expr, unsigned numDims);

  /// Adds `factor` times an expression. Fails where it has no form; the sum is
  /// of no use then.
  bool add(AffineExpr expr, int64_t factor);

  /// Returns the form with other expressions, of so many dimensions, in place
  /// of the dimensions; nothing where these have none.
  std::optional<LinearForm> replace(ArrayRef<AffineExpr> dims,
                                    unsigned numDims) const;

  /// Returns the expression, its terms in the order of the dimensions: the same
  /// as `simplifyAffineExpr` gives.
  AffineExpr getExpr(MLIRContext *context) const;

  SmallVector<int64_t, 8> factors;
  int64_t constant = 0;
};

/// Returns what `simplifyAffineExpr` does, which is slow for linear
/// expressions.
AffineExpr flattenExpr(AffineExpr expr, unsigned numDims, unsigned numSymbols);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_ANALYSIS_LINEARFORM_H
