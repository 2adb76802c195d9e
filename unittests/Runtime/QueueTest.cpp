//===- QueueTest.cpp - Tests of the queue ---------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Queue/Queue.h"
#include "NoNewThreads.h"
#include "gtest/gtest.h"

#include <atomic>
#include <future>
#include <memory>
#include <random>
#include <vector>

using namespace metaops;

namespace {

TEST(QueueTest, RunsTasksInOrder) {
  std::vector<int> seen;
  Queue queue;
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i)
    queue.push([&seen, i](auto) { seen.push_back(i); },
               random() % 2 ? Queue::Start::Now : Queue::Start::WhenWaitedFor);
  queue.drain();
  ASSERT_EQ(seen.size(), 200u);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(seen[i], i);
}

TEST(QueueTest, ACallerThatWaitsRunsTheTask) {
  Queue queue;
  std::thread::id runner;
  Ticket ticket = queue.push([&](auto) { runner = std::this_thread::get_id(); },
                             Queue::Start::WhenWaitedFor);
  EXPECT_FALSE(ticket.isDone());
  ticket.wait();
  EXPECT_TRUE(ticket.isDone());
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(QueueTest, TheCallerGoesOnWhileATaskRuns) {
  Queue queue;
  std::promise<void> goOn;
  bool hasRun = false;
  queue.push(
      [&](auto) {
        goOn.get_future().wait();
        hasRun = true;
      },
      Queue::Start::Now);
  // Would not come to this if the task ran here.
  goOn.set_value();
  queue.drain();
  EXPECT_TRUE(hasRun);
}

TEST(QueueTest, WithoutAThreadWhoWaitsRunsTheTasks) {
  NoNewThreads limit;
  Queue queue(/*capacity=*/2);
  int numRun = 0;
  for (int i = 0; i < 10; ++i)
    queue.push([&](auto) { ++numRun; }, Queue::Start::Now);
  queue.drain();
  EXPECT_EQ(numRun, 10);
}

TEST(QueueTest, WaitsForRoom) {
  Queue queue(/*capacity=*/2);
  std::atomic<int> started{0}, waiting{0};
  for (int i = 0; i < 50; ++i) {
    queue.waitForRoom();
    queue.push([&](auto) { ++started; }, Queue::Start::Now);
    waiting = std::max(waiting.load(), i + 1 - started.load());
  }
  queue.drain();
  // Two in the queue, and one between its start and its first instruction.
  EXPECT_LE(waiting, 3);
}

TEST(QueueTest, ATaskAndWhatItHoldsAreGoneWhenItIsDone) {
  Queue queue;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> seen = held;
  Ticket ticket =
      queue.push([held = std::move(held)](auto) {}, Queue::Start::Now);
  ticket.wait();
  EXPECT_TRUE(seen.expired());
}

TEST(QueueTest, ServesManyThreads) {
  Queue queue;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        auto start =
            (i + t) % 3 ? Queue::Start::Now : Queue::Start::WhenWaitedFor;
        Ticket ticket = queue.push([&](auto) { ++ran; }, start);
        if (i % 5 == 0) {
          ticket.wait();
          EXPECT_TRUE(ticket.isDone());
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  queue.drain();
  EXPECT_EQ(ran, 4 * 300);
}

TEST(QueueTest, TasksKnowTheirTickets) {
  Queue queue;
  std::vector<Ticket> given, seen;
  for (int i = 0; i < 20; ++i)
    given.push_back(
        queue.push([&](Ticket own) { seen.push_back(own); },
                   i % 3 ? Queue::Start::WhenWaitedFor : Queue::Start::Now));
  queue.drain();
  EXPECT_EQ(seen, given);
}

TEST(QueueTest, ATaskApartIsNotRunByWhoWaits) {
  Queue queue;
  std::thread::id runner;
  for (int i = 0; i < 20; ++i) {
    queue.push([](auto) {}, Queue::Start::WhenWaitedFor);
    queue
        .push([&](auto) { runner = std::this_thread::get_id(); },
              Queue::Start::Apart)
        .wait();
    EXPECT_NE(runner, std::this_thread::get_id());
  }
}

TEST(QueueTest, WithoutAThreadWhoWaitsRunsTasksApart) {
  NoNewThreads limit;
  Queue queue;
  std::thread::id runner;
  queue
      .push([&](auto) { runner = std::this_thread::get_id(); },
            Queue::Start::Apart)
      .wait();
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(QueueTest, WhoWaitsMayStop) {
  Queue queue;
  std::promise<void> goOn;
  Ticket ticket =
      queue.push([&](auto) { goOn.get_future().wait(); }, Queue::Start::Apart);
  int asked = 0;
  EXPECT_FALSE(ticket.wait([&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(ticket.isDone());
  goOn.set_value();
  EXPECT_TRUE(ticket.wait([] { return false; }));
}

TEST(QueueTest, WhoAsksMayUseTheQueue) {
  Queue queue;
  std::promise<void> goOn;
  queue.push([&](auto) { goOn.get_future().wait(); }, Queue::Start::Apart);
  bool isInner = false;
  EXPECT_TRUE(queue.drain([&] {
    if (!std::exchange(isInner, true)) {
      Ticket inner = queue.push([](auto) {}, Queue::Start::Now);
      goOn.set_value();
      inner.wait();
    }
    return false;
  }));
}

TEST(QueueTest, CancelledTasksAreTold) {
  Queue queue;
  std::atomic<bool> isStopped{false};
  Ticket first = queue.push(
      [&](Ticket own) {
        while (!own.isCancelled())
          std::this_thread::yield();
        isStopped = true;
      },
      Queue::Start::Apart);
  Ticket second =
      queue.push([&](Ticket own) { EXPECT_FALSE(own.isCancelled()); },
                 Queue::Start::Apart);
  EXPECT_FALSE(first.wait([] { return true; }));
  first.cancel();
  second.wait();
  EXPECT_TRUE(isStopped);
  // What was cancelled stays that.
  Ticket().cancel();
  EXPECT_TRUE(first.isCancelled());
}

TEST(QueueTest, RunsWhatIsLeftWhenDestroyed) {
  int ran = 0;
  {
    Queue queue;
    queue.push([&](auto) { ++ran; }, Queue::Start::WhenWaitedFor);
    queue.push([&](auto) { ++ran; }, Queue::Start::WhenWaitedFor);
  }
  EXPECT_EQ(ran, 2);
}

} // namespace
