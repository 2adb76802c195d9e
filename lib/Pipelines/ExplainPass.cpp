//===- ExplainPass.cpp - Printing descriptions of kernels -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainPass.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

namespace mlir::metaop {
#define GEN_PASS_DECL_EXPLAINPASS
#define GEN_PASS_DEF_EXPLAINPASS
#include "MetaOps/Pipelines/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct ExplainPass : metaop::impl::ExplainPassBase<ExplainPass> {
  explicit ExplainPass(std::shared_ptr<const TargetRegistry> registry)
      : registry(std::move(registry)) {}
  ExplainPass(const ExplainPass &other) = default;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  LogicalResult addTarget(MLIRContext *context, StringRef text);
  std::string addOptions(std::string text, const TargetKind *kind) const;
  const Target &findTarget(KernelOp kernel) const;

  std::shared_ptr<const TargetRegistry> registry;
  /// In the order in which they are asked whose a schedule is.
  SmallVector<std::shared_ptr<const Target>> targets;
};
} // namespace

LogicalResult ExplainPass::addTarget(MLIRContext *context, StringRef text) {
  auto made = registry->create(text);
  if (!made)
    return emitError(UnknownLoc::get(context), toString(made.takeError()));
  targets.push_back(std::move(*made));
  return success();
}

/// Returns a target's text with the options that stand by themselves: of the
/// named one all, so that what it does not have is an error.
std::string ExplainPass::addOptions(std::string text,
                                    const TargetKind *kind) const {
  for (const auto *option : {&processor, &chip})
    if (!kind || llvm::is_contained(kind->options, option->getArgStr()))
      addTargetOption(text, option->getArgStr(), option->getValue());
  return text;
}

LogicalResult ExplainPass::initialize(MLIRContext *context) {
  targets.clear();
  if (!target.empty() &&
      failed(addTarget(context, addOptions(target, /*kind=*/nullptr))))
    return failure();
  for (const TargetKind &kind : registry->getKinds())
    if (failed(addTarget(context, addOptions(kind.name, &kind))))
      return failure();
  return success();
}

/// Returns the target whose schedules the kernel's stages have; the first one
/// where they have none.
const Target &ExplainPass::findTarget(KernelOp kernel) const {
  for (FusedOp op : kernel.getBody().front().getOps<FusedOp>())
    if (ScheduleAttr schedule = op.getScheduleAttr())
      for (const auto &candidate : targets)
        if (candidate->owns(schedule))
          return *candidate;
  return *targets.front();
}

void ExplainPass::runOnOperation() {
  WalkResult result = getOperation()->walk([&](KernelOp kernel) {
    auto description = findTarget(kernel).describe(kernel);
    if (failed(description))
      return WalkResult::interrupt();
    llvm::outs() << "kernel";
    if (auto function = kernel->getParentOfType<FunctionOpInterface>())
      llvm::outs() << " of @" << function.getName();
    llvm::outs() << "\n";
    print(llvm::outs(), *description);
    // Of a GPU's kernel the time is said for each card.
    if (!description->grid)
      llvm::outs() << llvm::format(
          "  predicted: %.3g us\n",
          predictSeconds(description->work, MachineFigures()) * 1e6);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
  markAllAnalysesPreserved();
}

std::unique_ptr<Pass>
metaop::createExplainPass(std::shared_ptr<const TargetRegistry> targets) {
  return std::make_unique<ExplainPass>(std::move(targets));
}
