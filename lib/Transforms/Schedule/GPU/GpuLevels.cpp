//===- GpuLevels.cpp - Levels that stages of a GPU share ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuLevels.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isLoop(const Stage &stage, ScheduleAttr schedule, unsigned depth) {
  const LoopLevel &level = schedule.getLevels()[depth];
  if (level.kind != LevelKind::Step)
    return false;
  // Prefixes begin before their loop.
  if (stage.isCarried(level.dim))
    return true;
  if (schedule.getEnclosing(depth))
    return schedule.getCount(depth) != 1;
  int64_t extent = stage.getStaticExtent(level.dim);
  return ShapedType::isDynamic(extent) || extent > level.step;
}

std::optional<MisplacedLoop>
metaop::findMisplacedLoop(const GpuStage &each, const StageWrite &write) {
  if (!write.kind || !write.isProjection)
    return std::nullopt;
  int64_t reduced = -1;
  for (auto [depth, level] : llvm::enumerate(each.schedule.getLevels())) {
    if (!isLoop(each.stage, each.schedule, depth))
      continue;
    if (!write.loops.test(level.dim))
      reduced = level.dim;
    else if (reduced >= 0)
      return MisplacedLoop{level.dim, reduced};
  }
  return std::nullopt;
}

bool metaop::hasMisplacedLoop(const GpuStage &each) {
  return llvm::any_of(each.stage.writes, [&](const StageWrite &write) {
    return findMisplacedLoop(each, write).has_value();
  });
}

std::optional<int64_t> metaop::getBlockSpan(const GpuStage &each, int64_t dim) {
  std::optional<int64_t> span;
  for (const LoopLevel &level : each.schedule.getLevels()) {
    if (level.isDistributed())
      break;
    if (level.dim == dim)
      span = level.step;
  }
  int64_t extent = each.stage.getStaticExtent(dim);
  if (!span && !ShapedType::isDynamic(extent))
    span = extent;
  return span;
}

Value metaop::findSourceInKernel(const Stage &stage, Value argument) {
  return getOuterValue(stage.op, argument);
}

bool metaop::isReadOf(const Stage &stage, Value argument, Value result,
                      FindSourceFn find) {
  return isa<BlockArgument>(argument) && find(stage, argument) == result;
}

std::optional<unsigned> metaop::findSharedLevels(ArrayRef<GpuStage> stages,
                                                 unsigned writer,
                                                 unsigned result,
                                                 FindSourceFn find) {
  FusedOp from = stages[writer].stage.op;
  Value value = from->getResult(result);
  std::optional<unsigned> shared;
  unsigned least = std::numeric_limits<unsigned>::max();
  for (const GpuStage &each : stages.drop_front(writer + 1)) {
    least = std::min<unsigned>(least, each.schedule.getShared());
    FusedOp op = each.stage.op;
    if (llvm::any_of(op.getBody().getArguments(), [&](Value argument) {
          return isReadOf(each.stage, argument, value, find);
        }))
      shared = std::min(shared.value_or(least), least);
  }
  return shared;
}

bool metaop::isOfCluster(ScheduleAttr schedule, unsigned depth) {
  std::optional<unsigned> outer = schedule.getEnclosing(depth);
  return outer && schedule.getLevels()[depth].kind == LevelKind::Block &&
         schedule.getLevels()[*outer].kind == LevelKind::Cluster;
}

std::optional<unsigned> metaop::getSharedLevel(AffineExpr index,
                                               const GpuStage &each,
                                               unsigned numShared) {
  auto dim = dyn_cast<AffineDimExpr>(index);
  for (unsigned depth = numShared; dim && depth-- > 0;) {
    const LoopLevel &level = each.schedule.getLevels()[depth];
    if (level.dim == dim.getPosition() &&
        (level.isGrid() || isLoop(each.stage, each.schedule, depth)))
      return depth;
  }
  return std::nullopt;
}

SmallVector<int64_t> metaop::getPlacedShape(ArrayRef<GpuStage> stages,
                                            unsigned writer,
                                            const StageWrite &write,
                                            FindSourceFn find) {
  const GpuStage &each = stages[writer];
  unsigned shared =
      findSharedLevels(stages, writer, write.result, find).value_or(0);
  SmallVector<int64_t> shape;
  for (auto [index, extent] :
       llvm::zip_equal(write.map.getResults(), write.shape)) {
    int64_t length = 1;
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    if (auto depth = getSharedLevel(index, each, shared))
      length = each.schedule.getLevels()[*depth].step;
    else if (index != 0 && constant)
      length = constant.getValue();
    shape.push_back(length);
  }
  return shape;
}
