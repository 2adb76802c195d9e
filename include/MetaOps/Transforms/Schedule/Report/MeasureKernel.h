//===- MeasureKernel.h - The work of scheduled kernels ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REPORT_MEASUREKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_REPORT_MEASUREKERNEL_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Counts what a call of a kernel whose stages are scheduled does on a
/// processor. Fails, with a diagnostic, where a stage has no schedule or one of
/// another stage.
FailureOr<KernelMeasures> measureKernel(KernelOp kernel,
                                        const Processor &processor);

/// Counts what the stages of a kernel do, which were modelled with their
/// schedules.
KernelWork measureStages(KernelOp kernel, ArrayRef<const Stage *> stages,
                         const Processor &processor);

/// Counts the bytes and operations of a kernel. `visit` is given the model of
/// each stage, and adds what the target counts. Fails as `measureKernel`.
FailureOr<KernelMeasures>
measureStages(KernelOp kernel,
              llvm::function_ref<void(const Stage &, KernelWork &)> visit);

/// The bytes of a tensor of static shape; 0 of what is not known.
int64_t countKnownBytes(Type type);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REPORT_MEASUREKERNEL_H
