//===- GpuLevels.h - Levels of schedules for GPUs ----------------*- C++
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_DIALECT_METAOP_IR_GPULEVELS_H
#define METAOPS_LIB_DIALECT_METAOP_IR_GPULEVELS_H

#include "MetaOps/Dialect/MetaOp/IR/LoopLevel.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::metaop {

bool hasGpuLevels(ArrayRef<LoopLevel> levels);

/// Clusters stand outside of blocks and these outside of all others; what warps
/// and threads divide is known, and divided into whole tiles.
LogicalResult verifyDistributed(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<LoopLevel> levels,
                                ArrayRef<TileDim> tile, TileDim lanes);

LogicalResult verifyStaged(function_ref<InFlightDiagnostic()> emitError,
                           ArrayRef<StagedRead> staged);

} // namespace mlir::metaop

#endif // METAOPS_LIB_DIALECT_METAOP_IR_GPULEVELS_H
