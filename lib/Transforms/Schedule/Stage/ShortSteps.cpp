//===- ShortSteps.cpp - Places a few elements apart -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interleaved accesses. Lanes that lie s elements apart span s vectors. Reading
// these and choosing takes s loads and s - 1 shuffles, where a gather takes a
// load per lane. In the same way, s phases that together fill a span are
// written by s stores. Schedule and lowering ask here what counts as short.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::metaop;

/// Beyond, the shuffles cost as much as a gather.
static constexpr int64_t kLongestStep = 4;

bool metaop::isShortStep(int64_t step, int64_t lanes) {
  if (step == 0 || step == 1 || lanes < 2)
    return false;
  return std::abs(step) <= kLongestStep && 2 * std::abs(step) <= lanes;
}

double metaop::getShortStepCost(int64_t step) {
  return step == -1 ? 2.0 : 2.0 * std::abs(step) - 1;
}

std::optional<unsigned> metaop::getPhaseLoop(const Stage &stage,
                                             const StageWrite &write,
                                             unsigned vectorLoop,
                                             int64_t lanes) {
  auto step = stage.getStep(write.place.offset, vectorLoop);
  if (!write.kind || !write.isProjection || !step || *step < 2 ||
      !isShortStep(*step, lanes))
    return std::nullopt;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    if (loop != vectorLoop && write.loops.test(loop) &&
        stage.getStaticExtent(loop) == *step &&
        stage.getStep(write.place.offset, loop) == 1)
      return loop;
  return std::nullopt;
}
