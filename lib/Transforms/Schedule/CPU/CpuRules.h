//===- CpuRules.h - Rules of schedules for processors -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule has a label, P1 and so on, by which docs/Schedule.md lists it and
// its diagnostic begins.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CPURULES_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CPURULES_H

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"

namespace mlir::metaop {

/// Checks what holds of any stage: P1, P2 of its loops, and P3.
LogicalResult verifyAnyStage(const ScheduledStage &scheduled);

/// Checks a stage in plain loops: P1, P2 and P4 to P14.
LogicalResult verifyNest(const ScheduledStage &scheduled, bool isAlone);

/// Checks the results that are stored past the caches: P14.
LogicalResult verifyStreamed(const ScheduledStage &scheduled);

/// Checks a stage that has blocks or a tile of several dimensions, so that it
/// has to be a contraction, which is alone or has stages around it: P18 to P20,
/// and what P2, P11 and P12 say of it.
LogicalResult verifyContraction(const ScheduledStage &scheduled, bool isAlone);

/// Checks stages, of which some share loops, in plain loops: each alone, and
/// P15 to P17.
LogicalResult verifyNests(ArrayRef<ScheduledStage> stages);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CPURULES_H
