//===- GpuPlaces.cpp - Where values between stages may live --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/GpuPlaces.h"
#include "GpuLevels.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include <tuple>

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// A level of threads: thread t has iteration t / stride % count.
struct ThreadPart {
  int64_t step, count, stride;

  bool operator==(const ThreadPart &other) const {
    return std::tie(step, count, stride) ==
           std::tie(other.step, other.count, other.stride);
  }
};
} // namespace

/// Returns how the threads of a block divide a dimension.
static SmallVector<ThreadPart> getParts(ScheduleAttr schedule, int64_t dim) {
  SmallVector<ThreadPart> parts;
  int64_t stride = 1;
  for (unsigned depth = schedule.getNumLevels(); depth-- > 0;) {
    const LoopLevel &level = schedule.getLevels()[depth];
    if (!level.isDistributed())
      continue;
    int64_t count = schedule.getCount(depth);
    if (level.dim == dim && count > 1)
      parts.push_back({level.step, count, stride});
    stride *= count;
  }
  return parts;
}

/// Returns whether threads have the whole of a dimension in one iteration of
/// what is not shared, in the same way.
static bool isDividedEqually(const GpuStage &lhs, int64_t left,
                             const GpuStage &rhs, int64_t right,
                             unsigned numShared) {
  auto hasLoop = [&](const GpuStage &each, int64_t dim) {
    for (unsigned depth = numShared; depth < each.schedule.getNumLevels();
         ++depth)
      if (each.schedule.getLevels()[depth].dim == dim &&
          isLoop(each.stage, each.schedule, depth))
        return true;
    return false;
  };
  auto getLanes = [](const GpuStage &each, int64_t dim) {
    return each.schedule.getVectorDim() == dim ? each.schedule.getVectorWidth()
                                               : 1;
  };
  return !hasLoop(lhs, left) && !hasLoop(rhs, right) &&
         lhs.stage.getStaticExtent(left) == rhs.stage.getStaticExtent(right) &&
         lhs.schedule.getTileSize(left) == rhs.schedule.getTileSize(right) &&
         getLanes(lhs, left) == getLanes(rhs, right) &&
         getParts(lhs.schedule, left) == getParts(rhs.schedule, right);
}

bool metaop::staysInThread(const GpuStage &writer, const StageWrite &write,
                           const GpuStage &reader, const StageRead &read) {
  if (read.isIndirect || read.place.isGuarded() || !write.isProjection ||
      write.map.getNumResults() != read.map.getNumResults())
    return false;
  unsigned numShared = reader.schedule.getShared();
  llvm::SmallBitVector seen(writer.stage.getNumLoops());
  for (auto [written, used] :
       llvm::zip_equal(write.map.getResults(), read.map.getResults())) {
    auto left = dyn_cast<AffineDimExpr>(written);
    auto right = dyn_cast<AffineDimExpr>(used);
    if (!left || !right) {
      if (!isa<AffineConstantExpr>(written) || written != used)
        return false;
      continue;
    }
    seen.set(left.getPosition());
    if (!isDividedEqually(writer, left.getPosition(), reader,
                          right.getPosition(), numShared))
      return false;
  }
  // All others that a thread has alone are combined over.
  for (unsigned loop = 0; loop < writer.stage.getNumLoops(); ++loop)
    if (!seen.test(loop) && write.loops.test(loop) &&
        !getParts(writer.schedule, loop).empty())
      return false;
  return true;
}

bool metaop::staysInBlock(const GpuStage &writer, const StageWrite &write,
                          const GpuStage &reader, const StageRead &read) {
  SmallVector<int64_t> dims, readDims;
  for (unsigned depth = 0; depth < writer.schedule.getNumGridLevels();
       ++depth) {
    int64_t dim = writer.schedule.getLevels()[depth].dim;
    if (!write.loops.test(dim) || llvm::is_contained(dims, dim))
      continue;
    dims.push_back(dim);
    readDims.push_back(reader.schedule.getLevels()[depth].dim);
  }
  return staysInIteration(write, dims, read, readDims);
}

bool metaop::isSumOfCluster(const GpuStage &each, const StageWrite &write) {
  for (unsigned depth = 0; depth < each.schedule.getNumGridLevels(); ++depth)
    if (write.kind && isOfCluster(each.schedule, depth) &&
        !write.loops.test(each.schedule.getLevels()[depth].dim))
      return true;
  return false;
}

bool metaop::hasSameForm(const StageWrite &write, const StageRead &read) {
  for (auto [written, used] :
       llvm::zip_equal(write.map.getResults(), read.map.getResults()))
    if (written != used &&
        (isa<AffineConstantExpr>(written) || isa<AffineConstantExpr>(used)))
      return false;
  return true;
}
