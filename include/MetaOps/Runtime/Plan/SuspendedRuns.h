//===- SuspendedRuns.h - Runs that were stopped -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run that was stopped may have written over arguments in part. It is kept
// with all of its memory, and goes on when somebody asks for one of its
// results. Runs that share memory with a suspended one, which either writes,
// are suspended when their turn comes, and started again with it, in their
// order: so nobody sees what a run has left half-done, and values are what they
// would be had nothing been stopped.
//
// Runs in the queue have one scratch memory in turn. One that was stopped after
// it had begun keeps it. Those behind it in the queue are suspended, too, but
// need not wait for it: they get other scratch memory when they are started.
//
// Every start of a run has a ticket of its own. Who waits for one that was
// stopped finds the next one here.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PLAN_SUSPENDEDRUNS_H
#define METAOPS_RUNTIME_PLAN_SUSPENDEDRUNS_H

#include "MetaOps/Runtime/Plan/StepOutcome.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "llvm/ADT/DenseMap.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace metaops {

/// By number, what a result of a run replaces.
using ReplacedValues = std::vector<std::pair<unsigned, RunRef>>;

/// A value that a program has checked, and that is in memory: an alias of its
/// indices, which is lost if the run fails.
struct CheckedValue {
  Node *node;
  BufferRef buffer;
};

/// A number of a step that an argument of a run is.
struct NumberArgument {
  unsigned argument;
  StepOutcomeRef outcome;
  TypedNumber number;
};

/// A run from when it is put into the queue until it has run.
struct QueuedRun {
  explicit QueuedRun(ProgramRun run) : run(std::move(run)) {}

  ProgramRun run;
  std::shared_ptr<const RunRecord> record;
  ReplacedValues replacedValues;
  /// Values that the run finds in range: see CheckedValue.
  llvm::SmallVector<RunRef, 0> checked;
  std::shared_ptr<RunListener> listener;
  /// Runs of other devices that have to end before it may start.
  Tickets awaited;
  /// Its place among the runs of all devices.
  uint64_t order = 0;
  /// The steps whose updates the run makes.
  std::vector<StepOutcomeRef> outcomes;
  /// Those of their numbers that may change until then.
  std::vector<NumberArgument> numbers;
  /// For the listener.
  std::vector<CallTime> times;
  /// Of its last start.
  Ticket ticket;
  /// While it is suspended: keeps later programs from writing over arguments.
  llvm::SmallVector<BufferRef> held;

  /// Has it start no earlier than a task of another queue than its own is done.
  void await(Ticket task, const Queue &own) {
    if (task && task.queue != &own && !task.isDone())
      awaited.add(task);
  }
};

/// Safe for use from several threads.
class SuspendedRuns {
public:
  SuspendedRuns();
  ~SuspendedRuns();

  /// Takes a run that was stopped, and notes that its ticket is worth nothing.
  void add(std::unique_ptr<QueuedRun> queued);
  /// Returns whether a run must not start, since it shares memory with a
  /// suspended one.
  bool holdUp(const QueuedRun &queued) const;
  /// Returns whether a suspended run has something in this scratch memory.
  bool keepsScratch(const Buffer *scratch) const;

  /// Takes out the runs of these tickets and all that share memory with one of
  /// them, in order.
  std::vector<std::unique_ptr<QueuedRun>>
  take(llvm::function_ref<bool(Ticket)> isAsked);
  /// The ticket of the next start of a run that `take` has given.
  void renew(Ticket before, Ticket now);
  /// Drops runs whose results nobody holds.
  void dropUnneeded();

  bool empty() const { return size.load(std::memory_order_relaxed) == 0; }
  /// Returns whether the start of this ticket was stopped.
  bool wasStopped(Ticket ticket) const;
  /// The ticket of the last start of a run; nothing while it is suspended.
  std::optional<Ticket> findLast(Ticket ticket) const;

private:
  mutable std::mutex mutex;
  /// In the order of their numbers.
  std::vector<std::unique_ptr<QueuedRun>> runs;
  /// The tickets of stopped starts, and those of the next ones, or none.
  llvm::DenseMap<Ticket, Ticket> next;
  /// Read without the mutex, to be quick where nothing was ever stopped.
  std::atomic<size_t> size{0};
  std::atomic<bool> isUsed{false};
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PLAN_SUSPENDEDRUNS_H
