//===- Cluster.cpp - Blocks, warps and lanes ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace metaops;
using namespace metaops::emulator;

/// Byte of shared memory before it is written: no number that a kernel would
/// take for its own.
static constexpr int unwrittenByte = 0xFB;

void AccessLog::begin(uint32_t index, uint32_t site) {
  if (index >= rows.size())
    rows.resize(index + 1);
  usedRows = index + 1;
  rows[index].site = site;
}

void AccessLog::addUneven(const LaneAccess &access) {
  firstUneven = std::min<size_t>(firstUneven, access.index);
  uneven.push_back(access);
}

ThreadPlace Warp::getPlace(unsigned lane) const {
  return {block->cluster->number, number, lane};
}

Cluster::Cluster(Launch &launch)
    : launch(launch), threads(launch.warpsOfCluster * warpSize),
      warps(launch.warpsOfCluster), blocks(launch.blocksOfCluster),
      sharedMemory(launch.sharedSpan * launch.blocksOfCluster + 1024) {
  void *memory = sharedMemory.data();
  size_t space = sharedMemory.size();
  auto *shared =
      static_cast<uint8_t *>(std::align(1024, space - 1023, memory, space));
  for (auto [rank, block] : llvm::enumerate(blocks)) {
    block.cluster = this;
    block.rank = rank;
    block.warps = &warps[rank * launch.warpsOfBlock];
    block.shared = shared + rank * launch.sharedSpan;
    block.shadow.resize(launch.sharedSpan, launch.sharedGranule);
  }
  for (auto [number, warp] : llvm::enumerate(warps)) {
    warp.number = number;
    warp.block = &blocks[number / launch.warpsOfBlock];
    warp.threads = &threads[number * warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      warp.threads[lane].warp = &warp;
      warp.threads[lane].lane = lane;
    }
  }
}

void Cluster::setRegisters(Block &block) {
  auto set = [&](BlockRegister first, const Extent3 &value) {
    uint32_t *place = block.registers + static_cast<size_t>(first);
    place[0] = value.x;
    place[1] = value.y;
    place[2] = value.z;
  };
  auto setOne = [&](BlockRegister number, uint32_t value) {
    block.registers[static_cast<size_t>(number)] = value;
  };
  const LaunchShape &shape = launch.shape;
  const Extent3 &box = shape.cluster;
  Extent3 place = launch.getBlock(number, block.rank);
  set(BlockRegister::Ntid, shape.threads);
  set(BlockRegister::Ctaid, place);
  set(BlockRegister::Nctaid, shape.grid);
  set(BlockRegister::ClusterId,
      {place.x / box.x, place.y / box.y, place.z / box.z});
  set(BlockRegister::NclusterId,
      {shape.grid.x / box.x, shape.grid.y / box.y, shape.grid.z / box.z});
  set(BlockRegister::ClusterCtaid,
      {place.x % box.x, place.y % box.y, place.z % box.z});
  set(BlockRegister::ClusterNctaid, box);
  setOne(BlockRegister::ClusterCtarank, block.rank);
  setOne(BlockRegister::ClusterNctarank, box.count());
  setOne(BlockRegister::NwarpId, launch.warpsOfBlock);
  setOne(BlockRegister::WarpSize, warpSize);
  setOne(BlockRegister::SmId, 0);
  setOne(BlockRegister::NsmId, 1);
  setOne(BlockRegister::GridId, 0);
  setOne(BlockRegister::TotalSharedSize, launch.sharedBytes);
  setOne(BlockRegister::DynamicSharedSize, shape.dynamicSharedBytes);
}

void Cluster::start(uint32_t newNumber, uint64_t *executions) {
  number = newNumber;
  firstEpochWarp = number * launch.warpsOfCluster;
  ClockRef view = new ClockView(launch.warpsOfCluster);
  unsigned threadsOfBlock = launch.threadsOfBlock;
  liveThreads = missing = threadsOfBlock * launch.blocksOfCluster;
  phase = 0;
  arrivals = lastPhase = nullptr;
  waiting.clear();
  ready.clear();
  for (Block &block : blocks) {
    block.liveThreads = threadsOfBlock;
    block.syncPlaces.clear();
    block.remoteAccesses.clear();
    block.endView = nullptr;
    for (Barrier &barrier : block.barriers)
      barrier = Barrier();
    std::memset(block.shared, unwrittenByte, launch.sharedSpan);
    setRegisters(block);
  }
  const Extent3 &box = launch.shape.threads;
  for (Warp &warp : warps) {
    unsigned first = warp.number % launch.warpsOfBlock * warpSize;
    unsigned lanes = std::min(warpSize, threadsOfBlock - first);
    warp.epochNumber = firstEpochWarp + warp.number;
    warp.live = llvm::maskTrailingOnes<uint32_t>(lanes);
    warp.runnable = warp.waiting = warp.booked = 0;
    warp.isQueued = false;
    warp.isUniform = true;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Thread &thread = warp.threads[lane];
      unsigned index = first + lane;
      uint32_t own[] = {index % box.x, index / box.x % box.y,
                        index / box.x / box.y, lane, first / warpSize};
      std::copy(std::begin(own), std::end(own), thread.ownRegisters);
      thread.blockRegisters = warp.block->registers;
      thread.executions = executions;
      thread.worker = worker;
      thread.view = view;
      thread.clock = 1;
      thread.copies.clear();
      thread.copyGroup = 0;
      thread.fences = nullptr;
      thread.clusterPhase = Thread::none;
      thread.frame = launch.code.start(&thread, launch.arguments.data());
    }
    wake(warp, warp.live);
  }
}

void Cluster::wake(Warp &warp, uint32_t lanes) {
  warp.waiting &= ~lanes;
  warp.booked &= ~lanes;
  warp.runnable |= lanes;
  if (warp.runnable && !warp.isQueued) {
    warp.isQueued = true;
    ready.push_back(&warp);
  }
}
