//===- SlicedFactors.h - Factors that begin at an operand -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The start of a slice is a number of a run, so a read of one may lie outside
// of its tensor wherever it is. A tile has no tests. So a factor that is a
// slice is copied, and the contraction reads the copy:
//
//   kernel { xx = reindex x symbols(s) (m, n, k) -> (m + s, k); ... xx * ww }
//
//   slice = kernel { reindex x symbols(s) (m, k) -> (m + s, k) }
//   kernel { xx = reindex slice (m, n, k) -> (m, k); ... xx * ww }
//
// An index is a function of the loops and a start. The copy has, along each
// dimension, all that the function takes.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_SLICEDFACTORS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_SLICEDFACTORS_H

#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"

namespace mlir::metaop {

/// Returns true if the contraction reads slices, and each element of them often
/// enough for a copy.
bool isWorthSlicing(const Stage &stage, const Contraction &contraction);

/// Creates, in front of a kernel that has one stage alone, kernels that copy
/// the slices that it reads, and one that reads the copies; the kernel itself
/// stays. Returns them, the contraction's last; nothing where a start is not
/// added to an index.
SmallVector<KernelOp> copySlices(KernelOp kernel, FusedOp fused);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_SLICEDFACTORS_H
