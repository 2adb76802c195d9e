//===- Neighbours.h - Schedules that differ in one decision -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_NEIGHBOURS_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_NEIGHBOURS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The schedules of all stages of a kernel.
using KernelSchedules = SmallVector<ScheduleAttr>;

/// The schedules of a kernel that differ from its own in one decision, always
/// in the same order: another tile, width of vectors, order of levels, block
/// size, number of threads, and so on. On a processor that is a decision of one
/// stage, and loops that stages share stay; on a GPU it is one of all stages
/// that make it alike. All are well formed; which of them a kernel cannot have
/// for what it reads and writes, or for the chip, the lowering says.
SmallVector<KernelSchedules> getNeighbours(ArrayRef<Stage> stages);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_NEIGHBOURS_H
