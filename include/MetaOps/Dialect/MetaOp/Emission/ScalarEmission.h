//===- ScalarEmission.h - From elements to arith operations -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emission of scalars beside ElementwiseOpInterface::emitScalar and
// GeneratorOpInterface::emitElement. Both emit arith and math operations, and
// vector.broadcast where a scalar meets vectors: the caller loads those
// dialects.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_EMISSION_SCALAREMISSION_H
#define METAOPS_DIALECT_METAOP_EMISSION_SCALAREMISSION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::metaop {

/// The largest constant, other than a splat, whose elements become immediate
/// operands. `emitElement` of a larger one gives a null value: it has to be an
/// input of the kernel.
inline constexpr int64_t kMaxInlineElements = 64;

/// The type that holds one element in a register or in memory: integers lose
/// their sign, everything else stays.
Type getStorageType(Type elementType);

/// Converts a scalar or a vector, of the storage type of `from`, to that of
/// `to`, as `metaop.cast` does.
Value emitCast(OpBuilder &builder, Location loc, Value value, Type from,
               Type to);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_EMISSION_SCALAREMISSION_H
