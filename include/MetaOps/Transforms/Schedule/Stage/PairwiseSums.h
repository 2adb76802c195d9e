//===- PairwiseSums.h - Sums whose error stays small ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_PAIRWISESUMS_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_PAIRWISESUMS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The schedule of a plain nest of loops, pairwise where sums are long.
ScheduleAttr choosePairwise(const Stage &stage, ScheduleAttr schedule);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_PAIRWISESUMS_H
