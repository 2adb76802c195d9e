//===- SuspendedRuns.cpp - Runs that were stopped -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/SuspendedRuns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace metaops;

static bool contains(llvm::ArrayRef<RunRef> references, const RunRef &buffer) {
  return llvm::any_of(references, [&](const RunRef &reference) {
    return reference.get() == buffer.get();
  });
}

/// Returns whether a run writes, or checks, what another one reads or writes.
static bool writesMemoryOf(const QueuedRun &writer, const QueuedRun &other) {
  auto isOf = [&](const RunRef &result) {
    return contains(other.run.arguments, result) ||
           contains(other.run.results, result) ||
           llvm::any_of(other.replacedValues, [&](const auto &replaced) {
             return replaced.second.get() == result.get();
           });
  };
  return llvm::any_of(writer.run.results, isOf) ||
         llvm::any_of(writer.checked, isOf);
}

static bool areRelated(const QueuedRun &a, const QueuedRun &b) {
  return writesMemoryOf(a, b) || writesMemoryOf(b, a);
}

SuspendedRuns::SuspendedRuns() = default;
SuspendedRuns::~SuspendedRuns() = default;

void SuspendedRuns::add(std::unique_ptr<QueuedRun> queued) {
  // The run writes over its own results, by which they are known to be needed.
  for (const RunRef &argument : queued->run.arguments)
    if (!contains(queued->run.results, argument))
      queued->held.push_back(argument.get());
  std::lock_guard<std::mutex> lock(mutex);
  isUsed = true;
  next[queued->ticket] = Ticket();
  // Devices do not suspend their runs in the order in which these depend on
  // each other.
  auto place = llvm::partition_point(runs, [&](const auto &earlier) {
    return earlier->order < queued->order;
  });
  runs.insert(place, std::move(queued));
  size = runs.size();
}

static bool keepsScratchOf(const QueuedRun &suspended, const Buffer *scratch) {
  return suspended.run.progress.hasBegun() && scratch &&
         suspended.run.scratch.get() == scratch;
}

bool SuspendedRuns::holdUp(const QueuedRun &queued) const {
  if (empty())
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  return llvm::any_of(runs, [&](const std::unique_ptr<QueuedRun> &suspended) {
    return areRelated(queued, *suspended) ||
           keepsScratchOf(*suspended, queued.run.scratch.get());
  });
}

bool SuspendedRuns::keepsScratch(const Buffer *scratch) const {
  if (empty())
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  return llvm::any_of(runs, [&](const std::unique_ptr<QueuedRun> &suspended) {
    return keepsScratchOf(*suspended, scratch);
  });
}

std::vector<std::unique_ptr<QueuedRun>>
SuspendedRuns::take(llvm::function_ref<bool(Ticket)> isAsked) {
  std::vector<std::unique_ptr<QueuedRun>> taken, left;
  if (empty())
    return taken;
  std::lock_guard<std::mutex> lock(mutex);
  llvm::SmallBitVector isTaken(runs.size());
  llvm::SmallVector<unsigned> worklist;
  auto add = [&](unsigned number) {
    if (!isTaken.test(number))
      worklist.push_back(number);
    isTaken.set(number);
  };
  for (auto [number, queued] : llvm::enumerate(runs))
    if (isAsked(queued->ticket))
      add(number);
  while (!worklist.empty()) {
    const QueuedRun &queued = *runs[worklist.pop_back_val()];
    for (auto [number, other] : llvm::enumerate(runs))
      if (areRelated(queued, *other))
        add(number);
  }
  for (auto [number, queued] : llvm::enumerate(runs)) {
    if (isTaken.test(number))
      queued->held.clear();
    (isTaken.test(number) ? taken : left).push_back(std::move(queued));
  }
  runs = std::move(left);
  size = runs.size();
  return taken;
}

void SuspendedRuns::renew(Ticket before, Ticket now) {
  std::lock_guard<std::mutex> lock(mutex);
  next[before] = now;
}

void SuspendedRuns::dropUnneeded() {
  if (empty())
    return;
  // Their memory goes without the mutex.
  std::vector<std::unique_ptr<QueuedRun>> dropped;
  std::lock_guard<std::mutex> lock(mutex);
  // Later ones hold results of earlier ones.
  for (size_t number = runs.size(); number-- > 0;) {
    auto isHeld = [](const RunRef &result) { return result->getOwners() > 0; };
    bool isNeeded = llvm::any_of(runs[number]->run.results, isHeld) ||
                    llvm::any_of(runs[number]->checked, isHeld);
    if (isNeeded)
      continue;
    // A step that is never taken has failed for those who count.
    for (const StepOutcomeRef &outcome : runs[number]->outcomes)
      outcome->end(/*failed=*/true);
    runs[number]->held.clear();
    dropped.push_back(std::move(runs[number]));
    runs.erase(runs.begin() + number);
  }
  size = runs.size();
}

bool SuspendedRuns::wasStopped(Ticket ticket) const {
  if (!isUsed.load(std::memory_order_relaxed))
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  return next.contains(ticket);
}

std::optional<Ticket> SuspendedRuns::findLast(Ticket ticket) const {
  if (!isUsed.load(std::memory_order_relaxed))
    return ticket;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto found = next.find(ticket); found != next.end();
       found = next.find(ticket)) {
    if (!found->second)
      return std::nullopt;
    ticket = found->second;
  }
  return ticket;
}
