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

/// The schedules of a kernel for a processor that differ from its own in one
/// decision, always in the same order: another tile, width of vectors, order of
/// levels, block size, number of parallel loops, and so on, of one stage; loops
/// that stages share stay. All are well formed, and what would not be has a
/// diagnostic; which of them a kernel cannot have for what it reads and writes,
/// the lowering says.
SmallVector<KernelSchedules> getNeighbours(ArrayRef<Stage> stages);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_NEIGHBOURS_H
