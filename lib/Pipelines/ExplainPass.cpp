//===- ExplainPass.cpp - Prints what kernels will do ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/DescribeGpuKernel.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeKernel.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Format.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EXPLAINPASS
#include "MetaOps/Pipelines/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isForGpu(KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front().getOps<FusedOp>(),
                      [](FusedOp op) {
                        ScheduleAttr schedule = op.getScheduleAttr();
                        return schedule && schedule.isForGpu();
                      });
}

namespace {
struct ExplainPass : metaop::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      bool isGpu = isForGpu(kernel);
      auto description = isGpu ? describeGpuKernel(kernel, *chip)
                               : describeKernel(kernel, processor);
      if (failed(description))
        return WalkResult::interrupt();
      llvm::outs() << "kernel";
      if (auto function = kernel->getParentOfType<FunctionOpInterface>())
        llvm::outs() << " of @" << function.getName();
      llvm::outs() << "\n";
      print(llvm::outs(), *description);
      if (!isGpu)
        llvm::outs() << llvm::format(
            "  predicted: %.3g us\n",
            predictSeconds(description->work, MachineFigures()) * 1e6);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
