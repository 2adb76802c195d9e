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
#include "llvm/ADT/FunctionExtras.h"

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
  /// Does not throw.
  using Task = llvm::unique_function<void()>;
  /// Tasks are numbered from 1; 0 stands for one that has been run.
  using Ticket = uint64_t;
  enum class Start {
    /// The queue's thread is woken.
    Now,
    /// The caller is about to wait for the task.
    WhenWaitedFor
  };

  /// At most `capacity` tasks wait beside the one that runs.
  explicit Queue(size_t capacity = 2) : capacity(capacity) {}
  /// Runs what is left.
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// Returns when there is room for the task.
  Ticket push(Task task, Start start);
  /// Returns when the task has run and is destroyed.
  void wait(Ticket ticket);
  /// Waits for all tasks pushed so far.
  void drain() { wait(getLast()); }

  bool isDone(Ticket ticket) const;
  /// The ticket of the last task pushed.
  Ticket getLast() const;

private:
  using Lock = std::unique_lock<std::mutex>;

  void startWorker();
  void serve();
  bool canRun() const { return !isRunning && !tasks.empty(); }
  void runNext(Lock &lock);
  void runUntil(Lock &lock, llvm::function_ref<bool()> isReached);

  const size_t capacity;
  mutable std::mutex mutex;
  /// Told the queue's thread when it is to look, everybody when a task is done.
  std::condition_variable wake, finished;
  std::deque<Task> tasks;
  Ticket pushed = 0, done = 0;
  bool isRunning = false;
  /// The queue's thread is to run what waits, not only to be there.
  bool isStarted = false;
  bool isStopping = false;
  std::thread worker;
  ForkMark forkMark;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_QUEUE_QUEUE_H
