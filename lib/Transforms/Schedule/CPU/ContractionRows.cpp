//===- ContractionRows.cpp - Rows of a contraction's tile -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile has as many sums as there are registers beside one row of vectors
// and one broadcast element. Its rows are one own dimension of the broadcast
// factor, or several where that is short; of several sizes the one that wastes
// least. Few rows that are all needed may be better than many of which some are
// computed twice.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Cycles of a step of a tile for its vectors, which come from the second
/// cache: few rows do not hide them.
static constexpr double kVectorCycles = 3;
/// Rows of a dimension that are a tile whatever their number is.
static constexpr int64_t kMaxWholeRows = 8;
/// Rows of a dimension that varies: more would be computed in vain where few
/// are left over.
static constexpr int64_t kMaxVaryingRows = 14;
/// Rows whose distance is a number that varies have a pointer each, of which
/// there are registers for so many.
static constexpr int64_t kMaxPointers = 12;
/// Rows whose distance is a multiple of so many bytes lie in one or two sets of
/// the first cache, which have room for so many.
static constexpr int64_t kSetBytes = 2048, kMaxRowsOfSet = 14;
/// Results that follow each other in memory, for which a tile is transposed.
static constexpr int64_t kMinRun = 3;

/// Chooses how much of a dimension is in the tile. Short dimensions are rows as
/// they are. For others there are few sizes, so that kernels that differ in the
/// extent are often the same loops.
int64_t ContractionPlanner::chooseSize(unsigned dim, int64_t most) const {
  int64_t extent = getExtent(dim);
  if (extent <= std::min(most, kMaxWholeRows))
    return extent;
  // Rows that are left over have bodies of their own sizes.
  if (stage.isVarying(dim))
    return std::min(most, kMaxVaryingRows);
  int64_t best = most;
  for (int64_t size : {most - 1, (most + 2) / 2})
    if (size > 1 && getRowCycles(extent, size, /*numVectors=*/2) <
                        getRowCycles(extent, best, /*numVectors=*/2))
      best = size;
  return best;
}

/// Chooses which of further dimensions is in the tile, beside so many rows, and
/// how much of it; none where more is computed twice than vectors are read less
/// often.
std::optional<TileDim>
ContractionPlanner::chooseFurther(ArrayRef<unsigned> dims, int64_t most,
                                  int64_t rows) const {
  std::optional<TileDim> best;
  double least = static_cast<double>(rows) + kVectorCycles;
  for (unsigned dim : dims)
    for (int64_t size = std::min(most, getExtent(dim)); size > 1; --size) {
      int64_t tiles = llvm::divideCeilSigned(getExtent(dim), size);
      double cycles = static_cast<double>(tiles) / getExtent(dim) *
                      (static_cast<double>(size * rows) + kVectorCycles);
      bool isOther = best && best->dim != static_cast<int64_t>(dim);
      if (cycles >= (isOther ? kClearlyLess * least : least))
        continue;
      least = cycles;
      best = {static_cast<int64_t>(dim), size};
    }
  return best;
}

/// Returns whether the distance of neighbours along a dimension depends on an
/// extent that varies: one of a dimension inside of it.
bool ContractionPlanner::isStepVarying(const StageRead &read,
                                       unsigned dim) const {
  auto step = stage.getStep(read.place.offset, dim);
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    auto inner = stage.getStep(read.place.offset, loop);
    if (loop != dim && stage.isVarying(loop) && inner && *inner != 0 && step &&
        std::abs(*inner) < std::abs(*step))
      return true;
  }
  return false;
}

/// Chooses the rows of the tile, at most `maxTested` dimensions of which are
/// tested by conditions. Results that are not contiguous along the
/// lanes are so along the first dimension of the rows.
bool ContractionPlanner::chooseRows(ContractionPlan &plan, int64_t maxRows,
                                    int64_t maxTested) const {
  const Contraction::Factor &other = contraction.factors[1 - plan.vectors];
  SmallVector<unsigned> dims;
  for (unsigned dim : other.own.set_bits()) {
    // The tile's places are constant distances apart.
    bool isLinear = stage.getStep(place, dim).has_value();
    for (const StageRead *read : other.reads)
      isLinear &= stage.getStep(read->place.offset, dim).has_value();
    if (isLinear)
      dims.push_back(dim);
  }
  if (dims.empty())
    return false;
  // Rows that follow each other in the result are transposed, if all exist.
  bool isApart = !plan.movesRows && stage.getStep(place, plan.lanesDim) != 1;
  auto canTranspose = [&](unsigned dim) {
    return isApart && stage.getStep(place, dim) == 1 &&
           getExtent(dim) >= kMinRun && !isChecked(dim);
  };
  // Prefer such rows, or those that fill tiles, and of these what is near.
  bool isTransposed = llvm::any_of(dims, canTranspose);
  auto getRank = [&](unsigned dim) {
    int64_t filled = isTransposed ? 0 : std::min(getExtent(dim), maxRows);
    return std::make_tuple(-filled, std::abs(*stage.getStep(place, dim)), dim);
  };
  llvm::sort(dims,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  llvm::erase_if(dims, [&](unsigned dim) {
    return (isTransposed && isChecked(dim)) ||
           (isTested(write, dim) && maxTested-- <= 0);
  });
  if (dims.empty())
    return false;
  isTransposed = canTranspose(dims.front());
  if (isTransposed)
    plan.transpose = dims.front();
  int64_t rows = 1;
  if (isStepVarying(*other.reads.front(), dims.front()))
    maxRows = std::min(maxRows, kMaxPointers);
  const StageRead &read = *other.reads.front();
  int64_t distance = *stage.getStep(read.place.offset, dims.front()) *
                     getElementBytes(read.value.getType());
  if (distance != 0 && distance % kSetBytes == 0 && !plan.movesRows)
    maxRows = std::min(maxRows, kMaxRowsOfSet);
  if (int64_t size = chooseSize(dims.front(), maxRows); size > 1) {
    plan.rows.push_back({dims.front(), size});
    rows = size;
  }
  // Others beside one that is whole.
  bool isWhole =
      rows == getExtent(dims.front()) && !stage.isVarying(dims.front());
  SmallVector<unsigned> others(llvm::drop_begin(dims));
  while (isWhole && maxRows / rows > 1) {
    auto further = chooseFurther(others, maxRows / rows, rows);
    if (!further)
      break;
    plan.rows.push_back(*further);
    rows *= further->size;
    isWhole = further->size == getExtent(further->dim) &&
              !stage.isVarying(further->dim);
    llvm::erase(others, static_cast<unsigned>(further->dim));
  }
  // A row that is alone has nothing to transpose with, and none is not moved.
  if (plan.rows.empty())
    return !isTransposed && !plan.movesRows;
  return !isTransposed || plan.rows.front().dim == plan.transpose;
}
