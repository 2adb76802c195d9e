//===- Worker.cpp - A host's thread that runs blocks ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A turn takes one warp that has lanes to run, and runs each of them until it
// stops: at an instruction that waits, at its end, or because it has run for
// long. Lanes know nothing of each other meanwhile, as if the warp had diverged
// at its first instruction. Which warp, and in which order its lanes, the seed
// decides. What happened is then checked and counted for the warp as a whole:
// the n-th access that each lane made at one place is one request.
//
// Then each group of lanes that stopped at one place is given to the row of its
// instruction, which wakes it at once or leaves it.
//
// A cluster of blocks runs to its end before the next one is started, but for
// one or two others that the seed has run beside it, so that blocks are found
// out that count on their order. Where all resident threads wait, or ask in
// vain for long, more clusters are started; when there is none, the launch is
// given up, with a report of who waits for what.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "Instructions.h"
#include "Races.h"

#include <algorithm>

using namespace metaops;
using namespace metaops::emulator;

static constexpr uint32_t mostResidents = 3;
/// Turns in vain, by thread, after which another cluster is started.
static constexpr uint32_t patienceWithResidents = 64;
static constexpr size_t dumpBytes = 4096;

Worker::Worker(Launch &launch, unsigned number)
    : launch(launch), random(launch.options.seed * 31 + number),
      totals(launch.code.sites.size()), ranges(launch.code.sites.size()),
      executions(launch.code.blockCounts.size()),
      wantedResidents(1 + random.below(mostResidents)),
      guesses(launch.code.sites.size()),
      dump(new std::max_align_t[dumpBytes / sizeof(std::max_align_t)]) {
  if (uint32_t limit = launch.options.residentClusters)
    wantedResidents = std::min(wantedResidents, limit);
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

bool Worker::startCluster() {
  uint32_t limit = launch.options.residentClusters;
  if (limit && residents.size() >= limit)
    return false;
  uint32_t next = launch.nextCluster++;
  if (next >= launch.clusters) {
    launch.nextCluster = launch.clusters;
    return false;
  }
  if (spare.empty())
    spare.push_back(std::make_unique<Cluster>(launch));
  residents.push_back(std::move(spare.back()));
  spare.pop_back();
  residents.back()->worker = this;
  residents.back()->start(launch.getCluster(next), executions.data());
  progress();
  return true;
}

void Worker::finishCluster(size_t index) {
  checkRemoteAccesses(*this, *residents[index]);
  std::swap(residents[index], residents.back());
  spare.push_back(std::move(residents.back()));
  residents.pop_back();
  progress();
}

Cluster *Worker::chooseCluster() {
  uint32_t first = residents.size() > 1 ? random.below(residents.size()) : 0;
  for (size_t i = 0; i < residents.size(); ++i) {
    Cluster &cluster = *residents[(first + i) % residents.size()];
    if (!cluster.ready.empty())
      return &cluster;
  }
  return nullptr;
}

void Worker::run() {
  while (!launch.isGivenUp) {
    while (residents.size() < wantedResidents && startCluster()) {
    }
    if (residents.empty())
      return;
    Cluster *cluster = chooseCluster();
    if (!cluster) {
      if (startCluster())
        continue;
      reportDeadlock();
      launch.isGivenUp = true;
      return;
    }
    std::vector<Warp *> &ready = cluster->ready;
    std::swap(ready[random.below(ready.size())], ready.back());
    Warp &warp = *ready.back();
    ready.pop_back();
    warp.isQueued = false;
    runWarp(warp);
    if (cluster->liveThreads == 0)
      finishCluster(llvm::find_if(residents,
                                  [&](auto &resident) {
                                    return resident.get() == cluster;
                                  }) -
                    residents.begin());
    else if (isStalled()) {
      reportStall();
      launch.isGivenUp = true;
    }
  }
}

void Worker::runWarp(Warp &warp) {
  uint32_t lanes = warp.runnable;
  warp.runnable = 0;
  // An odd step comes to each lane once.
  uint32_t draw = random.next() >> 32, step = (draw >> 5) | 1;
  for (uint32_t i = 0, lane = draw; i < warpSize; ++i, lane += step) {
    if (!(lanes >> (lane % warpSize) & 1))
      continue;
    Thread &thread = warp.threads[lane % warpSize];
    thread.fuel = EmulatedThread::fullFuel;
    thread.accesses = 0;
    // A frame begins with the function that resumes it.
    auto resume = *static_cast<void (**)(void *)>(thread.frame);
    resume(thread.frame);
  }
  warp.waiting |= lanes;
  checkLog(warp);
  dispatch(warp, lanes);
}

void Worker::dispatch(Warp &warp, uint32_t lanes) {
  uint32_t live = warp.live;
  while (lanes) {
    uint32_t site = warp.threads[__builtin_ctz(lanes)].site, group = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      group |= uint32_t(warp.threads[lane].site == site) << lane;
    }
    lanes &= ~group;
    launch.code.sites[site].instruction->execute(*this, warp, site, group);
    // Lanes may be woken by others of the group before them.
    lanes &= warp.waiting & ~warp.booked;
  }
  if (warp.live == live)
    return;
  // Others may have waited for those that are gone.
  dispatch(warp, warp.waiting & ~warp.booked);
  reconsiderBarriers(*this, warp);
}

void Worker::exit(Warp &warp, uint32_t lanes) {
  Block &block = *warp.block;
  Cluster &cluster = *block.cluster;
  bool isShared = launch.blocksOfCluster > 1;
  const ClockView *last = nullptr;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    Thread &thread = warp.threads[__builtin_ctz(rest)];
    finishCopies(*this, thread, 0);
    cluster.missing -= thread.clusterPhase != cluster.phase;
    if (!isShared)
      continue;
    if (!block.endView)
      block.endView = new ClockView(launch.warpsOfCluster);
    if (last != thread.view.get())
      block.endView->join(*thread.view);
    last = thread.view.get();
    block.endView->set(warp.number, thread.lane, thread.clock);
  }
  unsigned count = __builtin_popcount(lanes);
  warp.live &= ~lanes;
  warp.waiting &= ~lanes;
  block.liveThreads -= count;
  cluster.liveThreads -= count;
  progress();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void *Worker::getDump() {
  std::memset(dump.get(), 0, dumpBytes);
  return dump.get();
}

/// The variable that holds a range of a block's shared memory, or null.
static const SharedVariable *findVariable(const Launch &launch, uint32_t offset,
                                          uint32_t bytes) {
  for (const SharedVariable &variable : launch.code.sharedVariables) {
    uint32_t size = launch.getBytes(variable);
    uint32_t begin = offset - variable.offset;
    if (begin < size && bytes <= size - begin)
      return &variable;
  }
  return nullptr;
}

static bool isShared(const Site &site, uint64_t address) {
  return site.space == Space::Shared || site.space == Space::Cluster ||
         (site.space == Space::Generic && address >> 48 == sharedWindow >> 48);
}

std::optional<Place> Worker::resolve(Thread &thread, uint32_t number,
                                     uint64_t address) {
  const Site &site = launch.code.sites[number];
  AccessKind kind = site.instruction->access;
  bool writes = kind != AccessKind::Read;
  bool isInShared = isShared(site, address);
  Place place = {nullptr, address};
  KnownRange range;
  if (isInShared) {
    Block *block = thread.warp->block;
    uint64_t bare = address & ~(~uint64_t(0) << 48);
    uint64_t rank = bare >> clusterRankShift;
    uint32_t offset = bare & ((1u << clusterRankShift) - 1);
    bool isOwn = rank == 0;
    rank = rank ? rank - 1 : block->rank;
    place.address = sharedWindow | (rank + 1) << clusterRankShift | offset;
    const SharedVariable *variable = findVariable(launch, offset, site.bytes);
    if (rank < launch.blocksOfCluster && variable) {
      place.host = block->cluster->blocks[rank].shared + offset;
      if (isOwn && site.space == Space::Shared)
        range = {variable->offset, launch.getBytes(*variable) - site.bytes,
                 site.alignment - 1, true};
    }
  } else if (TrackedAllocation *found =
                 launch.memory.find(address, site.bytes, guesses[number])) {
    place.host = reinterpret_cast<uint8_t *>(address);
    if (writes && found->allocation.isReadOnly) {
      report(FaultKind::ReadOnly, thread, number, place.address,
             "writes what the kernel may only read");
      return std::nullopt;
    }
    if (site.space == Space::Global)
      range = {found->begin, found->allocation.bytes - site.bytes,
               site.alignment - 1, false};
  }
  if (!place.host) {
    report(FaultKind::OutOfBounds, thread, number, place.address,
           std::string(writes ? "writes " : "reads ") +
               std::to_string(site.bytes) + " bytes that are not all in one " +
               (isInShared ? "shared variable" : "allocation"));
    return std::nullopt;
  }
  if (place.address & (site.alignment - 1)) {
    report(FaultKind::Misaligned, thread, number, place.address,
           "the address is no multiple of " + std::to_string(site.alignment));
    return std::nullopt;
  }
  ranges[number] = range;
  return place;
}

void *Worker::accessAnywhere(Thread &thread, uint32_t site, uint64_t address) {
  std::optional<Place> place = resolve(thread, site, address);
  if (!place)
    return getDump();
  log(thread, site, place->address);
  return place->host;
}

void Worker::checkAddresses(Warp &warp, uint32_t site, uint32_t lanes,
                            const uint64_t *addresses, int64_t stride) {
  RaceCheck check(*this, warp, site);
  uint64_t first = addresses[__builtin_ctz(lanes)];
  uint32_t bytes = launch.code.sites[site].bytes;
  bool isRead = launch.code.sites[site].instruction->access == AccessKind::Read;
  unsigned guess = guesses[site];
  // All in one allocation, or block; and if they read the same, at once.
  bool isOne =
      first >> 48 == sharedWindow >> 48 ||
      launch.memory.find(first, bytes + (__builtin_popcount(lanes) - 1) * bytes,
                         guess);
  if (isOne && stride == bytes)
    return check.accessNeighbours(lanes, first, bytes);
  if (isRead && stride == 0)
    return check.access(lanes, first);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    check.access(uint32_t(1) << lane, addresses[lane]);
  }
}

void Worker::request(Warp &warp, uint32_t site, uint32_t lanes,
                     const uint64_t *addresses) {
  int64_t stride = getStride(lanes, addresses);
  if (launch.options.countsAccesses)
    countRequest(totals[site], launch.code.sites[site], lanes, addresses,
                 stride);
  checkAddresses(warp, site, lanes, addresses, stride);
}

void Worker::checkLog(Warp &warp) {
  AccessLog &log = warp.log;
  size_t even = std::min(log.usedRows, log.firstUneven);
  for (size_t i = 0; i < even; ++i)
    request(warp, log.rows[i].site, log.rows[i].lanes, log.rows[i].addresses);
  if (log.usedRows > even)
    checkUneven(warp);
  log.clear();
}

void Worker::checkUneven(Warp &warp) {
  AccessLog &log = warp.log;
  std::vector<LaneAccess> all = std::move(log.uneven);
  for (size_t i = log.firstUneven; i < log.usedRows; ++i)
    for (uint32_t rest = log.rows[i].lanes; rest; rest &= rest - 1) {
      uint32_t lane = __builtin_ctz(rest);
      all.push_back({log.rows[i].site, lane, static_cast<uint32_t>(i),
                     log.rows[i].addresses[lane]});
    }
  // Each lane in its own order; then its index is how often it was there.
  llvm::sort(all, [](const LaneAccess &a, const LaneAccess &b) {
    return std::tie(a.lane, a.index) < std::tie(b.lane, b.index);
  });
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> occurrences;
  for (LaneAccess &access : all) {
    RaceCheck(*this, warp, access.site)
        .access(uint32_t(1) << access.lane, access.address);
    access.index = occurrences[{access.lane, access.site}]++;
  }
  if (!launch.options.countsAccesses)
    return;
  llvm::sort(all, [](const LaneAccess &a, const LaneAccess &b) {
    return std::tie(a.site, a.index, a.lane) <
           std::tie(b.site, b.index, b.lane);
  });
  for (size_t i = 0; i < all.size();) {
    uint64_t addresses[warpSize];
    uint32_t group = 0, site = all[i].site, index = all[i].index;
    for (; i < all.size() && all[i].site == site && all[i].index == index;
         ++i) {
      group |= uint32_t(1) << all[i].lane;
      addresses[all[i].lane] = all[i].address;
    }
    countRequest(totals[site], launch.code.sites[site], group, addresses,
                 getStride(group, addresses));
  }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string Worker::describeAddress(const Thread &thread,
                                    uint64_t address) const {
  auto describe = [](const std::string &name, uint64_t offset) {
    return name + " + " + std::to_string(offset) + " bytes";
  };
  if (address >> 48 == sharedWindow >> 48) {
    uint64_t bare = address & ~(~uint64_t(0) << 48);
    uint64_t rank = (bare >> clusterRankShift) - 1;
    uint32_t offset = bare & ((1u << clusterRankShift) - 1);
    const SharedVariable *below = nullptr;
    for (const SharedVariable &variable : launch.code.sharedVariables)
      if (variable.offset <= offset &&
          (!below || variable.offset >= below->offset))
        below = &variable;
    std::string text =
        below ? describe("shared " + below->name, offset - below->offset)
              : describe("shared memory", offset);
    if (rank != thread.warp->block->rank)
      text += " of block " + std::to_string(rank) + " of the cluster";
    return text;
  }
  const TrackedAllocation *below = launch.memory.findBelow(address);
  // Far above an allocation the address has nothing to do with it.
  if (below && address - below->begin < 2 * below->allocation.bytes + (1 << 20))
    return describe(below->allocation.name, address - below->begin);
  return "address " + std::to_string(address);
}

void Worker::report(FaultKind kind, const Thread &thread, uint32_t site,
                    uint64_t address, const std::string &message,
                    uint32_t otherSite) {
  if (launch.faults.isNew(kind, site, otherSite))
    launch.report(kind, thread.warp->getPlace(thread.lane), site,
                  describeAddress(thread, address), message);
}

void Worker::report(FaultKind kind, const Thread &thread, uint32_t site,
                    const std::string &message) {
  if (launch.faults.isNew(kind, site, ~uint32_t(0)))
    launch.report(kind, thread.warp->getPlace(thread.lane), site, "", message);
}

bool Worker::isStalled() {
  // Others may have gone on meanwhile.
  if (uint64_t changes = launch.changes; changes != seenChanges) {
    seenChanges = changes;
    idleTurns = 0;
  }
  uint64_t live = 0;
  for (const auto &cluster : residents)
    live += cluster->liveThreads;
  if (idleTurns > patienceWithResidents * live && startCluster())
    return false;
  return idleTurns > launch.options.patience * live;
}

/// Describes what some lanes of a warp, which wait at one place, wait for.
static std::string describeWait(const Launch &launch, const Warp &warp,
                                uint32_t lanes, uint32_t site) {
  std::string text = "warp " +
                     std::to_string(warp.number % launch.warpsOfBlock) +
                     (lanes == warp.live ? "" : " in part") + " waits at " +
                     launch.describeSite(site);
  const Instruction &instruction = *launch.code.sites[site].instruction;
  if (instruction.describe)
    text += " (" + instruction.describe(warp, __builtin_ctz(lanes)) + ")";
  return text;
}

void Worker::reportDeadlock() {
  static constexpr unsigned mostLines = 8;
  for (const auto &cluster : residents) {
    std::vector<std::string> lines;
    const Thread *first = nullptr, *diverged = nullptr;
    for (Warp &warp : cluster->warps) {
      for (uint32_t rest = warp.waiting; rest;) {
        uint32_t site = warp.threads[__builtin_ctz(rest)].site, group = 0;
        for (unsigned lane = 0; lane < warpSize; ++lane)
          if (rest >> lane & 1 && warp.threads[lane].site == site)
            group |= uint32_t(1) << lane;
        rest &= ~group;
        const Thread &thread = warp.threads[__builtin_ctz(group)];
        if (!first)
          first = &thread;
        // An aligned barrier that is in no books lacks lanes of this warp.
        bool lacksLanes =
            launch.code.sites[site].isAligned && (group & ~warp.booked);
        if (lacksLanes && !diverged)
          diverged = &thread;
        if (lines.size() < mostLines)
          lines.push_back(describeWait(launch, warp, group, site));
      }
    }
    if (!first)
      continue;
    std::string message;
    for (const std::string &line : lines)
      message += (message.empty() ? "" : "; ") + line;
    if (diverged)
      report(FaultKind::DivergentBarrier, *diverged, diverged->site,
             "lanes of one warp do not come to the barrier together: " +
                 message);
    else
      report(FaultKind::Deadlock, *first, first->site, message);
  }
}

void Worker::reportStall() {
  for (const auto &cluster : residents)
    for (Warp &warp : cluster->warps) {
      uint32_t asking = warp.live & ~warp.booked;
      if (!asking)
        continue;
      const Thread &thread = warp.threads[__builtin_ctz(asking)];
      report(FaultKind::Stall, thread, thread.site,
             "threads go on asking here, and nothing changes");
    }
}
