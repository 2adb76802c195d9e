//===- Size.h - Estimates of the size of tensors ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_SIZE_H
#define METAOPS_TRANSFORMS_SIMPLIFY_SIZE_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::metaop {

/// The extent that estimates take for a dynamic dimension. It changes which
/// kernels are made, never what they compute.
inline constexpr int64_t kNominalExtent = 32;

/// The number of elements of a tensor of this shape, saturating.
int64_t estimateElements(ArrayRef<int64_t> shape);

/// The number of bytes of a tensor of this type, saturating.
int64_t estimateBytes(RankedTensorType type);

/// The sum of two estimates, saturating.
int64_t addEstimates(int64_t a, int64_t b);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_SIZE_H
