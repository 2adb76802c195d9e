//===- DescribeStage.cpp - The loops and accesses of a stage --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads off a stage and its schedule what the lowering will do with them. An
// access is judged by the step of its offset, none, one element, a constant, or
// anything else, along the vector loop; where there are no vectors, on a GPU
// from one thread to the next, on a CPU along the innermost loop.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;

template <typename T> static std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

/// The loop whose iterations are neighbours; -1 where there is none.
static int64_t getInnermost(ScheduleAttr schedule) {
  if (schedule.getVectorWidth() > 1)
    return schedule.getVectorDim();
  for (const LoopLevel &level : llvm::reverse(schedule.getLevels()))
    if (level.isDistributed())
      return level.dim;
  return schedule.getLevels().empty() ? -1 : schedule.getLevels().back().dim;
}

AccessKind metaop::classifyAccess(const Stage &stage, const StagePlace &place) {
  FusedOp op = stage.op;
  int64_t loop = getInnermost(op.getScheduleAttr());
  if (loop < 0)
    return AccessKind::Invariant;
  auto step = stage.getStep(place.offset, loop);
  if (!step)
    return AccessKind::Gathered;
  if (*step == 0)
    return AccessKind::Invariant;
  return *step == 1 ? AccessKind::UnitStride : AccessKind::Strided;
}

namespace {
/// Describes one stage.
class StageReader {
public:
  explicit StageReader(const Stage &stage)
      : stage(stage), op(stage.op), schedule(op.getScheduleAttr()) {}

  StageDescription describe();

private:
  std::vector<std::string> describeIndices(AffineMap map) const;
  LoopDescription describeLoop(unsigned position) const;
  AccessDescription describeAccess(const StagePlace &place, AffineMap map,
                                   Type tensor) const;

  const Stage &stage;
  FusedOp op;
  ScheduleAttr schedule;
};
} // namespace

LoopDescription StageReader::describeLoop(unsigned position) const {
  LoopDescription loop;
  loop.loop = schedule.getLevels()[position].dim;
  loop.extent = toText(stage.extents[loop.loop]);
  loop.isReduced = llvm::any_of(stage.writes, [&](const StageWrite &write) {
    return write.kind && !write.loops.test(loop.loop);
  });
  loop.isParallel = position < schedule.getParallel();
  const LoopLevel &level = schedule.getLevels()[position];
  if (level.isGrid() || level.isDistributed())
    loop.owner = stringifyLevelKind(level.kind).str();
  loop.isShared = position < schedule.getShared();
  loop.step = schedule.getLevels()[position].step;
  // Only the last loop of a dimension is done side by side.
  if (schedule.isOuter(position))
    return loop;
  if (loop.loop == schedule.getVectorDim())
    loop.vectorWidth = schedule.getVectorWidth();
  loop.unroll = schedule.getTileSize(loop.loop) / loop.vectorWidth;
  int64_t extent = stage.getStaticExtent(loop.loop);
  if (llvm::is_contained(schedule.getUnrollDims(), loop.loop) &&
      !ShapedType::isDynamic(extent))
    loop.unroll = extent;
  return loop;
}

std::vector<std::string> StageReader::describeIndices(AffineMap map) const {
  std::vector<std::string> indices;
  for (auto [i, symbol] : llvm::enumerate(stage.symbols)) {
    if (symbol.kind != StageSymbol::Kind::Indirect ||
        !map.isFunctionOfSymbol(i))
      continue;
    std::string text = "s" + std::to_string(i) + " = ";
    const StageRead *read = stage.findRead(symbol.value);
    if (read != stage.reads.end())
      text += toText(read->source.getType()) + " at " + toText(read->map);
    else
      text += "a " +
              symbol.value.getDefiningOp()->getName().stripDialect().str() +
              " of this stage";
    indices.push_back(std::move(text));
  }
  return indices;
}

AccessDescription StageReader::describeAccess(const StagePlace &place,
                                              AffineMap map,
                                              Type tensor) const {
  AccessDescription access;
  access.tensor = toText(tensor);
  access.map = toText(map);
  access.indices = describeIndices(map);
  access.kind = classifyAccess(stage, place);
  access.isGuarded = place.isGuarded();
  return access;
}

StageDescription StageReader::describe() {
  StageDescription result;
  result.identity = getStageIdentity(op);
  for (const KernelOrigin &origin : getOrigins(op.getLoc()))
    result.origins.push_back(origin.identity);
  result.space = llvm::join(
      llvm::map_range(stage.spaceExtents,
                      [](AffineExpr extent) { return toText(extent); }),
      "x");
  result.toSpace = toText(stage.toIterationSpace);
  for (unsigned position = 0; position < schedule.getNumLevels(); ++position)
    result.loops.push_back(describeLoop(position));
  for (const StageRead &read : stage.reads)
    result.accesses.push_back(
        describeAccess(read.place, read.map, read.source.getType()));
  for (const StageWrite &write : stage.writes) {
    result.accesses.push_back(describeAccess(
        write.place, write.map, op.getResult(write.result).getType()));
    result.accesses.back().isWrite = true;
    result.accesses.back().isStreamed =
        llvm::is_contained(schedule.getStream(), write.result);
    if (write.kind)
      result.accesses.back().reduction = stringifyCombiner(*write.kind).str();
  }
  for (Operation &inner : op.getBody().front().without_terminator())
    result.operators.push_back(inner.getName().stripDialect().str());
  result.schedule = toText(schedule);
  if (std::optional<StageRole> role = op.getRole())
    result.role = stringifyStageRole(*role).str();
  if (auto contraction = Contraction::match(stage))
    result.contraction = contraction->describe();
  result.overrideLine = getOverrideLine(op.getLoc());
  return result;
}

StageDescription metaop::describeStage(const Stage &stage) {
  return StageReader(stage).describe();
}
