//===- MetaOpInterfaces.h - What an operation says of itself ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_METAOPINTERFACES_H
#define METAOPS_DIALECT_METAOP_IR_METAOPINTERFACES_H

#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/Placement.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpEnums.h.inc"

namespace mlir::metaop::detail {
/// Products with the Jacobian of an op that has a PartialsOpInterface.
SmallVector<Value> vjpByPartials(Operation *op, OpBuilder &builder,
                                 ValueRange cotangents);
SmallVector<Value> jvpByPartials(Operation *op, OpBuilder &builder,
                                 ArrayRef<Value> tangents);
} // namespace mlir::metaop::detail

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_METAOPINTERFACES_H
