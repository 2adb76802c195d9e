//===- ExplainPass.cpp - Prints what kernels will do ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Gpu/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/Gpu/VerifyGpuKernel.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Format.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EXPLAINPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// What a block of a GPU takes, and how many there are; nothing of a kernel
/// that is for CPUs.
static FailureOr<std::string> describeBlock(KernelOp kernel, const Chip &chip) {
  SmallVector<GpuStage, 1> stages;
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    stages.push_back({std::move(*stage), op.getScheduleAttr()});
  }
  bool isForGpu = llvm::any_of(
      stages, [](const GpuStage &each) { return each.schedule.isForGpu(); });
  if (!isForGpu)
    return std::string();
  if (failed(verifyGpuKernel(stages, chip)))
    return failure();
  GpuResources resources = GpuResources::estimate(stages);
  const GpuStage &first = stages.front();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "  grid: " << countBlocks(first.stage, first.schedule) << " blocks of "
     << resources.threads << " threads, " << resources.sharedBytes
     << " bytes of shared memory, about " << resources.registers
     << " registers a thread; " << resources.countBlocks(chip)
     << " blocks a multiprocessor of " << chip.name << "\n";
  return text;
}

namespace {
struct ExplainPass : metaop::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      auto description = describeKernel(kernel, processor);
      if (failed(description))
        return WalkResult::interrupt();
      llvm::outs() << "kernel";
      if (auto function = kernel->getParentOfType<FunctionOpInterface>())
        llvm::outs() << " of @" << function.getName();
      llvm::outs() << "\n";
      print(llvm::outs(), *description);
      auto block = describeBlock(kernel, *chip);
      if (failed(block))
        return WalkResult::interrupt();
      llvm::outs() << *block;
      double seconds = block->empty()
                           ? predictSeconds(description->work, MachineFigures())
                           : predictSeconds(description->work, *chip);
      llvm::outs() << llvm::format("  predicted: %.3g us\n", seconds * 1e6);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
