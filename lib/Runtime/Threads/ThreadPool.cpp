//===- ThreadPool.cpp - Loops shared among threads ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop is on its way at a time. It is published by opening `gate` and
// raising `generation`; a worker that sees that passes the gate, takes ranges
// off a shared counter until none is left, and goes. The caller does the same,
// then closes the gate and waits for those that are inside, so the loop's
// description may live on its stack. It does not wait for a worker that was
// asleep and comes too late: waking one takes longer than many a loop.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace metaops;

static void pauseCPU() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Waits a moment. Whoever is waited for may want this very processor: one that
/// was woken often starts on its waker's. So it is offered every microsecond or
/// two.
static void spin(unsigned round) {
  if (round % 32 == 31)
    std::this_thread::yield();
  else
    pauseCPU();
}

namespace {
/// A loop and how far it has come.
struct Loop {
  ThreadPool::Body body;
  int64_t n;
  int64_t chunk;
  StopCheck shouldStop;
  std::atomic<int64_t> next;
  std::atomic<bool> isStopped{false};

  Loop(ThreadPool::Body body, int64_t n, int64_t chunk,
       const ThreadPool::Stop &stop)
      : body(body), n(n), chunk(chunk), shouldStop(stop.check),
        next(stop.begin) {}

  bool mustStop() {
    if (!shouldStop || next.load(std::memory_order_relaxed) >= n)
      return false;
    if (isStopped.load(std::memory_order_relaxed))
      return true;
    if (!shouldStop())
      return false;
    isStopped.store(true, std::memory_order_relaxed);
    return true;
  }

  void work() {
    while (!mustStop()) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= n)
        return;
      body(begin, std::min(n, begin + chunk));
    }
  }

  /// When nobody is at work any more.
  std::optional<int64_t> getRest() const {
    int64_t handedOut = next.load(std::memory_order_relaxed);
    if (handedOut >= n)
      return std::nullopt;
    return handedOut;
  }
};
} // namespace

struct ThreadPool::Team {
  explicit Team(unsigned size) : size(size) {
    try {
      while (threads.size() + 1 < size)
        threads.emplace_back([this] { serve(); });
    } catch (const std::system_error &) {
      // The process may have no more threads; those there are do all the work.
    }
  }

  ~Team() {
    {
      std::lock_guard<std::mutex> lock(sleepMutex);
      stopping.store(true);
      generation.fetch_add(1);
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void run(Loop &loop) {
    current = &loop;
    gate.fetch_or(isOpen);
    {
      std::lock_guard<std::mutex> lock(sleepMutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    if (sleepers.load() > 0)
      wake.notify_all();
    loop.work();
    gate.fetch_and(~isOpen);
    for (unsigned spins = 0; gate.load(std::memory_order_acquire) > 0;)
      spin(++spins);
  }

  void serve() {
    uint64_t seen = 0;
    for (;;) {
      seen = waitForWork(seen);
      if (stopping.load())
        return;
      if (gate.fetch_add(1) & isOpen)
        current->work();
      gate.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  /// The generation after `seen`, once it is there.
  uint64_t waitForWork(uint64_t seen) {
    for (unsigned spins = 0; spins < spinLimit; ++spins) {
      uint64_t now = generation.load(std::memory_order_acquire);
      if (now != seen)
        return now;
      spin(spins);
    }
    std::unique_lock<std::mutex> lock(sleepMutex);
    sleepers.fetch_add(1);
    wake.wait(lock, [&] { return generation.load() != seen; });
    sleepers.fetch_sub(1);
    return generation.load();
  }

  /// Some 20 microseconds: longer than the gap between two kernels of one
  /// program, too short to cost anybody's processor.
  static constexpr unsigned spinLimit = 2000;
  static constexpr uint64_t isOpen = uint64_t(1) << 63;

  /// Number of threads that were asked for, the caller's included.
  const unsigned size;
  std::vector<std::thread> threads;
  Loop *current = nullptr;
  std::atomic<uint64_t> generation{0};
  /// Workers inside, and whether more may enter.
  std::atomic<uint64_t> gate{0};
  std::atomic<unsigned> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex sleepMutex;
  std::condition_variable wake;
};

unsigned ThreadPool::getDefaultThreads() {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    count = std::max(1, CPU_COUNT(&allowed));
  return count;
}

ThreadPool::ThreadPool(unsigned threads) : numThreads(std::max(1u, threads)) {}

ThreadPool::~ThreadPool() {
  // The threads of a forked child's parent are not there to be joined.
  if (teamMark.isChild())
    (void)team.release();
}

ThreadPool::Team &ThreadPool::getTeam(unsigned threads) {
  if (teamMark.isChild())
    (void)team.release();
  if (!team || team->size != threads) {
    team.reset();
    team = std::make_unique<Team>(threads);
    teamMark.renew();
  }
  return *team;
}

void ThreadPool::parallelFor(int64_t n, int64_t grain, Body body) {
  (void)parallelFor(n, grain, body, {nullptr, n});
}

std::optional<int64_t> ThreadPool::parallelFor(int64_t n, int64_t grain,
                                               Body body, const Stop &stop) {
  int64_t left = n - stop.begin;
  if (left <= 0)
    return std::nullopt;
  grain = std::max<int64_t>(grain, 1);
  unsigned threads = numThreads.load();
  if (threads == 1 || left <= grain || busy.exchange(true)) {
    // Kernels in loops of programs take less time than a few atomic numbers.
    if (left <= stop.range) {
      if (stop.check && stop.check())
        return stop.begin;
      body(stop.begin, n);
      return std::nullopt;
    }
    Loop loop(body, n, std::clamp<int64_t>(stop.range, 1, left), stop);
    loop.work();
    return loop.getRest();
  }
  // Also where a thread cannot be started.
  llvm::scope_exit release([&] { busy.store(false); });
  // A few ranges a thread even out their speeds.
  int64_t chunk = std::max(grain, left / (int64_t(threads) * 4));
  Loop loop(body, n, std::min(chunk, std::max(grain, stop.range)), stop);
  getTeam(threads).run(loop);
  return loop.getRest();
}

void ThreadPool::setThreads(unsigned threads) {
  numThreads.store(std::max(1u, threads));
}

unsigned ThreadPool::getThreads() const { return numThreads.load(); }
