//===- PartReductions.cpp - Reductions over different loops ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are in the registers of threads, which are given rows or columns. A
// stage that reduces the same values over rows and over columns would need
// both: it is replaced by stages in kernels of their own, one for each set of
// loops that results keep. Each computes what its own results need. What is
// stored element by element, or combined by atomics, is done with the first of
// them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PARTREDUCTIONSPASS
#include "MetaOps/Transforms/Schedule/GPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Results that are computed together.
using Part = SmallVector<unsigned>;

static SmallVector<Part> findParts(const Stage &stage) {
  SmallVector<Part> parts;
  SmallVector<llvm::SmallBitVector> kept;
  Part others;
  for (const StageWrite &write : stage.writes) {
    if (!write.kind || !write.isProjection) {
      others.push_back(write.result);
      continue;
    }
    unsigned part = llvm::find(kept, write.loops) - kept.begin();
    if (part == kept.size()) {
      kept.push_back(write.loops);
      parts.emplace_back();
    }
    parts[part].push_back(write.result);
  }
  if (parts.empty())
    return {others};
  parts.front().append(others);
  llvm::sort(parts.front());
  return parts;
}

/// The operations of the body that some values are computed by.
static llvm::SmallDenseSet<Operation *> findNeeded(FusedOp fused,
                                                   ValueRange values) {
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return needed;
}

/// A kernel of some results of a stage.
static void addPart(OpBuilder &b, KernelOp kernel, FusedOp fused,
                    ArrayRef<unsigned> part) {
  SmallVector<Value> yielded, inputs;
  for (unsigned result : part)
    yielded.push_back(fused.getYield().getOperand(result));
  auto needed = findNeeded(fused, yielded);
  SmallVector<BlockArgument> read;
  for (BlockArgument argument : fused.getBody().getArguments()) {
    bool isNeeded = llvm::is_contained(yielded, argument) ||
                    llvm::any_of(argument.getUsers(), [&](Operation *user) {
                      return needed.contains(user);
                    });
    if (!isNeeded)
      continue;
    read.push_back(argument);
    inputs.push_back(kernel.getInputs()[argument.getArgNumber()]);
  }
  auto types = llvm::map_to_vector(
      part, [&](unsigned result) { return kernel.getType(result); });
  KernelOp made = buildStageKernel(
      b, fused.getLoc(), types, inputs, [&](ValueRange arguments) {
        IRMapping mapping;
        for (auto [before, now] : llvm::zip_equal(read, arguments))
          mapping.map(before, now);
        for (Operation &op : fused.getBody().front().without_terminator())
          if (needed.contains(&op))
            b.clone(op, mapping);
        return llvm::map_to_vector(
            yielded, [&](Value value) { return mapping.lookup(value); });
      });
  inheritRewrites(kernel, made, /*andForced=*/true);
  for (auto [i, result] : llvm::enumerate(part))
    kernel.getResult(result).replaceAllUsesWith(made.getResult(i));
}

namespace {
struct PartReductionsPass
    : metaop::impl::PartReductionsPassBase<PartReductionsPass> {
  using PartReductionsPassBase::PartReductionsPassBase;

  void runOnOperation() override {
    for (KernelOp kernel : collectOps<KernelOp>(getOperation().getBody()))
      if (failed(part(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult part(KernelOp kernel) {
    StringRef reason;
    FusedOp fused = findStageToRewrite(kernel, reason);
    if (!fused || kernel->getNumResults() < 2 ||
        kernel.getYield().getOperands() != fused.getResults() ||
        fused.getInputs() != kernel.getBody().getArguments())
      return success();
    FailureOr<Stage> stage = Stage::build(fused);
    if (failed(stage))
      return failure();
    SmallVector<Part> parts = findParts(*stage);
    if (parts.size() < 2)
      return success();
    if (report)
      fused.emitRemark("has reductions over ")
          << parts.size() << " sets of loops, which become as many kernels";
    OpBuilder b(kernel);
    for (const Part &each : parts)
      addPart(b, kernel, fused, each);
    kernel.erase();
    return success();
  }
};
} // namespace
