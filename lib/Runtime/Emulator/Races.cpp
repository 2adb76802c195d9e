//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A happens-before check as in FastTrack: each piece of memory remembers its
// last write and the reads since. An access is a race with one of those if the
// clocks do not order the two (Clocks.cpp), whichever came first in this run;
// so races are found that no order of execution has shown. Atomic instructions
// do not race with each other, if each one's scope has the other's thread.
//
// An access is remembered by warp, with the lanes that made it at one time, so
// that what a warp reads together costs what one lane does. Readers of several
// warps of a cluster are a list, of readers in other clusters one is kept.
// That one may have been ordered where another was not; such a race is missed.
//
// What an asynchronous copy will write is a write at a time that nobody knows
// of, until its thread has waited.
//
//===----------------------------------------------------------------------===//

#include "Races.h"
#include "Worker.h"

using namespace metaops;
using namespace metaops::emulator;

/// Readers of a cell that are kept; more are as many as a block has warps.
static constexpr size_t mostReaders = 64;

RaceCheck::RaceCheck(Worker &worker, Warp &warp, uint32_t number)
    : worker(worker), launch(worker.launch), warp(warp),
      cluster(*warp.block->cluster), number(number),
      site(launch.code.sites[number]),
      isWrite(site.instruction->access != AccessKind::Read),
      isRead(site.instruction->access != AccessKind::Write) {}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether an epoch is of the cluster that runs. Cells of shared memory have
/// those of earlier clusters, too, which are nothing to this one.
bool RaceCheck::isHere(const Epoch &epoch) const {
  return epoch.warp - cluster.firstEpochWarp < launch.warpsOfCluster;
}

/// Whether `epoch` comes before what `lanes` do now; else, for which lane it
/// does not.
bool RaceCheck::isOrdered(const Epoch &epoch, uint32_t lanes,
                          unsigned &lane) const {
  lane = __builtin_ctz(lanes);
  if (epoch.clock == Epoch::pending)
    return false;
  const ClockView *last = nullptr;
  for (; lanes; lanes &= lanes - 1) {
    lane = __builtin_ctz(lanes);
    const ClockView *view = warp.threads[lane].view.get();
    uint32_t others = epoch.lanes;
    if (epoch.warp == warp.epochNumber)
      others &= ~(uint32_t(1) << lane);
    else if (view == last)
      continue;
    last = view;
    if (!others)
      continue;
    unsigned other = epoch.warp % launch.warpsOfCluster;
    bool isKnown = isHere(epoch)
                       ? view->covers(other, others, epoch.clock)
                       : view->coversForeign(epoch.warp / launch.warpsOfCluster,
                                             other, others, epoch.clock);
    if (!isKnown)
      return false;
  }
  return true;
}

/// Whether both are strong, and the scope of each has the other.
bool RaceCheck::mayMeet(const Epoch &epoch) const {
  const Site &other = launch.code.sites[epoch.site];
  if (!site.instruction->isStrong || !other.instruction->isStrong)
    return false;
  switch (std::min(site.scope, other.scope)) {
  case SyncScope::Block:
    return epoch.warp / launch.warpsOfBlock ==
           warp.epochNumber / launch.warpsOfBlock;
  case SyncScope::Cluster:
    return isHere(epoch);
  case SyncScope::Device:
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string RaceCheck::describe(const Epoch &epoch) const {
  ThreadPlace place = {epoch.warp / launch.warpsOfCluster,
                       epoch.warp % launch.warpsOfCluster,
                       static_cast<uint32_t>(__builtin_ctz(epoch.lanes))};
  return launch.describe(place) + " (" + launch.describeSite(epoch.site) + ")";
}

void RaceCheck::report(FaultKind kind, const Epoch &epoch, unsigned lane,
                       uint64_t address, const std::string &relation) {
  worker.report(kind, warp.threads[lane], number, address,
                relation + " " + describe(epoch), epoch.site);
}

void RaceCheck::checkAgainst(const Epoch &epoch, uint32_t lanes,
                             uint64_t address) {
  unsigned lane;
  if (mayMeet(epoch) || isOrdered(epoch, lanes, lane))
    return;
  AccessKind kind = launch.code.sites[epoch.site].instruction->access;
  std::string own = isWrite ? "writes" : "reads";
  if (epoch.clock == Epoch::pending)
    return report(FaultKind::PendingCopy, epoch, lane, address,
                  own + " what an asynchronous copy is still to write, by");
  std::string relation =
      kind == AccessKind::Read ? " what was read by" : " what was written by";
  report(FaultKind::Race, epoch, lane, address,
         own + relation + (kind == AccessKind::Update ? " (in one step)" : ""));
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

void RaceCheck::addRead(Cell &cell, EpochSets &sets, const Epoch &epoch) {
  Epoch &reads = cell.reads;
  unsigned lane;
  if (reads.exists() && !isHere(reads)) {
    if (reads.lanes == 0) {
      uint32_t set = reads.clock;
      reads = sets[set].front();
      sets.release(set);
    }
    if (!isShared)
      cell.foreignRead = reads;
    reads = Epoch();
  }
  if (!reads.exists()) {
    reads = epoch;
    return;
  }
  auto combine = [&](Epoch &known) {
    if (known.warp != epoch.warp)
      return false;
    if (known.clock == epoch.clock) {
      known.lanes |= epoch.lanes;
      return true;
    }
    if (!isOrdered(known, epoch.lanes, lane))
      return false;
    known = epoch;
    return true;
  };
  if (!cell.hasReadSet()) {
    if (combine(reads))
      return;
    if (isOrdered(reads, epoch.lanes, lane)) {
      reads = epoch;
      return;
    }
    Epoch first = reads;
    reads = {epoch.warp, 0, sets.allocate(), 0};
    sets[reads.clock].push_back(first);
  }
  EpochSets::Set &set = sets[reads.clock];
  for (Epoch &known : set)
    if (combine(known))
      return;
  // Those that come before this one say nothing that it does not.
  llvm::erase_if(set, [&](const Epoch &known) {
    return isOrdered(known, epoch.lanes, lane);
  });
  if (set.size() == mostReaders)
    set.erase(set.begin());
  set.push_back(epoch);
}

void RaceCheck::addWrite(Cell &cell, EpochSets &sets, const Epoch &epoch) {
  unsigned lane;
  bool keepsLast = site.instruction->isStrong && cell.write.exists() &&
                   (!isShared || isHere(cell.write)) &&
                   !isOrdered(cell.write, epoch.lanes, lane);
  if (!site.instruction->isStrong) {
    if (cell.hasReadSet())
      sets.release(cell.reads.clock);
    cell.reads = cell.foreignRead = Epoch();
  }
  if (keepsLast && isHere(cell.write))
    addRead(cell, sets, cell.write);
  else if (keepsLast)
    cell.foreignRead = cell.write;
  cell.write = epoch;
}

/// Checks against what was read since the last write, and against writes by
/// atomic instructions that are among those.
void RaceCheck::checkReads(Cell &cell, EpochSets &sets, uint32_t lanes,
                           uint64_t address) {
  auto check = [&](const Epoch &epoch) {
    const Site &other = launch.code.sites[epoch.site];
    if (isWrite && other.isInvariant)
      report(FaultKind::StaleRead, epoch, __builtin_ctz(lanes), address,
             "writes what was read as constant data by");
    else if (isWrite || other.instruction->access != AccessKind::Read)
      checkAgainst(epoch, lanes, address);
  };
  if (cell.foreignRead.exists() && !isShared)
    check(cell.foreignRead);
  if (!cell.reads.exists() || (isShared && !isHere(cell.reads)))
    return;
  if (!cell.hasReadSet())
    return check(cell.reads);
  for (const Epoch &epoch : sets[cell.reads.clock])
    check(epoch);
}

void RaceCheck::checkCell(Cell &cell, EpochSets &sets, uint32_t lanes,
                          uint64_t address) {
  unsigned lane = __builtin_ctz(lanes);
  Thread &thread = warp.threads[lane];
  bool isWritten = cell.write.exists() && (!isShared || isHere(cell.write));
  if (isWritten) {
    if (site.isInvariant)
      report(FaultKind::StaleRead, cell.write, lane, address,
             "reads as constant data what was written by");
    else
      checkAgainst(cell.write, lanes, address);
  } else if (isShared && isRead) {
    worker.report(FaultKind::Uninitialised, thread, number, address,
                  "reads shared memory that nobody has written");
  }
  checkReads(cell, sets, lanes, address);
  bool isCopy = site.instruction->name == "copy";
  Epoch epoch = {warp.epochNumber, lanes,
                 isCopy ? Epoch::pending : thread.clock, number};
  if (isWrite)
    addWrite(cell, sets, epoch);
  else
    addRead(cell, sets, epoch);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void RaceCheck::access(uint32_t lanes, uint64_t address) {
  isShared = address >> 48 == sharedWindow >> 48;
  if (isShared)
    accessShared(lanes, address);
  else
    accessGlobal(lanes, address);
}

/// Lanes whose clocks differ are checked apart: an epoch has one clock.
template <typename F>
static void forEachClock(const Warp &warp, uint32_t lanes, const F &f) {
  while (lanes) {
    uint32_t clock = warp.threads[__builtin_ctz(lanes)].clock, group = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      group |= uint32_t(warp.threads[lane].clock == clock) << lane;
    }
    lanes &= ~group;
    f(group);
  }
}

static Block &getBlock(Cluster &cluster, uint64_t address) {
  uint64_t bare = address & ~(~uint64_t(0) << 48);
  return cluster.blocks[(bare >> clusterRankShift) - 1];
}

static uint32_t getOffset(uint64_t address) {
  return address & ((1u << clusterRankShift) - 1);
}

void RaceCheck::accessShared(uint32_t lanes, uint64_t address) {
  Block &block = getBlock(cluster, address);
  if (&block != warp.block)
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      checkRemote(block, __builtin_ctz(rest), address);
  if (!launch.options.checksRaces)
    return;
  uint32_t offset = getOffset(address);
  unsigned granule = block.shadow.getGranule();
  forEachClock(warp, lanes, [&](uint32_t group) {
    for (uint32_t at = 0; at < site.bytes; at += granule)
      checkCell(block.shadow[(offset + at) / granule], block.shadow.sets, group,
                address + at);
  });
}

void RaceCheck::accessGlobal(uint32_t lanes, uint64_t address) {
  TrackedAllocation *found =
      launch.memory.find(address, site.bytes, worker.guesses[number]);
  if (!found)
    return;
  const Allocation &allocation = found->allocation;
  uint64_t offset = address - found->begin;
  const Thread &first = warp.threads[__builtin_ctz(lanes)];
  if (allocation.isPending && !first.view->gridsAreDone)
    worker.report(FaultKind::PendingGrid, first, number, address,
                  "a grid before this one may still write there, and the "
                  "kernel has not waited for it");
  if (WrittenBytes *written = allocation.written) {
    if (isRead && !written->areMarked(offset, offset + site.bytes))
      worker.report(FaultKind::Uninitialised, first, number, address,
                    "reads scratch memory that nobody has written");
    if (isWrite)
      written->mark(offset, offset + site.bytes);
  }
  if (!launch.options.checksRaces)
    return;
  std::unique_lock<std::mutex> lock(*found->lock, std::defer_lock);
  if (launch.isShared())
    lock.lock();
  unsigned granule = found->shadow.getGranule();
  uint64_t cell = offset + found->begin % granule;
  forEachClock(warp, lanes, [&](uint32_t group) {
    for (uint32_t at = 0; at < site.bytes; at += granule)
      checkCell(found->shadow[(cell + at) / granule], found->shadow.sets, group,
                address + at);
  });
}

void RaceCheck::finishCopy(unsigned lane, uint64_t address) {
  if (!launch.options.checksRaces)
    return;
  Block &block = getBlock(cluster, address);
  unsigned granule = block.shadow.getGranule();
  for (uint32_t at = 0; at < site.bytes; at += granule) {
    Epoch &write = block.shadow[(getOffset(address) + at) / granule].write;
    if (write.clock == Epoch::pending && write.site == number &&
        write.warp == warp.epochNumber && write.lanes == uint32_t(1) << lane)
      write.clock = warp.threads[lane].clock;
  }
}

//===----------------------------------------------------------------------===//
// Shared memory of other blocks
//===----------------------------------------------------------------------===//

void RaceCheck::checkRemote(Block &block, unsigned lane, uint64_t address) {
  Thread &thread = warp.threads[lane];
  // Clocks begin at 1: at 0, nothing of the block is known.
  unsigned first = block.rank * launch.warpsOfBlock;
  if (!thread.view->covers(first, 1, 1))
    worker.report(FaultKind::RemoteBlock, thread, number, address,
                  "the block may not have started: no barrier of the cluster "
                  "comes before");
  Epoch &last = block.remoteAccesses[warp.number];
  if (last.clock != thread.clock)
    last = {warp.epochNumber, 0, thread.clock, number};
  last.lanes |= uint32_t(1) << lane;
}

void emulator::checkRemoteAccesses(Worker &worker, Cluster &cluster) {
  for (Block &block : cluster.blocks)
    for (const auto &[number, epoch] : block.remoteAccesses) {
      if (block.endView->covers(number, epoch.lanes, epoch.clock))
        continue;
      Thread &thread =
          cluster.warps[number].threads[__builtin_ctz(epoch.lanes)];
      worker.report(FaultKind::RemoteBlock, thread, epoch.site,
                    "block " + std::to_string(block.rank) +
                        " of the cluster, whose shared memory this is, may "
                        "have ended: it waits for no barrier behind");
    }
}
