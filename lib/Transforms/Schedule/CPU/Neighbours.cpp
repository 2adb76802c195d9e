//===- Neighbours.cpp - Schedules that differ in one decision -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search that goes from a schedule to better ones near to it needs to know
// what is near. Each move changes a draft of the schedule, and keeps what ties
// its fields together: the last level of a dimension steps by its number in the
// tile, and a level around another one of the same dimension by a multiple of
// that. The attribute's own verifier has the last word on a draft.
//
// Moves of a plain nest of loops:
//   * twice or half as many vectors side by side, and vectors of half the
//     width;
//   * twice or half as many copies of the loop of unroll-and-jam, or a kept
//     loop to be one;
//   * a short reduced loop without a loop, or a loop again;
//   * two neighbouring levels exchanged;
//   * strips twice or half as long, or none; a long kept loop of the lanes in
//     strips;
//   * one parallel level more or less; results through the caches; vectors
//     asked for nearer, farther, or not at all.
// Moves of a contraction with tiles:
//   * a row more or less, twice or half as many, a vector more or less;
//   * blocks twice or half as large, a sum in blocks, or without;
//   * two neighbouring levels exchanged; another body for what fills no tile;
//   * other distances of prefetches.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/Neighbours.h"
#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Steps of a sum that a block of its own begins with.
static constexpr int64_t kFirstBlock = 256;
/// Iterations of the strips that a loop begins with.
static constexpr int64_t kFirstStrip = 4096;
/// Iterations of loops that may be emitted one after another.
static constexpr int64_t kMaxWindow = 16;

namespace {
/// A schedule to be changed. What is there for the sake of the error,
/// `pairwise`, stays as it is.
struct Draft : ScheduleFields {
  explicit Draft(ScheduleAttr schedule)
      : ScheduleFields(schedule.getFields()) {}

  void setTile(int64_t dim, int64_t size);
  /// Null where the fields do not fit together.
  ScheduleAttr build(Location loc) const;
};

class NeighbourFinder {
public:
  explicit NeighbourFinder(const Stage &stage)
      : stage(stage), op(stage.op), own(op.getScheduleAttr()) {}

  SmallVector<ScheduleAttr> find();

private:
  /// Adds what `change` makes of the schedule.
  void add(llvm::function_ref<void(Draft &)> change);
  void addTile(int64_t dim, int64_t size);
  bool isKept(int64_t dim) const;
  /// Levels from this one on may change.
  unsigned getFirstOwn() const {
    return std::max<int64_t>(own.getShared(), own.getParallel());
  }
  bool isAlone() const;
  ScheduleAttr keepDistance(ScheduleAttr schedule) const;
  void addNest();
  void addLevels();
  void addStrips();
  void addWindows();
  void addContraction();
  void addOrders();
  void addParallel();
  void addBlocks();

  const Stage &stage;
  FusedOp op;
  ScheduleAttr own;
  llvm::SmallSetVector<Attribute, 16> found;
};
} // namespace

void Draft::setTile(int64_t dim, int64_t size) {
  llvm::erase_if(tile, [&](TileDim entry) { return entry.dim == dim; });
  if (size > 1)
    tile.push_back({dim, size});
  llvm::sort(tile, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  int64_t inner = 0;
  for (LoopLevel &level : llvm::reverse(levels)) {
    if (level.dim != dim)
      continue;
    level.step = inner == 0 ? size : llvm::alignTo(level.step, inner);
    inner = level.step;
  }
}

ScheduleAttr Draft::build(Location loc) const {
  auto fail = [&] { return mlir::emitError(loc); };
  const ScheduleFields &fields = *this;
  return ScheduleAttr::getChecked(
      llvm::function_ref<InFlightDiagnostic()>(fail), loc.getContext(), fields);
}

/// Returns a schedule with other vectors, or other loops inside, that
/// prefetches as far ahead as the stage's own.
ScheduleAttr NeighbourFinder::keepDistance(ScheduleAttr schedule) const {
  if (!isVectorInnermost(schedule))
    return schedule.withPrefetch(0);
  int64_t elements = own.getPrefetch() * own.getLevels().back().step;
  return schedule.withPrefetch(
      std::max<int64_t>(elements / schedule.getLevels().back().step, 1));
}

void NeighbourFinder::add(llvm::function_ref<void(Draft &)> change) {
  Draft draft(own);
  change(draft);
  ScheduleAttr schedule = draft.build(op.getLoc());
  if (schedule && schedule.getPrefetch() > 0 &&
      schedule.getPrefetch() == own.getPrefetch() && isVectorInnermost(own))
    schedule = keepDistance(schedule);
  if (schedule && schedule != own)
    found.insert(schedule);
}

void NeighbourFinder::addTile(int64_t dim, int64_t size) {
  int64_t least = dim == own.getVectorDim() ? own.getVectorWidth() : 1;
  if (size >= least && size != own.getTileSize(dim))
    add([&](Draft &draft) { draft.setTile(dim, size); });
}

bool NeighbourFinder::isKept(int64_t dim) const {
  return llvm::all_of(stage.writes, [&](const StageWrite &write) {
    return !write.kind || write.loops.test(dim);
  });
}

bool NeighbourFinder::isAlone() const {
  auto kernel = op->getParentOfType<KernelOp>();
  return kernel &&
         llvm::hasSingleElement(kernel.getBody().front().getOps<FusedOp>());
}

void NeighbourFinder::addOrders() {
  for (unsigned depth = getFirstOwn(); depth + 1 < own.getNumLevels(); ++depth)
    if (own.getLevels()[depth].dim != own.getLevels()[depth + 1].dim)
      add([&](Draft &draft) {
        std::swap(draft.levels[depth], draft.levels[depth + 1]);
      });
}

/// Of a kernel of one stage: all share them otherwise.
void NeighbourFinder::addParallel() {
  if (!isAlone())
    return;
  unsigned parallel = own.getParallel();
  if (parallel > 0)
    add([&](Draft &draft) {
      draft.levels[parallel - 1].kind = LevelKind::Step;
    });
  if (parallel < own.getNumLevels())
    add([&](Draft &draft) {
      draft.levels[parallel].kind = LevelKind::Parallel;
    });
}

/// Blocks or strips of other lengths, or without them.
void NeighbourFinder::addLevels() {
  for (unsigned depth = own.getShared(); depth < own.getNumLevels(); ++depth) {
    LoopLevel level = own.getLevels()[depth];
    if (!own.isOuter(depth))
      continue;
    for (int64_t step : {level.step * 2, level.step / 2})
      if (step > 0)
        add([&](Draft &draft) { draft.levels[depth].step = step; });
    if (level.kind == LevelKind::Step)
      add([&](Draft &draft) {
        draft.levels.erase(draft.levels.begin() + depth);
      });
  }
}

/// Of the dimension of the lanes, in a kernel of one stage.
void NeighbourFinder::addStrips() {
  int64_t lanes = own.getVectorDim();
  if (lanes < 0 || !own.isFlat() || !isAlone() || !isKept(lanes) ||
      Contraction::match(stage) || stage.getStaticExtent(lanes) <= kFirstStrip)
    return;
  int64_t step = llvm::alignTo(kFirstStrip, own.getTileSize(lanes));
  add([&](Draft &draft) {
    draft.levels.insert(draft.levels.begin() + own.getParallel(),
                        {LevelKind::Step, lanes, step});
  });
}

/// Of a kernel of one stage: around contractions all loops are loops.
void NeighbourFinder::addWindows() {
  if (!isAlone())
    return;
  for (unsigned depth = own.getParallel(); depth < own.getNumLevels();
       ++depth) {
    int64_t dim = own.getLevels()[depth].dim;
    int64_t extent = stage.getStaticExtent(dim);
    bool isReduced = llvm::none_of(stage.writes, [&](const StageWrite &write) {
      return write.loops.test(dim);
    });
    if (isReduced && !stage.isVarying(dim) && !ShapedType::isDynamic(extent) &&
        extent <= kMaxWindow && own.getTileSize(dim) == 1)
      add([&](Draft &draft) {
        if (llvm::is_contained(draft.unrollDims, dim))
          llvm::erase(draft.unrollDims, dim);
        else
          draft.unrollDims.push_back(dim);
        llvm::sort(draft.unrollDims);
      });
  }
}

void NeighbourFinder::addNest() {
  int64_t lanes = own.getVectorDim(), width = own.getVectorWidth();
  if (own.getTranspose() < 0) {
    if (width > 1) {
      addTile(lanes, own.getTileSize(lanes) * 2);
      addTile(lanes, own.getTileSize(lanes) / 2);
      if (width > 2)
        add([&](Draft &draft) {
          draft.lanes.size = width / 2;
          draft.setTile(lanes, draft.getTileSize(lanes) / 2);
        });
    }
    for (unsigned depth = own.getShared(); depth < own.getNumLevels();
         ++depth) {
      int64_t dim = own.getLevels()[depth].dim, size = own.getTileSize(dim);
      if (dim == lanes || !isKept(dim))
        continue;
      for (int64_t other : {size * 2, size / 2})
        addTile(dim, std::max<int64_t>(other, 1));
    }
  }
  addLevels();
  addStrips();
  addWindows();
  addOrders();
  addParallel();
  if (!own.getStream().empty())
    add([](Draft &draft) { draft.stream.clear(); });
  if (isVectorInnermost(own))
    for (int64_t distance : {int64_t(0), own.getPrefetch() / 2,
                             std::max<int64_t>(own.getPrefetch() * 2, 8)})
      add([&](Draft &draft) { draft.prefetch = distance; });
}

void NeighbourFinder::addBlocks() {
  addLevels();
  for (unsigned depth = own.getShared(); depth < own.getNumLevels(); ++depth) {
    LoopLevel level = own.getLevels()[depth];
    bool isWhole = !isKept(level.dim) &&
                   llvm::count(own.getDims(), level.dim) == 1 &&
                   stage.getStaticExtent(level.dim) > kFirstBlock;
    if (isWhole && own.getShared() == 0)
      add([&](Draft &draft) {
        draft.levels.insert(draft.levels.begin() + own.getParallel(),
                            {LevelKind::Step, level.dim, kFirstBlock});
      });
  }
}

void NeighbourFinder::addContraction() {
  int64_t lanes = own.getVectorDim(), width = own.getVectorWidth();
  for (TileDim tile : own.getTile()) {
    if (tile.dim == lanes) {
      addTile(lanes, tile.size + width);
      addTile(lanes, tile.size - width);
      continue;
    }
    for (int64_t size :
         {tile.size + 1, tile.size - 1, tile.size * 2, tile.size / 2})
      addTile(tile.dim, size);
  }
  addBlocks();
  addOrders();
  for (unsigned depth = own.getShared(); depth < own.getNumLevels(); ++depth)
    if (!own.isOuter(depth) && own.getLevels()[depth].step > 1)
      add([&](Draft &draft) {
        LevelTail &tail = draft.levels[depth].tail;
        tail = tail == LevelTail::Mask ? LevelTail::Body : LevelTail::Mask;
      });
  for (int64_t distance : {0, 4, 8, 16})
    add([&](Draft &draft) { draft.prefetch = distance; });
}

SmallVector<ScheduleAttr> NeighbourFinder::find() {
  bool isNest = own.isFlat() || (own.isNest() && isAlone());
  if (!isNest || isTiledContraction(stage.op))
    addContraction();
  else
    addNest();
  return llvm::map_to_vector(
      found, [](Attribute attr) { return cast<ScheduleAttr>(attr); });
}

SmallVector<KernelSchedules> metaop::getNeighbours(ArrayRef<Stage> stages) {
  auto own = llvm::map_to_vector(stages, [](const Stage &stage) {
    FusedOp op = stage.op;
    return op.getScheduleAttr();
  });
  SmallVector<KernelSchedules> neighbours;
  for (auto [number, stage] : llvm::enumerate(stages))
    for (ScheduleAttr schedule : NeighbourFinder(stage).find()) {
      KernelSchedules &changed = neighbours.emplace_back(own);
      changed[number] = schedule;
    }
  return neighbours;
}
