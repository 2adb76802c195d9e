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
// already. A part that lies in a concat of its block stays there.
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

/// Returns whether a result of a kernel lies in a concat of its block.
static bool isPlaced(KernelOp kernel) {
  return llvm::any_of(
      llvm::seq<unsigned>(0, kernel.getNumResults()),
      [&](unsigned number) { return bool(kernel.getRowsOfResult(number)); });
}

namespace {
struct HoistCallsPass : metaop::impl::HoistCallsPassBase<HoistCallsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration())
      return;
    auto mayMove = [&](Operation *op, Region *) -> bool {
      auto call = dyn_cast<func::CallOp>(op);
      if (!call)
        return isa<ViewOpInterface>(op);
      KernelOp kernel =
          getKernel(symbols.lookup<func::FuncOp>(call.getCallee()));
      return kernel && !isPlaced(kernel);
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
