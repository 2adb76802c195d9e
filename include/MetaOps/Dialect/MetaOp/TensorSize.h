//===- TensorSize.h - How large tensors are ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All counts saturate: what does not fit is kMaxCount, and stays that in sums
// and products (but for products by 0). No tensor of so many elements, and no
// memory of so many bytes, can exist.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_TENSORSIZE_H
#define METAOPS_DIALECT_METAOP_TENSORSIZE_H

#include "mlir/IR/BuiltinTypes.h"

#include <limits>

namespace mlir::metaop {

inline constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();

/// The extent that counts take for a dynamic dimension. It changes which
/// kernels are made, never what they compute.
inline constexpr int64_t kNominalExtent = 32;

/// a + b and a * b of counts.
int64_t addCounts(int64_t a, int64_t b);
int64_t multiplyCounts(int64_t a, int64_t b);

/// The elements of a tensor of this shape.
int64_t countElements(ArrayRef<int64_t> shape);

/// The bytes of an element, given its type or a tensor's. In memory elements
/// take whole bytes, booleans too.
int64_t getElementBytes(Type type);

/// The bytes of a tensor; 0 for other types.
int64_t countBytes(Type type);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_TENSORSIZE_H
