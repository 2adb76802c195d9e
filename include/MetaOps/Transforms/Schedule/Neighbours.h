//===- Neighbours.h - Schedules that differ in one decision -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_NEIGHBOURS_H
#define METAOPS_TRANSFORMS_SCHEDULE_NEIGHBOURS_H

#include "MetaOps/Transforms/Schedule/Stage.h"

namespace mlir::metaop {

/// The schedules of a stage that differ from its own in one decision, always in
/// the same order: another tile, width of vectors, order of levels, block size,
/// distance of prefetches, number of parallel levels. Loops that stages of a
/// kernel share stay. All are well formed; which of them a stage cannot have
/// for what it reads and writes, the lowering says (LoopTree.cpp).
SmallVector<ScheduleAttr> getNeighbours(const Stage &stage);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_NEIGHBOURS_H
