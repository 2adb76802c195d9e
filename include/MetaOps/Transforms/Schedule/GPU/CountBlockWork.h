//===- CountBlockWork.h - Counting the work of a block ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_COUNTBLOCKWORK_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_COUNTBLOCKWORK_H

#include "MetaOps/Target/Description/BlockWork.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// Counts what the schedules of a kernel's stages have a block do.
BlockWork countBlockWork(ArrayRef<GpuStage> stages);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_COUNTBLOCKWORK_H
