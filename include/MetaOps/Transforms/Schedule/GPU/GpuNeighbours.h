//===- GpuNeighbours.h - Schedules of a GPU that are near -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The schedules of a kernel for a GPU that differ from its own in one
/// decision, always in the same order: number of threads, tile, places of
/// values, and so on, of all stages that make it alike. All are well formed,
/// and what would not be has a diagnostic; which of them the chip cannot have,
/// the lowering says.
SmallVector<KernelSchedules> getGpuNeighbours(ArrayRef<Stage> stages);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H
