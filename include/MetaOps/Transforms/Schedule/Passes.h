//===- Passes.h - Scheduling passes -----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_PASSES_H
#define METAOPS_TRANSFORMS_SCHEDULE_PASSES_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::metaop {

#define GEN_PASS_DECL
#include "MetaOps/Transforms/Schedule/Passes.h.inc"

/// The schedule that the heuristics choose for a stage that is alone in its
/// kernel, on a processor.
ScheduleAttr chooseSchedule(const Stage &stage, const Processor &processor);

/// The same for a stage among others, on which its loops depend as well: each
/// dimension has one loop. The loops `outer` stand outside in this order and
/// are parallel; they are neither vectors nor unrolled.
ScheduleAttr chooseNest(const Stage &stage, const Processor &processor,
                        ArrayRef<int64_t> outer = {});

/// What a kernel whose stages are scheduled will do on a processor. Fails,
/// with a diagnostic, where a stage has no schedule or one of another stage.
FailureOr<KernelDescription> describeKernel(KernelOp kernel,
                                            const Processor &processor);

/// The same of a kernel with schedules for a GPU. Fails also where the chip
/// cannot have them.
FailureOr<KernelDescription> describeGpuKernel(KernelOp kernel,
                                               const Chip &chip);

#define GEN_PASS_REGISTRATION
#include "MetaOps/Transforms/Schedule/Passes.h.inc"

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_PASSES_H
