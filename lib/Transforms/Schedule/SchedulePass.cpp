//===- SchedulePass.cpp - Schedules every stage ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks over all stages and writes the schedule that the heuristics choose
// (LoopOrder.cpp) where none is given.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Wider than any register there is.
static constexpr unsigned kMaxVectorBits = 2048;

namespace {
struct SchedulePass : metaop::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    if (vectorBits != 0 &&
        (!llvm::isPowerOf2_32(vectorBits) || vectorBits > kMaxVectorBits)) {
      getOperation()->emitError("metaop-schedule: vector-bits is 0 or a power "
                                "of two up to ")
          << kMaxVectorBits << ", given " << vectorBits.getValue();
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](FusedOp op) {
      if (op.getScheduleAttr())
        return WalkResult::advance();
      FailureOr<Stage> stage = Stage::build(op);
      if (failed(stage))
        return WalkResult::interrupt();
      op.setScheduleAttr(chooseSchedule(*stage, vectorBits));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
