//===- SuspendedRuns.h - Runs that were stopped -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run that was stopped has had no effect. It is kept with its arguments and
// the memory of its results, and is started again when somebody asks for one of
// these. Runs that share memory with a suspended one, which either writes, are
// suspended when their turn comes, and started again with it, in their order:
// so values are what they would be had nothing been stopped.
//
// Every start of a run has a ticket of its own. Who waits for one that was
// stopped finds the next one here.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_SUSPENDEDRUNS_H
#define METAOPS_RUNTIME_SESSION_SUSPENDEDRUNS_H

#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Session/RunRecord.h"
#include "llvm/ADT/DenseMap.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace metaops {

/// By number, what a result of a run replaces.
using ReplacedValues = std::vector<std::pair<unsigned, RunRef>>;

/// A run from when it is put into the queue until it has run.
struct QueuedRun {
  ProgramRun run;
  std::shared_ptr<const RunRecord> record;
  ReplacedValues replacedValues;
  std::shared_ptr<RunListener> listener;
  /// Of its last start.
  Queue::Ticket ticket = 0;
  /// While it is suspended: keeps later programs from writing over arguments.
  llvm::SmallVector<BufferRef> held;
};

/// Safe for use from several threads.
class SuspendedRuns {
public:
  SuspendedRuns();
  ~SuspendedRuns();

  /// Takes a run that was stopped, and notes that its ticket is worth nothing.
  void add(std::unique_ptr<QueuedRun> queued);
  /// Whether a run must not start, since it shares memory with a suspended one.
  bool holdUp(const QueuedRun &queued) const;

  /// Takes out the runs of these tickets and all that share memory with one of
  /// them, in order.
  std::vector<std::unique_ptr<QueuedRun>>
  take(llvm::function_ref<bool(Queue::Ticket)> isAsked);
  /// The ticket of the next start of a run that `take` has given.
  void renew(Queue::Ticket before, Queue::Ticket now);
  /// Drops runs whose results nobody holds.
  void dropUnneeded();

  bool empty() const { return size.load(std::memory_order_relaxed) == 0; }
  /// Whether the start of this ticket was stopped.
  bool wasStopped(Queue::Ticket ticket) const;
  /// The ticket of the last start of a run; nothing while it is suspended.
  std::optional<Queue::Ticket> findLast(Queue::Ticket ticket) const;

private:
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<QueuedRun>> runs;
  /// The tickets of stopped starts, and those of the next ones, or 0.
  llvm::DenseMap<Queue::Ticket, Queue::Ticket> next;
  /// Read without the mutex, to be quick where nothing was ever stopped.
  std::atomic<size_t> size{0};
  std::atomic<bool> isUsed{false};
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SUSPENDEDRUNS_H
