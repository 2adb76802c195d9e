//===- Barriers.cpp - Barriers of blocks and clusters ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has 16 barriers, each of which is complete when all threads of the
// block that have not exited are there, or as many as the instruction says. Of
// an aligned one, a warp comes as a whole: the lanes that are there first wait
// for the others, in no books. Where these never come the launch ends in a
// deadlock, which is reported as a barrier in divergent code.
//
// The barrier of a cluster has two halves; a thread may do other things between
// them.
//
// All who leave a barrier know what all who came to it knew, and did.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Worker.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace metaops;
using namespace metaops::emulator;
namespace NVVM = mlir::NVVM;

uint32_t emulator::findLanesAt(const Warp &warp, uint32_t site) {
  uint32_t lanes = 0;
  for (uint32_t rest = warp.waiting & ~warp.booked; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    lanes |= uint32_t(warp.threads[lane].site == site) << lane;
  }
  return lanes;
}

/// The lanes that go on together, of which some have just come to a site: none
/// before all are there, where the instruction is aligned.
static uint32_t gather(const Warp &warp, const Site &site, uint32_t number,
                       uint32_t lanes) {
  if (!site.isAligned)
    return lanes;
  uint32_t here = findLanesAt(warp, number);
  return here == warp.live ? here : 0;
}

/// Adds to `view` what a thread knows and has done, as of now.
static void addKnowledge(ClockRef &view, const ClockView *&last,
                         const Thread &thread) {
  if (!view)
    view = new ClockView(*thread.view);
  else if (last != thread.view.get())
    view->join(*thread.view);
  last = thread.view.get();
}

template <typename F>
static void forEachThread(const std::vector<std::pair<Warp *, uint32_t>> &list,
                          const F &f) {
  for (const auto &[warp, lanes] : list)
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      f(warp->threads[__builtin_ctz(rest)]);
}

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

static Barrier &getBarrier(const Warp &warp, const Thread &thread) {
  return warp.block->barriers[thread.values[0] % Barrier::count];
}

std::string emulator::describeBarrier(const Warp &warp, unsigned lane) {
  const Thread &thread = warp.threads[lane];
  const Barrier &barrier = getBarrier(warp, thread);
  uint32_t expected =
      barrier.expected ? barrier.expected : warp.block->liveThreads;
  return "barrier " + std::to_string(thread.values[0]) + ": " +
         std::to_string(barrier.arrived) + " of " + std::to_string(expected) +
         " threads are there";
}

void emulator::tick(Warp &warp, uint32_t lanes, ClockView &view) {
  uint32_t latest = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const Thread &thread = warp.threads[__builtin_ctz(rest)];
    view.set(warp.number, thread.lane, thread.clock);
    latest = std::max(latest, thread.clock);
  }
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    warp.threads[__builtin_ctz(rest)].clock = latest + 1;
  warp.isUniform = lanes == warp.live;
}

/// Lets all threads go that wait at a barrier, knowing of each other.
static void complete(Worker &worker, Barrier &barrier) {
  ClockRef view = barrier.arrivals;
  const ClockView *last = nullptr;
  uint32_t waiting = 0;
  forEachThread(barrier.waiting, [&](Thread &thread) {
    addKnowledge(view, last, thread);
    ++waiting;
  });
  for (const auto &[warp, lanes] : barrier.waiting)
    tick(*warp, lanes, *view);
  view->update();
  forEachThread(barrier.waiting, [&](Thread &thread) {
    thread.view = view;
    const Site &site = worker.launch.code.sites[thread.site];
    if (site.kind < 0)
      return;
    switch (static_cast<NVVM::BarrierReduction>(site.kind)) {
    case NVVM::BarrierReduction::POPC:
      thread.values[0] = barrier.trueCount;
      break;
    case NVVM::BarrierReduction::AND:
      thread.values[0] = barrier.trueCount == waiting;
      break;
    case NVVM::BarrierReduction::OR:
      thread.values[0] = barrier.trueCount != 0;
      break;
    }
  });
  std::vector<std::pair<Warp *, uint32_t>> waiters = std::move(barrier.waiting);
  barrier = Barrier();
  for (const auto &[warp, lanes] : waiters)
    warp->block->cluster->wake(*warp, lanes);
  worker.progress();
}

static void completeIfAllThere(Worker &worker, Block &block, Barrier &barrier) {
  uint32_t expected = barrier.expected ? barrier.expected : block.liveThreads;
  if (barrier.arrived == 0 || barrier.arrived < expected)
    return;
  if (barrier.arrived > expected) {
    Warp &warp =
        barrier.waiting.empty() ? *block.warps : *barrier.waiting.back().first;
    worker.report(FaultKind::WrongBarrier, warp.threads[0], barrier.site,
                  std::to_string(barrier.arrived) +
                      " threads come to a barrier of " +
                      std::to_string(expected));
  }
  if (barrier.waiting.empty())
    barrier = Barrier();
  else
    complete(worker, barrier);
}

/// Enters lanes that have come to a barrier; false if they cannot.
static bool enter(Worker &worker, Warp &warp, uint32_t number, uint32_t lanes,
                  uint32_t expected) {
  Launch &launch = worker.launch;
  Thread &thread = warp.threads[__builtin_ctz(lanes)];
  auto fail = [&](const std::string &message) {
    worker.report(FaultKind::WrongBarrier, thread, number, message);
    return false;
  };
  if (thread.values[0] >= Barrier::count)
    return fail("there is no barrier " + std::to_string(thread.values[0]) +
                ", but 16 of them");
  if (expected % warpSize != 0)
    return fail("the number of threads, " + std::to_string(expected) +
                ", is no multiple of 32");
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (warp.threads[__builtin_ctz(rest)].values[0] != thread.values[0])
      return fail("lanes of one warp name different barriers");
  Barrier &barrier = getBarrier(warp, thread);
  // The number of all threads may be said or not.
  auto isAll = [&](uint32_t count) {
    return count == 0 || count == launch.threadsOfBlock;
  };
  if (barrier.arrived && barrier.expected != expected &&
      !(isAll(barrier.expected) && isAll(expected)))
    return fail("threads expect different numbers of threads at barrier " +
                std::to_string(thread.values[0]) + ": " +
                std::to_string(expected) + " here, " +
                std::to_string(barrier.expected) + " at " +
                launch.describeSite(barrier.site));
  barrier.expected = std::max(barrier.expected, expected);
  barrier.site = number;
  // A warp counts as a whole where threads are counted.
  bool countsWarps = expected && launch.code.sites[number].isAligned;
  barrier.arrived += countsWarps ? warpSize : __builtin_popcount(lanes);
  return true;
}

void emulator::executeBarrier(Worker &worker, Warp &warp, uint32_t number,
                              uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  lanes = gather(warp, site, number, lanes);
  if (!lanes)
    return;
  Thread &first = warp.threads[__builtin_ctz(lanes)];
  if (!enter(worker, warp, number, lanes, first.values[1])) {
    warp.block->cluster->wake(warp, lanes);
    return;
  }
  Barrier &barrier = getBarrier(warp, first);
  warp.booked |= lanes;
  barrier.waiting.emplace_back(&warp, lanes);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    barrier.trueCount += warp.threads[__builtin_ctz(rest)].values[2] != 0;
  completeIfAllThere(worker, *warp.block, barrier);
}

void emulator::executeBarrierArrive(Worker &worker, Warp &warp, uint32_t number,
                                    uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  lanes = gather(warp, site, number, lanes);
  if (!lanes)
    return;
  Thread &first = warp.threads[__builtin_ctz(lanes)];
  if (enter(worker, warp, number, lanes, first.values[1])) {
    Barrier &barrier = getBarrier(warp, first);
    const ClockView *last = nullptr;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      addKnowledge(barrier.arrivals, last, warp.threads[__builtin_ctz(rest)]);
    bool wasUniform = warp.isUniform;
    tick(warp, lanes, *barrier.arrivals);
    warp.isUniform &= wasUniform;
    completeIfAllThere(worker, *warp.block, barrier);
  }
  warp.block->cluster->wake(warp, lanes);
}

//===----------------------------------------------------------------------===//
// The barrier of a cluster
//===----------------------------------------------------------------------===//

std::string emulator::describeCluster(const Warp &warp, unsigned) {
  return "the cluster's barrier: " +
         std::to_string(warp.block->cluster->missing) +
         " threads have not arrived";
}

static void completePhase(Worker &worker, Cluster &cluster) {
  if (cluster.missing || cluster.liveThreads == 0)
    return;
  cluster.lastPhase = std::move(cluster.arrivals);
  if (cluster.lastPhase)
    cluster.lastPhase->update();
  ++cluster.phase;
  cluster.missing = cluster.liveThreads;
  std::vector<std::pair<Warp *, uint32_t>> waiters = std::move(cluster.waiting);
  cluster.waiting.clear();
  for (const auto &[warp, lanes] : waiters) {
    uint32_t waits = lanes & warp->live;
    warp->booked &= ~waits;
    if (waits)
      executeClusterWait(worker, *warp,
                         warp->threads[__builtin_ctz(waits)].site, waits);
  }
  worker.progress();
}

void emulator::executeClusterArrive(Worker &worker, Warp &warp, uint32_t number,
                                    uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  lanes = gather(warp, site, number, lanes);
  if (!lanes)
    return;
  Cluster &cluster = *warp.block->cluster;
  const ClockView *last = nullptr;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    Thread &thread = warp.threads[__builtin_ctz(rest)];
    if (thread.clusterPhase != Thread::none) {
      worker.report(FaultKind::WrongBarrier, thread, number,
                    "arrives at the cluster's barrier again, without having "
                    "waited since it did so before");
      continue;
    }
    thread.clusterPhase = cluster.phase;
    --cluster.missing;
    if (!(site.order & SyncOrder::Release))
      continue;
    addKnowledge(cluster.arrivals, last, thread);
    cluster.arrivals->set(warp.number, thread.lane, thread.clock++);
  }
  warp.isUniform &= lanes == warp.live;
  cluster.wake(warp, lanes);
  completePhase(worker, cluster);
}

void emulator::executeClusterWait(Worker &worker, Warp &warp, uint32_t number,
                                  uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  lanes = gather(warp, site, number, lanes);
  Cluster &cluster = *warp.block->cluster;
  uint32_t waits = 0, goes = 0;
  // Lanes that knew the same know the same.
  ClockRef before, behind;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    Thread &thread = warp.threads[lane];
    if (thread.clusterPhase == cluster.phase) {
      waits |= uint32_t(1) << lane;
      continue;
    }
    goes |= uint32_t(1) << lane;
    if (thread.clusterPhase == Thread::none)
      worker.report(FaultKind::WrongBarrier, thread, number,
                    "waits at the cluster's barrier without having arrived");
    else if (cluster.lastPhase) {
      if (before != thread.view) {
        before = thread.view;
        behind = new ClockView(*before);
        behind->join(*cluster.lastPhase);
        behind->update();
      }
      thread.view = behind;
    }
    thread.clusterPhase = Thread::none;
  }
  warp.isUniform &= goes == 0 || goes == warp.live;
  if (waits) {
    warp.booked |= waits;
    cluster.waiting.emplace_back(&warp, waits);
  }
  cluster.wake(warp, goes);
}

void emulator::reconsiderBarriers(Worker &worker, Warp &warp) {
  for (Barrier &barrier : warp.block->barriers)
    if (!barrier.expected)
      completeIfAllThere(worker, *warp.block, barrier);
  completePhase(worker, *warp.block->cluster);
}
