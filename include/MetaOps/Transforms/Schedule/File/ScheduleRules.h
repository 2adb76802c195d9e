//===- ScheduleRules.h - Rules of schedules for all targets -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is legal where code can be made of it that computes what the
// stages say. Schedules come from users and files as well as from the
// heuristics, so each is checked before. Each rule has a label: S1 and so on
// for all targets, P for processors, G for GPUs. docs/Schedule.md lists them,
// and diagnostics begin with them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULERULES_H
#define METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULERULES_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Begins the diagnostic of a stage that breaks a rule: at the line of the file
/// that its schedule is from, if there is one, or else at those that the
/// schedules of its kernel's other stages are from.
InFlightDiagnostic refuse(FusedOp op, StringRef rule,
                          const Twine &message = "");

/// Checks the rules of all targets on one stage, the model of which is given,
/// and which may be the first one of its kernel.
LogicalResult verifySchedule(FusedOp op, const Stage &stage, bool isFirst);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULERULES_H
