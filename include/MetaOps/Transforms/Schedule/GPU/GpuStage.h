//===- GpuStage.h - A stage of a kernel for a GPU ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSTAGE_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSTAGE_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// A stage of a kernel, and its place in the tree of levels.
struct GpuStage {
  Stage stage;
  ScheduleAttr schedule;
};

/// Returns whether threads of the whole grid combine what they have of a result
/// in memory: iterations reach its elements in no order that is known.
inline bool isAtomic(const StageWrite &write) {
  return write.kind && !write.isProjection;
}

/// The value that an argument of a stage's region is: of its kernel, or of what
/// is to become one.
using FindSourceFn = llvm::function_ref<Value(const Stage &, Value argument)>;
Value findSourceInKernel(const Stage &stage, Value argument);

/// Returns whether the level at this depth is a step that is not known to have
/// one iteration, or that carries prefixes.
bool isLoop(const Stage &stage, ScheduleAttr schedule, unsigned depth);

/// Returns whether the level at this depth is that of the blocks of a cluster.
bool isOfCluster(ScheduleAttr schedule, unsigned depth);

/// The innermost of the shared levels that numbers an index: a grid's, or a
/// loop; none if none does.
std::optional<unsigned> getSharedLevel(AffineExpr index, const GpuStage &each,
                                       unsigned numShared);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUSTAGE_H
