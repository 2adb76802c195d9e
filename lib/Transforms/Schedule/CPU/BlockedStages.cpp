//===- BlockedStages.cpp - Contractions and what is around them -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

ScheduleAttr metaop::dropOuterLevels(ScheduleAttr schedule, size_t numOuter,
                                     int64_t shared) {
  ScheduleFields fields = schedule.getFields();
  fields.levels.erase(fields.levels.begin(), fields.levels.begin() + numOuter);
  fields.unrollDims.clear();
  fields.prefetch = 0;
  fields.stream.clear();
  fields.shared = shared;
  return ScheduleAttr::get(schedule.getContext(), fields);
}

std::optional<BlockedStages>
BlockedStages::find(MutableArrayRef<ScheduledStage> stages) {
  BlockedStages found;
  for (ScheduledStage &scheduled : stages) {
    FusedOp op = scheduled.stage.op;
    if (isTiledContraction(op))
      found.contraction = &scheduled;
    else if (op.hasRole(StageRole::Packing))
      found.packings.push_back(&scheduled);
    else if (op.hasRole(StageRole::Epilogue))
      found.epilogues.push_back(&scheduled);
  }
  return found.contraction ? std::optional(found) : std::nullopt;
}

LogicalResult metaop::giveRoles(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  if (findContraction(body))
    return success();
  FusedOp contraction;
  for (auto op : body.getOps<FusedOp>()) {
    ScheduleAttr schedule = op.getScheduleAttr();
    if (!schedule || schedule.isForGpu() || !isTiled(schedule))
      continue;
    FailureOr<bool> found = isContraction(op);
    if (failed(found))
      return failure();
    if (*found) {
      contraction = op;
      break;
    }
  }
  if (!contraction)
    return success();
  for (auto op : body.getOps<FusedOp>())
    op.setRole(op->isBeforeInBlock(contraction) ? StageRole::Packing
                                                : StageRole::Epilogue);
  contraction.setRole(StageRole::Contraction);
  return success();
}

ArrayRef<LoopLevel> BlockedStages::getEpilogueLevels() const {
  return contraction->schedule.getLevels().take_front(
      getEpilogueDepth(contraction->stage, contraction->schedule,
                       epilogues.front()->schedule.getShared()));
}

/// Returns the read of a stage that is of what the other one makes.
static const StageRead *findRead(const Stage &reader, FusedOp writer) {
  const auto *read = llvm::find_if(reader.reads, [&](const StageRead &read) {
    return getOuterProducer(reader.op, read.source) == writer;
  });
  return read == reader.reads.end() || read->place.isGuarded() ? nullptr : read;
}

ArrayRef<LoopLevel>
BlockedStages::getPackingLevels(const ScheduledStage &packing) const {
  const Stage &reader = contraction->stage;
  ScheduleAttr schedule = contraction->schedule;
  auto levels = schedule.getLevels().take_front(schedule.getShared());
  const StageRead *read = findRead(reader, packing.stage.op);
  if (&packing == packings.back() || !read)
    return levels;
  return levels.take_while([&](const LoopLevel &level) {
    return llvm::any_of(read->map.getResults(), [&](AffineExpr index) {
      return index.isFunctionOfDim(level.dim);
    });
  });
}

/// Checks the part of P21 that is of shared levels: the other stage's first
/// ones are the contraction's, as far as the tensor depends on them.
static LogicalResult verifyLevels(FusedOp op, const SharedBlock &block,
                                  ArrayRef<LoopLevel> levels,
                                  ScheduleAttr other) {
  SmallVector<LoopLevel> expected = block.translate(levels);
  if (expected.size() > other.getNumLevels())
    return refuse(op, "P21", "shares more loops than there are");
  for (auto [depth, level] : llvm::enumerate(expected)) {
    LoopLevel mine = other.getLevels()[depth];
    if (mine.dim != level.dim || mine.step != level.step ||
        mine.kind != level.kind)
      return refuse(op, "P21", "shares loop ")
             << depth << " with a stage that has another one there";
  }
  return success();
}

FailureOr<SharedBlock>
BlockedStages::buildPanel(const ScheduledStage &packing) const {
  const Stage &reader = contraction->stage, &writer = packing.stage;
  FusedOp op = reader.op;
  const StageRead *read = findRead(reader, writer.op);
  if (writer.writes.size() != 1 || writer.writes.front().kind || !read)
    return refuse(op, "P22",
                  "shares blocks of loops with a stage that is not the "
                  "packing of one of its factors");
  ArrayRef<LoopLevel> levels = getPackingLevels(packing);
  auto block =
      SharedBlock::match(reader, read->map, writer, writer.writes.front().map);
  if (!block || !block->narrow(levels))
    return refuse(op, "P22",
                  "shares blocks of loops with a stage that does not "
                  "write the same blocks");
  if (failed(verifyLevels(op, *block, levels, packing.schedule)))
    return failure();
  int64_t bytes = getElementBytes(read->value.getType());
  if (block->numElements > kMaxPanelBytes / bytes)
    return refuse(op, "P24", "packs ")
           << block->numElements << " elements at a time, but at most "
           << kMaxPanelBytes << " bytes fit";
  return *block;
}

FailureOr<EpilogueChain> BlockedStages::buildChain() const {
  const Stage &writer = contraction->stage;
  FusedOp op = epilogues.front()->stage.op;
  const StageWrite &write = writer.writes.front();
  ArrayRef<LoopLevel> levels = getEpilogueLevels();
  SmallVector<const Stage *> stages;
  for (const ScheduledStage *epilogue : epilogues)
    stages.push_back(&epilogue->stage);
  auto chain = EpilogueChain::match(writer, stages);
  if (!chain || !chain->narrow(levels))
    return refuse(op, "P23",
                  "shares blocks of loops with a contraction, but does "
                  "not compute from these blocks alone, element by "
                  "element or by whole rows");
  for (auto [epilogue, block] : llvm::zip_equal(epilogues, chain->blocks))
    if (failed(verifyLevels(epilogue->stage.op, block, levels,
                            epilogue->schedule)))
      return failure();
  int64_t bytes = getElementBytes(write.value.getType());
  if (leavesKernel(writer.op, write.result))
    return *chain;
  int64_t numElements = chain->blocks.front().numElements;
  if (haveReducedBlocks(writer, levels)) {
    if (epilogues.size() > 1 || stages.front()->hasReduction() ||
        !findResultForSums(writer.op, op))
      return refuse(op, "P24",
                    "stands inside of blocks of a sum and has no result "
                    "whose memory could hold what is not complete");
  } else if (numElements > kMaxSumsBytes / bytes) {
    return refuse(op, "P24", "shares blocks of ")
           << numElements << " sums, but at most " << kMaxSumsBytes
           << " bytes fit";
  }
  return *chain;
}

SmallVector<ScheduledStage, 1>
BlockedStages::getInside(const EpilogueChain &chain) const {
  SmallVector<ScheduledStage, 1> inside;
  size_t numOuter = chain.blocks.front().translate(getEpilogueLevels()).size();
  for (const ScheduledStage *epilogue : epilogues) {
    ScheduleAttr own = epilogue->schedule;
    int64_t shared = own.getShared() - static_cast<int64_t>(numOuter);
    inside.push_back({epilogue->stage, dropOuterLevels(own, numOuter, shared)});
  }
  openSharedLoops(inside, /*parallel=*/0);
  return inside;
}
