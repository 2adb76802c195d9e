//===- OpUtils.h - What verifiers, folders and patterns share ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_OPUTILS_H
#define METAOPS_DIALECT_METAOP_IR_OPUTILS_H

#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

/// Booleans count as unsigned: false is less than true.
inline bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}
inline bool isUnsigned(Value tensor) {
  return isUnsigned(getElementTypeOrSelf(tensor));
}

/// Returns the work of an op that is `inVectors` where vectors can do it: the
/// element type of the result decides that.
ElementWork getElementWork(Value result, ElementWork inVectors);

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// One extent operand per dynamic dimension of the result.
LogicalResult verifyExtents(Operation *op, RankedTensorType result,
                            ValueRange extents);

LogicalResult verifySameElementType(Operation *op, RankedTensorType source,
                                    RankedTensorType result);

/// `fill` is a number of the element type.
LogicalResult verifyFill(Operation *op, TypedAttr fill, Type elementType);

/// `map` takes `iteration` to `accessed`, `where` fits `map`, there is a value
/// for each symbol, and divisors are positive constants. The names of the two
/// tensors are for the messages.
LogicalResult verifyAccess(Operation *op, AffineMap map, IntegerSet where,
                           ValueRange symbols, RankedTensorType iteration,
                           StringRef iterationName, RankedTensorType accessed,
                           StringRef accessedName);

/// `dim` is a dimension of the first operand.
LogicalResult verifyDimension(Operation *op, int64_t dim);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The value that every element has, if `attr` is a splat of numbers; else
/// null.
TypedAttr getSplatValue(Attribute attr);

/// A constant of `type` with one value everywhere; null if the shape is
/// dynamic.
Attribute getSplat(RankedTensorType type, TypedAttr value);

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// Returns whether `op` stands in a stage, where only meta-operators on the
/// stage's iteration space may be made.
bool isInStage(Operation *op);

/// The dynamic extents of `value`, as `tensor.dim` operations.
SmallVector<Value> createExtents(OpBuilder &builder, Location loc, Value value);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_OPUTILS_H
