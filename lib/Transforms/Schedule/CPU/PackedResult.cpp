//===- PackedResult.cpp - Results of packed contractions ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction writes its result as it is, unless the plan says otherwise:
//
//   * Of phases, a tensor with a dimension for each phase outside of all
//     others. A kernel behind interleaves them.
//   * Where rows are moved, the lanes are innermost, and the rows around them.
//     A kernel behind transposes that. Phases are not split then: neighbours
//     are not what follows each other.
//
//===----------------------------------------------------------------------===//

#include "PackedResult.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"

using namespace mlir;
using namespace mlir::metaop;

PackedResult::PackedResult(const Stage &stage, const ContractionPlan &plan,
                           CollapsedTensor whole)
    : whole(std::move(whole)), isMoved(plan.movesRows) {
  for (auto [position, index] : llvm::enumerate(this->whole.indices))
    dims.push_back({this->whole.shape[position], index,
                    static_cast<unsigned>(position), /*step=*/1});
  if (plan.splitsPhases)
    splitPhases(stage);
  order = llvm::to_vector(llvm::seq<unsigned>(dims.size()));
  if (isMoved)
    moveRows(plan);
}

/// Splits the dimensions that consist of phases as they are now.
void PackedResult::splitPhases(const Stage &stage) {
  SmallVector<Dim> phases;
  for (Dim &dim : dims) {
    std::optional<ResultPhase> found = findPhase(stage, dim.index);
    if (!found)
      continue;
    MLIRContext *ctx = stage.getContext();
    phases.push_back({found->stride, getAffineDimExpr(found->phase, ctx),
                      dim.position, /*step=*/1});
    dim = {stage.getStaticExtent(found->steps),
           getAffineDimExpr(found->steps, ctx), dim.position, found->stride};
  }
  hasPhases = !phases.empty();
  dims.insert(dims.begin(), phases.begin(), phases.end());
}

void PackedResult::moveRows(const ContractionPlan &plan) {
  auto getRank = [&](unsigned number) {
    AffineExpr index = dims[number].index;
    return std::tuple(index.isFunctionOfDim(plan.lanesDim),
                      dependsOnRows(plan, index), number);
  };
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
}

CollapsedTensor PackedResult::getWritten() const {
  CollapsedTensor tensor;
  for (unsigned number : order) {
    tensor.shape.push_back(dims[number].extent);
    tensor.indices.push_back(dims[number].index);
  }
  return tensor;
}

Value PackedResult::restore(OpBuilder &b, KernelOp contraction,
                            Value written) const {
  Location loc = contraction.getYield().getOperand(0).getLoc();
  if (!isMoved && !hasPhases)
    return written;
  KernelOp kernel =
      isMoved ? moveBack(b, loc, written) : interleave(b, loc, written);
  inheritRewrites(contraction, kernel, /*andForced=*/false);
  return kernel.getResult(0);
}

KernelOp PackedResult::moveBack(OpBuilder &b, Location loc,
                                Value written) const {
  auto type = cast<RankedTensorType>(written.getType());
  SmallVector<AffineExpr> indices;
  for (unsigned number : order)
    indices.push_back(b.getAffineDimExpr(number));
  IndexAccess access;
  access.map = AffineMap::get(dims.size(), 0, indices, b.getContext());
  access.fill = b.getZeroAttr(type.getElementType());
  type = type.clone(
      llvm::map_to_vector(dims, [](const Dim &dim) { return dim.extent; }));
  return buildStageKernel(b, loc, type, written, [&](ValueRange arguments) {
    return SmallVector<Value>{
        ReindexOp::create(b, loc, type, arguments[0], access)};
  });
}

KernelOp PackedResult::interleave(OpBuilder &b, Location loc,
                                  Value phases) const {
  auto type = cast<RankedTensorType>(phases.getType()).clone(whole.shape);
  SmallVector<AffineExpr> indices(whole.shape.size(),
                                  b.getAffineConstantExpr(0));
  // Phases come first, and are added to their steps.
  for (unsigned i = dims.size(); i-- > 0;)
    indices[dims[i].position] =
        indices[dims[i].position] + b.getAffineDimExpr(i) * dims[i].step;
  IndexAccess access;
  access.map = AffineMap::get(dims.size(), 0, indices, b.getContext());
  return buildStageKernel(b, loc, type, phases, [&](ValueRange arguments) {
    return SmallVector<Value>{ReindexReduceOp::create(
        b, loc, type, Combiner::Add, arguments[0], access)};
  });
}
