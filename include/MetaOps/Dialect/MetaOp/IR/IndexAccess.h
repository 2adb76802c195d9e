//===- IndexAccess.h - An index map with guards -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_INDEXACCESS_H
#define METAOPS_DIALECT_METAOP_IR_INDEXACCESS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// Access of a reindex to its source, or of a reindex-reduce to its result: a
/// map from the iteration space to the indices of that tensor. An iteration
/// takes part where every index is in range and all conditions hold.
struct IndexAccess {
  /// Iteration space (dims) and symbols to the indices of the tensor.
  AffineMap map;
  /// 0-d i64 tensors, one per symbol of `map`.
  llvm::SmallVector<Value> symbols;
  /// Further conditions over the same dims and symbols; null if none.
  IntegerSet conditions;
  /// The value of a reindex elsewhere, of the element type; null for a reduce.
  TypedAttr fill;
};

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_INDEXACCESS_H
