//===- Resume.cpp - Stopped runs that go on -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/Launcher.h"
#include "MetaOps/Runtime/Run/MemoryHolders.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

void Launcher::resume(llvm::function_ref<bool(Ticket)> isAsked) {
  if (suspended.empty())
    return;
  // Runs that wait in the queue and share memory with these are suspended
  // first. It may be that nobody holds what has just been stopped.
  waiter.drainInside();
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
  fetches.completeKept();
}

/// Takes what is asked for of the suspended runs, each with scratch memory that
/// no other one keeps. All stay where they are if there is no memory.
std::vector<std::unique_ptr<QueuedRun>>
Launcher::takeSuspended(llvm::function_ref<bool(Ticket)> isAsked) {
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
          graph, [this] { programs.dropPacked(/*isShort=*/true); },
          [&] { return on.getMemory().allocate(bytes, MemoryUse::Scratch); });
    run.scratch = own;
  }
  giveBack.release();
  return taken;
}

BufferRef &Launcher::getScratch(Device &on) {
  if (on.scratch && suspended.keepsScratch(on.scratch.get()))
    on.scratch.reset();
  return on.scratch;
}

void Launcher::resumeFor(llvm::ArrayRef<Node *> nodes) {
  if (suspended.empty())
    return;
  resume([&](Ticket ticket) {
    return llvm::any_of(nodes, [&](Node *node) {
      return node->buffer && node->ready == ticket;
    });
  });
}
