//===- EpilogueScheduleGpu.cpp - What follows a contraction ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction shares all loops that it keeps with its epilogue: what follows
// it element by element, a bias, an activation, a residual. The epilogue has
// the blocks, the threads and the tiles of the contraction, without the levels
// of its sum, so that a thread finds its tile of sums in its registers and goes
// on with it.
//
// What follows may read other tensors at the same elements. They are read as
// results are written, by neighbouring threads along the loop along which the
// contraction's results are contiguous, so its own have to be contiguous along
// the same.
//
//===----------------------------------------------------------------------===//

#include "EpilogueScheduleGpu.h"
#include "MetaOps/Transforms/Schedule/Contraction.h"
#include "MetaOps/Transforms/Schedule/Gpu/GpuSchedule.h"
#include "StageTraffic.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// A contraction whose kept loops are all shared.
class Epilogue {
public:
  Epilogue(const JoinedStage &contraction, const Chip &chip)
      : contraction(contraction),
        schedule(chooseGpuSchedule(contraction.model, chip)) {}

  ScheduleAttr getSchedule() const { return schedule; }
  /// That of a stage that follows; null if it has loops of its own, or lies in
  /// another order.
  ScheduleAttr follow(const JoinedStage &stage) const;

private:
  std::optional<int64_t> findLoopOf(const JoinedStage &stage,
                                    int64_t loop) const;
  bool isContiguousAlike(const JoinedStage &stage) const;

  const JoinedStage &contraction;
  ScheduleAttr schedule;
};
} // namespace

/// The loop of a stage that is one of the contraction; none if it is reduced.
std::optional<int64_t> Epilogue::findLoopOf(const JoinedStage &stage,
                                            int64_t loop) const {
  const auto *slot = llvm::find(contraction.slots, loop);
  if (slot == contraction.slots.end())
    return std::nullopt;
  return stage.slots[slot - contraction.slots.begin()];
}

bool Epilogue::isContiguousAlike(const JoinedStage &stage) const {
  const Stage &model = contraction.model;
  const StageWrite &write = model.writes.front();
  int64_t contiguous = StageTraffic(stage.model).getContiguous();
  return llvm::any_of(contraction.slots, [&](int64_t loop) {
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
  return ScheduleAttr::get(schedule.getContext(), fields)
      .withShared(schedule.getNumGridLevels());
}

SmallVector<ScheduleAttr>
metaop::chooseEpilogueSchedules(const JoinGroup &group, const Chip &chip) {
  const JoinedStage &first = *group.stages.front();
  auto contraction = Contraction::match(first.model);
  if (!contraction || first.slots.size() + contraction->reduced.count() !=
                          first.model.getNumLoops())
    return {};
  Epilogue epilogue(first, chip);
  SmallVector<ScheduleAttr> schedules{epilogue.getSchedule()};
  for (const auto &stage : llvm::drop_begin(group.stages)) {
    ScheduleAttr schedule = epilogue.follow(*stage);
    if (!schedule)
      return {};
    schedules.push_back(schedule);
  }
  return schedules;
}
