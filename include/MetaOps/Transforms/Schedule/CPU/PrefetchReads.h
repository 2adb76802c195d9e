//===- PrefetchReads.h - Software prefetch of reads -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns whether the innermost loop is that of vectors, without tiles that
/// are transposed.
bool isVectorInnermost(ScheduleAttr schedule);

/// Returns whether a read goes along memory with the vectors, step by step,
/// whatever the data are.
bool isPrefetched(const Stage &stage, const StageRead &read,
                  ScheduleAttr schedule);

/// Has a stage prefetch what it reads, if that is worth it.
ScheduleAttr choosePrefetch(const Stage &stage, ScheduleAttr schedule,
                            const Processor &processor);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H
