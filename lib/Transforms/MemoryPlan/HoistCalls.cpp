//===- HoistCalls.cpp - Calls that loops need not make again --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has no effect but its results, and none of its operations can fail.
// Results of values from around a loop are made in front of it, once.
// Operations that were invariant before there were kernels have left the loop
// already.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "PlaceParts.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_HOISTCALLSPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct HoistCallsPass : metaop::impl::HoistCallsPassBase<HoistCallsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration())
      return;
    auto mayMove = [&](Operation *op, Region *) {
      if (auto call = dyn_cast<func::CallOp>(op))
        return static_cast<bool>(
            getKernel(symbols.lookup<func::FuncOp>(call.getCallee())));
      return isa<ViewOpInterface>(op);
    };
    main.walk([&](LoopLikeOpInterface loop) {
      moveLoopInvariantCode(
          loop.getLoopRegions(),
          [&](Value value, Region *) {
            return loop.isDefinedOutsideOfLoop(value);
          },
          mayMove, [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
    });
  }
};
} // namespace
