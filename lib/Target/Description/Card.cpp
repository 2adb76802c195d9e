//===- Card.cpp - How fast a GPU is ---------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline: memory and the units of a multiprocessor work at the same time,
// so a kernel takes as long as the slowest of them, and then the start of a
// kernel. Latencies are not in it, nor what several blocks move, or one stage
// more than once.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Description/Card.h"

#include <algorithm>

using namespace mlir::metaop;

static constexpr int64_t kMiB = 1 << 20;

// Multiprocessors, clocks (boost), memory and its rate are those of the data
// sheets of the H100 SXM, the H200 SXM, the A100 SXM of 40 and of 80 GB, the
// A10, the L4, the L40S and the Jetson AGX Orin; rates of units are the table
// of arithmetic instructions of the CUDA programming guide. The second cache of
// the A100 gives 5120 bytes a cycle, says its white paper. Of the others
// nothing is published: the H100 and the H200 are taken to be as the A100, and
// the rest to give 32 bytes to each multiprocessor.
static constexpr Card kCards[] = {
    {"H100", "sm_90", 132, 1.98, 3350, 5120, 50 * kMiB, 128, 64, 16},
    {"H200", "sm_90", 132, 1.98, 4800, 5120, 50 * kMiB, 128, 64, 16},
    {"A100", "sm_80", 108, 1.41, 1555, 5120, 40 * kMiB, 64, 32, 16},
    {"A100-80GB", "sm_80", 108, 1.41, 2039, 5120, 40 * kMiB, 64, 32, 16},
    {"A10", "sm_86", 72, 1.695, 600, 72 * 32, 6 * kMiB, 128, 2, 16},
    {"Orin", "sm_87", 16, 1.3, 204.8, 16 * 32, 4 * kMiB, 128, 2, 16},
    {"L40S", "sm_89", 142, 2.52, 864, 142 * 32, 96 * kMiB, 128, 2, 16},
    {"L4", "sm_89", 58, 2.04, 300, 58 * 32, 48 * kMiB, 128, 2, 16},
};

/// From one kernel of a stream to the next.
static constexpr double kKernelSeconds = 2e-6;
/// What a multiprocessor takes from the second cache in a cycle.
static constexpr double kBytesOfCycle = 64;

double Card::predictSeconds(const Traffic &traffic, const UnitWork &work,
                            int64_t blocks, int64_t residentBlocks) const {
  double busy = std::clamp<int64_t>(blocks, 1, multiprocessors);
  double cycles = gigahertz * 1e9;
  auto getSeconds = [&](double bytes, double held) {
    double rate = held <= cacheBytes ? cacheRate * cycles : memoryRate * 1e9;
    return bytes / std::min(rate, busy * kBytesOfCycle * cycles);
  };
  double atOnce = static_cast<double>(multiprocessors * residentBlocks) /
                  std::max<int64_t>(blocks, 1);
  double seconds =
      getSeconds(traffic.once, traffic.once) +
      getSeconds(traffic.again, traffic.repeated * std::min(atOnce, 1.0));
  auto addUnit = [&](int64_t instructions, int64_t unitRate) {
    seconds = std::max(seconds, instructions / (unitRate * busy * cycles));
  };
  addUnit(work.single, singleRate);
  addUnit(work.wide, wideRate);
  addUnit(work.special, specialRate);
  return seconds + kKernelSeconds;
}

llvm::ArrayRef<Card> Card::getAll() { return kCards; }

llvm::SmallVector<const Card *> Card::find(const Chip &chip) {
  llvm::SmallVector<const Card *> cards;
  for (const Card &card : kCards)
    if (card.chip == chip.name.rtrim('a'))
      cards.push_back(&card);
  return cards;
}
