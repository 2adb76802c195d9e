//===- PackedResult.h - Results of packed contractions ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDRESULT_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDRESULT_H

#include "CollapsedTensor.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"

namespace mlir::metaop {

/// The tensor that a contraction writes by its plan, and the kernel that makes
/// the result of it.
class PackedResult {
public:
  /// `whole` is the result, its indices of the stage's loops.
  PackedResult(const Stage &stage, const ContractionPlan &plan,
               CollapsedTensor whole);

  /// Returns the tensor that the contraction writes.
  CollapsedTensor getWritten() const;
  /// Creates the kernel that makes the result of what `contraction` has been
  /// replaced by, and returns it; the value itself where it is the result.
  Value restore(OpBuilder &b, KernelOp contraction, Value written) const;

private:
  void splitPhases(const Stage &stage);
  void moveRows(const ContractionPlan &plan);
  KernelOp moveBack(OpBuilder &b, Location loc, Value written) const;
  KernelOp interleave(OpBuilder &b, Location loc, Value phases) const;

  /// A dimension, the value of the loops there, and by how much it moves along
  /// which dimension of the result.
  struct Dim {
    int64_t extent;
    AffineExpr index;
    unsigned position;
    int64_t step;
  };
  CollapsedTensor whole;
  SmallVector<Dim> dims;
  /// The numbers of the dimensions in the order in which they are written.
  SmallVector<unsigned> order;
  bool hasPhases = false, isMoved;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_PACKEDRESULT_H
