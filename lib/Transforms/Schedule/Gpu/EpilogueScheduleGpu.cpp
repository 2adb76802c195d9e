//===- EpilogueScheduleGpu.cpp - What follows a contraction ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction shares all loops that it keeps with its epilogue: what follows
// it element by element, a bias, an activation, a residual, the rounding of a
// sum of halves. The epilogue has the blocks, the threads and the tiles of the
// contraction, without the levels of its sum, so that a thread finds its tile
// of sums in its registers and goes on with it. So it is behind the reduction
// of windows, as of a pooling, of which each thread has its own.
//
// What follows may read other tensors at the same elements. They are read as
// results are written, by neighbouring threads along the loop along which the
// results of the reduction are contiguous, so its own have to be contiguous
// along the same.
//
//===----------------------------------------------------------------------===//

#include "EpilogueScheduleGpu.h"
#include "MetaOps/Transforms/Schedule/Contraction.h"
#include "MetaOps/Transforms/Schedule/Gpu/GpuSchedule.h"
#include "StageTraffic.h"

using namespace mlir;
using namespace mlir::metaop;

/// The elements of vectors that all stages may have.
static int64_t getMostLanes(const JoinGroup &group) {
  int64_t bytes = 1;
  for (const auto &stage : group.stages)
    bytes = std::max(bytes, StageTraffic(stage->model).getElementBytes());
  return std::max<int64_t>(Chip::kMaxAccessBytes / bytes, 1);
}

/// Has a thread more vectors, of at most so many elements, side by side.
static ScheduleAttr narrowVectors(ScheduleAttr schedule, int64_t most) {
  ScheduleFields fields = schedule.getFields();
  if (fields.lanes.size <= most)
    return schedule;
  for (LoopLevel &level : fields.levels)
    if (level.isDistributed() && level.dim == fields.lanes.dim &&
        level.step == fields.lanes.size)
      level.step = most;
  fields.lanes = most > 1 ? TileDim{fields.lanes.dim, most} : TileDim();
  return ScheduleAttr::get(schedule.getContext(), fields);
}

namespace {
/// A reduction whose kept loops are all shared.
class Epilogue {
public:
  Epilogue(const JoinGroup &group, const Chip &chip)
      : reduction(*group.stages.front()),
        schedule(narrowVectors(chooseGpuSchedule(reduction.model, chip),
                               getMostLanes(group))) {}

  ScheduleAttr getSchedule() const { return schedule; }
  /// That of a stage that follows; null if it has loops of its own, or lies in
  /// another order.
  ScheduleAttr follow(const JoinedStage &stage) const;

private:
  std::optional<int64_t> findLoopOf(const JoinedStage &stage,
                                    int64_t loop) const;
  bool isContiguousAlike(const JoinedStage &stage) const;

  const JoinedStage &reduction;
  ScheduleAttr schedule;
};
} // namespace

/// The loop of a stage that is one of the reduction; none if it is reduced.
std::optional<int64_t> Epilogue::findLoopOf(const JoinedStage &stage,
                                            int64_t loop) const {
  const auto *slot = llvm::find(reduction.slots, loop);
  if (slot == reduction.slots.end())
    return std::nullopt;
  return stage.slots[slot - reduction.slots.begin()];
}

bool Epilogue::isContiguousAlike(const JoinedStage &stage) const {
  const Stage &model = reduction.model;
  const StageWrite &write = model.writes.front();
  int64_t contiguous = StageTraffic(stage.model).getContiguous();
  return llvm::any_of(reduction.slots, [&](int64_t loop) {
    return model.getStep(write.place.offset, loop) == 1 &&
           findLoopOf(stage, loop) == contiguous;
  });
}

ScheduleAttr Epilogue::follow(const JoinedStage &stage) const {
  if (stage.slots.size() != stage.model.getNumLoops() ||
      !isContiguousAlike(stage))
    return {};
  ScheduleFields fields;
  for (const LoopLevel &level : schedule.getLevels())
    if (auto loop = findLoopOf(stage, level.dim))
      fields.levels.push_back({level.kind, *loop, level.step});
  for (TileDim tile : schedule.getTile())
    if (auto loop = findLoopOf(stage, tile.dim))
      fields.tile.push_back({*loop, tile.size});
  llvm::sort(fields.tile, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  if (auto loop = findLoopOf(stage, schedule.getVectorDim()))
    fields.lanes = {*loop, schedule.getVectorWidth()};
  fields.shared = schedule.getNumGridLevels();
  return ScheduleAttr::get(schedule.getContext(), fields);
}

bool metaop::mayHaveEpilogue(const Stage &stage) {
  return Contraction::match(stage) || StageTraffic(stage).isWindow();
}

SmallVector<ScheduleAttr>
metaop::chooseEpilogueSchedules(const JoinGroup &group, const Chip &chip) {
  const JoinedStage &first = *group.stages.front();
  if (!mayHaveEpilogue(first.model) ||
      first.slots.size() != StageTraffic(first.model).getKept().count())
    return {};
  Epilogue epilogue(group, chip);
  SmallVector<ScheduleAttr> schedules{epilogue.getSchedule()};
  for (const auto &stage : llvm::drop_begin(group.stages)) {
    ScheduleAttr schedule = epilogue.follow(*stage);
    if (!schedule)
      return {};
    schedules.push_back(schedule);
  }
  return schedules;
}
