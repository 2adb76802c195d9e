//===- CollapsedTensor.h - Tensors as collapsed loops see them --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_COLLAPSEDTENSOR_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_COLLAPSEDTENSOR_H

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns the values that an index takes.
IndexInterval getIndexRange(const Stage &stage, AffineExpr index);

/// A tensor of which collapsed dimensions are one, and the indices that are
/// left of a map to it. Each lies within its dimension, or has a check that
/// says so.
struct CollapsedTensor {
  /// Returns the tensor that is read, or written.
  static CollapsedTensor get(const Stage &stage, const StageRead &read);
  static CollapsedTensor get(const Stage &stage, const StageWrite &write);

  /// Returns true if an element takes part where its indices are within their
  /// dimensions, and nowhere else. Of dimensions with checks of their own that
  /// have become one, more is in range than takes part.
  bool impliesChecks(const Stage &stage, const StagePlace &place) const;

  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_COLLAPSEDTENSOR_H
