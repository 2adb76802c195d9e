//===- Interrupt.cpp - Callers that stop waiting --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A caller that waits is asked now and then whether it wants to go on. If not,
// the runs up to the one that it waits for are cancelled, and the call throws
// (ErrorKind::Interrupted). A cancelled run stops at its next look at the
// queue, wherever it is, and goes on from there when somebody needs what it
// writes; see SuspendedRuns.h. So to all others a run has all of its effect or
// none.
//
// A compilation that is stopped leaves the session as it was. Kernels that it
// has finished stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/MemoryReport.h"
#include "SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

void SessionImpl::cancel() {
  for (const std::unique_ptr<Device> &each : devices.getMade())
    each->getQueue().getLast().cancel();
}

/// What is waited for may wait for any device.
void SessionImpl::stopWaiting() {
  cancel();
  fail(ErrorKind::Interrupted, "interrupted while values were computed");
}

void SessionImpl::wait(const Tickets &tickets, StopCheck shouldStop) {
  if (!tickets.wait(shouldStop))
    stopWaiting();
  if (std::shared_ptr<const RunFailure> found = failures.take(tickets))
    fail(found->kind, found->message);
}

void SessionImpl::throwFailure() {
  Tickets all;
  for (const std::unique_ptr<Device> &each : devices.getMade())
    all.add(each->getQueue().getLast());
  if (std::shared_ptr<const RunFailure> found = failures.take(all))
    fail(found->kind, found->message);
}

void SessionImpl::wait(const TensorData &data, StopCheck shouldStop) {
  wait(data.ready, shouldStop);
  if (wasStopped(data))
    fail(ErrorKind::Interrupted,
         "the computation of a value was interrupted; ask for it again");
  // Another thread may have been told of it.
  if (data.buffer->failure)
    fail(data.buffer->failure->kind, data.buffer->failure->message);
}

void SessionImpl::waitForRoom(StopCheck shouldStop) {
  for (const std::unique_ptr<Device> &each : devices.getMade())
    if (!each->getQueue().waitForRoom(shouldStop))
      stopWaiting();
}

bool SessionImpl::drain(StopCheck shouldStop) {
  return llvm::all_of(devices.getMade(), [&](const auto &each) {
    return each->getQueue().drain(shouldStop);
  });
}

void SessionImpl::waitInside(const Tickets &tickets) {
  wait(tickets, getStopCheck());
}

void SessionImpl::drainInside() {
  if (!drain(getStopCheck()))
    stopWaiting();
}

//===----------------------------------------------------------------------===//
// Starting again
//===----------------------------------------------------------------------===//

void SessionImpl::resume(llvm::function_ref<bool(Ticket)> isAsked) {
  if (suspended.empty())
    return;
  // What waits in the queue and shares memory with these is suspended first. It
  // may be that nobody holds what has just been stopped.
  drainInside();
  suspended.dropUnneeded();
  llvm::DenseMap<Ticket, Ticket> renewed;
  for (std::unique_ptr<QueuedRun> &queued : takeSuspended(isAsked)) {
    Ticket before = queued->ticket;
    for (Ticket task : std::exchange(queued->awaited, Tickets()))
      queued->await(suspended.findLast(task).value_or(Ticket()), *before.queue);
    Ticket now = push(std::move(queued), Queue::Start::Apart);
    suspended.renew(before, now);
    renewed[before] = now;
  }
  if (renewed.empty())
    return;
  graph.forEachNode([&](Node *node) {
    if (auto found = renewed.find(node->ready); found != renewed.end())
      node->ready = found->second;
  });
  std::lock_guard<std::mutex> lock(postponedMutex);
  llvm::append_range(
      completedFetches,
      llvm::make_range(std::make_move_iterator(postponedFetches.begin()),
                       std::make_move_iterator(postponedFetches.end())));
  postponedFetches.clear();
}

/// What is asked for of the suspended runs, each with scratch memory that no
/// other one keeps. All stay where they are if there is no memory.
std::vector<std::unique_ptr<QueuedRun>>
SessionImpl::takeSuspended(llvm::function_ref<bool(Ticket)> isAsked) {
  std::vector<std::unique_ptr<QueuedRun>> taken = suspended.take(isAsked);
  llvm::scope_exit giveBack([&] {
    for (std::unique_ptr<QueuedRun> &queued : taken)
      suspended.add(std::move(queued));
  });
  for (std::unique_ptr<QueuedRun> &queued : taken) {
    ProgramRun &run = queued->run;
    if (run.progress.hasBegun() || !suspended.keepsScratch(run.scratch.get()))
      continue;
    Device &on = *queued->record->device;
    BufferRef &own = getScratch(on);
    if (size_t bytes = run.scratch->bytes(); !own || own->bytes() < bytes)
      own = takeMemory(
          *this, [this] { dropPacked(); },
          [&] { return on.getMemory().allocate(bytes, MemoryUse::Scratch); });
    run.scratch = own;
  }
  giveBack.release();
  return taken;
}

BufferRef &SessionImpl::getScratch(Device &on) {
  if (on.scratch && suspended.keepsScratch(on.scratch.get()))
    on.scratch.reset();
  return on.scratch;
}

void SessionImpl::resumeFor(llvm::ArrayRef<Node *> nodes) {
  if (suspended.empty())
    return;
  resume([&](Ticket ticket) {
    return llvm::any_of(nodes, [&](Node *node) {
      return node->buffer && node->ready == ticket;
    });
  });
}

bool SessionImpl::refresh(CompletedFetch &fetch) {
  // Nothing is started again between the look and the postponement.
  std::lock_guard<std::mutex> lock(postponedMutex);
  for (TensorData &value : fetch.values) {
    auto last = suspended.findLast(value.ready);
    if (!last) {
      postponedFetches.push_back(std::move(fetch));
      return false;
    }
    value.ready = *last;
  }
  return true;
}
