//===- LoopLevel.cpp - The loops of a schedule, as data -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LoopLevel.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::metaop;

/// Up to so many iterations that are left over have a body each.
static constexpr int64_t kMaxExactTail = 7;

llvm::SmallVector<int64_t> mlir::metaop::getTailSizes(int64_t most) {
  llvm::SmallVector<int64_t> sizes;
  if (most <= kMaxExactTail) {
    for (int64_t size = 1; size <= most; ++size)
      sizes.push_back(size);
    return sizes;
  }
  sizes = {4, 8};
  if (most > sizes.back())
    sizes.push_back(most);
  return sizes;
}

llvm::ArrayRef<ResultPlace> ScheduleFields::getNormalPlace() const {
  bool isInMemory = llvm::all_of(
      place, [](ResultPlace result) { return result == ResultPlace::Memory; });
  return isInMemory ? llvm::ArrayRef<ResultPlace>() : place;
}

llvm::hash_code mlir::metaop::hash_value(const LoopLevel &level) {
  return llvm::hash_combine(level.kind, level.dim, level.step, level.tail);
}

llvm::hash_code mlir::metaop::hash_value(const TileDim &tile) {
  return llvm::hash_combine(tile.dim, tile.size);
}

llvm::hash_code mlir::metaop::hash_value(const StagedRead &staged) {
  return llvm::hash_combine(staged.read, staged.pad);
}
