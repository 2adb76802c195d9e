//===- ChooseSchedule.h - Schedules by heuristics ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_CHOOSESCHEDULE_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_CHOOSESCHEDULE_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The schedule that the heuristics choose for a stage that is alone in its
/// kernel, on a processor.
ScheduleAttr chooseSchedule(const Stage &stage, const Processor &processor);

/// The same for a stage among others, on which its loops depend as well: each
/// dimension has one loop. The loops `outer` stand outside in this order and
/// are parallel; they are neither vectors nor unrolled.
ScheduleAttr chooseNest(const Stage &stage, const Processor &processor,
                        ArrayRef<int64_t> outer = {});

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_CHOOSESCHEDULE_H
