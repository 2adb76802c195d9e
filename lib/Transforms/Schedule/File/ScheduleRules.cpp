//===- ScheduleRules.cpp - Rules of schedules for all targets -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns the line of the file that a stage's schedule is from. One with a
/// schedule of the compiler's own breaks a rule only by what stands beside it,
/// so for such a stage returns those of its kernel.
static std::string findLines(FusedOp op) {
  std::string own = getOverride(op.getLoc());
  if (!own.empty())
    return own;
  SmallVector<std::string, 2> lines;
  for (auto stage : op->getBlock()->getOps<FusedOp>())
    if (std::string line = getOverride(stage.getLoc());
        !line.empty() && !llvm::is_contained(lines, line))
      lines.push_back(line);
  return llvm::join(lines, ", ");
}

InFlightDiagnostic metaop::refuse(FusedOp op, StringRef rule,
                                  const Twine &message) {
  std::string line = findLines(op);
  InFlightDiagnostic error =
      line.empty() ? op.emitOpError() : op.emitError() << line << ": ";
  return std::move(error << "(" << rule << ") " << message);
}

LogicalResult metaop::verifySchedule(FusedOp op, const Stage &stage,
                                     bool isFirst) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return refuse(op, "S1",
                  "has no schedule; run metaop-schedule, or "
                  "metaop-schedule-gpu, before");
  if (schedule.getNumDims() != stage.getNumLoops())
    return refuse(op, "S2", "schedule orders ")
           << schedule.getNumDims() << " loops, but the stage has "
           << stage.getNumLoops();
  if (isFirst && schedule.getShared() != 0)
    return refuse(op, "S3", "schedule shares ")
           << schedule.getShared()
           << " loops, but the first stage of a kernel has none before it";
  return success();
}
