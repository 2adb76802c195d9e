//===- ThreadPoolTest.cpp - Tests of the thread pool ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "NoNewThreads.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace metaops;

namespace {

/// How often each of n iterations is run.
std::vector<int> countRuns(ThreadPool &pool, int64_t n, int64_t grain) {
  std::vector<std::atomic<int>> runs(n);
  pool.parallelFor(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++runs[i];
  });
  return std::vector<int>(runs.begin(), runs.end());
}

TEST(ThreadPoolTest, RunsEachIterationOnce) {
  ThreadPool pool(4);
  for (int64_t n : {0, 1, 2, 7, 1000})
    for (int64_t grain : {-1, 1, 3, 10000})
      EXPECT_EQ(countRuns(pool, n, grain), std::vector<int>(n, 1));
}

TEST(ThreadPoolTest, SharesALoopAmongThreads) {
  ThreadPool pool(3);
  // Each iteration waits for the others, so no thread can do two of them.
  std::mutex mutex;
  std::condition_variable arrival;
  std::set<std::thread::id> threads;
  pool.parallelFor(3, 1, [&](int64_t, int64_t) {
    std::unique_lock<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
    arrival.notify_all();
    arrival.wait_for(lock, std::chrono::seconds(30),
                     [&] { return threads.size() == 3; });
  });
  EXPECT_EQ(threads.size(), 3u);
}

TEST(ThreadPoolTest, GoesOnWithoutThreadsThatCannotBeStarted) {
  ThreadPool pool(4);
  NoNewThreads limit;
  for (int64_t n : {7, 1000})
    EXPECT_EQ(countRuns(pool, n, 1), std::vector<int>(n, 1));
}

TEST(ThreadPoolTest, KeepsToTheGrain) {
  ThreadPool pool(4);
  std::atomic<int64_t> smallest{1000};
  pool.parallelFor(1000, 100, [&](int64_t begin, int64_t end) {
    if (end != 1000)
      smallest = std::min<int64_t>(smallest, end - begin);
  });
  EXPECT_GE(smallest, 100);
}

TEST(ThreadPoolTest, AsksBeforeEachRangeOfALoopThatMayBeStopped) {
  for (unsigned threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    std::atomic<int64_t> done{0}, ranges{0}, longest{0};
    EXPECT_FALSE(pool.parallelFor(1000, 3,
                                  [&](int64_t begin, int64_t end) {
                                    done += end - begin;
                                    longest =
                                        std::max<int64_t>(longest, end - begin);
                                  },
                                  {[&] {
                                     ++ranges;
                                     return false;
                                   },
                                   10}));
    EXPECT_EQ(done, 1000);
    EXPECT_LE(longest, 10);
    EXPECT_GE(ranges, 100);
  }
}

TEST(ThreadPoolTest, AStoppedLoopIsOverWhenItReturns) {
  for (unsigned threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t limit : {0, 1, 17}) {
      std::atomic<int64_t> begun{0}, ended{0};
      EXPECT_TRUE(pool.parallelFor(1 << 20, 1,
                                   [&](int64_t, int64_t) {
                                     ++begun;
                                     std::this_thread::yield();
                                     ++ended;
                                   },
                                   {[&] { return begun >= limit; }, 1}));
      EXPECT_EQ(begun, ended);
      EXPECT_GE(begun, limit);
      // Each thread may have been between the question and its range.
      EXPECT_LE(begun, limit + int64_t(threads));
    }
    // The pool works as before.
    std::atomic<int64_t> done{0};
    pool.parallelFor(100, 1,
                     [&](int64_t begin, int64_t end) { done += end - begin; });
    EXPECT_EQ(done, 100);
  }
}

TEST(ThreadPoolTest, WhatIsLeftOfAStoppedLoopIsItsEnd) {
  constexpr int64_t n = 1000;
  for (unsigned threads : {1, 2, 4})
    for (int64_t grain : {1, 7})
      for (int64_t period : {2, 3, 50}) {
        ThreadPool pool(threads);
        std::vector<std::atomic<int>> runs(n);
        std::atomic<int64_t> asked{0};
        int64_t begin = 0, stops = 0;
        for (;;) {
          auto rest = pool.parallelFor(
              n, grain,
              [&](int64_t first, int64_t end) {
                EXPECT_GE(first, begin);
                for (int64_t i = first; i < end; ++i)
                  ++runs[i];
              },
              {[&] { return ++asked % period == 0; }, 10, begin});
          begin = rest.value_or(n);
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(runs[i], i < begin) << i << " of " << begin;
          if (!rest)
            break;
          ++stops;
        }
        EXPECT_GE(stops, 1);
      }
}

TEST(ThreadPoolTest, RunsManyLoops) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 2000; ++i)
    pool.parallelFor(6, 1,
                     [&](int64_t begin, int64_t end) { total += end - begin; });
  EXPECT_EQ(total, 12000);
}

TEST(ThreadPoolTest, RunsLoopsInLoops) {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  pool.parallelFor(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pool.parallelFor(8, 1, [&](int64_t b, int64_t e) { total += e - b; });
  });
  EXPECT_EQ(total, 64);
}

TEST(ThreadPoolTest, ServesSeveralCallers) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j)
        pool.parallelFor(10, 1, [&](int64_t b, int64_t e) { total += e - b; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 6000);
}

TEST(ThreadPoolTest, ChangesItsSize) {
  ThreadPool pool(1);
  for (unsigned threads : {3, 1, 2, 0}) {
    pool.setThreads(threads);
    EXPECT_EQ(pool.getThreads(), std::max(1u, threads));
    EXPECT_EQ(countRuns(pool, 100, 1), std::vector<int>(100, 1));
  }
}

TEST(ThreadPoolTest, WorkersMayComeTooLate) {
  // Each loop is over, and its description gone, about when workers wake up.
  ThreadPool pool(4);
  for (int turn = 0; turn < 200; ++turn) {
    EXPECT_EQ(countRuns(pool, 5, 1), std::vector<int>(5, 1));
    if (turn % 4 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(turn));
  }
}

TEST(ThreadPoolTest, WorksInAForkedChild) {
  ThreadPool pool(3);
  countRuns(pool, 100, 1);
  pid_t child = fork();
  if (child == 0) {
    bool ok = countRuns(pool, 100, 1) == std::vector<int>(100, 1);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
