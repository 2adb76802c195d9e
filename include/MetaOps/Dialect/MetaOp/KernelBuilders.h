//===- KernelBuilders.h - Making kernels of one stage -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_KERNELBUILDERS_H
#define METAOPS_DIALECT_METAOP_KERNELBUILDERS_H

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"

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

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_KERNELBUILDERS_H
