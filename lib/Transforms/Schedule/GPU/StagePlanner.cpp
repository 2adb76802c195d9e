//===- StagePlanner.cpp - Plans of one stage for a GPU --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlanner.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::divideCeilSigned;
using llvm::SmallBitVector;

/// Bytes that a block moves at least, where there are enough blocks: to begin
/// one costs as much time as some of this.
static constexpr int64_t kBytesOfBlock = 32 << 10;
/// Blocks that follow one another in the place of each that the chip has at
/// once, so that those that end last leave few multiprocessors idle.
static constexpr int64_t kMinWaves = 8;

int64_t metaop::ceilPowerOf2(int64_t value) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(value, 1)));
}

bool StagePlanner::isTooLarge(int64_t tile, int64_t maxCode) const {
  return tile > maxTile || multiplyCounts(stage.getCodeSize(), tile) > maxCode;
}

int64_t StagePlanner::chooseLanes(int64_t loop) const {
  int64_t lanes = traffic.getVectorWidth(loop);
  while (lanes > 1 && isTooLarge(lanes))
    lanes /= 2;
  return lanes;
}

int64_t StagePlanner::chooseCopies(int64_t lanes, int64_t most,
                                   int64_t maxCode) const {
  int64_t reads = std::max<int64_t>(traffic.countLargeReads(), 1);
  int64_t copies = std::max<int64_t>(most / reads, 1);
  while (copies > 1 && isTooLarge(copies * lanes, maxCode))
    copies /= 2;
  return copies;
}

void StagePlanner::putOnGrid(const SmallBitVector &loops) {
  for (unsigned loop : loops.set_bits())
    at(loop).isGrid = true;
}

int64_t StagePlanner::fillThreads(SmallBitVector loops, int64_t threads) {
  for (int64_t dim : llvm::reverse(plan.order)) {
    if (!loops.test(dim) || threads < 2)
      continue;
    DimPlan &part = at(dim);
    int64_t needed = divideCeilSigned(traffic.getExtent(dim), part.getTile());
    part.threads = std::clamp<int64_t>(needed, 1, threads);
    threads /= part.threads;
  }
  return threads;
}

int64_t StagePlanner::countBlocks() const {
  int64_t blocks = 1;
  for (auto [dim, part] : llvm::enumerate(plan.dims))
    if (part.isGrid)
      blocks = multiplyCounts(
          blocks, divideCeilSigned(traffic.getExtent(dim), part.getSpan()));
  return blocks;
}

int64_t StagePlanner::chooseRun(int64_t blocks, int64_t bytes) const {
  int64_t threads = llvm::alignTo(plan.getNumThreads(), Chip::kWarpThreads);
  int64_t atOnce = chip.multiprocessors *
                   std::min(chip.maxThreads / threads, chip.maxBlocks);
  int64_t piece = std::max<int64_t>(divideCeilSigned(bytes, blocks), 1);
  int64_t run = std::min(kBytesOfBlock / piece, blocks / (kMinWaves * atOnce));
  return run > 1 ? static_cast<int64_t>(llvm::bit_floor<uint64_t>(run)) : 1;
}

void StagePlanner::formRuns() {
  int64_t run = chooseRun(countBlocks(), traffic.countBytes());
  for (int64_t dim : llvm::reverse(plan.order)) {
    DimPlan &part = at(dim);
    int64_t pieces = divideCeilSigned(traffic.getExtent(dim), part.getSpan());
    if (!part.isGrid || pieces < run)
      continue;
    part.run = run;
    return;
  }
}
