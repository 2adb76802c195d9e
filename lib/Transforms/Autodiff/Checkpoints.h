//===- Checkpoints.h - What is computed again for a gradient ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::metaop {

/// Emits a barrier in front of the gradient of a checkpoint, and maps what this
/// reads to its results: inputs and cotangents.
BarrierOp emitBarrier(OpBuilder &builder, scf::ExecuteRegionOp checkpoint,
                      ArrayRef<Value> cotangents, IRMapping &mapping);

/// Replaces the barrier by one of what the gradient reads and waits for, if it
/// reads any input.
void tightenBarrier(OpBuilder &builder, BarrierOp barrier,
                    ArrayRef<Value> cotangents, scf::ExecuteRegionOp gradient);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H
