//===- DescribeKernel.h - Descriptions of scheduled kernels -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBEKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBEKERNEL_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Describes what a kernel whose stages are scheduled will do on a processor.
/// Fails, with a diagnostic, where a stage has no schedule or one of another
/// stage.
FailureOr<KernelDescription> describeKernel(KernelOp kernel,
                                            const Processor &processor);

/// The stages of a kernel, its bytes and its operations. `visit` is given the
/// model of each stage. Fails as `describeKernel`.
FailureOr<KernelDescription>
describeStages(KernelOp kernel,
               llvm::function_ref<void(const Stage &, KernelWork &)> visit);

/// The bytes of a tensor of static shape; 0 of what is not known.
int64_t countKnownBytes(Type type);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBEKERNEL_H
