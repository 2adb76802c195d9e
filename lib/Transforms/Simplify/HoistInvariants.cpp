//===- HoistInvariants.cpp - What loops need not compute again ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's motion of loop-invariant code, inner loops first. Every meta-operator
// has a value for all operands, so it may be computed although no trip reaches
// it: an integer divided by zero is 0.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct HoistInvariantsPass
    : metaop::impl::HoistInvariantsPassBase<HoistInvariantsPass> {
  void runOnOperation() override {
    getOperation().walk(
        [](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  }
};
} // namespace
