//===- SplitReductions.cpp - Reductions shared among threads --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits reductions (ReductionSplitter.h) for the threads of a processor: what
// steps a stage has for them is what its schedule would share as it is.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Rewrites/ReductionSplitter.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// A parallel range of so many steps, or more, is shared as it is;
/// fewer iterations are done before they are shared; the most blocks, which are
/// fewer where partial results would be many.
static constexpr int64_t kEnoughSteps = 16;
static constexpr int64_t kMinIterations = 1 << 17;
static constexpr int64_t kMaxBlocks = 64;

/// Steps that threads can share in a stage as it is.
static int64_t countParallelSteps(const Stage &stage, ScheduleAttr schedule) {
  int64_t steps = 1;
  for (unsigned depth = 0; depth < schedule.getParallel(); ++depth) {
    auto [kind, loop, step, tail] = schedule.getLevels()[depth];
    int64_t extent = stage.getStaticExtent(loop);
    if (schedule.isOuter(depth))
      extent = llvm::divideCeil(extent, step);
    else if (loop == schedule.getUnrollDim())
      extent = llvm::divideCeil(extent, schedule.getUnroll());
    steps *= extent;
  }
  return steps;
}

namespace {
struct SplitReductionsPass
    : metaop::impl::SplitReductionsPassBase<SplitReductionsPass> {
  using SplitReductionsPassBase::SplitReductionsPassBase;

  void runOnOperation() override {
    Sharers threads{
        kEnoughSteps, kMinIterations, kMaxBlocks, [&](const Stage &stage) {
          return countParallelSteps(stage, chooseSchedule(stage, processor));
        }};
    if (failed(splitReductions(getOperation(), threads, report)))
      signalPassFailure();
  }
};
} // namespace
