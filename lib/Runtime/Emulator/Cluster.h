//===- Cluster.h - Blocks, warps and lanes ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_CLUSTER_H
#define METAOPS_LIB_RUNTIME_EMULATOR_CLUSTER_H

#include "Launch.h"

#include <algorithm>
#include <vector>

namespace metaops::emulator {

class Worker;
struct Warp;
struct Block;
struct Cluster;

/// Accesses of a warp's lanes as their n-th one of one turn, written down when
/// it happened and checked when the warp has stopped. Addresses of shared
/// memory have the bits of the window, and the block of the cluster that it is
/// of.
struct AccessRow {
  uint32_t site;
  uint32_t lanes = 0;
  uint64_t addresses[warpSize];
};

/// The same of a lane that was elsewhere than others at its n-th access.
struct LaneAccess {
  uint32_t site, lane, index;
  uint64_t address;
};

/// The accesses of a turn.
struct AccessLog {
  std::vector<AccessRow> rows;
  size_t usedRows = 0;
  /// The first row that lanes differ in.
  size_t firstUneven = ~size_t(0);
  std::vector<LaneAccess> uneven;

  void add(unsigned lane, uint32_t index, uint32_t site, uint64_t address) {
    if (index >= usedRows)
      begin(index, site);
    AccessRow &row = rows[index];
    if (row.site != site)
      return addUneven({site, lane, index, address});
    row.lanes |= uint32_t(1) << lane;
    row.addresses[lane] = address;
  }
  /// Begins the next row.
  void begin(uint32_t index, uint32_t site);
  void addUneven(const LaneAccess &access);
  void clear() {
    for (size_t i = 0; i < usedRows; ++i)
      rows[i].lanes = 0;
    usedRows = 0;
    firstUneven = ~size_t(0);
    uneven.clear();
  }
};

/// An asynchronous copy that its thread has not waited for.
struct CopyInFlight {
  uint8_t *destination;
  const uint8_t *source;
  /// Of the destination, as it is logged.
  uint64_t address;
  uint32_t sourceBytes, site, group;
};

/// Effects of a fence on relaxed atomic instructions around it.
struct FenceState {
  /// The thread's view at its last releasing fence, and the reach of that.
  std::shared_ptr<const ClockView> released;
  SyncScope scope = SyncScope::Block;
  /// The views that it has read since, and will have at its next acquiring
  /// fence.
  std::vector<ReleasedView> seen;
};

/// A thread; all that its code and the engine exchange is one line of the
/// host's cache.
struct alignas(64) Thread : EmulatedThread {
  Warp *warp = nullptr;
  Worker *worker = nullptr;
  unsigned lane = 0;
  ClockRef view;
  uint32_t clock = 1;
  /// Accesses of this turn.
  uint32_t accesses = 0;
  std::vector<CopyInFlight> copies;
  uint32_t copyGroup = 0;
  std::unique_ptr<FenceState> fences;
  /// The phase of the cluster's barrier that it has arrived in and not waited
  /// for, or `none`.
  static constexpr uint32_t none = ~uint32_t(0);
  uint32_t clusterPhase = none;
  /// The coroutine, in memory that is kept for later threads.
  void *frame = nullptr;
  std::unique_ptr<uint8_t[]> frameMemory;
  size_t frameBytes = 0;
};

/// 32 threads. A lane runs, or waits, or has exited; one that waits for more
/// than the lanes of its warp is in the books of what it waits for.
struct Warp {
  Block *block = nullptr;
  Thread *threads = nullptr;
  /// In its cluster, and in the launch.
  unsigned number = 0;
  uint32_t epochNumber = 0;
  uint32_t live = 0, runnable = 0, waiting = 0, booked = 0;
  bool isQueued = false;
  /// True if its lanes are known to have one clock and one view.
  bool isUniform = false;
  AccessLog log;

  ThreadPlace getPlace(unsigned lane) const;
};

/// One of the 16 barriers of a block.
struct Barrier {
  static constexpr unsigned count = 16;

  /// The number of threads that meet, or 0 for all; as the first one to come
  /// says.
  uint32_t expected = 0;
  uint32_t arrived = 0;
  /// Those that wait, by warp, and where they wait.
  std::vector<std::pair<Warp *, uint32_t>> waiting;
  /// The views of those that came and went on.
  ClockRef arrivals;
  uint32_t trueCount = 0;
  uint32_t site = 0;
};

struct Block {
  Cluster *cluster = nullptr;
  unsigned rank = 0;
  Warp *warps = nullptr;
  uint32_t liveThreads = 0;
  uint32_t registers[static_cast<size_t>(BlockRegister::Count)] = {};
  Barrier barriers[Barrier::count];
  uint8_t *shared = nullptr;
  Shadow shadow;
  SyncPlaces syncPlaces;
  /// The views of all its threads when they exited, and the last accesses of
  /// its shared memory by warps of other blocks.
  ClockRef endView;
  llvm::DenseMap<uint32_t, Epoch> remoteAccesses;
};

/// The blocks that share memory; one, where a kernel has no clusters. It is
/// kept for later clusters of the launch.
struct Cluster {
  explicit Cluster(Launch &launch);

  /// Makes the threads of cluster `number`; all are runnable.
  void start(uint32_t number, uint64_t *executions);

  Launch &launch;
  /// The worker that runs it.
  Worker *worker = nullptr;
  uint32_t number = 0;
  uint32_t firstEpochWarp = 0;
  uint32_t liveThreads = 0;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Block> blocks;
  std::vector<Warp *> ready;

  /// The cluster's barrier: which phase it is in, how many threads it lacks,
  /// and what those knew that have arrived, and at the end of the last phase.
  uint32_t phase = 0, missing = 0;
  ClockRef arrivals, lastPhase;
  std::vector<std::pair<Warp *, uint32_t>> waiting;

  /// Has lanes run again.
  void wake(Warp &warp, uint32_t lanes);

private:
  void setRegisters(Block &block);
  std::vector<uint8_t> sharedMemory;
};

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_CLUSTER_H
