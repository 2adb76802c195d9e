//===- PackedLoops.cpp - Loops of packed contractions ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackedLoops.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns the extents of the dimensions that a loop is made of, where these
/// are rows which are read in place; else its own.
SmallVector<int64_t> PackedLoops::getRowExtents(unsigned loop) const {
  SmallVector<int64_t> own = {stage.getStaticExtent(loop)};
  if (!contraction.factors[1 - plan.vectors].own.test(loop) ||
      plan.packsBroadcast || plan.splitsPhases)
    return own;
  SmallVector<int64_t> extents;
  int64_t product = 1;
  for (auto [index, extent] : llvm::zip_equal(
           stage.toIterationSpace.getResults(), stage.spaceExtents)) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number)
      return own;
    extents.push_back(number.getValue());
    product *= number.getValue();
  }
  return product == own.front() ? extents : own;
}

PackedLoops::PackedLoops(const Stage &stage, const Contraction &contraction,
                         const ContractionPlan &plan)
    : stage(stage), contraction(contraction), plan(plan) {
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    AffineExpr old = getAffineConstantExpr(0, stage.getContext());
    newLoops.emplace_back();
    for (int64_t extent : getRowExtents(loop)) {
      old = old * extent + dim(space.size());
      newLoops.back().push_back(space.size());
      space.push_back(extent);
    }
    oldLoops.push_back(old);
  }
  if (!splitsLanes())
    return;
  int64_t &extent = space[newLoops[plan.lanesDim].front()];
  extent = llvm::divideCeilSigned(extent, plan.width);
  oldLoops[plan.lanesDim] =
      oldLoops[plan.lanesDim] * plan.width + dim(space.size());
  newLoops[plan.lanesDim].push_back(space.size());
  space.push_back(plan.width);
}

void PackedLoops::separateRows(CollapsedTensor &tensor,
                               ArrayRef<int64_t> whole) const {
  CollapsedTensor result;
  for (auto [size, index] : llvm::zip_equal(tensor.shape, tensor.indices)) {
    size_t count = 0;
    int64_t product = 1;
    while (count < whole.size() && (count == 0 || product < size))
      product *= whole[count++];
    if (product != size)
      return;
    ArrayRef<int64_t> dims = whole.take_front(count);
    whole = whole.drop_front(count);
    const auto *old = llvm::find(oldLoops, index);
    if (old == oldLoops.end() ||
        llvm::map_to_vector(newLoops[old - oldLoops.begin()],
                            [&](unsigned loop) { return space[loop]; }) !=
            dims) {
      result.shape.push_back(size);
      result.indices.push_back(index);
      continue;
    }
    result.shape.append(dims.begin(), dims.end());
    for (unsigned loop : newLoops[old - oldLoops.begin()])
      result.indices.push_back(dim(loop));
  }
  tensor = std::move(result);
}

SmallVector<unsigned> PackedLoops::getPanel() const {
  const Contraction::Factor &factor = contraction.factors[plan.vectors];
  SmallVector<unsigned> batch, own, reduced;
  llvm::SmallBitVector loops = stage.getLoopsOf(factor.value);
  for (unsigned loop : loops.set_bits()) {
    if (contraction.reduced.test(loop))
      reduced.push_back(loop);
    else if (contraction.batch.test(loop))
      batch.push_back(loop);
    else if (static_cast<int64_t>(loop) != plan.lanesDim)
      own.push_back(loop);
  }
  // As the scheduler would order them: checked ones outside, then by step.
  AffineExpr place = factor.reads.front()->place.offset;
  auto getRank = [&](unsigned loop) {
    return std::make_tuple(
        !isTested(stage.writes.front(), loop),
        -std::abs(stage.getStep(place, loop).value_or(INT64_MAX)), loop);
  };
  llvm::sort(reduced,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  batch.append(own);
  batch.append(reduced);
  SmallVector<unsigned> panel;
  for (unsigned loop : batch)
    panel.push_back(newLoops[loop].front());
  ArrayRef<unsigned> lanes = newLoops[plan.lanesDim];
  panel.insert(panel.end() - static_cast<ptrdiff_t>(reduced.size()),
               lanes.begin(), lanes.end() - 1);
  panel.push_back(lanes.back());
  return panel;
}

static bool isZero(AffineExpr index) {
  auto constant = dyn_cast<AffineConstantExpr>(index);
  return constant && constant.getValue() == 0;
}

CollapsedTensor
PackedLoops::separateLanes(const CollapsedTensor &tensor) const {
  int64_t extent = stage.getStaticExtent(plan.lanesDim);
  if (!splitsLanes() || extent % plan.width == 0)
    return tensor;
  CollapsedTensor result;
  for (auto [size, index] : llvm::zip_equal(tensor.shape, tensor.indices)) {
    AffineExpr lanes = dim(plan.lanesDim);
    AffineExpr groups =
        simplifyAffineExpr(index - lanes, stage.getNumLoops(), 0);
    if (!isZero(groups) && !groups.isFunctionOfDim(plan.lanesDim) &&
        groups.isMultipleOf(extent) && size % extent == 0) {
      result.shape.push_back(size / extent);
      result.indices.push_back(groups.floorDiv(extent));
      result.shape.push_back(extent);
      result.indices.push_back(lanes);
      continue;
    }
    result.shape.push_back(size);
    result.indices.push_back(index);
  }
  return result;
}
