//===- GpuNeighbours.cpp - Schedules of a GPU that are near ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages of a kernel have the same blocks, and threads that hand values to each
// other in registers. So a move is one of all stages at once: of the stage that
// has the most levels, and of those whose level of the same kind and place, the
// second of the threads for instance, is alike.
//
// Moves:
//   * twice or half as many threads along a level of them;
//   * twice or half as much that each of them has side by side, of a piece that
//     grows or shrinks with it, or of one that stays;
//   * vectors of twice or half the width;
//   * runs of twice or half as many pieces for each block;
//   * twice or half as many blocks in a cluster;
//   * loops through blocks twice or half as long;
//   * two neighbouring levels of the grid, or of threads, exchanged;
//   * a staged read with rows padded otherwise, or read where it is;
//   * a result in shared memory rather than registers, or the other way.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/GPU/GpuNeighbours.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Unused elements that may be behind rows of a staged box.
static constexpr int64_t kPads[] = {0, 1, 2, 4};

namespace {
/// The second level of threads of one stage is that of another one, whatever
/// loops stand around it: levels are counted within their class.
enum class LevelClass { Grid, Loop, Threads };

class GpuNeighbours {
public:
  explicit GpuNeighbours(ArrayRef<Stage> stages);

  SmallVector<KernelSchedules> find();

private:
  /// Changes a schedule at the level of that depth; false if it cannot be.
  using Move = llvm::function_ref<bool(ScheduleFields &, unsigned depth)>;

  void add(ArrayRef<ScheduleFields> drafts);
  void addEverywhere(unsigned depth, Move move);
  void addThreads();
  void addTiles();
  void addVectors();
  void addRuns();
  void addLoops();
  void addOrders();
  void addStaged();
  void addPlaces();

  ArrayRef<Stage> stages;
  SmallVector<ScheduleFields, 0> own;
  /// The one with the most levels.
  const ScheduleFields *model = nullptr;
  llvm::SmallSetVector<ArrayAttr, 16> found;
};
} // namespace

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

static LevelClass getClass(const LoopLevel &level) {
  if (level.isGrid())
    return LevelClass::Grid;
  return level.isDistributed() ? LevelClass::Threads : LevelClass::Loop;
}

static unsigned getNumGridLevels(const ScheduleFields &fields) {
  return llvm::count_if(fields.levels,
                        [](const LoopLevel &level) { return level.isGrid(); });
}

/// The level of the same dimension around one, or inside of it.
static std::optional<unsigned> findOuter(const ScheduleFields &fields,
                                         unsigned depth) {
  for (unsigned outer = depth; outer-- > 0;)
    if (fields.levels[outer].dim == fields.levels[depth].dim)
      return outer;
  return std::nullopt;
}

static std::optional<unsigned> findInner(const ScheduleFields &fields,
                                         unsigned depth) {
  for (unsigned inner = depth + 1; inner < fields.levels.size(); ++inner)
    if (fields.levels[inner].dim == fields.levels[depth].dim)
      return inner;
  return std::nullopt;
}

/// The level of `fields` that is what one of `model` is there: of the same
/// class and number in it, which goes as far. None if it is another one.
static std::optional<unsigned> findAlike(const ScheduleFields &fields,
                                         const ScheduleFields &model,
                                         unsigned depth) {
  const LoopLevel &wanted = model.levels[depth];
  auto isOfClass = [&](const LoopLevel &level) {
    return getClass(level) == getClass(wanted);
  };
  auto number =
      llvm::count_if(ArrayRef(model.levels).take_front(depth), isOfClass);
  for (auto [place, level] : llvm::enumerate(fields.levels)) {
    if (!isOfClass(level) || number-- > 0)
      continue;
    auto outer = findOuter(fields, place), modelOuter = findOuter(model, depth);
    bool isAlike = level.kind == wanted.kind && level.step == wanted.step &&
                   outer.has_value() == modelOuter.has_value() &&
                   (!outer || fields.levels[*outer].step ==
                                  model.levels[*modelOuter].step);
    return isAlike ? std::optional<unsigned>(place) : std::nullopt;
  }
  return std::nullopt;
}

/// Doubles or halves a number; 0 where it has no half.
static int64_t scale(int64_t number, bool doubles) {
  if (doubles)
    return number * 2;
  return number % 2 == 0 ? number / 2 : 0;
}

/// Has one iteration of a level go twice or half as far. Those around it go
/// whole iterations of it.
static bool scaleStep(ScheduleFields &fields, unsigned depth, bool doubles) {
  int64_t step = scale(fields.levels[depth].step, doubles);
  if (step == 0)
    return false;
  fields.levels[depth].step = step;
  for (auto outer = findOuter(fields, depth); outer;
       outer = findOuter(fields, *outer)) {
    int64_t &around = fields.levels[*outer].step;
    around = llvm::alignTo(around, step);
    step = around;
  }
  return true;
}

static bool scaleTile(ScheduleFields &fields, int64_t dim, bool doubles) {
  int64_t size = scale(fields.getTileSize(dim), doubles);
  if (size == 0)
    return false;
  llvm::erase_if(fields.tile, [&](TileDim entry) { return entry.dim == dim; });
  if (size > 1)
    fields.tile.push_back({dim, size});
  llvm::sort(fields.tile, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  return true;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

GpuNeighbours::GpuNeighbours(ArrayRef<Stage> stages) : stages(stages) {
  for (const Stage &stage : stages) {
    FusedOp op = stage.op;
    own.push_back(op.getScheduleAttr().getFields());
  }
  model = llvm::max_element(own, [](const auto &a, const auto &b) {
    return a.levels.size() < b.levels.size();
  });
}

/// Adds what is well formed and not the kernel's own.
void GpuNeighbours::add(ArrayRef<ScheduleFields> drafts) {
  SmallVector<Attribute> schedules, before;
  for (auto [stage, draft] : llvm::zip_equal(stages, drafts)) {
    FusedOp op = stage.op;
    auto fail = [&] { return mlir::emitError(op.getLoc()); };
    ScheduleAttr schedule = ScheduleAttr::getChecked(
        llvm::function_ref<InFlightDiagnostic()>(fail), op.getContext(), draft);
    if (!schedule)
      return;
    schedules.push_back(schedule);
    before.push_back(op.getScheduleAttr());
  }
  if (schedules != before)
    found.insert(ArrayAttr::get(stages.front().getContext(), schedules));
}

void GpuNeighbours::addEverywhere(unsigned depth, Move move) {
  SmallVector<ScheduleFields, 0> drafts(own);
  for (ScheduleFields &draft : drafts)
    if (auto alike = findAlike(draft, *model, depth);
        alike && !move(draft, *alike))
      return;
  add(drafts);
}

void GpuNeighbours::addThreads() {
  for (auto [depth, level] : llvm::enumerate(model->levels))
    if (level.isDistributed())
      for (bool doubles : {true, false})
        addEverywhere(depth, [&](ScheduleFields &draft, unsigned place) {
          auto outer = findOuter(draft, place);
          return outer && scaleStep(draft, *outer, doubles);
        });
}

/// Of dimensions that threads have parts of, and of others with a tile.
void GpuNeighbours::addTiles() {
  for (auto [depth, level] : llvm::enumerate(model->levels)) {
    bool isTiled = level.isDistributed() || model->getTileSize(level.dim) > 1;
    if (!isTiled || findInner(*model, depth))
      continue;
    for (bool doubles : {true, false})
      for (bool growsPiece : {true, false})
        addEverywhere(depth, [&](ScheduleFields &draft, unsigned place) {
          int64_t dim = draft.levels[place].dim;
          auto outer = findOuter(draft, place);
          bool isThreads = draft.levels[place].isDistributed();
          if (!scaleTile(draft, dim, doubles))
            return false;
          // A loop goes from tile to tile.
          if (!isThreads)
            return scaleStep(draft, place, doubles);
          return !growsPiece || (outer && scaleStep(draft, *outer, doubles));
        });
  }
}

void GpuNeighbours::addVectors() {
  for (bool doubles : {true, false}) {
    SmallVector<ScheduleFields, 0> drafts(own);
    for (ScheduleFields &draft : drafts) {
      TileDim before = draft.lanes;
      int64_t width = scale(before.size, doubles);
      if (before.dim < 0 || width == 0 || before.size != model->lanes.size)
        continue;
      draft.lanes = width > 1 ? TileDim{before.dim, width} : TileDim();
      for (LoopLevel &level : draft.levels)
        if (level.isDistributed() && level.dim == before.dim &&
            level.step == before.size)
          level.step = width;
    }
    add(drafts);
  }
}

/// A level of the grid that goes twice as far has a loop inside; one that goes
/// half as far may do without.
static bool scaleRun(ScheduleFields &fields, unsigned depth, bool doubles) {
  int64_t dim = fields.levels[depth].dim, before = fields.levels[depth].step;
  unsigned grid = getNumGridLevels(fields);
  auto inner = findInner(fields, depth);
  bool isRun = inner && fields.levels[*inner].kind == LevelKind::Step;
  int64_t step = scale(before, doubles);
  if (step == 0 || (!doubles && !isRun))
    return false;
  fields.levels[depth].step = step;
  if (doubles && !isRun) {
    fields.levels.insert(fields.levels.begin() + grid,
                         {LevelKind::Step, dim, before});
    fields.shared += fields.shared >= grid;
  }
  if (!doubles && fields.levels[*inner].step == step) {
    fields.shared -= fields.shared > *inner;
    fields.levels.erase(fields.levels.begin() + *inner);
  }
  return true;
}

void GpuNeighbours::addRuns() {
  for (auto [depth, level] : llvm::enumerate(model->levels)) {
    if (!level.isGrid())
      continue;
    bool isOfCluster = findOuter(*model, depth).has_value();
    for (bool doubles : {true, false})
      addEverywhere(depth, [&](ScheduleFields &draft, unsigned place) {
        return isOfCluster ? scaleStep(draft, place, doubles)
                           : scaleRun(draft, place, doubles);
      });
  }
}

/// Loops around others of their dimension.
void GpuNeighbours::addLoops() {
  for (auto [depth, level] : llvm::enumerate(model->levels)) {
    auto inner = findInner(*model, depth);
    if (level.kind != LevelKind::Step || !inner ||
        model->levels[*inner].kind != LevelKind::Step)
      continue;
    for (bool doubles : {true, false})
      addEverywhere(depth, [&](ScheduleFields &draft, unsigned place) {
        return scaleStep(draft, place, doubles);
      });
  }
}

void GpuNeighbours::addOrders() {
  for (unsigned depth = 0; depth + 1 < model->levels.size(); ++depth) {
    const LoopLevel &level = model->levels[depth],
                    &next = model->levels[depth + 1];
    if (level.kind != next.kind || level.dim == next.dim ||
        level.kind == LevelKind::Step)
      continue;
    addEverywhere(depth, [](ScheduleFields &draft, unsigned place) {
      if (place + 1 == draft.levels.size() ||
          draft.levels[place].kind != draft.levels[place + 1].kind)
        return false;
      std::swap(draft.levels[place], draft.levels[place + 1]);
      return true;
    });
  }
}

void GpuNeighbours::addStaged() {
  for (auto [number, fields] : llvm::enumerate(own))
    for (unsigned entry = 0; entry < fields.staged.size(); ++entry) {
      SmallVector<ScheduleFields, 0> drafts(own);
      for (int64_t pad : kPads) {
        drafts[number].staged[entry].pad = pad;
        add(drafts);
      }
      auto &staged = drafts[number].staged;
      staged.erase(staged.begin() + entry);
      add(drafts);
    }
}

void GpuNeighbours::addPlaces() {
  for (auto [number, fields] : llvm::enumerate(own))
    for (unsigned result = 0; result < fields.place.size(); ++result) {
      ResultPlace other = fields.place[result] == ResultPlace::Registers
                              ? ResultPlace::Shared
                              : ResultPlace::Registers;
      if (fields.place[result] == ResultPlace::Memory)
        continue;
      SmallVector<ScheduleFields, 0> drafts(own);
      drafts[number].place[result] = other;
      add(drafts);
    }
}

SmallVector<KernelSchedules> GpuNeighbours::find() {
  addThreads();
  addTiles();
  addVectors();
  addRuns();
  addLoops();
  addOrders();
  addStaged();
  addPlaces();
  return llvm::map_to_vector(found, [](ArrayAttr schedules) {
    return llvm::to_vector(schedules.getAsRange<ScheduleAttr>());
  });
}

SmallVector<KernelSchedules> metaop::getGpuNeighbours(ArrayRef<Stage> stages) {
  return GpuNeighbours(stages).find();
}
