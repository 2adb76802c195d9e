//===- TensorSize.h - How large tensors are ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All counts saturate; see Counts.h.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_TENSORSIZE_H
#define METAOPS_DIALECT_METAOP_IR_TENSORSIZE_H

#include "MetaOps/Support/Counts.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::metaop {

using metaops::addCounts;
using metaops::kMaxCount;
using metaops::multiplyCounts;

/// The extent that counts take for a dynamic dimension. It changes which
/// kernels are made, never what they compute.
inline constexpr int64_t kNominalExtent = 32;

/// The elements of a tensor of this shape.
int64_t countElements(ArrayRef<int64_t> shape);

/// The bytes of an element, given its type or a tensor's. In memory elements
/// take whole bytes, booleans too.
int64_t getElementBytes(Type type);

/// The bytes of a tensor; 0 for other types.
int64_t countBytes(Type type);

/// Returns whether a tensor has at most half the elements of another one, as
/// far as extents are known: what is made of few of them, or adds up many.
bool isPartOf(Type part, Type whole);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_TENSORSIZE_H
