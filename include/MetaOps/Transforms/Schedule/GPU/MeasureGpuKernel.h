//===- MeasureGpuKernel.h - The work of kernels for GPUs -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_MEASUREGPUKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_MEASUREGPUKERNEL_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Counts what a call of a kernel whose stages are scheduled does on a GPU.
/// Fails as `measureKernel`, and where the chip cannot have the schedules.
FailureOr<KernelMeasures> measureGpuKernel(KernelOp kernel, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_MEASUREGPUKERNEL_H
