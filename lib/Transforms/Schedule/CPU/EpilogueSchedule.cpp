//===- EpilogueSchedule.cpp - Loops of what follows a contraction ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Epilogues share as many of a contraction's levels as leave them a block that
// is worth a loop, and complete for all of them. One that computes element by
// element goes through the block by vectors. Several, and one that reduces, go
// through it row by row: the loops over what the block has a part of are
// outside, in all of them, and the loops that each would have inside of these.
//
// The results of a block go to memory all at once, and an epilogue that does
// little else waits for that. Behind each tile it is otherwise: the next one's
// multiplications need no memory meanwhile. What reads other large tensors is
// better off in long rows, which the processor fetches ahead.
//
// Behind blocks of the sum epilogues run in the last one only, and sums that
// are not complete lie where a result of the only epilogue will, or of the
// kernel. Else a block of sums has memory of its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

/// Elements of a block that are worth the start of its loops, and of one that
/// is in the first cache still.
static constexpr int64_t kMinBlock = 1 << 10, kFirstCacheElements = 1 << 13;
/// Elements of a tile that are worth it, and instructions of an epilogue whose
/// time is that of its stores.
static constexpr int64_t kMinTile = 1 << 8, kStoringCode = 24;

namespace {
/// Finds the schedules of the stages behind a contraction.
class EpilogueScheduler {
public:
  EpilogueScheduler(const Stage &contraction, ScheduleAttr schedule,
                    ArrayRef<Stage> epilogues, const Processor &processor,
                    bool isForced);

  /// None where the epilogues cannot share loops of the contraction.
  std::optional<SmallVector<ScheduleAttr>> schedule();

private:
  bool hasRows() const;
  bool canAccumulate() const;
  bool areNested(ArrayRef<LoopLevel> levels) const;
  bool areLanesWhole(ArrayRef<LoopLevel> levels) const;
  bool areApart(ArrayRef<LoopLevel> levels) const;
  bool fitRows() const;
  bool onlyStores() const;
  int64_t chooseShared();
  std::optional<ScheduleAttr> scheduleBlock(int64_t shared);
  std::optional<ScheduleAttr> scheduleRow(unsigned epilogue, int64_t shared);
  ScheduleAttr build(unsigned epilogue, int64_t shared, ScheduleAttr inside,
                     int64_t sharedInside);

  const Stage &contraction;
  ScheduleAttr outer;
  SmallVector<const Stage *> epilogues;
  const Processor &processor;
  bool isForced;
  std::optional<EpilogueChain> chain;
  /// Loops of the only epilogue, if it computes element by element.
  ScheduleAttr flat;
};
} // namespace

EpilogueScheduler::EpilogueScheduler(const Stage &contraction,
                                     ScheduleAttr schedule,
                                     ArrayRef<Stage> stages,
                                     const Processor &processor, bool isForced)
    : contraction(contraction), outer(schedule), processor(processor),
      isForced(isForced) {
  for (const Stage &stage : stages)
    epilogues.push_back(&stage);
}

/// Returns whether the epilogues go through blocks row by row.
bool EpilogueScheduler::hasRows() const {
  return epilogues.size() > 1 || epilogues.front()->hasReduction();
}

/// Returns whether sums that are not complete have a place.
bool EpilogueScheduler::canAccumulate() const {
  const StageWrite &write = contraction.writes.front();
  return leavesKernel(contraction.op, write.result) ||
         (!hasRows() &&
          findResultForSums(contraction.op, epilogues.front()->op).has_value());
}

/// Returns whether blocks of a loop are whole blocks inside of those outside of
/// them.
bool EpilogueScheduler::areNested(ArrayRef<LoopLevel> levels) const {
  llvm::SmallDenseMap<int64_t, int64_t> last;
  return llvm::all_of(
      chain->blocks.front().translate(levels), [&](const LoopLevel &level) {
        int64_t &before = last.try_emplace(level.dim, level.step).first->second;
        bool divides = before % level.step == 0;
        before = level.step;
        return divides;
      });
}

/// Returns whether blocks are whole vectors of an epilogue's lanes.
bool EpilogueScheduler::areLanesWhole(ArrayRef<LoopLevel> levels) const {
  if (hasRows())
    return true;
  TileDim lanes = flat.getLanes();
  return llvm::all_of(
      chain->blocks.front().translate(levels), [&](const LoopLevel &level) {
        return level.dim != lanes.dim || level.step % lanes.size == 0;
      });
}

/// Returns whether iterations of parallel levels write elements of their own in
/// all epilogues. A block for any length may hold all of a row that is shorter,
/// and an epilogue reduces that.
bool EpilogueScheduler::areApart(ArrayRef<LoopLevel> levels) const {
  for (auto [epilogue, block] : llvm::zip_equal(epilogues, chain->blocks))
    for (const LoopLevel &level : block.translate(levels))
      for (const StageWrite &write : epilogue->writes)
        if (level.kind == LevelKind::Parallel &&
            !write.disjoint.test(level.dim))
          return false;
  return true;
}

/// Returns whether an epilogue does little but store: it is short, and reads
/// nothing large but the sums.
bool EpilogueScheduler::onlyStores() const {
  if (hasRows() || epilogues.front()->getCodeSize() > kStoringCode)
    return false;
  const Stage &epilogue = *epilogues.front();
  auto sums = findReads(epilogue, contraction, contraction.writes.front());
  return llvm::all_of(epilogue.reads, [&](const StageRead &read) {
    return llvm::is_contained(sums, &read) ||
           countBytes(read.source.getType()) <= kNearSumsBytes;
  });
}

/// Returns the number of levels to share, 0 for none: those that leave a block
/// which fits the first cache, or else the smallest one that is worth a loop.
/// One that only stores has a tile, where that is worth a loop and complete.
int64_t EpilogueScheduler::chooseShared() {
  const StageWrite &write = contraction.writes.front();
  bool perTile =
      onlyStores() &&
      !haveReducedBlocks(contraction, outer.getLevels().take_front(
                                          getTileDepth(contraction, outer)));
  int64_t least = perTile ? kMinTile : kMinBlock;
  int64_t bytes = getElementBytes(write.value.getType());
  bool isResult = leavesKernel(contraction.op, write.result);
  ArrayRef<LoopLevel> levels = outer.getLevels();
  int64_t shared = 0, best = 0, fewest = 0;
  for (unsigned depth = 1; depth <= levels.size(); ++depth) {
    if (!write.loops.test(levels[depth - 1].dim))
      continue;
    ++shared;
    ArrayRef<LoopLevel> around = levels.take_front(depth);
    // Levels inside of one that cannot be shared have no place of their own.
    if (!chain->narrow(around) || !areNested(around) || !areApart(around))
      break;
    int64_t numElements = chain->blocks.front().numElements;
    if (numElements < least && (best > 0 || !isForced))
      break;
    bool isAllowed = canAccumulate() || !haveReducedBlocks(contraction, around);
    bool isSmaller = best == 0 || numElements < fewest;
    if (isAllowed && isSmaller && areLanesWhole(around) &&
        depth >= outer.getParallel() &&
        (isResult || numElements <= kMaxSumsBytes / bytes)) {
      best = shared;
      fewest = numElements;
    }
    if (best > 0 && numElements <= kFirstCacheElements && !perTile)
      break;
  }
  return best;
}

/// The levels that are shared, and then those of the stage inside of a block.
ScheduleAttr EpilogueScheduler::build(unsigned epilogue, int64_t shared,
                                      ScheduleAttr inside,
                                      int64_t sharedInside) {
  ScheduleFields fields;
  fields.levels =
      chain->blocks[epilogue].translate(outer.getLevels().take_front(
          getEpilogueDepth(contraction, outer, shared)));
  for (LoopLevel level : inside.getLevels()) {
    level.kind = LevelKind::Step;
    fields.levels.push_back(level);
  }
  fields.tile.assign(inside.getTile().begin(), inside.getTile().end());
  fields.lanes = inside.getLanes();
  fields.pairwise = inside.getPairwise();
  fields.shared = shared + sharedInside;
  return ScheduleAttr::get(inside.getContext(), fields);
}

/// The only epilogue, which goes through a block by vectors.
std::optional<ScheduleAttr> EpilogueScheduler::scheduleBlock(int64_t shared) {
  auto vectors = ScheduleAttr::getFlat(
      flat.getContext(), flat.getDims(), /*parallel=*/0,
      TileDim{flat.getVectorDim(), flat.getVectorWidth()}, flat.getLanes(),
      /*transpose=*/-1, LevelTail::Mask);
  return build(0, shared, vectors, /*sharedInside=*/0);
}

/// Returns whether sums of the stage are complete inside of all the loops that
/// they keep, and so in registers.
static bool sumsInRegisters(const Stage &stage, ScheduleAttr schedule) {
  for (const StageWrite &write : stage.writes) {
    bool isInside = false;
    for (const LoopLevel &level : schedule.getLevels()) {
      if (write.kind && write.loops.test(level.dim) && isInside)
        return false;
      isInside |= !write.loops.test(level.dim);
    }
  }
  return true;
}

/// An epilogue of several, which goes through a row of the block.
std::optional<ScheduleAttr> EpilogueScheduler::scheduleRow(unsigned epilogue,
                                                           int64_t shared) {
  const Stage &stage = *epilogues[epilogue];
  SmallVector<int64_t> rows = chain->getNarrowed(epilogue);
  ScheduleAttr row = chooseNest(stage, processor, rows);
  bool isScalar = row.getVectorWidth() == 1;
  if (!row.isFlat() || row.getTranspose() >= 0 ||
      llvm::is_contained(rows, row.getUnrollDim()) ||
      (isScalar && rows.size() < stage.getNumLoops()) ||
      (!isScalar && llvm::is_contained(rows, row.getVectorDim())) ||
      !sumsInRegisters(stage, row))
    return std::nullopt;
  return build(epilogue, shared, row, epilogue == 0 ? 0 : rows.size());
}

/// Returns whether a row of all that only epilogues read fits local memory.
bool EpilogueScheduler::fitRows() const {
  int64_t left = kMaxLocalBytes;
  for (auto [i, stage] : llvm::enumerate(epilogues))
    for (const StageWrite &write : stage->writes) {
      FusedOp op = stage->op;
      if (leavesKernel(op, write.result))
        continue;
      auto elements =
          getNumElements(getLocalShape(write, chain->getNarrowed(i)));
      int64_t bytes = getElementBytes(op->getResult(write.result).getType());
      if (!elements || *elements > left / bytes)
        return false;
      left -= *elements * bytes;
    }
  return true;
}

std::optional<SmallVector<ScheduleAttr>> EpilogueScheduler::schedule() {
  for (const Stage *stage : epilogues)
    if (stage->isEmpty())
      return std::nullopt;
  chain = EpilogueChain::match(contraction, epilogues);
  if (!chain)
    return std::nullopt;
  if (!hasRows()) {
    flat = chooseNest(*epilogues.front(), processor);
    if (!flat.isFlat() || flat.getVectorWidth() == 1 ||
        flat.getTranspose() >= 0)
      return std::nullopt;
  }
  int64_t shared = chooseShared();
  if (shared == 0)
    return std::nullopt;
  chain->narrow(outer.getLevels().take_front(
      getEpilogueDepth(contraction, outer, shared)));
  if (!fitRows())
    return std::nullopt;
  SmallVector<ScheduleAttr> schedules;
  for (unsigned i = 0; i < epilogues.size(); ++i) {
    auto schedule = hasRows() ? scheduleRow(i, shared) : scheduleBlock(shared);
    if (!schedule)
      return std::nullopt;
    schedules.push_back(*schedule);
  }
  return schedules;
}

std::optional<SmallVector<ScheduleAttr>>
metaop::chooseEpilogues(const Stage &contraction, ScheduleAttr schedule,
                        ArrayRef<Stage> epilogues, const Processor &processor,
                        bool isForced) {
  return EpilogueScheduler(contraction, schedule, epilogues, processor,
                           isForced)
      .schedule();
}
