//===- AffineAccess.h - Evaluates index maps --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_INTERPRETER_AFFINEACCESS_H
#define METAOPS_LIB_INTERPRETER_AFFINEACCESS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/Error.h"

namespace mlir::metaop {

/// The index map of a `reindex` or `reindex_reduce` with the conditions on it
/// and the values of its symbols. Arithmetic is that of 64-bit integers, which
/// wrap.
class AffineAccess {
public:
  /// Fails where a divisor is not a positive constant.
  static llvm::Expected<AffineAccess> create(AffineMap map,
                                             std::optional<IntegerSet> where,
                                             ArrayRef<int64_t> symbols);

  /// Computes the indices that `dims` is mapped to; true if the conditions
  /// hold.
  bool apply(ArrayRef<int64_t> dims, SmallVectorImpl<int64_t> &indices) const;

private:
  AffineAccess(AffineMap map, std::optional<IntegerSet> where,
               ArrayRef<int64_t> symbols)
      : map(map), where(where), symbols(symbols.begin(), symbols.end()) {}

  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) const;

  AffineMap map;
  std::optional<IntegerSet> where;
  SmallVector<int64_t> symbols;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_INTERPRETER_AFFINEACCESS_H
