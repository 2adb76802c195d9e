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
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace metaops {

class Queue;

/// A task of a queue, which outlives the ticket. One without a queue stands for
/// what has been done.
struct Ticket {
  Queue *queue = nullptr;
  /// By its place in the queue, from 1.
  uint64_t number = 0;

  explicit operator bool() const { return queue; }
  bool operator==(const Ticket &other) const {
    return queue == other.queue && number == other.number;
  }
  bool operator!=(const Ticket &other) const { return !(*this == other); }

  bool isDone() const;
  /// Returns true when the task has run and is destroyed, or false where
  /// `shouldStop`, which is asked with nothing locked, says so before.
  bool wait(StopCheck shouldStop = nullptr) const;
  /// Wishes that this task and those before it in its queue end early; it is
  /// for these to ask.
  void cancel() const;
  bool isCancelled() const;
};

/// Awaited tasks: the last ones of some queues.
class Tickets {
public:
  Tickets() = default;
  Tickets(Ticket ticket) { add(ticket); }

  void add(Ticket ticket);
  void add(const Tickets &others);
  void clear() { tickets.clear(); }

  bool empty() const { return tickets.empty(); }
  auto begin() const { return tickets.begin(); }
  auto end() const { return tickets.end(); }

  bool areDone() const;
  /// As for one: true when all are done.
  bool wait(StopCheck shouldStop = nullptr) const;

private:
  /// At most one of each queue.
  llvm::SmallVector<Ticket, 2> tickets;
};

/// The work of a device: tasks run one after another in the order in which they
/// were pushed, while the threads that push them go on. The queue's own thread
/// runs them, or whoever waits for one: a caller that wants a result at once
/// does not pay for waking a thread. Safe for use from any thread.
class Queue {
public:
  /// Is called with its own ticket. Does not throw.
  using Task = llvm::unique_function<void(Ticket)>;
  enum class Start {
    /// The queue's thread is woken.
    Now,
    /// The caller runs the task, unless others are before it: then as `Now`.
    Here,
    /// The caller is about to wait for the task.
    WhenWaitedFor,
    /// The queue's thread is woken, and nobody else runs the task (if there is
    /// such a thread): who waits for a long one stays free to look around.
    Apart
  };

  /// The period at which a thread that waits asks if it is to stop.
  static constexpr std::chrono::milliseconds kAskingPeriod{50};

  /// `waitForRoom` waits until fewer than `capacity` tasks wait beside the one
  /// that runs.
  explicit Queue(size_t capacity = 2) : capacity(capacity) {}
  /// Runs what is left.
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  Ticket push(Task task, Start start);
  /// Waits for all tasks pushed so far.
  bool drain(StopCheck shouldStop = nullptr) {
    return getLast().wait(shouldStop);
  }
  /// The same until more may be pushed.
  bool waitForRoom(StopCheck shouldStop = nullptr);

  /// The ticket of the last task pushed.
  Ticket getLast();

private:
  friend struct Ticket;
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
  /// Written with the mutex locked, and read without where a lagging value does
  /// no harm.
  std::atomic<uint64_t> pushed{0}, done{0};
  std::atomic<uint64_t> cancelled{0};
  bool isRunning = false;
  /// The queue's thread is to run what waits, not only to be there.
  bool isStarted = false;
  bool isStopping = false;
  std::thread worker;
  ForkMark forkMark;
};

} // namespace metaops

template <> struct llvm::DenseMapInfo<metaops::Ticket> {
  using Pair = std::pair<metaops::Queue *, uint64_t>;
  using PairInfo = llvm::DenseMapInfo<Pair>;

  static metaops::Ticket getEmptyKey() { return make(PairInfo::getEmptyKey()); }
  static metaops::Ticket getTombstoneKey() {
    return make(PairInfo::getTombstoneKey());
  }
  static unsigned getHashValue(metaops::Ticket ticket) {
    return PairInfo::getHashValue({ticket.queue, ticket.number});
  }
  static bool isEqual(metaops::Ticket a, metaops::Ticket b) { return a == b; }

private:
  static metaops::Ticket make(Pair pair) { return {pair.first, pair.second}; }
};

#endif // METAOPS_RUNTIME_QUEUE_QUEUE_H
