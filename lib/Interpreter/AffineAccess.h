//===- AffineAccess.h - Evaluates index maps --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_INTERPRETER_AFFINEACCESS_H
#define METAOPS_LIB_INTERPRETER_AFFINEACCESS_H

#include "MetaOps/Interpreter/Tensor.h"
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

  void setSymbol(unsigned number, int64_t value) { symbols[number] = value; }

private:
  AffineAccess(AffineMap map, std::optional<IntegerSet> where,
               ArrayRef<int64_t> symbols)
      : map(map), where(where), symbols(symbols.begin(), symbols.end()) {}

  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) const;

  AffineMap map;
  std::optional<IntegerSet> where;
  SmallVector<int64_t> symbols;
};

/// The index map of a `gather` or `scatter`, whose symbols are elements of
/// tensors of one shape.
class IndirectAccess {
public:
  static llvm::Expected<IndirectAccess> create(AffineMap map,
                                               ArrayRef<Tensor> tables) {
    for (const Tensor &table : tables)
      if (table.getShape() != tables.front().getShape())
        return llvm::createStringError("given indices of the shapes " +
                                       formatShape(tables.front().getShape()) +
                                       " and " + formatShape(table.getShape()));
    llvm::Expected<AffineAccess> access = AffineAccess::create(
        map, std::nullopt, SmallVector<int64_t>(tables.size()));
    if (!access)
      return access.takeError();
    return IndirectAccess(std::move(*access), tables);
  }

  /// The indices of the iteration at `dims`, element number `position`.
  void apply(ArrayRef<int64_t> dims, int64_t position,
             SmallVectorImpl<int64_t> &indices) {
    for (auto [number, table] : llvm::enumerate(tables))
      access.setSymbol(number, table.get(position).getSigned());
    access.apply(dims, indices);
  }

private:
  IndirectAccess(AffineAccess access, ArrayRef<Tensor> tables)
      : access(std::move(access)), tables(tables) {}

  AffineAccess access;
  ArrayRef<Tensor> tables;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_INTERPRETER_AFFINEACCESS_H
