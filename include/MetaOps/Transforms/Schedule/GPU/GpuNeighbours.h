//===- GpuNeighbours.h - Schedules of a GPU that are near -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H

#include "MetaOps/Transforms/Schedule/CPU/Neighbours.h"

namespace mlir::metaop {

/// As `getNeighbours`, of a kernel with schedules for a GPU.
SmallVector<KernelSchedules> getGpuNeighbours(ArrayRef<Stage> stages);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUNEIGHBOURS_H
