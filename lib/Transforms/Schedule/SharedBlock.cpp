//===- SharedBlock.cpp - What passes between stages block by block --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The levels of a contraction are loops over blocks of its dimensions. A
// dimension of a tensor may be several of these as digits (that of a factor
// whose vectors are in panels: `32 * n1 + n0`). What an iteration of the shared
// levels reaches along it is a range of neighbours if all digits below one that
// still counts are whole.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/SharedBlock.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

static bool isZero(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == 0;
}

std::optional<SharedBlock> SharedBlock::match(const Stage &contraction,
                                              AffineMap inContraction,
                                              const Stage &other,
                                              AffineMap inOther) {
  SharedBlock block;
  llvm::SmallBitVector seen(other.getNumLoops());
  for (auto [place, index] :
       llvm::zip_equal(inContraction.getResults(), inOther.getResults())) {
    // Collapsed into the next one, or of one element.
    if (isZero(place) && isZero(index))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop || seen.test(loop.getPosition()))
      return std::nullopt;
    seen.set(loop.getPosition());
    Index entry{loop.getPosition(), place};
    entry.whole = other.getStaticExtent(entry.loop);
    int64_t reached = 1;
    for (unsigned dim = 0; dim < contraction.getNumLoops(); ++dim) {
      int64_t extent = contraction.getStaticExtent(dim);
      auto step = contraction.getStep(place, dim);
      if (!step || *step < 0 || ShapedType::isDynamic(extent))
        return std::nullopt;
      reached += *step * (extent - 1);
    }
    // The last panel may reach beyond the end.
    if (ShapedType::isDynamic(entry.whole) || reached < entry.whole ||
        (isa<AffineDimExpr>(place) && reached != entry.whole))
      return std::nullopt;
    entry.extent = entry.whole;
    block.indices.push_back(entry);
  }
  if (!seen.all() || !block.narrow(contraction, {}))
    return std::nullopt;
  return block;
}

SharedBlock SharedBlock::follow(const StageWrite &write, const Stage &reader,
                                const StageRead &read) const {
  SharedBlock block;
  for (const Index &index : indices)
    for (auto [written, used] :
         llvm::zip_equal(write.map.getResults(), read.map.getResults())) {
      auto from = dyn_cast<AffineDimExpr>(written);
      auto to = dyn_cast<AffineDimExpr>(used);
      // A loop of another extent is of fewer or more collapsed dimensions.
      if (!from || !to || from.getPosition() != index.loop ||
          reader.getStaticExtent(to.getPosition()) != index.whole)
        continue;
      block.indices.push_back(index);
      block.indices.back().loop = to.getPosition();
    }
  return block;
}

SmallVector<LoopLevel>
SharedBlock::translate(ArrayRef<LoopLevel> levels) const {
  SmallVector<LoopLevel> translated;
  for (const LoopLevel &level : levels)
    for (const Index &index : indices)
      if (index.place.isFunctionOfDim(level.dim))
        translated.push_back(
            {level.kind, index.loop,
             level.step * *getConstantCoefficient(index.place, level.dim)});
  return translated;
}

bool SharedBlock::narrow(const Stage &contraction, ArrayRef<LoopLevel> levels) {
  SmallVector<int64_t> sizes;
  for (unsigned dim = 0; dim < contraction.getNumLoops(); ++dim)
    sizes.push_back(contraction.getStaticExtent(dim));
  for (const LoopLevel &level : levels)
    sizes[level.dim] = std::min(sizes[level.dim], level.step);
  numElements = 1;
  for (Index &index : llvm::reverse(indices)) {
    SmallVector<std::pair<int64_t, int64_t>> digits;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (int64_t step = *contraction.getStep(index.place, dim))
        digits.push_back({step, size});
    llvm::sort(digits);
    index.extent = 1;
    for (auto [step, size] : digits) {
      if (size > 1 && step != index.extent)
        return false;
      if (size > 1)
        index.extent = step * size;
    }
    index.extent = std::min(index.extent, index.whole);
    index.stride = numElements;
    numElements = multiplyCounts(numElements, index.extent);
  }
  return true;
}

/// Whether the stage sums products, as contractions do.
static bool sumsProducts(FusedOp stage) {
  return llvm::any_of(stage.getBody().front(), [](Operation &op) {
    auto reduce = dyn_cast<ReindexReduceOpInterface>(op);
    return reduce && reduce.getReduceKind() == ReduceKind::Add &&
           isa_and_nonnull<MulOp>(reduce.getSource().getDefiningOp());
  });
}

FusedOp metaop::findContractionInBlocks(Block &kernel) {
  for (auto stage : kernel.getOps<FusedOp>()) {
    // Other stages have strips, and then no neighbours.
    bool hasBlocks =
        stage.getScheduleAttr() && !stage.getScheduleAttr().isFlat();
    if (hasBlocks && sumsProducts(stage))
      return stage;
  }
  return nullptr;
}

FusedOp metaop::findContractionStage(KernelOp kernel) {
  auto stages = llvm::to_vector(kernel.getBody().front().getOps<FusedOp>());
  if (stages.empty() || kernel->getNumResults() != 1)
    return nullptr;
  FusedOp last = stages.back();
  bool isPlain = kernel.getYield().getOperands() == last.getResults() &&
                 !last.getInputRowsAttr() && !last.getResultRowsAttr() &&
                 (stages.size() == 1) == !last.getScheduleAttr();
  return isPlain ? last : nullptr;
}
