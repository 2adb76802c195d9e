//===- StreamResults.h - Results stored past the caches ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_STREAMRESULTS_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_STREAMRESULTS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns the alignment, in bytes, of the stores of a write that goes past the
/// caches; none if the schedule does not store it by aligned vectors that fill
/// lines.
std::optional<int64_t> getStreamAlignment(const Stage &stage,
                                          const StageWrite &write,
                                          ScheduleAttr schedule);

/// Returns whether the result has a buffer of its own, that of the kernel's
/// result.
bool leavesKernel(FusedOp op, unsigned result);

/// Checks the results that the schedule streams. A stage that is no longer
/// `stage.op`, but equal to it, is given as `op`.
LogicalResult verifyStream(FusedOp op, const Stage &stage,
                           ScheduleAttr schedule,
                           llvm::function_ref<InFlightDiagnostic()> emitError);

/// The schedule with those results streamed for which it pays, where caches
/// hold `cacheBytes`; 0 for none. `op` stands in its program and is `stage.op`
/// or equal to it.
ScheduleAttr chooseStream(FusedOp op, const Stage &stage, ScheduleAttr schedule,
                          int64_t cacheBytes);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_STREAMRESULTS_H
