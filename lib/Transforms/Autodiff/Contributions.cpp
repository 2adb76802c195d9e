//===- Contributions.cpp - What makes up a gradient -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of one slice is zeros with its cotangent in the window. The sum
// of n of these is n passes over all elements, or one kernel that asks n times
// at each element. So
//
// * windows that tile the value along one dimension become a concat, which
//   moves nothing where kernels make the cotangents;
// * few others are added as they are, which fuses into one kernel;
// * many others, and those whose places are computed, as of a loop's counter,
//   are inserted one after the other, in place, into the sum of the rest, which
//   costs as much as they have elements.
//
// Only a tiling makes another program where a window moves: the rest depends on
// the numbers of windows, not on where they begin.
//
//===----------------------------------------------------------------------===//

#include "Contributions.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"

#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::metaop;

/// So many windows are worth one kernel that reads all of them.
static constexpr size_t kFewWindows = 8;

bool metaop::isWindow(SliceOp slice) {
  return slice.getType().hasStaticShape() &&
         slice.getSource().getType().hasStaticShape() &&
         llvm::all_of(slice.getStrides(),
                      [](int64_t stride) { return stride == 1; });
}

namespace {
using NumberFunction = llvm::function_ref<std::optional<int64_t>(Value)>;

class Sum {
public:
  Sum(OpBuilder &builder, Value value, NumberFunction getNumber)
      : builder(builder), value(value), getNumber(getNumber) {}

  void add(Value cotangent, Location loc) {
    sum = sum ? Value(AddOp::create(builder, loc, sum, cotangent)) : cotangent;
  }
  void addWindow(const Contribution &contribution);
  void insert(const Contribution &contribution);
  bool addTiles(MutableArrayRef<Contribution> windows);
  /// Returns whether it is computed where a window begins.
  bool isMoving(const Contribution &contribution) const;
  Value get() const { return sum; }

private:
  std::optional<int64_t> getStart(Value number) const;
  std::optional<int64_t> findTiledDim(ArrayRef<Contribution> windows) const;

  OpBuilder &builder;
  Value value;
  NumberFunction getNumber;
  Value sum;
};
} // namespace

void Sum::addWindow(const Contribution &contribution) {
  SliceOp window = contribution.window;
  SmallVector<Value> cotangents = window.vjp(builder, contribution.cotangent);
  add(cotangents.front(), contribution.loc);
}

void Sum::insert(const Contribution &contribution) {
  if (!sum)
    sum = splatLike(builder, contribution.loc, value, 0.0);
  SliceOp window = contribution.window;
  sum = InsertOp::create(builder, contribution.loc, Combiner::Add,
                         contribution.cotangent, sum, window.getStarts());
}

std::optional<int64_t> Sum::getStart(Value number) const {
  DenseIntElementsAttr constant;
  if (matchPattern(number, m_Constant(&constant)) && constant.isSplat())
    return constant.getSplatValue<APInt>().getSExtValue();
  return getNumber ? getNumber(number) : std::nullopt;
}

bool Sum::isMoving(const Contribution &contribution) const {
  SliceOp window = contribution.window;
  return llvm::any_of(window.getStarts(),
                      [&](Value start) { return !getStart(start); });
}

/// The only dimension along which the windows do not fill the value.
std::optional<int64_t> Sum::findTiledDim(ArrayRef<Contribution> windows) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  std::optional<int64_t> tiled;
  for (const Contribution &contribution : windows) {
    SliceOp window = contribution.window;
    for (auto [dim, extent] : llvm::enumerate(window.getType().getShape())) {
      if (extent == shape[dim]) {
        if (getStart(window.getStarts()[dim]) != 0)
          return std::nullopt;
        continue;
      }
      if (tiled.value_or(dim) != static_cast<int64_t>(dim))
        return std::nullopt;
      tiled = dim;
    }
  }
  return tiled;
}

/// Adds the windows as one concat, if each element lies in one of them.
bool Sum::addTiles(MutableArrayRef<Contribution> windows) {
  std::optional<int64_t> dim = findTiledDim(windows);
  if (windows.size() < 2 || !dim)
    return false;
  SmallVector<std::pair<int64_t, size_t>> byStart;
  for (auto [number, contribution] : llvm::enumerate(windows)) {
    auto start = getStart(contribution.window.getStarts()[*dim]);
    if (!start)
      return false;
    byStart.emplace_back(*start, number);
  }
  llvm::sort(byStart);
  int64_t end = 0;
  SmallVector<Value> tiles;
  for (auto [start, number] : byStart) {
    if (start != end)
      return false;
    end += windows[number].window.getType().getDimSize(*dim);
    tiles.push_back(windows[number].cotangent);
  }
  if (end != cast<RankedTensorType>(value.getType()).getDimSize(*dim))
    return false;
  Location loc = windows.front().loc;
  add(ConcatOp::create(builder, loc, value.getType(), tiles, *dim), loc);
  return true;
}

Value metaop::addUp(OpBuilder &builder, Value value,
                    ArrayRef<Contribution> contributions,
                    NumberFunction getNumber) {
  SmallVector<Contribution> windows = llvm::filter_to_vector(
      contributions,
      [](const Contribution &contribution) { return contribution.window; });
  Sum sum(builder, value, getNumber);
  bool areAdded = sum.addTiles(windows);
  bool areMany = windows.size() > kFewWindows;
  auto isInserted = [&](const Contribution &contribution) {
    return contribution.window && !areAdded &&
           (areMany || sum.isMoving(contribution));
  };
  for (const Contribution &contribution : contributions)
    if (!contribution.window)
      sum.add(contribution.cotangent, contribution.loc);
    else if (!areAdded && !isInserted(contribution))
      sum.addWindow(contribution);
  for (const Contribution &contribution : windows)
    if (isInserted(contribution))
      sum.insert(contribution);
  return sum.get();
}
