//===- SharedBlock.cpp - Blocks that pass between stages ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The levels of a contraction are loops over blocks of its dimensions. A
// dimension of a tensor may be several of these as digits (that of a factor
// whose vectors are in panels: `32 * n1 + n0`), and a loop of the other stage
// may be several dimensions of the tensor (the filters of a channel). What an
// iteration of the shared levels reaches along it is a range of neighbours if
// all digits below one that still counts are whole.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/SharedBlock.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

/// The digits of a place in the contraction's loops; none where it is no sum of
/// these in positive steps.
static std::optional<SmallVector<SharedBlock::Digit, 2>>
findDigits(const Stage &contraction, AffineExpr place) {
  SmallVector<SharedBlock::Digit, 2> digits;
  for (unsigned dim = 0; dim < contraction.getNumLoops(); ++dim) {
    int64_t extent = contraction.getStaticExtent(dim);
    auto step = contraction.getStep(place, dim);
    if (!step || *step < 0 || ShapedType::isDynamic(extent))
      return std::nullopt;
    if (*step > 0)
      digits.push_back({dim, *step, extent});
  }
  llvm::sort(digits, [](const auto &a, const auto &b) {
    return std::tie(a.stride, a.extent) < std::tie(b.stride, b.extent);
  });
  return digits;
}

/// Counts the neighbours that the digits reach in parts of these sizes.
static std::optional<int64_t> getReach(ArrayRef<SharedBlock::Digit> digits,
                                       ArrayRef<int64_t> sizes) {
  int64_t reach = 1;
  for (auto [digit, size] : llvm::zip_equal(digits, sizes)) {
    if (size > 1 && digit.stride != reach)
      return std::nullopt;
    if (size > 1)
      reach = digit.stride * size;
  }
  return reach;
}

std::optional<SharedBlock> SharedBlock::match(const Stage &contraction,
                                              AffineMap inContraction,
                                              const Stage &other,
                                              AffineMap inOther,
                                              ArrayRef<AffineExpr> shape) {
  SharedBlock block;
  llvm::SmallBitVector seen(other.getNumLoops());
  AffineExpr zero = getAffineConstantExpr(0, inOther.getContext());
  AffineExpr place = zero;
  bool isCollapsed = false;
  for (auto [i, index] : llvm::enumerate(inOther.getResults())) {
    AffineExpr digit = inContraction.getResult(i);
    place = shape.empty() ? digit : place * shape[i] + digit;
    // Of one element, or collapsed into the next one: in both stages, or in the
    // other one only.
    isCollapsed |= index == 0 && digit != 0;
    if (index == 0 && (digit == 0 || !shape.empty()))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(index);
    auto digits = findDigits(contraction, place);
    if (!loop || seen.test(loop.getPosition()) || !digits)
      return std::nullopt;
    seen.set(loop.getPosition());
    Index entry{loop.getPosition(), place, *digits};
    entry.whole = entry.extent = other.getStaticExtent(entry.loop);
    int64_t reached = 1;
    for (const Digit &own : entry.digits)
      reached += own.stride * (own.extent - 1);
    // The last panel may reach beyond the end. A loop of fewer elements than
    // there are reads one of several rows.
    bool isExact = isa<AffineDimExpr>(place) || isCollapsed;
    if (ShapedType::isDynamic(entry.whole) || reached < entry.whole ||
        (isExact && reached != entry.whole))
      return std::nullopt;
    block.indices.push_back(entry);
    place = zero;
    isCollapsed = false;
  }
  if (place != 0 || !seen.all() || !block.narrow({}))
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

/// The sizes of an index' digits in one iteration of these levels.
static SmallVector<int64_t> getSizes(const SharedBlock::Index &index,
                                     ArrayRef<LoopLevel> levels) {
  return llvm::map_to_vector(index.digits, [&](SharedBlock::Digit digit) {
    int64_t size = digit.extent;
    for (const LoopLevel &level : levels)
      if (level.dim == static_cast<int64_t>(digit.dim))
        size = std::min(size, level.step);
    return size;
  });
}

/// Returns the way that the last of these levels, which is of a digit, goes
/// along an index.
/// One that leaves the digit whole goes as far as those above it do.
static int64_t getStep(const SharedBlock::Index &index,
                       const SharedBlock::Digit &digit,
                       ArrayRef<LoopLevel> levels) {
  int64_t step = levels.back().step * digit.stride;
  if (index.digits.size() == 1)
    return step;
  return getReach(index.digits, getSizes(index, levels)).value_or(step);
}

SmallVector<LoopLevel>
SharedBlock::translate(ArrayRef<LoopLevel> levels) const {
  SmallVector<LoopLevel> translated;
  for (auto [depth, level] : llvm::enumerate(levels))
    for (const Index &index : indices)
      for (const Digit &digit : index.digits) {
        if (static_cast<int64_t>(digit.dim) != level.dim)
          continue;
        translated.push_back(
            {level.kind, index.loop,
             getStep(index, digit, levels.take_front(depth + 1))});
      }
  return translated;
}

bool SharedBlock::narrow(ArrayRef<LoopLevel> levels) {
  numElements = 1;
  for (Index &index : llvm::reverse(indices)) {
    auto reach = getReach(index.digits, getSizes(index, levels));
    if (!reach)
      return false;
    index.extent = std::min(*reach, index.whole);
    index.stride = numElements;
    numElements = multiplyCounts(numElements, index.extent);
  }
  return true;
}

FusedOp metaop::findContractionInBlocks(Block &kernel) {
  FusedOp contraction = findContraction(kernel);
  if (!contraction)
    return nullptr;
  // Stages of a GPU share nothing but equal levels.
  ScheduleAttr schedule = contraction.getScheduleAttr();
  return schedule.isFlat() || schedule.isForGpu() ? FusedOp() : contraction;
}
