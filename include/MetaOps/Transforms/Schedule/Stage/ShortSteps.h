//===- ShortSteps.h - Places a few elements apart ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHORTSTEPS_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHORTSTEPS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns whether lanes that lie `step` elements apart are read by whole
/// vectors, of which shuffles choose: the step is short, or the order is
/// reversed.
bool isShortStep(int64_t step, int64_t lanes);

/// The loop that reaches the elements between the lanes of a write that steps
/// by 2 to 4 along `vectorLoop`, in order; none if there is none. Where its
/// iterations are copies side by side, whole vectors are written.
std::optional<unsigned> getPhaseLoop(const Stage &stage,
                                     const StageWrite &write,
                                     unsigned vectorLoop, int64_t lanes);

/// Memory instructions and shuffles for a vector of lanes a short step apart.
double getShortStepCost(int64_t step);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_SHORTSTEPS_H
