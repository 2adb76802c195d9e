//===- Batching.h - Operations with a leading dimension ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation, done for all values along a new leading dimension: of the
// operands that have it, the batched ones. The others are the same for all.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_BATCHING_H
#define METAOPS_DIALECT_METAOP_IR_BATCHING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::metaop {

struct IndexAccess;

/// Returns the access of an iteration space with one more dimension in front,
/// which it does not read.
IndexAccess addLeadingDim(IndexAccess access);

/// Returns a value repeated along a leading dimension.
Value repeatAlong(OpBuilder &builder, Location loc, Value value,
                  int64_t extent);

/// Returns whether an operation can be batched where these of its operands
/// are, one at least. All shapes are to be static. Operations with regions or
/// without operands cannot be, nor can those with conditions that depend on
/// numbers which are batched.
bool canBatch(Operation *op, const llvm::SmallBitVector &isBatched);

/// Emits an operation with a leading dimension of the given extent, and returns
/// its results. `operands` stand for the operation's own, and those that are
/// batched have one dimension more than these.
SmallVector<Value> emitBatched(OpBuilder &builder, Operation *op,
                               ValueRange operands, int64_t extent);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_BATCHING_H
