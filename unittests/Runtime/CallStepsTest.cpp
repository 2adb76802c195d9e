//===- CallStepsTest.cpp - Tests of steps of calls ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Program/CallSteps.h"
#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace metaops;

namespace {

constexpr int64_t kHeavy = 20'000'000;

CallFacts makeCall(llvm::ArrayRef<MemoryRange> reads,
                   llvm::ArrayRef<MemoryRange> writes, int64_t work = kHeavy,
                   bool isSplit = false) {
  CallFacts call;
  call.reads.assign(reads.begin(), reads.end());
  call.writes.assign(writes.begin(), writes.end());
  call.work = work;
  call.isSplit = isSplit;
  return call;
}

MemoryRange arena(int64_t begin, int64_t end) { return {0, begin, end}; }
MemoryRange argument(int64_t index) { return {1 + index, 0, 64}; }

using Steps = std::vector<std::vector<unsigned>>;

Steps plan(llvm::ArrayRef<CallFacts> calls) {
  Steps steps;
  for (const CallStep &step : planSteps(calls))
    steps.emplace_back(step.begin(), step.end());
  return steps;
}

TEST(CallStepsTest, IndependentCallsRunSideBySide) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}),
                  makeCall({argument(0)}, {arena(64, 128)})}),
            (Steps{{0, 1}}));
}

TEST(CallStepsTest, ACallWaitsForWhatItReads) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}),
                  makeCall({arena(32, 96)}, {arena(128, 192)})}),
            (Steps{{0}, {1}}));
}

/// Rows of a tensor whose rows have `pitch` bytes.
MemoryRange rows(int64_t begin, int64_t row, int64_t pitch, int64_t count = 4) {
  return {0, begin, begin + (count - 1) * pitch + row, row, pitch};
}

TEST(CallStepsTest, RowsBetweenEachOtherRunSideBySide) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {rows(0, 8, 24)}),
                  makeCall({argument(0)}, {rows(8, 8, 24)}),
                  makeCall({argument(0)}, {rows(16, 8, 24)})}),
            (Steps{{0, 1, 2}}));
}

TEST(CallStepsTest, RowsThatShareBytesDoNot) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {rows(8, 8, 24)}),
                  makeCall({argument(0)}, {rows(4, 5, 24)})}),
            (Steps{{0}, {1}}));
  EXPECT_EQ(plan({makeCall({argument(0)}, {rows(16, 8, 24)}),
                  makeCall({rows(0, 9, 24), rows(15, 2, 24)}, {})}),
            (Steps{{0}, {1}}));
  // Neither do rows of other pitches, or what lies across rows.
  EXPECT_EQ(plan({makeCall({argument(0)}, {rows(0, 8, 24)}),
                  makeCall({argument(0)}, {rows(8, 8, 48)})}),
            (Steps{{0}, {1}}));
  EXPECT_EQ(plan({makeCall({argument(0)}, {rows(0, 8, 24)}),
                  makeCall({arena(8, 24)}, {arena(128, 192)})}),
            (Steps{{0}, {1}}));
}

TEST(CallStepsTest, ACallDoesNotOverwriteWhatIsStillRead) {
  EXPECT_EQ(plan({makeCall({arena(0, 64)}, {arena(64, 128)}),
                  makeCall({argument(0)}, {arena(0, 64)})}),
            (Steps{{0}, {1}}));
}

TEST(CallStepsTest, TwoChainsAreInterleaved) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}),
                  makeCall({arena(0, 64)}, {arena(64, 128)}),
                  makeCall({argument(1)}, {arena(128, 192)}),
                  makeCall({arena(128, 192)}, {arena(192, 256)})}),
            (Steps{{0, 2}, {1, 3}}));
}

TEST(CallStepsTest, ACallDoesNotPassOneThatItDependsOn) {
  // The third reads what the second writes, which depends on the first.
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}),
                  makeCall({arena(0, 64)}, {arena(64, 128)}),
                  makeCall({arena(64, 128)}, {arena(128, 192)})}),
            (Steps{{0}, {1}, {2}}));
}

TEST(CallStepsTest, SmallAndSplitCallsStayAlone) {
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}, /*work=*/10),
                  makeCall({argument(0)}, {arena(64, 128)}, /*work=*/10)}),
            (Steps{{0}, {1}}));
  EXPECT_EQ(plan({makeCall({argument(0)}, {arena(0, 64)}, kHeavy, true),
                  makeCall({argument(0)}, {arena(64, 128)}, kHeavy, true)}),
            (Steps{{0}, {1}}));
}

/// Whatever the calls do, each finds what it would find in their order.
/// Whether a byte between the first and the last is one of the range.
bool holds(const MemoryRange &range, int64_t byte) {
  return range.pitch == 0 || (byte - range.begin) % range.pitch < range.row;
}

TEST(CallStepsTest, StepsKeepTheMeaningOfRandomPrograms) {
  std::mt19937 random(3);
  auto pick = [&](int n) { return static_cast<int64_t>(random() % n); };
  unsigned joined = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<CallFacts> calls;
    for (int i = 0; i < 24; ++i) {
      auto range = [&] {
        int64_t begin = pick(30);
        if (pick(3) == 0)
          return rows(begin, 1 + pick(3), 6, 2 + pick(3));
        return arena(begin, begin + 1 + pick(4));
      };
      calls.push_back(makeCall({range(), range()}, {range()},
                               pick(4) ? kHeavy : 10, pick(5) == 0));
    }
    // The memory holds who wrote last; what a call reads identifies it.
    auto run = [&](const std::vector<std::vector<unsigned>> &steps) {
      std::map<int64_t, uint64_t> memory;
      for (const std::vector<unsigned> &step : steps) {
        std::vector<std::pair<MemoryRange, uint64_t>> writes;
        for (unsigned index : step) {
          uint64_t value = index + 1;
          for (const MemoryRange &range : calls[index].reads)
            for (int64_t i = range.begin; i < range.end; ++i)
              if (holds(range, i))
                value = value * 1000003 + memory[i];
          for (const MemoryRange &range : calls[index].writes)
            writes.push_back({range, value});
        }
        for (auto &[range, value] : writes)
          for (int64_t i = range.begin; i < range.end; ++i)
            if (holds(range, i))
              memory[i] = value + i;
      }
      return memory;
    };
    std::vector<std::vector<unsigned>> inOrder;
    for (unsigned i = 0; i < calls.size(); ++i)
      inOrder.push_back({i});
    Steps steps = plan(calls);
    joined += calls.size() - steps.size();
    EXPECT_EQ(run(inOrder), run(steps));
  }
  EXPECT_GT(joined, 100u);
}

} // namespace
