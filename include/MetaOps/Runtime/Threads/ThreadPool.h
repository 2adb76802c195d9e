//===- ThreadPool.h - Loops shared among threads ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_THREADS_THREADPOOL_H
#define METAOPS_RUNTIME_THREADS_THREADPOOL_H

#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace metaops {

/// Runs loops on several threads. Workers start with the first loop that has
/// work for them; between loops they spin for some microseconds, then sleep.
/// After a fork the child starts its own.
class ThreadPool {
public:
  using Body = llvm::function_ref<void(int64_t begin, int64_t end)>;

  /// A way to stop a long loop: `check` is asked on all threads before each
  /// range, and ranges are of `range` iterations at most. Those before `begin`
  /// are done.
  struct Stop {
    StopCheck check = nullptr;
    int64_t range = 0;
    int64_t begin = 0;
  };

  /// More are of no use to anybody, and the system may refuse them.
  static constexpr unsigned kMaxThreads = 4096;

  /// As many threads as processors may be used.
  static unsigned getDefaultThreads();

  explicit ThreadPool(unsigned threads = getDefaultThreads());
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Calls `body` for ranges that together cover [0, n) once, each of `grain`
  /// iterations at least (but the last), from the calling thread and the
  /// workers, and returns when all is done. A loop inside of a body, or beside
  /// another thread's loop, runs on the thread that asks for it.
  void parallelFor(int64_t n, int64_t grain, Body body);
  /// The same for a loop that may be stopped. Returns where it was: ranges are
  /// handed out in their order, and each that was is done when this returns, so
  /// what is left is all from there to n, by which the loop goes on another
  /// time. Nothing where all is done.
  std::optional<int64_t> parallelFor(int64_t n, int64_t grain, Body body,
                                     const Stop &stop);

  /// Threads that take part, the caller included; at least one.
  void setThreads(unsigned threads);
  unsigned getThreads() const;

private:
  struct Team;
  Team &getTeam(unsigned threads);

  std::atomic<unsigned> numThreads;
  /// A loop is on its way.
  std::atomic<bool> busy{false};
  std::unique_ptr<Team> team;
  /// Made when the team was started.
  ForkMark teamMark;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_THREADS_THREADPOOL_H
