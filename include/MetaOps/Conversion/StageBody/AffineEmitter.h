//===- AffineEmitter.h - Affine expressions as code -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_AFFINEEMITTER_H
#define METAOPS_CONVERSION_STAGEBODY_AFFINEEMITTER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// `value`, or a vector of it if `lanes` is not 1 and it is a scalar.
Value broadcastTo(OpBuilder &b, Location loc, Value value, int64_t lanes);

/// `value` with `number` added, for a scalar or vector of index.
Value emitIndexAdd(OpBuilder &b, Location loc, Value value, int64_t number);

/// Returns the most that an expression, or a part of it, differs from 0, given
/// that of its dims and symbols; none if some is not known.
std::optional<int64_t>
findMagnitude(AffineExpr expr,
              llvm::function_ref<std::optional<int64_t>(unsigned)> ofDim,
              llvm::function_ref<std::optional<int64_t>(unsigned)> ofSymbol);

/// A number out of a tensor, or a vector of them, as an index. It is cut off at
/// `limit` on both sides, if that is not 0.
Value emitIndexOf(OpBuilder &b, Location loc, Value number, int64_t limit);

/// The value of `expr`. Dims may be index scalars or vectors of index; the
/// result is a vector if any dim that the expression uses is one.
Value emitAffine(OpBuilder &b, Location loc, AffineExpr expr,
                 ArrayRef<Value> dims, ArrayRef<Value> symbols);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_AFFINEEMITTER_H
