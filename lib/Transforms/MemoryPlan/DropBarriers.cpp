//===- DropBarriers.cpp - Barriers are gone when steps are in order -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps come in the order of the text from here on, and nothing is merged any
// more. So a barrier has done its work, and its results are its operands: no
// step copies anything, on any device.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_DROPBARRIERSPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct DropBarriersPass : metaop::impl::DropBarriersPassBase<DropBarriersPass> {
  void runOnOperation() override {
    getOperation().walk([](BarrierOp op) {
      op.replaceAllUsesWith(op.getOperands());
      op.erase();
    });
  }
};
} // namespace
