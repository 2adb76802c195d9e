//===- Epilogues.cpp - What follows a contraction in its blocks -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Epilogues run in each block of a contraction's levels, over the part of their
// own loops that the block is. They are a chain: each reads sums, or what those
// before it have made of these, in the same block. A dimension of which a block
// has a part is a loop of each, and of all that passes between them; one that
// blocks have whole may be reduced on the way.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isFirstReader(KernelOp kernel, KernelOp producer) {
  Block *block = kernel->getBlock();
  if (producer->getBlock() != block)
    return false;
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    Operation *reader = block->findAncestorOpInBlock(*user);
    return reader == kernel || kernel->isBeforeInBlock(reader);
  });
}

SmallVector<const StageRead *> metaop::findReads(const Stage &reader,
                                                 const Stage &writer,
                                                 const StageWrite &write) {
  SmallVector<const StageRead *> reads;
  FusedOp from = writer.op;
  for (const StageRead &read : reader.reads)
    if (getOuterValue(reader.op, read.source) == from->getResult(write.result))
      reads.push_back(&read);
  return reads;
}

/// Returns whether loops of the stage are dimensions of its results: a block of
/// the ones is a block of the others, whose rows are as long.
static bool numbersResults(const Stage &stage) {
  return llvm::all_of(stage.writes, [](const StageWrite &write) {
    return llvm::all_of(write.map.getResults(), [](AffineExpr index) {
      return isa<AffineDimExpr>(index) || index == 0;
    });
  });
}

/// Returns whether a stage takes a number outside of its loops that others here
/// make.
static bool takesNumber(const Stage &stage) {
  FusedOp op = stage.op;
  return llvm::any_of(stage.body, [&](Operation *inner) {
    return isa<GeneratorOpInterface>(inner) &&
           llvm::any_of(inner->getOperands(), [&](Value operand) {
             return isa_and_nonnull<FusedOp>(getOuterProducer(op, operand));
           });
  });
}

/// The block in the loops of an epilogue: by the sums, if it reads them, or by
/// what an earlier epilogue has made of them.
bool EpilogueChain::findBlock(unsigned epilogue) {
  const Stage &reader = *epilogues[epilogue];
  if (!reader.symbols.empty() || !numbersResults(reader) || takesNumber(reader))
    return false;
  const StageWrite &sums = contraction->writes.front();
  auto reads = findReads(reader, *contraction, sums);
  if (!reads.empty()) {
    auto block = SharedBlock::match(*contraction, sums.map, reader,
                                    reads.front()->map, sums.shape);
    bool isOnePlace = llvm::all_of(reads, [&](const StageRead *read) {
      return !read->place.isGuarded() && read->map == reads.front()->map;
    });
    if (!block || !isOnePlace)
      return false;
    blocks.push_back(*block);
    return true;
  }
  for (unsigned before = epilogue; before-- > 0;)
    for (const StageWrite &write : epilogues[before]->writes)
      for (const StageRead *read :
           findReads(reader, *epilogues[before], write)) {
        blocks.push_back(blocks[before].follow(write, reader, *read));
        return true;
      }
  return false;
}

std::optional<EpilogueChain>
EpilogueChain::match(const Stage &contraction,
                     ArrayRef<const Stage *> epilogues) {
  EpilogueChain chain{&contraction, llvm::to_vector(epilogues), {}};
  for (unsigned i = 0; i < epilogues.size(); ++i)
    if (!chain.findBlock(i))
      return std::nullopt;
  return chain.narrow({}) ? std::optional(chain) : std::nullopt;
}

SmallVector<int64_t> EpilogueChain::getNarrowed(unsigned epilogue) const {
  SmallVector<int64_t> loops;
  for (const SharedBlock::Index &index : blocks[epilogue].indices)
    if (index.extent != index.whole)
      loops.push_back(index.loop);
  return loops;
}

/// Returns whether each stage makes one block of its results of what is in its
/// block.
bool EpilogueChain::isClosed() const {
  auto getExtents = [&](unsigned epilogue) {
    return llvm::map_to_vector(getNarrowed(epilogue), [&](int64_t loop) {
      return epilogues[epilogue]->getStaticExtent(loop);
    });
  };
  for (auto [i, stage] : llvm::enumerate(epilogues)) {
    SmallVector<int64_t> own = getNarrowed(i);
    if (getExtents(i) != getExtents(0))
      return false;
    for (const StageWrite &write : stage->writes)
      for (int64_t loop : own)
        if (!write.isProjection || !write.disjoint.test(loop))
          return false;
    for (unsigned before = 0; before < i; ++before)
      for (const StageWrite &write : epilogues[before]->writes)
        for (const StageRead *read :
             findReads(*stage, *epilogues[before], write))
          if (read->place.isGuarded() ||
              !staysInIteration(write, getNarrowed(before), *read, own))
            return false;
  }
  return true;
}

bool EpilogueChain::narrow(ArrayRef<LoopLevel> levels) {
  for (SharedBlock &block : blocks)
    if (!block.narrow(levels) || block.translate(levels).size() !=
                                     blocks.front().translate(levels).size())
      return false;
  return isClosed();
}

unsigned metaop::getEpilogueDepth(const Stage &contraction,
                                  ScheduleAttr schedule, int64_t shared) {
  unsigned depth = 0;
  for (; shared > 0 && depth < schedule.getNumLevels(); ++depth)
    if (contraction.writes.front().loops.test(schedule.getLevels()[depth].dim))
      --shared;
  return depth;
}

bool metaop::haveReducedBlocks(const Stage &contraction,
                               ArrayRef<LoopLevel> levels) {
  return llvm::any_of(levels, [&](const LoopLevel &level) {
    return !contraction.writes.front().loops.test(level.dim) &&
           level.step < contraction.getStaticExtent(level.dim);
  });
}

std::optional<unsigned> metaop::findResultForSums(FusedOp contraction,
                                                  FusedOp epilogue) {
  Type type = contraction.getResult(0).getType();
  for (OpResult result : epilogue->getResults())
    if (result.getType() == type &&
        !epilogue.getRowsOfResult(result.getResultNumber()))
      return result.getResultNumber();
  return std::nullopt;
}

FailureOr<bool> metaop::holdsSums(FusedOp epilogue, unsigned result) {
  for (Value input : epilogue.getInputs()) {
    auto contraction = input.getDefiningOp<FusedOp>();
    ScheduleAttr schedule =
        contraction ? contraction.getScheduleAttr() : ScheduleAttr();
    if (!schedule || schedule.isFlat() || !epilogue.getScheduleAttr() ||
        findResultForSums(contraction, epilogue) != result ||
        leavesKernel(contraction, cast<OpResult>(input).getResultNumber()))
      continue;
    FailureOr<Stage> stage = Stage::build(contraction);
    if (failed(stage))
      return failure();
    unsigned depth = getEpilogueDepth(*stage, schedule,
                                      epilogue.getScheduleAttr().getShared());
    if (haveReducedBlocks(*stage, schedule.getLevels().take_front(depth)))
      return true;
  }
  return false;
}
