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
// Of each piece of memory the last plain write is kept, and what has read it
// since or written it atomically. One of these says all that an earlier one
// says if it comes behind it; but an atomic one says nothing for a plain one,
// as more races with that.
//
// An access is remembered by warp, with the lanes that made it at one time, so
// that what a warp reads together costs what one lane does. Those of several
// warps of a cluster are a list; of all other clusters, one reader is kept and
// one atomic instruction. These may have been ordered where others were not;
// such a race is missed.
//
// An asynchronous copy writes at a time that nobody knows of, until its thread
// has waited.
//
//===----------------------------------------------------------------------===//

#include "Races.h"
#include "Worker.h"

using namespace metaops;
using namespace metaops::emulator;

/// Epochs of a cell that are kept; blocks have no more warps than half of that.
static constexpr size_t mostEpochs = 64;

RaceCheck::RaceCheck(Worker &worker, Warp &warp, uint32_t number)
    : worker(worker), launch(worker.launch), warp(warp),
      cluster(*warp.block->cluster), number(number),
      site(launch.code.sites[number]),
      isWrite(site.instruction->access != AccessKind::Read),
      isRead(site.instruction->access == AccessKind::Read ||
             site.instruction->access == AccessKind::Update),
      isCopy(site.instruction->access == AccessKind::LaterWrite) {}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Returns whether an epoch is of the cluster that runs. Cells of shared memory
/// have those of earlier clusters, too, which are nothing to this one.
bool RaceCheck::isHere(const Epoch &epoch) const {
  return epoch.warp - cluster.firstEpochWarp < launch.warpsOfCluster;
}

/// Returns whether a thread with this view knows what `others` did.
bool RaceCheck::knows(const ClockView &view, const Epoch &epoch,
                      uint32_t others) const {
  if (isHere(epoch))
    return view.covers(epoch.warp - cluster.firstEpochWarp, others,
                       epoch.clock);
  return view.coversForeign(epoch.warp / launch.warpsOfCluster,
                            epoch.warp % launch.warpsOfCluster, others,
                            epoch.clock);
}

/// Returns whether `epoch` comes before what `lanes` do now; else, for which
/// lane it does not.
bool RaceCheck::isOrdered(const Epoch &epoch, uint32_t lanes,
                          unsigned &lane) const {
  lane = __builtin_ctz(lanes);
  if (epoch.clock == Epoch::pending)
    return false;
  bool isOwnWarp = epoch.warp == warp.epochNumber;
  // A lane need not know of itself. Of several, each is another to some.
  bool isOne = (lanes & (lanes - 1)) == 0;
  if (isOne || warp.isUniform) {
    uint32_t others = epoch.lanes;
    if (isOwnWarp && isOne)
      others &= ~lanes;
    return !others || knows(*warp.threads[lane].view, epoch, others);
  }
  for (; lanes; lanes &= lanes - 1) {
    lane = __builtin_ctz(lanes);
    uint32_t others =
        isOwnWarp ? epoch.lanes & ~(uint32_t(1) << lane) : epoch.lanes;
    if (others && !knows(*warp.threads[lane].view, epoch, others))
      return false;
  }
  return true;
}

/// Returns whether both are strong, and the scope of each has the other.
bool RaceCheck::mayMeet(const Epoch &epoch) const {
  const Site &other = launch.code.sites[epoch.site];
  if (!site.instruction->isStrong() || !other.instruction->isStrong())
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

/// Returns whether a cell needs no `known` beside `epoch`, which may take its
/// lanes.
bool RaceCheck::replaces(Epoch &known, const Epoch &epoch) const {
  if (known.warp == epoch.warp && known.clock == epoch.clock &&
      (known.site == epoch.site || (!isStrong(known) && !isStrong(epoch)))) {
    known.lanes |= epoch.lanes;
    return true;
  }
  unsigned lane;
  if (isStrong(epoch) && !isStrong(known))
    return false;
  if (!isOrdered(known, epoch.lanes, lane))
    return false;
  known = epoch;
  return true;
}

/// Keeps one epoch of each kind of a cluster that is no more the last. In
/// shared memory, that cluster is nothing to this one.
void RaceCheck::leaveToOthers(Cell &cell, EpochSets &sets) {
  if (!cell.foreign && !isShared) {
    cell.foreign = sets.allocate();
    sets[cell.foreign].resize(2);
  }
  auto leave = [&](const Epoch &epoch) {
    if (!isShared)
      sets[cell.foreign][isStrong(epoch)] = epoch;
  };
  if (cell.hasSet()) {
    llvm::for_each(sets[cell.others.clock], leave);
    sets.release(cell.others.clock);
  } else {
    leave(cell.others);
  }
  cell.others = Epoch();
}

void RaceCheck::addOther(Cell &cell, EpochSets &sets, const Epoch &epoch) {
  if (cell.others.exists() && !isHere(cell.others))
    leaveToOthers(cell, sets);
  if (!cell.others.exists()) {
    cell.others = epoch;
    return;
  }
  if (!cell.hasSet()) {
    if (replaces(cell.others, epoch))
      return;
    uint32_t set = sets.allocate();
    sets[set].push_back(cell.others);
    cell.others = {epoch.warp, 0, set, 0};
  }
  EpochSets::Set &set = sets[cell.others.clock];
  for (size_t i = 0; i < set.size(); ++i) {
    if (!replaces(set[i], epoch))
      continue;
    // It may stand for more than one.
    Epoch merged = set[i];
    for (size_t j = set.size(); --j > i;)
      if (replaces(set[j], merged))
        set.erase(set.begin() + j);
    return;
  }
  if (set.size() == mostEpochs)
    set.erase(set.begin());
  set.push_back(epoch);
}

/// Checks against a reader, or an atomic instruction, since the last write.
void RaceCheck::checkOther(const Epoch &epoch, uint32_t lanes,
                           uint64_t address) {
  if (isWrite && launch.code.sites[epoch.site].isInvariant)
    report(FaultKind::StaleRead, epoch, __builtin_ctz(lanes), address,
           "writes what was read as constant data by");
  else if (isWrite || getKind(epoch) != AccessKind::Read)
    checkAgainst(epoch, lanes, address);
}

void RaceCheck::checkCell(Cell &cell, EpochSets &sets, uint32_t lanes,
                          uint64_t address) {
  unsigned lane = __builtin_ctz(lanes);
  Thread &thread = warp.threads[lane];
  Epoch epoch = {warp.epochNumber, lanes,
                 isCopy ? Epoch::pending : thread.clock, number};
  bool staysPlain = isWrite && !site.instruction->isStrong();
  if (!isShared && !cell.isTouched()) {
    (staysPlain ? cell.write : cell.others) = epoch;
    return;
  }
  bool isWritten = cell.write.exists() && (!isShared || isHere(cell.write));
  if (isWritten) {
    if (site.isInvariant)
      report(FaultKind::StaleRead, cell.write, lane, address,
             "reads as constant data what was written by");
    else
      checkAgainst(cell.write, lanes, address);
  }
  auto check = [&](const Epoch &epoch) {
    isWritten |= getKind(epoch) != AccessKind::Read;
    checkOther(epoch, lanes, address);
  };
  if (cell.foreign)
    for (const Epoch &epoch : sets[cell.foreign])
      if (epoch.exists())
        check(epoch);
  if (cell.others.exists() && (!isShared || isHere(cell.others))) {
    if (cell.hasSet())
      llvm::for_each(sets[cell.others.clock], check);
    else
      check(cell.others);
  }
  if (isShared && isRead && !isWritten)
    worker.report(FaultKind::Uninitialised, thread, number, address,
                  "reads shared memory that nobody has written");

  if (!staysPlain)
    return addOther(cell, sets, epoch);
  if (cell.hasSet())
    sets.release(cell.others.clock);
  if (cell.foreign)
    sets.release(cell.foreign);
  cell = Cell();
  cell.write = epoch;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Lanes whose clocks differ are checked apart: an epoch has one clock.
template <typename F>
static void forEachClock(const Warp &warp, uint32_t lanes, const F &f) {
  if ((lanes & (lanes - 1)) == 0 || warp.isUniform)
    return f(lanes);
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

void RaceCheck::access(uint32_t lanes, uint64_t address) {
  accessNeighbours(lanes, address, 0);
}

void RaceCheck::accessNeighbours(uint32_t lanes, uint64_t address,
                                 uint32_t stride) {
  isShared = address >> 48 == sharedWindow >> 48;
  uint32_t count = stride ? __builtin_popcount(lanes) : 1;
  uint64_t bytes = site.bytes + uint64_t(count - 1) * stride;
  Shadow *shadow = nullptr;
  uint64_t first = 0;
  std::unique_lock<std::mutex> lock;
  if (isShared) {
    Block &block = getBlock(cluster, address);
    if (&block != warp.block)
      for (uint32_t rest = lanes; rest; rest &= rest - 1)
        checkRemote(block, __builtin_ctz(rest), address);
    shadow = &block.shadow;
    first = getOffset(address);
  } else {
    TrackedAllocation *found =
        launch.memory.find(address, bytes, worker.guesses[number]);
    if (!found)
      return;
    checkAllocation(*found, lanes, address, bytes);
    // Whoever writes there is at fault already.
    if (found->allocation.isReadOnly)
      return;
    shadow = &found->shadow;
    first = address - found->begin + found->begin % shadow->getGranule();
    if (launch.isShared() && launch.options.checksRaces)
      lock = std::unique_lock<std::mutex>(*found->lock);
  }
  if (!launch.options.checksRaces)
    return;
  for (; lanes; first += stride, address += stride) {
    uint32_t group = stride ? lanes & -lanes : lanes;
    lanes &= ~group;
    checkCells(*shadow, group, first, address);
  }
}

/// Checks what an allocation of global memory may hold.
void RaceCheck::checkAllocation(TrackedAllocation &tracked, uint32_t lanes,
                                uint64_t address, uint64_t bytes) {
  const Allocation &allocation = tracked.allocation;
  const Thread &thread = warp.threads[__builtin_ctz(lanes)];
  if (allocation.isPending && !thread.view->gridsAreDone)
    worker.report(FaultKind::PendingGrid, thread, number, address,
                  "a grid before this one may still write there, and the "
                  "kernel has not waited for it");
  WrittenBytes *written = allocation.written;
  if (!written)
    return;
  uint64_t offset = address - tracked.begin;
  if (isRead && !written->areMarked(offset, offset + bytes))
    worker.report(FaultKind::Uninitialised, thread, number, address,
                  "reads scratch memory that nobody has written");
  if (isWrite)
    written->mark(offset, offset + bytes);
}

/// Checks the cells of one address, which is `offset` in its memory.
void RaceCheck::checkCells(Shadow &shadow, uint32_t lanes, uint64_t offset,
                           uint64_t address) {
  unsigned granule = shadow.getGranule();
  forEachClock(warp, lanes, [&](uint32_t group) {
    for (uint32_t at = 0; at < site.bytes; at += granule)
      checkCell(shadow[(offset + at) / granule], shadow.sets, group,
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
