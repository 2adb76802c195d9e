//===- ArenaTest.cpp - Tests of places in shared memory -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Transforms/MemoryPlan/Arena.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace mlir::metaop;

namespace {

std::vector<ArenaValue> makeValues(unsigned count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ArenaValue> values;
  for (unsigned i = 0; i < count; ++i) {
    int64_t begin = random() % count;
    int64_t length = random() % (random() % 8 == 0 ? count : 8);
    values.push_back({static_cast<int64_t>(random() % 5000), begin,
                      std::min<int64_t>(begin + length, count)});
  }
  return values;
}

/// Values that live at a time are apart, and inside of the arena.
void expectValid(const std::vector<ArenaValue> &values, const ArenaPlan &plan) {
  std::vector<unsigned> order(values.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return plan.offsets[a] < plan.offsets[b];
  });
  for (unsigned i = 0; i < order.size(); ++i) {
    const ArenaValue &value = values[order[i]];
    int64_t end = plan.offsets[order[i]] + value.bytes;
    EXPECT_LE(end, plan.bytes);
    EXPECT_EQ(plan.offsets[order[i]] % 64, 0);
    for (unsigned j = i + 1; j < order.size() && plan.offsets[order[j]] < end;
         ++j) {
      const ArenaValue &other = values[order[j]];
      EXPECT_TRUE(value.end < other.begin || other.end < value.begin)
          << "values " << order[i] << " and " << order[j];
    }
  }
}

/// Orders that are mended leave next to nothing.
TEST(ArenaTest, LeavesLittle) {
  int64_t most = 0, bytes = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::vector<ArenaValue> values = makeValues(40, seed);
    most += getMostLiveBytes(values);
    bytes += packArena(values)->bytes;
  }
  EXPECT_LE(bytes, most * 101 / 100);
}

TEST(ArenaTest, PlacesRandomValues) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::vector<ArenaValue> values = makeValues(120, seed);
    auto plan = packArena(values);
    ASSERT_TRUE(plan);
    expectValid(values, *plan);
    EXPECT_GE(plan->bytes, getMostLiveBytes(values));
    EXPECT_LE(plan->bytes, getMostLiveBytes(values) * 27 / 25);
  }
}

/// So many that only the program's order is tried.
TEST(ArenaTest, PlacesVeryManyValues) {
  std::vector<ArenaValue> values = makeValues(20000, 1);
  auto plan = packArena(values);
  ASSERT_TRUE(plan);
  expectValid(values, *plan);
  EXPECT_LE(plan->bytes, getMostLiveBytes(values) * 5 / 4);
}

TEST(ArenaTest, TakesTheSmallestGap) {
  // At 3 there are gaps of 128, 64 and 192 bytes, at the top another.
  std::vector<ArenaValue> values = {{128, 0, 1}, {64, 0, 9},  {64, 0, 1},
                                    {64, 0, 9},  {192, 0, 1}, {64, 0, 9},
                                    {60, 3, 9},  {130, 3, 9}, {100, 3, 9}};
  auto plan = packArena(values);
  ASSERT_TRUE(plan);
  expectValid(values, *plan);
  EXPECT_EQ(plan->offsets[6], 192);
  EXPECT_EQ(plan->offsets[7], 320);
  EXPECT_EQ(plan->offsets[8], 0);
  EXPECT_EQ(plan->bytes, 576);
}

} // namespace
