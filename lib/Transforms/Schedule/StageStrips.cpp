//===- StageStrips.cpp - Columns that are summed over long strides --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Step 4 of building a stage (see Stage.cpp). A sum of long rows into one row,
//
//   y[j] = sum(x[i, j], i < m)    j < n
//
// reads memory at its full speed only if it goes along j for many lines of the
// cache before it takes the next row; then its results do not fit registers.
// So j is strip-mined: it becomes two loops, the strips and the columns of one,
// whose results fit the first cache: strips stand outside, where threads share
// them, rows between, columns inside (LoopOrder::addsRows).
//
// Only reductions of more than the second cache holds are cut, and only where
// strips of one size fill the row: the loops need no guard.
//
//===----------------------------------------------------------------------===//

#include "StageBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// Columns of a strip: 16 KB of f32.
static constexpr int64_t kLongestStrip = 4096;
static constexpr int64_t kShortestStrip = 1024;
/// Strips are a whole number of cache lines.
static constexpr int64_t kStripMultiple = 16;
/// Iterations that threads can share, at least, where strips can be shorter.
static constexpr int64_t kEnoughStrips = 8;

/// The longest strip that divides a row; 0 if there is none. `others` are
/// iterations of further parallel loops.
static int64_t chooseStrip(int64_t extent, int64_t others) {
  int64_t longest = kLongestStrip;
  while (longest > kShortestStrip && extent / longest * others < kEnoughStrips)
    longest /= 2;
  for (int64_t strip = longest; strip >= kShortestStrip;
       strip -= kStripMultiple)
    if (extent % strip == 0)
      return strip;
  return 0;
}

/// The loop to cut: the kept one along which memory is contiguous, if all else
/// that the reduction reads stays where it is.
std::optional<unsigned> StageBuilder::findColumns() {
  if (!stage.hasReduction())
    return std::nullopt;
  std::optional<unsigned> columns;
  int64_t iterations = 1;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop) {
    int64_t extent = stage.getStaticExtent(loop);
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    iterations *= extent;
    if (llvm::any_of(stage.reads, [&](const StageRead &read) {
          return stage.getStep(read.place.offset, loop) == 1;
        }))
      columns = loop;
  }
  if (!columns || iterations < Stage::manyIterations)
    return std::nullopt;
  for (const StageWrite &write : stage.writes)
    if (!write.isProjection || !write.disjoint.test(*columns) ||
        stage.getStep(write.place.offset, *columns) != 1)
      return std::nullopt;
  bool areRows = true;
  forEachPlace([&](StagePlace &place) {
    auto step = stage.getStep(place.offset, *columns);
    areRows &= !place.isGuarded() && (step == 0 || step == 1);
  });
  return areRows ? columns : std::nullopt;
}

void StageBuilder::cutColumns() {
  std::optional<unsigned> columns = findColumns();
  if (!columns || isNumbered(*columns))
    return;
  int64_t others = 1;
  SmallBitVector kept(stage.extents.size(), true);
  for (const StageWrite &write : stage.writes)
    kept &= write.disjoint;
  for (unsigned loop : kept.set_bits())
    if (loop != *columns)
      others *= stage.getStaticExtent(loop);
  int64_t extent = stage.getStaticExtent(*columns);
  int64_t strip = chooseStrip(extent, others);
  if (strip == 0 || strip == extent)
    return;

  SmallVector<AffineExpr> loops, extents;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop) {
    AffineExpr now = getAffineDimExpr(extents.size(), ctx);
    extents.push_back(stage.extents[loop]);
    if (loop == *columns) {
      extents.back() = constant(extent / strip);
      now = now * strip + getAffineDimExpr(extents.size(), ctx);
      extents.push_back(constant(strip));
    }
    loops.push_back(now);
  }
  for (StageWrite &write : stage.writes) {
    SmallBitVector disjoint(extents.size());
    for (unsigned loop : write.disjoint.set_bits())
      disjoint.set(loop > *columns ? loop + 1 : loop);
    disjoint.set(*columns + 1);
    write.disjoint = disjoint;
  }
  substitute(loops, extents.size());
  stage.extents = extents;
}
