//===- VerifySchedulesPass.cpp - Legality of schedules in pipelines -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifySchedulesPass.h"

namespace mlir::metaop {
#define GEN_PASS_DECL_VERIFYSCHEDULESPASS
#define GEN_PASS_DEF_VERIFYSCHEDULESPASS
#include "MetaOps/Pipelines/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct VerifySchedulesPass
    : metaop::impl::VerifySchedulesPassBase<VerifySchedulesPass> {
  explicit VerifySchedulesPass(std::shared_ptr<const TargetRegistry> registry)
      : registry(std::move(registry)) {}
  explicit VerifySchedulesPass(const Target &given) : asked(&given) {
    target = given.str();
  }
  VerifySchedulesPass(const VerifySchedulesPass &other) = default;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  std::shared_ptr<const TargetRegistry> registry;
  /// The target that the registry has made, if one has to be made.
  std::shared_ptr<const Target> made;
  const Target *asked = nullptr;
};
} // namespace

LogicalResult VerifySchedulesPass::initialize(MLIRContext *context) {
  if (!registry)
    return success();
  auto created = registry->create(target);
  if (!created)
    return emitError(UnknownLoc::get(context), toString(created.takeError()));
  made = std::move(*created);
  asked = made.get();
  return success();
}

void VerifySchedulesPass::runOnOperation() {
  WalkResult result = getOperation()->walk(
      [&](KernelOp kernel) { return WalkResult(asked->verify(kernel)); });
  if (result.wasInterrupted())
    return signalPassFailure();
  markAllAnalysesPreserved();
}

std::unique_ptr<Pass> metaop::createVerifySchedulesPass(
    std::shared_ptr<const TargetRegistry> targets) {
  return std::make_unique<VerifySchedulesPass>(std::move(targets));
}

std::unique_ptr<Pass> metaop::createVerifySchedulesPass(const Target &target) {
  return std::make_unique<VerifySchedulesPass>(target);
}
