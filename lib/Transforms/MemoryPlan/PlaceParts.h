//===- PlaceParts.h - Values inside of others -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H
#define METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H

#include "MetaOps/Dialect/MetaOp/IR/Placement.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::metaop {

/// A window of a tensor as memory.
struct Window {
  /// Elements before its first one.
  int64_t offset;
  /// Null where its elements follow each other.
  RowsAttr rows;
};

/// The window that a placement op puts an operand into. None if it is not known
/// before the program runs, or is no rows of one pitch.
std::optional<Window> findWindow(const Placement &placement,
                                 RankedTensorType part,
                                 RankedTensorType result);

/// Place of a value in the result of a placement op.
struct PartPlace {
  Value owner;
  /// In bytes from the owner's first.
  int64_t offset;
  /// Null where its elements follow each other.
  RowsAttr rows;
};

/// The value whose memory a view, or a result of a barrier, shares.
Value getViewed(Value value);

/// The kernel of a function that is one and returns its results in order.
KernelOp getKernel(func::FuncOp callee);

/// The rows in which a value of a program, or what it is a view of, is made;
/// null where its elements follow each other.
RowsAttr getRows(Value value, SymbolTable &symbols);

/// Returns whether a user's file schedules what makes the value, and so may
/// have it stored past the caches.
bool isScheduledByFile(OpResult result, SymbolTable &symbols);

/// Returns whether the op reads the value, or views of it, once.
bool isReadOnce(Operation *op, Value value);

/// The values of a program that are made in their windows of other values,
/// which begin at multiples of so many bytes.
llvm::DenseMap<Value, PartPlace>
placeParts(func::FuncOp main, SymbolTable &symbols, int64_t alignment);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_MEMORYPLAN_PLACEPARTS_H
