//===- GpuLevels.h - Levels that stages of a GPU share ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_GPULEVELS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_GPULEVELS_H

#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// A loop that a sum keeps inside of one that it is reduced over.
struct MisplacedLoop {
  int64_t kept, reduced;
};
/// The first of these, which has a result's sums in more than registers.
std::optional<MisplacedLoop> findMisplacedLoop(const GpuStage &each,
                                               const StageWrite &write);
/// Returns whether some result of the stage has one.
bool hasMisplacedLoop(const GpuStage &each);

/// Returns how far a block goes along a dimension before threads divide it: one
/// iteration of the last level in front of them, or all of it. None if that is
/// not known.
std::optional<int64_t> getBlockSpan(const GpuStage &each, int64_t dim);

/// Returns whether the argument of a stage's region is a value of the kernel.
bool isReadOf(const Stage &stage, Value argument, Value result,
              FindSourceFn find = findSourceInKernel);

/// The levels that a stage shares with all later ones that read a result of it;
/// none where nobody reads it.
std::optional<unsigned>
findSharedLevels(ArrayRef<GpuStage> stages, unsigned writer, unsigned result,
                 FindSourceFn find = findSourceInKernel);

/// The extents of what one iteration of the levels writes of a result that its
/// readers share; those that are not known count as one.
SmallVector<int64_t> getPlacedShape(ArrayRef<GpuStage> stages, unsigned writer,
                                    const StageWrite &write,
                                    FindSourceFn find = findSourceInKernel);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_GPULEVELS_H
