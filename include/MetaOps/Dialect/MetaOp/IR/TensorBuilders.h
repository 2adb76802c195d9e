//===- TensorBuilders.h - Small tensors made from others --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_TENSORBUILDERS_H
#define METAOPS_DIALECT_METAOP_IR_TENSORBUILDERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::metaop {

/// `value`, as an attribute of a float, integer or boolean type.
TypedAttr getNumberAttr(Type elementType, double value);

/// A tensor of the type of `like` with `value` in all places: a constant, or a
/// broadcast of one to the extents of `like` where they are dynamic.
Value splatLike(OpBuilder &builder, Location loc, Value like, TypedAttr value);
Value splatLike(OpBuilder &builder, Location loc, Value like, double value);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_TENSORBUILDERS_H
