//===- CollapsedTensor.cpp - Tensors as collapsed loops see them ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage collapses two loops into one where all places are contiguous over
// both. The loop then numbers the inner one's dimension, beyond its end, and
// the indices of the dimensions outside say where it begins. The loops need not
// be those of neighbouring dimensions alone: taps of a filter that are as far
// apart as a channel is high, divided by their number, make one loop with the
// channels, and pixels make one of their own in the same tensor. So dimensions
// become one as long as the index of all that have is beyond its end.
//
//===----------------------------------------------------------------------===//

#include "CollapsedTensor.h"

using namespace mlir;
using namespace mlir::metaop;

IndexInterval metaop::getIndexRange(const Stage &stage, AffineExpr index) {
  SmallVector<int64_t> extents;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    extents.push_back(stage.getStaticExtent(loop));
  return getInterval(index, extents);
}

/// Returns the distance of an index to the end of its dimension, as range
/// checks have it.
static AffineExpr getRest(const Stage &stage, int64_t extent,
                          AffineExpr index) {
  return simplifyAffineExpr(
      getAffineConstantExpr(extent - 1, index.getContext()) - index,
      stage.getNumLoops(), 0);
}

/// Returns true if an index leaves its dimension, for the ones around it: a
/// collapsed loop numbers both.
static bool goesBeyond(const Stage &stage, int64_t extent, AffineExpr index,
                       const StagePlace &place) {
  IndexInterval range = getIndexRange(stage, index);
  auto isChecked = [&](AffineExpr check) {
    return llvm::is_contained(place.rangeChecks, check);
  };
  bool isBelow = !range.lower || *range.lower < 0;
  bool isAbove = !range.upper || *range.upper >= extent;
  return (isBelow && !isChecked(index)) ||
         (isAbove && !isChecked(getRest(stage, extent, index)));
}

static CollapsedTensor collapse(const Stage &stage, RankedTensorType type,
                                AffineMap map, const StagePlace &place) {
  CollapsedTensor result;
  for (unsigned i = map.getNumResults(); i-- > 0;) {
    AffineExpr index = map.getResult(i);
    int64_t extent = type.getDimSize(i);
    while (i > 0 && goesBeyond(stage, extent, index, place)) {
      index = simplifyAffineExpr(map.getResult(--i) * extent + index,
                                 stage.getNumLoops(), 0);
      extent *= type.getDimSize(i);
    }
    result.shape.push_back(extent);
    result.indices.push_back(index);
  }
  std::reverse(result.shape.begin(), result.shape.end());
  std::reverse(result.indices.begin(), result.indices.end());
  return result;
}

CollapsedTensor CollapsedTensor::get(const Stage &stage,
                                     const StageRead &read) {
  return collapse(stage, cast<RankedTensorType>(read.source.getType()),
                  read.map, read.place);
}

CollapsedTensor CollapsedTensor::get(const Stage &stage,
                                     const StageWrite &write) {
  FusedOp op = stage.op;
  return collapse(stage,
                  cast<RankedTensorType>(op.getResult(write.result).getType()),
                  write.map, write.place);
}

bool CollapsedTensor::impliesChecks(const Stage &stage,
                                    const StagePlace &place) const {
  return llvm::all_of(place.rangeChecks, [&](AffineExpr check) {
    return llvm::any_of(llvm::zip_equal(shape, indices), [&](auto dim) {
      auto [extent, index] = dim;
      return check == index || check == getRest(stage, extent, index);
    });
  });
}
