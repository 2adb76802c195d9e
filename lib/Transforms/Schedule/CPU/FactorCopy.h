//===- FactorCopy.h - Copies of a contraction's factors ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy of a factor is a kernel of its own, element-wise over a panel or a
// box: what was computed from the factor's elements before they are multiplied
// is computed there. A factor that loops around the kernel leave as it is, as
// the weights of a recurrence, is copied before these loops.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_FACTORCOPY_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_FACTORCOPY_H

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"

namespace mlir::metaop {

/// Returns the input of the stage's kernel that is read, in this shape.
Value getInput(OpBuilder &b, const Stage &stage, const StageRead &read,
               ArrayRef<int64_t> shape);

/// Returns the access of a read to its collapsed tensor where `loops`, which
/// are of `numDims` dimensions, are the stage's loops.
IndexAccess getAccess(const Stage &stage, const StageRead &read,
                      ArrayRef<AffineExpr> loops, unsigned numDims);

/// Returns the outermost of the loops around a stage's kernel, one in another,
/// that leave a factor as it is: null if the innermost does not.
Operation *findLoopOfFactor(const Stage &stage,
                            const Contraction::Factor &factor);

/// Returns a kernel that computes a factor over `shape`, before the loops that
/// leave the factor as it is.
KernelOp buildCopy(OpBuilder &b, const Stage &stage,
                   const Contraction::Factor &factor, ArrayRef<int64_t> shape,
                   llvm::function_ref<IndexAccess(const StageRead &)> access);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_FACTORCOPY_H
