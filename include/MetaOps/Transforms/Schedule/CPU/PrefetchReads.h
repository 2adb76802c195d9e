//===- PrefetchReads.h - Reads asked for ahead ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns whether the innermost loop is that of vectors which are read and
/// written as they are.
bool goesAlongMemory(ScheduleAttr schedule);

/// Returns whether the place that a stage with vectors reads goes along memory
/// with them, step by step, whatever the data are.
bool isPrefetched(const Stage &stage, const StageRead &read,
                  ScheduleAttr schedule);

/// Has a stage ask ahead for what it reads, if that is at least so many bytes.
ScheduleAttr choosePrefetch(const Stage &stage, ScheduleAttr schedule,
                            int64_t cacheBytes);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_PREFETCHREADS_H
