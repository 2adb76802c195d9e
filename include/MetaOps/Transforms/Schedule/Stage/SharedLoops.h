//===- SharedLoops.h - Values inside of shared loops ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages of a kernel that share outer loops pass values from one to the other
// within an iteration of those loops. Such a value needs memory for what one
// iteration writes: a row, or a number.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDLOOPS_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDLOOPS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Values that live inside of a kernel only are held on the stack up to here.
constexpr int64_t kMaxLocalBytes = 1 << 16;
/// The same for what a contraction packs at a time: a part of the second cache,
/// and of a thread's stack.
constexpr int64_t kMaxPanelBytes = 1 << 20;

/// The value outside of the stage that an argument of its region is; null for
/// any other value.
Value getOuterValue(FusedOp op, Value value);
/// The operation outside of the stage whose result an argument of its region
/// is; null for any other value.
Operation *getOuterProducer(FusedOp op, Value value);

/// Returns whether each iteration of the shared loops writes all that it reads.
/// The loops are given from outside to inside, in the numbers of each stage.
bool staysInIteration(const StageWrite &write, ArrayRef<int64_t> writerLoops,
                      const StageRead &read, ArrayRef<int64_t> readerLoops);

/// The extents of what one iteration of `loops` writes: 1 along the dimensions
/// that these loops number.
SmallVector<AffineExpr> getLocalShape(const StageWrite &write,
                                      ArrayRef<int64_t> loops);

/// The row-major number, in a tensor of `shape`, of the element that `map`
/// reaches in one iteration of `loops`.
AffineExpr getLocalOffset(AffineMap map, ArrayRef<AffineExpr> shape,
                          ArrayRef<int64_t> loops);

/// The number of elements of a shape; none if it is not known.
std::optional<int64_t> getNumElements(ArrayRef<AffineExpr> shape);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHAREDLOOPS_H
