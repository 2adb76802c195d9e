//===- Strips.cpp - Columns that are summed over long strides -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of long rows into one row,
//
//   y[j] = sum(x[i, j], i < m)    j < n
//
// reads memory at its full speed only if it goes along j for many lines of the
// cache before it takes the next row; then its results do not fit registers.
// So j is strip-mined: it has two loops, over the strips and over the columns
// of one, whose results fit the first cache: strips stand outside, where
// threads share them, rows between, columns inside (LoopOrder::addsRows).
//
// Only reductions of more than the second cache holds are cut. Strips of one
// size are best; where no size fills the row, they are nearly of one size, so
// that threads have as much to do, and the last one is shorter.
//
//===----------------------------------------------------------------------===//

#include "Strips.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Columns of a strip: 16 KB of f32.
static constexpr int64_t kLongestStrip = 4096;
static constexpr int64_t kShortestStrip = 1024;
/// Strips are a whole number of cache lines.
static constexpr int64_t kStripMultiple = 16;
/// Iterations that threads can share, at least, where strips can be shorter.
static constexpr int64_t kEnoughStrips = 8;

/// Returns whether the loop goes along memory, and all else that the reduction
/// reads stays where it is.
static bool areColumns(const Stage &stage, unsigned loop) {
  auto isRow = [&](const StagePlace &place) {
    auto step = stage.getStep(place.offset, loop);
    return !place.isGuarded() && (step == 0 || step == 1);
  };
  bool anyRead = llvm::any_of(stage.reads, [&](const StageRead &read) {
    return stage.getStep(read.place.offset, loop) == 1;
  });
  return anyRead &&
         llvm::all_of(
             stage.reads,
             [&](const StageRead &read) { return isRow(read.place); }) &&
         llvm::all_of(stage.writes, [&](const StageWrite &write) {
           return write.isProjection && write.disjoint.test(loop) &&
                  isRow(write.place) &&
                  stage.getStep(write.place.offset, loop) == 1;
         });
}

/// The iterations of further loops that all results keep.
static int64_t countOthers(const Stage &stage, unsigned columns) {
  llvm::SmallBitVector kept(stage.getNumLoops(), true);
  for (const StageWrite &write : stage.writes)
    kept &= write.disjoint;
  int64_t others = 1;
  for (unsigned loop : kept.set_bits())
    if (loop != columns)
      others *= stage.getStaticExtent(loop);
  return others;
}

static bool isLarge(const Stage &stage) {
  int64_t iterations = 1;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    if (ShapedType::isDynamic(stage.getStaticExtent(loop)))
      return false;
    iterations *= stage.getStaticExtent(loop);
  }
  return iterations >= Stage::manyIterations;
}

int64_t metaop::chooseStrip(const Stage &stage, unsigned columns) {
  // Several loops of one dimension of a contraction are blocks of tiles.
  if (!stage.hasReduction() || !isLarge(stage) || !areColumns(stage, columns) ||
      Contraction::match(stage))
    return 0;
  int64_t extent = stage.getStaticExtent(columns);
  int64_t others = countOthers(stage, columns);
  int64_t longest = kLongestStrip;
  while (longest > kShortestStrip && extent / longest * others < kEnoughStrips)
    longest /= 2;
  if (extent <= longest)
    return 0;
  for (int64_t strip = longest; strip >= kShortestStrip;
       strip -= kStripMultiple)
    if (extent % strip == 0)
      return strip;
  int64_t number = llvm::divideCeil(extent, longest);
  while (extent / number < kShortestStrip)
    --number;
  return number == 1
             ? 0
             : llvm::alignTo(llvm::divideCeil(extent, number), kStripMultiple);
}
