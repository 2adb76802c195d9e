//===- PairwiseSums.cpp - Sums whose error stays small --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error of a running sum of floats grows with its length, and that of a
// pairwise sum with the logarithm of it: 32 values are added one after another,
// 32 such sums, and so on (`pairwise`). It costs an addition for each 32.
//
// Sums are long where a loop of theirs makes more steps than twice as many, or
// where one inside of another does as many: the outer loop adds its sums. Short
// ones are the same either way, and a running sum is the shorter code.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/PairwiseSums.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Values that are added one after another.
static constexpr int64_t kPairwise = 32;

/// The depth from which on the write reduces all loops.
static unsigned getSumDepth(const StageWrite &write, ScheduleAttr schedule) {
  unsigned depth = schedule.getNumLevels();
  while (depth > 0 && !write.loops.test(schedule.getLevels()[depth - 1].dim))
    --depth;
  return depth;
}

static bool hasLongSums(const Stage &stage, ScheduleAttr schedule) {
  // The levels at which sums begin, and the first reduction does: what is
  // inside of that begins anew in each iteration.
  unsigned sums = schedule.getNumLevels(), first = sums;
  int64_t longest = 2 * kPairwise;
  for (const StageWrite &write : stage.writes) {
    if (!write.kind)
      continue;
    first = std::min(first, getSumDepth(write, schedule));
    if (write.isFloatSum())
      sums = std::min(sums, getSumDepth(write, schedule));
    // A condition may end a loop, whose length is then not known.
    if (!write.place.conditions.empty())
      longest = kPairwise;
  }
  int64_t inside = 1;
  for (unsigned depth = schedule.getNumLevels(); depth-- > sums;) {
    auto [kind, loop, step, tail] = schedule.getLevels()[depth];
    int64_t extent = stage.getStaticExtent(loop);
    if (ShapedType::isDynamic(extent) || stage.isVarying(loop))
      return true;
    inside *= loop == schedule.getVectorDim()
                  ? llvm::divideCeil(extent, schedule.getVectorWidth())
                  : extent;
    if (extent / step > longest || (depth > first && inside >= kPairwise))
      return true;
  }
  return false;
}

ScheduleAttr metaop::choosePairwise(const Stage &stage, ScheduleAttr schedule) {
  return schedule.withPairwise(hasLongSums(stage, schedule) ? kPairwise : 0);
}
