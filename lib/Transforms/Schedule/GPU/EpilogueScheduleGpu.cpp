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
// If a block of a contraction has whole rows of results, as those of a layer
// with few features or classes, what follows may reduce them: a softmax, the
// gradient of a bias. The stages share what is left of the loops, and threads
// and tiles are the contraction's again. A further contraction that reads these
// rows is done by the same block in tiles of its own.
//
// What follows may read other tensors at the same elements. They are read as
// results are written, by neighbouring threads along the loop along which the
// results of the reduction are contiguous, so its own have to be contiguous
// along the same.
//
//===----------------------------------------------------------------------===//

#include "EpilogueScheduleGpu.h"
#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "StageTraffic.h"
#include <map>

using namespace mlir;
using namespace mlir::metaop;

/// Loops of one stage by those of another.
using LoopMap = llvm::SmallDenseMap<int64_t, int64_t>;

/// Iterations of a thread, where a block does whole rows, but for sums: with
/// more, these are sooner done by several.
static constexpr int64_t kMaxIterationsOfThread = 64;

/// Rounds in which one block does in turns what several would do side by side.
static constexpr int64_t kMaxRounds = 4;

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

static bool isShared(const JoinedStage &stage, int64_t loop) {
  return llvm::is_contained(stage.slots, loop);
}

/// Has each block do all of the loops that are not shared: in steps, behind the
/// levels of the grid.
static ScheduleAttr keepRowsInBlocks(const JoinedStage &stage,
                                     ScheduleAttr schedule) {
  ScheduleFields fields = schedule.getFields();
  SmallVector<LoopLevel> grid, rows, rest;
  for (LoopLevel level : fields.levels) {
    if (level.kind != LevelKind::Block)
      rest.push_back(level);
    else if (isShared(stage, level.dim))
      grid.push_back(level);
    else
      rows.push_back({LevelKind::Step, level.dim, level.step});
  }
  fields.levels = llvm::to_vector(llvm::concat<LoopLevel>(grid, rows, rest));
  return ScheduleAttr::get(schedule.getContext(), fields);
}

/// The loops of results that are not shared.
static SmallVector<int64_t> findRows(const JoinedStage &reduction) {
  llvm::SmallBitVector kept = StageTraffic(reduction.model).getKept();
  SmallVector<int64_t> rows;
  for (unsigned loop : kept.set_bits())
    if (!isShared(reduction, loop))
      rows.push_back(loop);
  return rows;
}

/// The step of the outermost level of a loop: what a block has of it.
static int64_t getOuterStep(ScheduleAttr schedule, int64_t loop) {
  return llvm::find_if(
             schedule.getLevels(),
             [&](const LoopLevel &level) { return level.dim == loop; })
      ->step;
}

namespace {
/// A reduction whose tiles are those of other stages, too.
class Epilogue {
public:
  Epilogue(const JoinedStage &reduction, ScheduleAttr schedule)
      : reduction(reduction), schedule(keepRowsInBlocks(reduction, schedule)) {}

  ScheduleAttr getSchedule() const { return schedule; }
  /// Returns whether its blocks have all of the loops that are not shared, and
  /// these are few enough for them.
  bool hasWholeRows() const;
  /// Returns whether another one has the same blocks, of as many threads.
  bool hasSameBlocks(const Epilogue &other) const;
  /// The schedule of another stage; null if that has loops that the reduction
  /// has not, or lies in another order.
  ScheduleAttr follow(const JoinedStage &stage) const;

private:
  /// Returns whether a block's threads should do so many iterations.
  bool mayDo(int64_t iterations) const {
    return iterations <= schedule.getNumThreads() * kMaxIterationsOfThread;
  }
  bool findLoops(const JoinedStage &stage, LoopMap &loops) const;
  bool isContiguousAlike(const JoinedStage &stage, const LoopMap &loops) const;

  const JoinedStage &reduction;
  ScheduleAttr schedule;
};
} // namespace

bool Epilogue::hasWholeRows() const {
  StageTraffic traffic(reduction.model);
  int64_t results = 1, rounds = 1;
  for (int64_t loop : reduction.slots)
    results = multiplyCounts(results, getOuterStep(schedule, loop));
  for (int64_t loop : findRows(reduction)) {
    int64_t span = getOuterStep(schedule, loop),
            extent = traffic.getExtent(loop);
    // Blocks that go through long rows read a factor more often than others.
    if (reduction.model.isVarying(loop) || (span > 1 && extent > span))
      return false;
    results = multiplyCounts(results, extent);
    rounds = multiplyCounts(rounds, llvm::divideCeilSigned(extent, span));
  }
  return rounds <= kMaxRounds && mayDo(results);
}

bool Epilogue::hasSameBlocks(const Epilogue &other) const {
  auto isSameLevel = [&](const LoopLevel &a, const LoopLevel &b) {
    const auto *slot = llvm::find(reduction.slots, a.dim);
    return other.reduction.slots[slot - reduction.slots.begin()] == b.dim &&
           a.step == b.step;
  };
  return schedule.getNumThreads() == other.schedule.getNumThreads() &&
         llvm::equal(
             schedule.getLevels().take_front(schedule.getNumGridLevels()),
             other.schedule.getLevels().take_front(
                 other.schedule.getNumGridLevels()),
             isSameLevel);
}

/// The loops of a stage by those of the reduction: the shared ones, and of the
/// others those of equal extents, or else the next ones. False where it has
/// further ones, or more iterations than the block's threads should do, and of
/// parts of rows that begin at a number: of the steps of a recurrence there
/// are as many as it is long.
bool Epilogue::findLoops(const JoinedStage &stage, LoopMap &loops) const {
  for (auto [from, to] : llvm::zip_equal(reduction.slots, stage.slots))
    loops[from] = to;
  SmallVector<int64_t> rows = findRows(reduction), own;
  if (!rows.empty() && !stage.model.symbols.empty())
    return false;
  int64_t iterations = 1;
  for (int64_t loop : reduction.slots)
    iterations = multiplyCounts(iterations, getOuterStep(schedule, loop));
  for (int64_t loop = 0; loop < stage.model.getNumLoops(); ++loop) {
    if (isShared(stage, loop))
      continue;
    int64_t extent = stage.model.getStaticExtent(loop);
    if (ShapedType::isDynamic(extent) || stage.model.isVarying(loop))
      return false;
    iterations = multiplyCounts(iterations, extent);
    auto *found = llvm::find_if(rows, [&](int64_t row) {
      return reduction.model.getStaticExtent(row) == extent;
    });
    if (found == rows.end()) {
      own.push_back(loop);
      continue;
    }
    loops[*found] = loop;
    rows.erase(found);
  }
  if (own.size() > rows.size() || !mayDo(iterations))
    return false;
  for (auto [row, loop] : llvm::zip(rows, own))
    loops[row] = loop;
  return true;
}

bool Epilogue::isContiguousAlike(const JoinedStage &stage,
                                 const LoopMap &loops) const {
  const Stage &model = reduction.model;
  const StageWrite &write = model.writes.front();
  int64_t contiguous = StageTraffic(stage.model).getContiguous();
  return llvm::any_of(loops, [&](auto loop) {
    return model.getStep(write.place.offset, loop.first) == 1 &&
           loop.second == contiguous;
  });
}

ScheduleAttr Epilogue::follow(const JoinedStage &stage) const {
  LoopMap loops;
  if (!findLoops(stage, loops) || !isContiguousAlike(stage, loops))
    return {};
  ScheduleFields fields;
  for (const LoopLevel &level : schedule.getLevels())
    if (auto loop = loops.find(level.dim); loop != loops.end())
      fields.levels.push_back({level.kind, loop->second, level.step});
  for (TileDim tile : schedule.getTile())
    if (auto loop = loops.find(tile.dim); loop != loops.end())
      fields.tile.push_back({loop->second, tile.size});
  llvm::sort(fields.tile, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  if (auto loop = loops.find(schedule.getVectorDim()); loop != loops.end())
    fields.lanes = {loop->second, schedule.getVectorWidth()};
  auto followed = ScheduleAttr::get(schedule.getContext(), fields);
  // A part of the threads reduces nothing together.
  bool areAll = followed.getNumThreads() == schedule.getNumThreads();
  if (!areAll && !StageTraffic(stage.model).getKept().all())
    return {};
  return hasMisplacedLoop({stage.model, followed}) ? ScheduleAttr() : followed;
}

bool metaop::mayHaveEpilogue(const Stage &stage) {
  return Contraction::match(stage) || StageTraffic(stage).isWindow();
}

/// Stages the reads of a joined stage. What the group itself computes is read
/// where it lies.
static ScheduleAttr stageOthers(const JoinedStage &stage, ScheduleAttr schedule,
                                ArrayRef<JoinDependence> dependences) {
  ScheduleFields fields = schedule.getFields();
  llvm::erase_if(fields.staged, [&](StagedRead staged) {
    return llvm::any_of(dependences, [&](const JoinDependence &dependence) {
      return dependence.reader->op == stage.op &&
             dependence.read->source == stage.model.reads[staged.read].source;
    });
  });
  return ScheduleAttr::get(schedule.getContext(), fields);
}

/// The reductions whose tiles the other stages may have, by number. None where
/// they do not go together.
static std::map<unsigned, Epilogue> findReductions(const JoinGroup &group,
                                                   const Chip &chip) {
  std::map<unsigned, Epilogue> found;
  int64_t mostLanes = getMostLanes(group);
  for (auto [number, stage] : llvm::enumerate(group.stages)) {
    bool isContraction = Contraction::match(stage->model).has_value();
    bool isWindow = number == 0 && mayHaveEpilogue(stage->model);
    if (!isContraction && !(isWindow && keepsAllLoops(*stage)))
      continue;
    Epilogue epilogue(
        *stage,
        narrowVectors(chooseGpuSchedule(stage->model, chip), mostLanes));
    if ((!keepsAllLoops(*stage) && !epilogue.hasWholeRows()) ||
        (!found.empty() && !found.begin()->second.hasSameBlocks(epilogue)))
      return {};
    found.try_emplace(number, epilogue);
  }
  return found;
}

bool metaop::keepsAllLoops(const JoinedStage &stage) {
  return stage.slots.size() == StageTraffic(stage.model).getKept().count();
}

/// The schedule of a stage between reductions: by the last one in front of it
/// that it can follow, or the first behind it.
static ScheduleAttr follow(const std::map<unsigned, Epilogue> &reductions,
                           unsigned number, const JoinedStage &stage) {
  auto behind = reductions.lower_bound(number);
  for (auto it = behind; it != reductions.begin();)
    if (ScheduleAttr schedule = (--it)->second.follow(stage))
      return schedule;
  for (; behind != reductions.end(); ++behind)
    if (ScheduleAttr schedule = behind->second.follow(stage))
      return schedule;
  return {};
}

SmallVector<ScheduleAttr>
metaop::chooseEpilogueSchedules(const JoinGroup &group,
                                ArrayRef<JoinDependence> dependences,
                                const Chip &chip) {
  std::map<unsigned, Epilogue> reductions = findReductions(group, chip);
  if (reductions.empty())
    return {};
  SmallVector<ScheduleAttr> schedules;
  for (auto [number, stage] : llvm::enumerate(group.stages)) {
    auto own = reductions.find(number);
    ScheduleAttr schedule = own != reductions.end()
                                ? own->second.getSchedule()
                                : follow(reductions, number, *stage);
    if (!schedule)
      return {};
    schedule = stageOthers(*stage, schedule, dependences);
    schedules.push_back(schedules.empty()
                            ? schedule
                            : schedule.withShared(schedule.getNumGridLevels()));
  }
  return schedules;
}
