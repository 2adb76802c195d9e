//===- VerifyBlocks.cpp - Rules of what shares blocks with a contraction --===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packings of a contraction's factors, and epilogues of its sums, share
// its outer levels (BlockedStages.h): P21 to P24 of docs/Schedule.md. Inside of
// the blocks the epilogues are a loop tree, to which the rules of nests apply.
//
//===----------------------------------------------------------------------===//

#include "CpuRules.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleRules.h"

using namespace mlir;
using namespace mlir::metaop;

/// Checks the part of P21 that is of loops inside of the shared blocks, of
/// which each dimension of a neighbour has one.
static LogicalResult verifyInside(FusedOp op, ArrayRef<LoopLevel> inside,
                                  unsigned numLoops) {
  llvm::SmallBitVector seen(numLoops);
  for (LoopLevel level : inside) {
    if (seen.test(level.dim) || level.kind == LevelKind::Parallel)
      return refuse(op, "P21", "has two loops of dimension ")
             << level.dim << " inside of the blocks that it shares with a "
             << "contraction";
    seen.set(level.dim);
  }
  if (!seen.all())
    return refuse(op, "P21",
                  "has no loop of some dimension inside of the blocks "
                  "that it shares with a contraction");
  return success();
}

/// Checks P21 and P22.
static LogicalResult verifyPacking(const BlockedStages &stages,
                                   const ScheduledStage &writer) {
  const ScheduledStage &reader = *stages.contraction;
  FusedOp op = writer.stage.op;
  FailureOr<SharedBlock> panel = stages.buildPanel(writer);
  if (failed(panel))
    return failure();
  // Packing stands inside of all parallel loops and outside of the tile.
  ScheduleAttr schedule = writer.schedule;
  ArrayRef<LoopLevel> outer = stages.getPackingLevels(writer);
  if (outer.size() < reader.schedule.getParallel() ||
      outer.size() > getTileDepth(reader.stage, reader.schedule))
    return refuse(op, "P21",
                  "packs a factor outside of a parallel loop, or "
                  "inside of a tile");
  if (failed(verifyInside(
          op, schedule.getLevels().drop_front(panel->translate(outer).size()),
          writer.stage.getNumLoops())))
    return failure();
  // It is copied by vectors, or by square tiles that are transposed.
  int64_t rows = schedule.getTranspose();
  if (schedule.getUnrollDim() != rows ||
      (rows >= 0 && !hasSquareTiles(schedule)) ||
      !schedule.getUnrollDims().empty())
    return refuse(op, "P22",
                  "packs a factor and has a tile that is not one "
                  "vector, or square and transposed, and innermost");
  return success();
}

/// Checks the part of P23 that is of loops over a part of a dimension: they
/// have no copies, and are shared with loops over the same part.
static LogicalResult verifyParts(const EpilogueChain &chain,
                                 ArrayRef<ScheduledStage> inside) {
  auto getPart = [&](size_t epilogue, int64_t loop) {
    for (const SharedBlock::Index &index : chain.blocks[epilogue].indices)
      if (index.loop == loop && index.extent != index.whole)
        return index.place;
    return AffineExpr();
  };
  for (auto [i, scheduled] : llvm::enumerate(inside)) {
    FusedOp op = scheduled.stage.op;
    ScheduleAttr schedule = scheduled.schedule;
    if (schedule.getUnrollDim() >= 0 && getPart(i, schedule.getUnrollDim()))
      return refuse(op, "P23",
                    "is an epilogue of a contraction and does several "
                    "iterations side by side of loop ")
             << schedule.getUnrollDim() << ", of which it shares blocks";
    for (const StageWrite &write : scheduled.stage.writes)
      if (combinesInMemory(write, schedule, scheduled.openedLoops))
        return refuse(op, "P23",
                      "is an epilogue of a contraction and combines "
                      "result ")
               << write.result << " in memory";
    for (int64_t depth = 0; depth < schedule.getShared(); ++depth)
      if (getPart(i, schedule.getLevels()[depth].dim) !=
          getPart(i - 1, inside[i - 1].schedule.getLevels()[depth].dim))
        return refuse(op, "P23", "shares loop ")
               << depth << " inside of a block with an epilogue that goes "
               << "through another part of it there";
  }
  return success();
}

/// Checks P21 and P23, and the rules of nests inside of the blocks.
static LogicalResult verifyEpilogues(const BlockedStages &stages) {
  const ScheduledStage &writer = *stages.contraction;
  FailureOr<EpilogueChain> chain = stages.buildChain();
  if (failed(chain))
    return failure();
  ArrayRef<LoopLevel> outer = stages.getEpilogueLevels();
  int64_t numOuter = chain->blocks.front().translate(outer).size();
  for (const ScheduledStage *epilogue : stages.epilogues) {
    FusedOp op = epilogue->stage.op;
    ScheduleAttr schedule = epilogue->schedule;
    if (outer.size() < writer.schedule.getParallel() ||
        outer.size() > getTileDepth(writer.stage, writer.schedule))
      return refuse(op, "P21",
                    "is the epilogue of a contraction outside of a "
                    "parallel loop, or inside of a tile");
    if (schedule.getTranspose() >= 0 || !schedule.getUnrollDims().empty() ||
        !schedule.getStream().empty())
      return refuse(op, "P23",
                    "is the epilogue of a contraction and transposes, "
                    "emits loops of a sum, or streams a result");
    if (schedule.getShared() < numOuter)
      return refuse(op, "P21",
                    "is the epilogue of a contraction and shares fewer "
                    "loops than the epilogue before it");
    if (failed(verifyInside(op, schedule.getLevels().drop_front(numOuter),
                            epilogue->stage.getNumLoops())))
      return failure();
  }
  SmallVector<ScheduledStage, 1> inside = stages.getInside(*chain);
  if (inside.front().schedule.getShared() != 0)
    return refuse(
        inside.front().stage.op, "P21",
        "is the epilogue of a contraction and shares more of its loops than "
        "those outside of the tile");
  if (failed(verifyParts(*chain, inside)))
    return failure();
  return verifyNests(inside);
}

LogicalResult BlockedStages::verify() const {
  if (failed(verifyContraction(*contraction, /*isAlone=*/true)))
    return failure();
  if (packings.empty() && epilogues.empty())
    return verifyStreamed(*contraction);
  // Packings and epilogues may have no loop to share.
  if (!packings.empty() && contraction->schedule.getShared() == 0)
    return verifyContraction(*contraction, /*isAlone=*/false);
  if (!epilogues.empty() && epilogues.front()->schedule.getShared() == 0)
    return verifyContraction(*contraction, /*isAlone=*/false);
  for (const ScheduledStage *packing : packings)
    if (failed(verifyPacking(*this, *packing)))
      return failure();
  return epilogues.empty() ? success() : verifyEpilogues(*this);
}
