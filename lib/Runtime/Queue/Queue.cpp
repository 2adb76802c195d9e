//===- Queue.cpp - Work that runs in order --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Queue/Queue.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <system_error>

using namespace metaops;

//===----------------------------------------------------------------------===//
// Tickets
//===----------------------------------------------------------------------===//

bool Ticket::isDone() const { return !queue || queue->done >= number; }

bool Ticket::wait(StopCheck shouldStop) const {
  if (isDone())
    return true;
  Queue::Lock lock(queue->mutex);
  return queue->runUntil(
      lock, [&] { return queue->done >= number; }, shouldStop);
}

void Ticket::cancel() const {
  if (!queue)
    return;
  Queue::Lock lock(queue->mutex);
  if (!isCancelled())
    queue->cancelled.store(number, std::memory_order_relaxed);
}

bool Ticket::isCancelled() const {
  return queue && queue->cancelled.load(std::memory_order_relaxed) >= number;
}

void Tickets::add(Ticket ticket) {
  if (!ticket)
    return;
  for (Ticket &own : tickets)
    if (own.queue == ticket.queue) {
      own.number = std::max(own.number, ticket.number);
      return;
    }
  tickets.push_back(ticket);
}

void Tickets::add(const Tickets &others) {
  for (Ticket ticket : others)
    add(ticket);
}

bool Tickets::areDone() const {
  return llvm::all_of(tickets, [](Ticket ticket) { return ticket.isDone(); });
}

bool Tickets::wait(StopCheck shouldStop) const {
  return llvm::all_of(tickets,
                      [&](Ticket ticket) { return ticket.wait(shouldStop); });
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

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

Ticket Queue::push(Task task, Start start) {
  Lock lock(mutex);
  tasks.push_back({std::move(task), start == Start::Apart});
  Ticket ticket{this, ++pushed};
  if (start == Start::Here && !isRunning && tasks.size() == 1) {
    runNext(lock);
    return ticket;
  }
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

bool Queue::waitForRoom(StopCheck shouldStop) {
  if (pushed - done < capacity)
    return true;
  Lock lock(mutex);
  return runUntil(lock, [&] { return tasks.size() < capacity; }, shouldStop);
}

Ticket Queue::getLast() { return {this, pushed}; }

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
  Ticket ticket{this, done + 1};
  lock.unlock();
  task(ticket);
  // The task's values go before anybody hears that it is done.
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
