//===- GpuModel.cpp - How fast a GPU is -----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline: memory and the parts of a multiprocessor work at the same time,
// so a kernel takes as long as the slowest of them, and then the start of a
// kernel. Where a multiprocessor has few blocks, nothing else is done while
// these wait: it takes what one block waits and works, as often as blocks
// follow one another.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/Description/GpuModel.h"

#include <algorithm>
#include <cmath>

using namespace mlir::metaop;

static constexpr int64_t kMiB = 1 << 20;

// Multiprocessors, clocks (boost), memory and its rate are those of the data
// sheets of the H100 SXM, the H200 SXM, the A100 SXM of 40 and of 80 GB, the
// A10, the L4, the L40S and the Jetson AGX Orin; rates of units are the table
// of arithmetic instructions of the CUDA programming guide. The second cache of
// the A100 gives 5120 bytes a cycle, says its white paper. Of the others
// nothing is published: the H100 and the H200 are taken to be as the A100, and
// the rest to give 32 bytes to each multiprocessor.
static constexpr GpuModel kGpuModels[] = {
    {"H100", "sm_90", 132, 1.98, 3350, 5120, 50 * kMiB, 128, 64, 16},
    {"H200", "sm_90", 132, 1.98, 4800, 5120, 50 * kMiB, 128, 64, 16},
    {"A100", "sm_80", 108, 1.41, 1555, 5120, 40 * kMiB, 64, 32, 16},
    {"A100-80GB", "sm_80", 108, 1.41, 2039, 5120, 40 * kMiB, 64, 32, 16},
    {"A10", "sm_86", 72, 1.695, 600, 72 * 32, 6 * kMiB, 128, 2, 16},
    {"Orin", "sm_87", 16, 1.3, 204.8, 16 * 32, 4 * kMiB, 128, 2, 16},
    {"L40S", "sm_89", 142, 2.52, 864, 142 * 32, 96 * kMiB, 128, 2, 16},
    {"L4", "sm_89", 58, 2.04, 300, 58 * 32, 48 * kMiB, 128, 2, 16},
};

/// From one kernel of a stream to the next, but for what its threads do.
static constexpr double kKernelSeconds = 1e-6;
/// Bytes that a multiprocessor takes from the second cache in a cycle.
static constexpr double kBytesOfCycle = 64;
/// Instructions of warps that a multiprocessor begins in a cycle.
static constexpr double kSlotsOfCycle = 4;

/// Predicts the time of memory, of which so many multiprocessors ask.
static Prediction predictTraffic(const GpuModel &model, const Traffic &traffic,
                                 int64_t blocks, int64_t residentBlocks) {
  double busy = std::clamp<int64_t>(blocks, 1, model.multiprocessors);
  double cycles = model.gigahertz * 1e9;
  auto getSeconds = [&](double bytes, double held) {
    double rate = held <= model.cacheBytes ? model.cacheRate * cycles
                                           : model.memoryRate * 1e9;
    return bytes / std::min(rate, busy * kBytesOfCycle * cycles);
  };
  double atOnce = static_cast<double>(model.multiprocessors * residentBlocks) /
                  std::max<int64_t>(blocks, 1);
  return {
      getSeconds(traffic.once, traffic.once) +
          getSeconds(traffic.again, traffic.repeated * std::min(atOnce, 1.0)),
      traffic.once <= model.cacheBytes ? llvm::StringLiteral("second cache")
                                       : llvm::StringLiteral("memory")};
}

static bool isFaster(const Prediction &lhs, const Prediction &rhs) {
  return lhs.seconds < rhs.seconds;
}

/// Predicts the time of a block that has a multiprocessor alone, but for waits.
/// Shared memory and the first cache are one memory.
static Prediction predictBlock(const GpuModel &model, const BlockWork &work) {
  double second = model.gigahertz * 1e9;
  auto getSeconds = [&](double instructions, int64_t rate) {
    return instructions * Chip::kWarpThreads / (rate * second);
  };
  return std::max<Prediction>(
      {{work.slots / kSlotsOfCycle / second, "instructions"},
       {getSeconds(work.single, model.singleRate), "f32"},
       {getSeconds(work.wide, model.wideRate), "f64"},
       {getSeconds(work.special, model.specialRate), "functions"},
       {(work.passes + work.lines) / second,
        work.passes < work.lines ? llvm::StringLiteral("first cache")
                                 : llvm::StringLiteral("shared memory")}},
      isFaster);
}

Prediction GpuModel::predict(const Traffic &traffic, const BlockWork &work,
                             int64_t blocks, int64_t residentBlocks) const {
  Prediction block = predictBlock(*this, work);
  double waits = work.waits / (gigahertz * 1e9);
  auto divide = [&](int64_t atOnce) {
    return std::ceil(static_cast<double>(std::max<int64_t>(blocks, 1)) /
                     std::max<int64_t>(atOnce, 1));
  };
  double turns = divide(multiprocessors * residentBlocks);
  Prediction all = std::max<Prediction>(
      {predictTraffic(*this, traffic, blocks, residentBlocks),
       {divide(multiprocessors) * block.seconds, block.bound},
       {turns * (waits + block.seconds), "waiting"}},
      isFaster);
  return {all.seconds + kKernelSeconds, all.bound};
}

llvm::ArrayRef<GpuModel> GpuModel::getAll() { return kGpuModels; }

llvm::SmallVector<const GpuModel *> GpuModel::find(const Chip &chip) {
  llvm::SmallVector<const GpuModel *> models;
  for (const GpuModel &model : kGpuModels)
    if (model.chip == chip.name.rtrim('a'))
      models.push_back(&model);
  return models;
}
