//===- VerifyGpuKernel.h - What a GPU can be asked to do --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// Fails, with a diagnostic that names the constraint, where the schedules of a
/// kernel's stages ask for what the chip has not, or for something else than
/// the stages one after another.
LogicalResult verifyGpuKernel(ArrayRef<GpuStage> stages, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
