//===- SeparateReductions.cpp - Column sums beside an epilogue ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a layer's sums is computed element by element from those of a
// contraction, and the gradient of its bias is the sum over its rows. Fusion
// makes one kernel of both, which reads the sums once.
//
//   S = kernel { contraction }
//   D, B = kernel { D = S * f'(Z), B = the sum of D over rows }
//
// But blocks of a contraction have no column whole, so this kernel cannot be an
// epilogue (Epilogues.h), and the sums are written and read. Without B it can:
//
//   D = kernel { S * f'(Z) }      an epilogue of S
//   B = kernel { the sum of D over rows }
//
// reads D once more, and S is in memory no longer. Reductions that keep the
// outermost dimension stay, as rows are whole in a block.
//
// This runs before reductions are split and factors packed. Whether the kernel
// becomes an epilogue is found later (metaop-attach-epilogues), so only those
// are separated that read large sums of a contraction, before others do, and
// keep all that they reduce.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SEPARATEREDUCTIONSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct SeparateReductionsPass
    : metaop::impl::SeparateReductionsPassBase<SeparateReductionsPass> {
  using SeparateReductionsPassBase::SeparateReductionsPassBase;

  void runOnOperation() override;

private:
  LogicalResult separate(KernelOp kernel);
  bool isContraction(KernelOp kernel);
  bool readsSums(KernelOp kernel);
  void replace(KernelOp kernel, FusedOp fused, ArrayRef<unsigned> columns);
};
} // namespace

/// Returns whether the kernel is a contraction that has a tile.
bool SeparateReductionsPass::isContraction(KernelOp kernel) {
  StringRef reason;
  FusedOp fused = findStageToRewrite(kernel, reason);
  if (!fused || !sumsProducts(fused) || kernel->getNumResults() != 1)
    return false;
  FailureOr<Stage> stage = Stage::build(fused);
  if (failed(stage) || stage->isVarying())
    return false;
  return hasTile(*stage, processor);
}

/// Returns whether the kernel is the first to read large sums of a contraction.
bool SeparateReductionsPass::readsSums(KernelOp kernel) {
  return llvm::any_of(kernel.getInputs(), [&](Value input) {
    auto producer = input.getDefiningOp<KernelOp>();
    return producer && isFirstReader(kernel, producer) &&
           countBytes(input.getType()) > kNearSumsBytes &&
           !isForbidden(producer, kAttachEpilogues) && isContraction(producer);
  });
}

/// The results of a stage that are reductions over its outermost dimension of
/// other results; none if there is one of something else.
static std::optional<SmallVector<unsigned>> findColumnSums(FusedOp fused) {
  OperandRange yielded = fused.getYield().getOperands();
  SmallVector<unsigned> columns;
  for (auto [number, value] : llvm::enumerate(yielded)) {
    auto reduce = value.getDefiningOp<ReindexReduceOpInterface>();
    if (!reduce || reduce.getIndexAccess().map.isFunctionOfDim(0))
      continue;
    if (!llvm::is_contained(yielded, reduce.getSource()))
      return std::nullopt;
    columns.push_back(number);
  }
  return columns;
}

/// Makes a kernel of all other results, and one of each reduction.
void SeparateReductionsPass::replace(KernelOp kernel, FusedOp fused,
                                     ArrayRef<unsigned> columns) {
  OpBuilder b(kernel);
  OperandRange yielded = fused.getYield().getOperands();
  SmallVector<unsigned> kept;
  SmallVector<Type> types;
  for (unsigned i = 0; i < yielded.size(); ++i)
    if (!llvm::is_contained(columns, i)) {
      kept.push_back(i);
      types.push_back(kernel.getType(i));
    }
  KernelOp rest = buildStageKernel(
      b, kernel.getLoc(), types, kernel.getInputs(), [&](ValueRange arguments) {
        IRMapping mapping;
        mapping.map(fused.getBody().getArguments(), arguments);
        for (Operation &op : fused.getBody().front().without_terminator())
          if (llvm::none_of(columns, [&](unsigned column) {
                return yielded[column].getDefiningOp() == &op;
              }))
            b.clone(op, mapping);
        return llvm::map_to_vector(
            kept, [&](unsigned i) { return mapping.lookup(yielded[i]); });
      });
  inheritRewrites(kernel, rest, /*andForced=*/true);
  for (auto [i, number] : llvm::enumerate(kept))
    kernel.getResult(number).replaceAllUsesWith(rest.getResult(i));
  for (unsigned column : columns) {
    auto reduce = yielded[column].getDefiningOp<ReindexReduceOpInterface>();
    unsigned number = llvm::find(yielded, reduce.getSource()) - yielded.begin();
    Value source = rest.getResult(llvm::find(kept, number) - kept.begin());
    KernelOp sum = buildStageKernel(
        b, reduce.getLoc(), kernel.getType(column), source,
        [&](ValueRange arguments) {
          IRMapping mapping;
          mapping.map(reduce.getSource(), arguments[0]);
          return SmallVector<Value>{b.clone(*reduce, mapping)->getResult(0)};
        });
    inheritRewrites(kernel, sum, /*andForced=*/false);
    kernel.getResult(column).replaceAllUsesWith(sum.getResult(0));
  }
  kernel.erase();
}

LogicalResult SeparateReductionsPass::separate(KernelOp kernel) {
  auto keep = [&](StringRef reason) {
    return keepKernel(kernel, kSeparateReductions, reason);
  };
  StringRef reason;
  FusedOp fused = findStageToRewrite(kernel, reason);
  if (!fused)
    return keep(reason);
  if (kernel.getYield().getOperands() != fused.getResults() ||
      fused.getInputs() != kernel.getBody().getArguments())
    return keep("its stage is not all of it");
  auto columns = findColumnSums(fused);
  if (!columns || columns->empty())
    return keep("it reduces no result of its own over its outermost dimension, "
                "or something else, too");
  if (!isForced(kernel, kSeparateReductions) && !readsSums(kernel))
    return success();
  if (report)
    fused.emitRemark("keeps apart ")
        << columns->size() << " of its reductions, to follow a contraction";
  replace(kernel, fused, *columns);
  return success();
}

void SeparateReductionsPass::runOnOperation() {
  auto kernels = collectOps<KernelOp>(getOperation().getBody());
  for (KernelOp kernel : kernels)
    if (!isForbidden(kernel, kSeparateReductions) && failed(separate(kernel)))
      return signalPassFailure();
}
