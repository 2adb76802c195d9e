//===- KernelBuilders.h - Making kernels ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_KERNELBUILDERS_H
#define METAOPS_DIALECT_METAOP_IR_KERNELBUILDERS_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::metaop {

/// Creates a stage, which has no schedule, at the builder's insertion point,
/// which stays. `fill` creates its operations at that of the builder, from the
/// arguments that stand for `inputs`, and returns the values, of `types`, that
/// it yields.
FusedOp
buildStage(OpBuilder &builder, Location loc, TypeRange types, ValueRange inputs,
           llvm::function_ref<SmallVector<Value>(ValueRange arguments)> fill);

/// The same in a kernel of its own, which yields what the stage does.
KernelOp buildStageKernel(
    OpBuilder &builder, Location loc, TypeRange types, ValueRange inputs,
    llvm::function_ref<SmallVector<Value>(ValueRange arguments)> fill);

/// Creates, at the builder's insertion point, which stays, a kernel that does
/// what several do, one after another, and yields `outputs`, which are theirs.
/// What one reads of an earlier one passes inside. `mapping` leads from what is
/// in the kernels, and their results, to the same in the new one.
KernelOp mergeKernels(OpBuilder &builder, Location loc,
                      ArrayRef<KernelOp> kernels, ValueRange outputs,
                      IRMapping &mapping);

/// Has what reads `outputs` of the kernels read the merged one's.
void redirectOutputs(ValueRange outputs, KernelOp merged);

/// Erases kernels that are in a merged one.
void eraseMerged(ArrayRef<KernelOp> kernels);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_KERNELBUILDERS_H
