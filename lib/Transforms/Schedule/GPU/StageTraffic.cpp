//===- StageTraffic.cpp - What a stage moves ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageTraffic.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Chip.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

/// An extent that is known only at run time is taken to be of this size.
static constexpr int64_t kAssumedStageExtent = 1024;
/// Reduced iterations that each thread does itself.
static constexpr int64_t kFewReduced = 16;
/// Part of all bytes below which a read decides nothing.
static constexpr int64_t kSmallPart = 16;

StageTraffic::StageTraffic(const Stage &stage) : stage(stage) {
  unsigned numLoops = stage.getNumLoops();
  kept = SmallBitVector(numLoops, true);
  for (auto [number, read] : llvm::enumerate(stage.reads)) {
    SmallBitVector loops = stage.getLoopsOf(read.value);
    loops.resize(numLoops);
    accesses.push_back({&read.place, loops,
                        metaop::getElementBytes(read.value.getType()),
                        /*isWrite=*/false, static_cast<unsigned>(number)});
  }
  for (const StageWrite &write : stage.writes) {
    SmallBitVector loops = write.loops;
    loops.resize(numLoops);
    if (write.kind && write.isProjection)
      kept &= loops;
    else
      loops.set();
    accesses.push_back({&write.place, loops,
                        metaop::getElementBytes(write.value.getType()),
                        /*isWrite=*/true, 0});
  }
  findContiguous();
}

int64_t StageTraffic::getExtent(int64_t loop) const {
  int64_t extent = stage.getPlannedExtent(loop);
  return ShapedType::isDynamic(extent) ? kAssumedStageExtent
                                       : std::max<int64_t>(extent, 1);
}

int64_t StageTraffic::countPoints(const SmallBitVector &loops) const {
  int64_t points = 1;
  for (unsigned loop : loops.set_bits())
    points = multiplyCounts(points, getExtent(loop));
  return points;
}

int64_t StageTraffic::countReduced() const {
  SmallBitVector reduced = kept;
  return countPoints(reduced.flip());
}

bool StageTraffic::isWindow() const {
  return !kept.all() && kept.test(contiguous) && countReduced() <= kFewReduced;
}

std::optional<int64_t> StageTraffic::getStep(const Access &access,
                                             int64_t loop) const {
  return stage.getStep(access.place->offset, loop);
}

bool StageTraffic::isGuardedAlong(const Access &access, int64_t loop) const {
  auto depends = [&](AffineExpr expr) { return stage.dependsOn(expr, loop); };
  return llvm::any_of(access.place->rangeChecks, depends) ||
         llvm::any_of(access.place->conditions, depends);
}

int64_t StageTraffic::countBytes(const Access &access) const {
  return multiplyCounts(countPoints(access.loops), access.bytes);
}

/// Threads wait for what they load, and stores that are apart are no faster.
int64_t StageTraffic::countBytes() const {
  int64_t total = 0;
  for (const Access &access : accesses)
    total = addCounts(total, countBytes(access));
  return total;
}

void StageTraffic::findContiguous() {
  int64_t most = -1;
  for (int64_t loop = stage.getNumLoops(); loop-- > 0;) {
    int64_t bytes = 0;
    for (const Access &access : accesses) {
      auto step = getStep(access, loop);
      if (access.loops.test(loop) && step && std::abs(*step) == 1)
        bytes = addCounts(
            bytes, multiplyCounts(countBytes(access), access.isWrite ? 2 : 1));
    }
    if (bytes > most) {
      most = bytes;
      contiguous = loop;
    }
  }
}

int64_t StageTraffic::getElementBytes() const {
  int64_t bytes = 1;
  for (const Access &access : accesses)
    bytes = std::max(bytes, access.bytes);
  return bytes;
}

/// Of the place without the loop, the number that it is a multiple of; 0 of 0.
static int64_t getDivisorBeside(const StagePlace &place, int64_t loop) {
  MLIRContext *context = place.offset.getContext();
  AffineExpr rest = place.offset.replace(getAffineDimExpr(loop, context),
                                         getAffineConstantExpr(0, context));
  if (auto constant = dyn_cast<AffineConstantExpr>(rest))
    return std::abs(constant.getValue());
  return rest.getLargestKnownDivisor();
}

int64_t StageTraffic::getVectorWidth(int64_t loop) const {
  int64_t total = countBytes(), width = Chip::kMaxAccessBytes;
  for (const Access &access : accesses) {
    auto step = getStep(access, loop);
    if (!access.loops.test(loop) || step == 0)
      continue;
    if (step == 1 && !isGuardedAlong(access, loop))
      width = std::gcd(width, getDivisorBeside(*access.place, loop));
    else if (countBytes(access) > total / kSmallPart)
      return 1;
    width = std::min(width, Chip::kMaxAccessBytes /
                                std::min(access.bytes, Chip::kMaxAccessBytes));
  }
  // Vectors of a short row would leave most threads of a warp without any.
  int64_t extent = getExtent(loop);
  while (width > 1 && (extent < width || extent % width > extent / 2))
    width /= 2;
  return std::min(width,
                  Chip::kMaxAccessBytes /
                      std::min(getElementBytes(), Chip::kMaxAccessBytes));
}

unsigned StageTraffic::countLargeReads() const {
  SmallBitVector all(stage.getNumLoops(), true);
  int64_t points = countPoints(all);
  return llvm::count_if(accesses, [&](const Access &access) {
    return !access.isWrite && countPoints(access.loops) > points / kSmallPart;
  });
}

std::optional<StageTraffic::Transposed>
StageTraffic::findTransposed(int64_t loop) const {
  Transposed found;
  SmallBitVector all(stage.getNumLoops(), true);
  int64_t points = countPoints(all);
  for (const Access &access : accesses) {
    auto step = getStep(access, loop);
    if (access.isWrite || countPoints(access.loops) <= points / kSmallPart ||
        !access.loops.test(loop) || !step || std::abs(*step) <= 1 ||
        stage.isIndirect(*access.place))
      continue;
    for (unsigned other : access.loops.set_bits())
      if (auto along = getStep(access, other);
          along == 1 && (found.loop == -1 || found.loop == other)) {
        found.loop = other;
        found.reads.push_back(access.number);
      }
  }
  return found.reads.empty() ? std::nullopt : std::optional(found);
}
