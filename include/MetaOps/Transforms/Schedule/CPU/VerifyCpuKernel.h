//===- VerifyCpuKernel.h - Legal schedules for processors -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_VERIFYCPUKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_VERIFYCPUKERNEL_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"

namespace mlir::metaop {

/// Fails, with a diagnostic that names the rule, where the loops that schedules
/// ask for cannot be made, or would compute something else than the stages one
/// after another. Each stage knows which loops are opened around it.
LogicalResult verifyLoopTree(MutableArrayRef<ScheduledStage> stages);

/// Checks a scheduled kernel, the rules of all targets included.
LogicalResult verifyCpuKernel(KernelOp kernel);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_VERIFYCPUKERNEL_H
