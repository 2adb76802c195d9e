//===- Queue.cpp - Work that runs in order --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Queue/Queue.h"

#include <system_error>

using namespace metaops;

Queue::~Queue() {
  // The thread of a forked child's parent is not there to be joined.
  if (forkMark.isChild()) {
    if (worker.joinable())
      worker.detach();
    return;
  }
  drain();
  {
    Lock lock(mutex);
    isStopping = true;
  }
  wake.notify_all();
  if (worker.joinable())
    worker.join();
}

Queue::Ticket Queue::push(Task task, Start start) {
  Lock lock(mutex);
  tasks.push_back({std::move(task), start == Start::Apart});
  Ticket ticket = ++pushed;
  if (start != Start::WhenWaitedFor) {
    startWorker();
    isStarted = true;
    lock.unlock();
    wake.notify_one();
  }
  return ticket;
}

void Queue::startWorker() {
  if (worker.joinable())
    return;
  try {
    worker = std::thread([this] { serve(); });
  } catch (const std::system_error &) {
    // The process may have no more threads; who waits runs the tasks.
  }
}

bool Queue::wait(Ticket ticket, StopCheck shouldStop) {
  Lock lock(mutex);
  return runUntil(lock, [&] { return done >= ticket; }, shouldStop);
}

bool Queue::waitForRoom(StopCheck shouldStop) {
  Lock lock(mutex);
  return runUntil(lock, [&] { return tasks.size() < capacity; }, shouldStop);
}

void Queue::cancel(Ticket ticket) {
  Lock lock(mutex);
  if (!isCancelled(ticket))
    cancelled.store(ticket, std::memory_order_relaxed);
}

bool Queue::isDone(Ticket ticket) const {
  Lock lock(mutex);
  return done >= ticket;
}

Queue::Ticket Queue::getLast() const {
  Lock lock(mutex);
  return pushed;
}

bool Queue::runUntil(Lock &lock, llvm::function_ref<bool()> isReached,
                     StopCheck shouldStop) {
  while (!isReached()) {
    if (canHelp()) {
      runNext(lock);
    } else if (!shouldStop) {
      finished.wait(lock);
    } else if (finished.wait_for(lock, kAskingPeriod) ==
               std::cv_status::timeout) {
      lock.unlock();
      bool stops = shouldStop();
      lock.lock();
      if (stops)
        return isReached();
    }
  }
  return true;
}

void Queue::runNext(Lock &lock) {
  isRunning = true;
  Task task = std::move(tasks.front().task);
  tasks.pop_front();
  // Tasks run in order, so all before this one are done.
  Ticket ticket = done + 1;
  lock.unlock();
  task(ticket);
  // What the task holds goes before anybody hears that it is done.
  task = nullptr;
  lock.lock();
  isRunning = false;
  ++done;
  finished.notify_all();
  if (isStarted && !tasks.empty())
    wake.notify_one();
}

void Queue::serve() {
  Lock lock(mutex);
  for (;;) {
    wake.wait(lock, [&] { return isStopping || (isStarted && canRun()); });
    if (isStopping)
      return;
    while (canRun())
      runNext(lock);
    isStarted = !tasks.empty();
  }
}
