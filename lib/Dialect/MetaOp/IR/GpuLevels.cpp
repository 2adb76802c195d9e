//===- GpuLevels.cpp - Levels of schedules for GPUs -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts of a schedule for a GPU without its stage and the chip: how the levels
// stand in each other, and how many threads they make. Whether the chip has so
// many, and whether they compute what the stage means, the verifier of kernels
// knows (lib/Transforms/Schedule/GPU).
//
//===----------------------------------------------------------------------===//

#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"

using namespace mlir;
using namespace mlir::metaop;

using EmitError = function_ref<InFlightDiagnostic()>;

/// No chip's shared memory has room for longer rows.
static constexpr int64_t kMaxPad = 1024;
/// Products of two of these are numbers.
static constexpr int64_t kThreadLimit = int64_t(1) << 31;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

bool metaop::hasGpuLevels(ArrayRef<LoopLevel> levels) {
  return llvm::any_of(levels, [](const LoopLevel &level) {
    return level.isGrid() || level.isDistributed();
  });
}

/// Loops of a higher rank stand inside of those of a lower one.
static int getRank(LevelKind kind) {
  if (kind == LevelKind::Cluster)
    return 0;
  return kind == LevelKind::Block ? 1 : 2;
}

static LogicalResult verifyOrder(EmitError emitError,
                                 ArrayRef<LoopLevel> levels) {
  int rank = 0;
  bool hasThreads = false;
  for (const LoopLevel &level : levels) {
    if (getRank(level.kind) < rank)
      return emitError() << "expects clusters outside of blocks, and these "
                            "outside of all other loops, given `"
                         << stringifyLevelKind(level.kind) << "` of dimension "
                         << level.dim << " inside";
    rank = getRank(level.kind);
    if (level.kind == LevelKind::Warp && hasThreads)
      return emitError() << "expects warps outside of threads, given those of "
                            "dimension "
                         << level.dim << " inside";
    hasThreads |= level.kind == LevelKind::Thread;
  }
  return success();
}

LogicalResult metaop::verifyDistributed(EmitError emitError,
                                        ArrayRef<LoopLevel> levels,
                                        ArrayRef<TileDim> tile, TileDim lanes) {
  if (!hasGpuLevels(levels))
    return success();
  if (failed(verifyOrder(emitError, levels)))
    return failure();
  for (auto [depth, level] : llvm::enumerate(levels)) {
    if (!level.isDistributed())
      continue;
    int64_t dim = level.dim, span = 0;
    for (const LoopLevel &outer : levels.take_front(depth)) {
      if (outer.dim != dim)
        continue;
      if (outer.kind == level.kind)
        return emitError() << "expects one loop of dimension " << dim
                           << " to be `" << stringifyLevelKind(level.kind)
                           << "`, given two";
      span = outer.step;
    }
    if (span == 0)
      return emitError() << "expects a loop around `"
                         << stringifyLevelKind(level.kind) << "` of dimension "
                         << dim << " that says how far its threads go together";
    bool isLast =
        llvm::none_of(levels.drop_front(depth + 1),
                      [&](const LoopLevel &inner) { return inner.dim == dim; });
    if (!isLast)
      continue;
    int64_t own = 1, step = lanes.dim == dim ? lanes.size : 1;
    for (TileDim entry : tile)
      if (entry.dim == dim)
        own = entry.size;
    if (level.step != step)
      return emitError() << "expects `" << stringifyLevelKind(level.kind)
                         << "` of dimension " << dim
                         << " to step by a vector of it, " << step << ", given "
                         << level.step;
    if (span % own != 0)
      return emitError() << "expects the threads of dimension " << dim
                         << " to have whole tiles of " << own << " of the "
                         << span << " that they go together";
  }
  return success();
}

LogicalResult metaop::verifyStaged(EmitError emitError,
                                   ArrayRef<StagedRead> staged) {
  for (auto [i, entry] : llvm::enumerate(staged)) {
    if (entry.read < 0 || (i > 0 && entry.read <= staged[i - 1].read))
      return emitError() << "expects `staged` to be numbers of reads in order, "
                            "given "
                         << entry.read;
    if (entry.pad < 0 || entry.pad > kMaxPad)
      return emitError() << "expects 0 to " << kMaxPad
                         << " unused elements behind rows in `staged`, given "
                         << entry.pad;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

bool ScheduleAttr::isForGpu() const {
  return hasGpuLevels(getLevels()) || !getStaged().empty() ||
         !getPlace().empty();
}

unsigned ScheduleAttr::getNumGridLevels() const {
  return llvm::count_if(getLevels(),
                        [](const LoopLevel &level) { return level.isGrid(); });
}

std::optional<unsigned> ScheduleAttr::getEnclosing(unsigned depth) const {
  for (unsigned outer = depth; outer-- > 0;)
    if (getLevels()[outer].dim == getLevels()[depth].dim)
      return outer;
  return std::nullopt;
}

int64_t ScheduleAttr::getCount(unsigned depth) const {
  std::optional<unsigned> outer = getEnclosing(depth);
  if (!outer)
    return 1;
  const LoopLevel &level = getLevels()[depth];
  bool hasTile = level.isDistributed() && !isOuter(depth);
  return getLevels()[*outer].step /
         (hasTile ? getTileSize(level.dim) : level.step);
}

/// The product of the counts of the loops for which `test` holds.
static int64_t multiplyLevels(ScheduleAttr schedule,
                              function_ref<bool(unsigned depth)> test) {
  int64_t product = 1;
  for (unsigned depth = 0; depth < schedule.getNumLevels(); ++depth)
    if (test(depth))
      product =
          std::min(product * std::min(schedule.getCount(depth), kThreadLimit),
                   kThreadLimit);
  return product;
}

int64_t ScheduleAttr::getNumThreads() const {
  return multiplyLevels(*this, [&](unsigned depth) {
    return getLevels()[depth].isDistributed();
  });
}

int64_t ScheduleAttr::getNumWarps() const {
  return multiplyLevels(*this, [&](unsigned depth) {
    return getLevels()[depth].kind == LevelKind::Warp;
  });
}

/// A loop of blocks divides what a cluster has where such a loop of its
/// dimension stands around it.
int64_t ScheduleAttr::getClusterSize() const {
  return multiplyLevels(*this, [&](unsigned depth) {
    if (getLevels()[depth].kind != LevelKind::Block)
      return false;
    for (auto outer = getEnclosing(depth); outer; outer = getEnclosing(*outer))
      if (getLevels()[*outer].kind == LevelKind::Cluster)
        return true;
    return false;
  });
}

ResultPlace ScheduleAttr::getPlaceOf(unsigned result) const {
  return result < getPlace().size() ? getPlace()[result] : ResultPlace::Memory;
}
