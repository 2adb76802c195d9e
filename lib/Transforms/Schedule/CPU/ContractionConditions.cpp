//===- ContractionConditions.cpp - What conditions leave of a contraction -===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum may have conditions: of what it runs over, some iterations count. Those
// whose conditions are tested outside of the tile are left out; those of a tile
// are computed at once, and a factor is zero where one does not count.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlanner.h"
#include "MetaOps/Transforms/Schedule/Stage/UsedPart.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::impliesCheck(const StageRead &read, AffineExpr check) {
  bool isZeroOutside = !read.fill ||
                       matchPattern(read.fill, m_AnyZeroFloat()) ||
                       matchPattern(read.fill, m_Zero());
  auto type = cast<RankedTensorType>(read.source.getType());
  auto simplify = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, read.map.getNumDims(),
                              read.map.getNumSymbols());
  };
  return isZeroOutside &&
         llvm::any_of(llvm::enumerate(read.map.getResults()), [&](auto dim) {
           AffineExpr last = getAffineConstantExpr(
               type.getDimSize(dim.index()) - 1, check.getContext());
           return simplify(check) == simplify(dim.value()) ||
                  simplify(check) == simplify(last - dim.value());
         });
}

bool metaop::isTested(const StageWrite &write, unsigned loop) {
  return llvm::any_of(write.place.conditions, [&](AffineExpr condition) {
    return condition.isFunctionOfDim(loop);
  });
}

bool metaop::dependsOnRows(const ContractionPlan &plan, AffineExpr expr) {
  return llvm::any_of(
      plan.rows, [&](TileDim row) { return expr.isFunctionOfDim(row.dim); });
}

bool metaop::dependsOnTile(const ContractionPlan &plan, AffineExpr check) {
  return check.isFunctionOfDim(plan.lanesDim) || dependsOnRows(plan, check);
}

/// Returns true if some iterations of the dimension have no result. Rows of
/// such are stored one by one.
bool ContractionPlanner::isChecked(unsigned dim) const {
  return llvm::any_of(
      checks, [&](AffineExpr check) { return check.isFunctionOfDim(dim); });
}

/// Returns which part of the iterations is computed: all that a tile does at
/// once, and else those for which the conditions hold.
double ContractionPlanner::getUsedPart(const ContractionPlan &plan) const {
  SmallVector<AffineExpr> tested;
  for (AffineExpr condition : write.place.conditions)
    if (!dependsOnTile(plan, condition))
      tested.push_back(condition);
  auto *known = llvm::find_if(
      usedParts, [&](const auto &part) { return part.first == tested; });
  if (known == usedParts.end()) {
    double part = metaop::getUsedPart(stage, tested);
    known = &usedParts.emplace_back(std::move(tested), part);
  }
  return known->second;
}
