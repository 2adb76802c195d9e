//===- EpilogueScheduleGpu.h - What follows a contraction -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_EPILOGUESCHEDULEGPU_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_EPILOGUESCHEDULEGPU_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/Rewrites/StageJoiner.h"

namespace mlir::metaop {

/// Returns whether each thread has whole results of a stage that reduces: of a
/// contraction, or of windows.
bool mayHaveEpilogue(const Stage &stage);

/// Returns whether a reduction shares all loops that it keeps with its group.
bool keepsAllLoops(const JoinedStage &stage);

/// The schedules of such a stage and of those that go on with its results, or
/// with whole rows of them; none of a group that is not so.
SmallVector<ScheduleAttr>
chooseEpilogueSchedules(const JoinGroup &group,
                        ArrayRef<JoinDependence> dependences, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_EPILOGUESCHEDULEGPU_H
