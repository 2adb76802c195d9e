//===- PlaceParts.h - Values inside of others -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H
#define METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::metaop {

/// Where a value lies in the result of a placement op.
struct PartPlace {
  Value owner;
  /// In bytes from the owner's first.
  int64_t offset;
};

/// The value whose memory a view shares.
Value getViewed(Value value);

/// The values of a program that are made in their windows of other values.
llvm::DenseMap<Value, PartPlace> placeParts(func::FuncOp main,
                                            SymbolTable &symbols);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H
