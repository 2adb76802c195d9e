//===- VerifyGpuKernel.h - Legal schedules for GPUs -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// The stages of a scheduled kernel.
struct GpuKernelStages {
  /// Those in the tree of levels, in order.
  SmallVector<GpuStage, 1> stages;
  /// Those without iterations, which are in no loop.
  SmallVector<GpuStage, 1> empty;
};

/// Returns the stages of a kernel. Fails, with a diagnostic, where one breaks a
/// rule of all targets.
FailureOr<GpuKernelStages> readGpuStages(KernelOp kernel);

/// Returns true if a write adds floats as threads of the whole grid come.
bool addsFloatsInAnyOrder(const StageWrite &write);

/// Fails, with a diagnostic that names the rule, where the schedules of a
/// kernel's stages ask for what the chip has not, or for something else than
/// the stages one after another.
LogicalResult verifyGpuStages(ArrayRef<GpuStage> stages, const Chip &chip);

/// Checks a scheduled kernel, the rules of all targets included.
LogicalResult verifyGpuKernel(KernelOp kernel, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
