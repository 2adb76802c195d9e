//===- SplitReductionsGpu.cpp - Reductions shared among blocks ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits reductions (ReductionSplitter.h) for the blocks of a GPU.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Rewrites/ReductionSplitter.h"
#include "llvm/ADT/bit.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SPLITREDUCTIONSGPUPASS
#include "MetaOps/Transforms/Schedule/GPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// A block does this in less time than a kernel starts.
static constexpr int64_t kMinIterationsOfGpu = 1 << 16;

static Sharers getBlocks(const Chip &chip) {
  int64_t enough = chip.getEnoughBlocks();
  return {enough / 4, kMinIterationsOfGpu,
          static_cast<int64_t>(llvm::bit_floor<uint64_t>(enough)),
          [&chip](const Stage &stage) {
            return countBlocks(stage, chooseGpuSchedule(stage, chip));
          },
          /*areAlone=*/true};
}

bool metaop::isSplitOnGpu(const Stage &stage, const Chip &chip) {
  return isSplit(stage, getBlocks(chip));
}

namespace {
struct SplitReductionsGpuPass
    : metaop::impl::SplitReductionsGpuPassBase<SplitReductionsGpuPass> {
  using SplitReductionsGpuPassBase::SplitReductionsGpuPassBase;

  void runOnOperation() override {
    if (failed(splitReductions(getOperation(), getBlocks(*chip), report)))
      signalPassFailure();
  }
};
} // namespace
