//===- GpuPlaces.h - Where values between stages may live -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUPLACES_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUPLACES_H

#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// Returns whether the threads that have computed an element of a result are
/// those that read it, in registers.
bool staysInThread(const GpuStage &writer, const StageWrite &write,
                   const GpuStage &reader, const StageRead &read);

/// Returns whether blocks read of a result what they have computed themselves,
/// and not other blocks of their cluster. Both stages share all levels of the
/// grid.
bool staysInBlock(const GpuStage &writer, const StageWrite &write,
                  const GpuStage &reader, const StageRead &read);

/// Returns whether the blocks of a cluster combine a result: one of them stores
/// it.
bool isSumOfCluster(const GpuStage &each, const StageWrite &write);

/// Returns whether a read numbers an element by the same dimensions of the
/// tensor as the write does: along others, with which these are collapsed, both
/// have 0.
bool hasSameForm(const StageWrite &write, const StageRead &read);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPUPLACES_H
