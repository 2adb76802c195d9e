//===- Queue.h - Work that runs in order ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_QUEUE_QUEUE_H
#define METAOPS_RUNTIME_QUEUE_QUEUE_H

#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "llvm/ADT/FunctionExtras.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace metaops {

/// The work of a device: tasks run one after another in the order in which they
/// were pushed, while the threads that push them go on. The queue's own thread
/// runs them, or whoever waits for one: a caller that wants a result at once
/// does not pay for waking a thread. Safe for use from any thread.
class Queue {
public:
  /// Tasks are numbered from 1; 0 stands for one that has been run.
  using Ticket = uint64_t;
  /// Is called with its own number. Does not throw.
  using Task = llvm::unique_function<void(Ticket)>;
  enum class Start {
    /// The queue's thread is woken.
    Now,
    /// The caller is about to wait for the task.
    WhenWaitedFor,
    /// The queue's thread is woken, and nobody else runs the task (if there is
    /// such a thread): who waits for a long one stays free to look around.
    Apart
  };

  /// How often a thread that waits asks whether it is to stop.
  static constexpr std::chrono::milliseconds kAskingPeriod{50};

  /// `waitForRoom` waits until fewer than `capacity` tasks wait beside the one
  /// that runs.
  explicit Queue(size_t capacity = 2) : capacity(capacity) {}
  /// Runs what is left.
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  Ticket push(Task task, Start start);
  /// Returns true when the task has run and is destroyed, or false where
  /// `shouldStop`, which is asked with nothing locked, says so before.
  bool wait(Ticket ticket, StopCheck shouldStop = nullptr);
  /// The same for all tasks pushed so far.
  bool drain(StopCheck shouldStop = nullptr) {
    return wait(getLast(), shouldStop);
  }
  /// The same until more may be pushed.
  bool waitForRoom(StopCheck shouldStop = nullptr);

  /// Wishes that tasks up to this one end early; it is for these to ask.
  void cancel(Ticket ticket);
  bool isCancelled(Ticket ticket) const {
    return cancelled.load(std::memory_order_relaxed) >= ticket;
  }

  bool isDone(Ticket ticket) const;
  /// The ticket of the last task pushed.
  Ticket getLast() const;

private:
  using Lock = std::unique_lock<std::mutex>;

  struct Waiting {
    Task task;
    bool isApart;
  };

  void startWorker();
  void serve();
  bool canRun() const { return !isRunning && !tasks.empty(); }
  /// The same for a thread that is not the queue's own.
  bool canHelp() const {
    return canRun() && !(tasks.front().isApart && worker.joinable());
  }
  void runNext(Lock &lock);
  bool runUntil(Lock &lock, llvm::function_ref<bool()> isReached,
                StopCheck shouldStop);

  const size_t capacity;
  mutable std::mutex mutex;
  /// Told the queue's thread when it is to look, everybody when a task is done.
  std::condition_variable wake, finished;
  std::deque<Waiting> tasks;
  Ticket pushed = 0, done = 0;
  std::atomic<Ticket> cancelled{0};
  bool isRunning = false;
  /// The queue's thread is to run what waits, not only to be there.
  bool isStarted = false;
  bool isStopping = false;
  std::thread worker;
  ForkMark forkMark;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_QUEUE_QUEUE_H
