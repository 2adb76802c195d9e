//===- StagedBox.cpp - Boxes of reads in shared memory --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout is that of the lowering: rows are along the loop that has the
// shortest step in memory.
//
//===----------------------------------------------------------------------===//

#include "StagedBox.h"
#include "GpuLevels.h"

using namespace mlir;
using namespace mlir::metaop;

StagedBox::StagedBox(const GpuStage &each, StagedRead staged)
    : read(each.stage.reads[staged.read]),
      elementBytes(getElementBytes(read.value.getType())) {
  llvm::SmallBitVector loops = each.stage.getLoopsOf(read.value);
  for (unsigned loop : loops.set_bits())
    if (int64_t side = getBlockSpan(each, loop).value_or(1); side > 1)
      sides.push_back({loop, side});
  auto getStep = [&](const Side &side) {
    int64_t step =
        std::abs(each.stage.getStep(read.place.offset, side.loop).value_or(0));
    return step == 0 ? INT64_MAX : step;
  };
  llvm::sort(sides, [&](const Side &lhs, const Side &rhs) {
    return std::pair(-getStep(lhs), lhs.loop) <
           std::pair(-getStep(rhs), rhs.loop);
  });
  int64_t row = sides.empty() ? 1 : sides.back().length;
  layout = StagedLayout(row, elementBytes, staged.pad);
  elements = layout.getSize(getSize() / row);
}

int64_t StagedBox::getSize() const {
  int64_t size = 1;
  for (const Side &side : sides)
    size = multiplyCounts(size, side.length);
  return size;
}

int64_t StagedBox::getPlace(ArrayRef<int64_t> at) const {
  int64_t number = 0;
  for (auto [side, place] : llvm::zip_equal(sides, at))
    number = number * side.length + place;
  return number + number / layout.row / layout.rows * layout.pad;
}

SmallVector<int64_t> StagedBox::getSides(int64_t number) const {
  SmallVector<int64_t> at(sides.size());
  for (unsigned side = sides.size(); side-- > 0;) {
    at[side] = number % sides[side].length;
    number /= sides[side].length;
  }
  return at;
}
