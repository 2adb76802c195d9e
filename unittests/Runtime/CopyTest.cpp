//===- CopyTest.cpp - Tests of copies into windows ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Copy.h"
#include "gtest/gtest.h"

#include <numeric>
#include <random>

using namespace metaops;

namespace {
/// What a copy does, element by element.
void copySlowly(const Copy &copy, llvm::ArrayRef<void *> buffers,
                std::vector<char> &dest) {
  int64_t elements = 1;
  for (const CopyDim &dim : copy.dims)
    elements *= dim.extent;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t left = i, place = 0, stride = 1;
    bool isInside = true;
    for (size_t k = copy.dims.size(); k-- > 0;) {
      const CopyDim &dim = copy.dims[k];
      // Starts may be as far outside as numbers go.
      __int128 index = dim.start + left % dim.extent;
      left /= dim.extent;
      if (dim.startBuffer >= 0)
        index += *static_cast<int64_t *>(buffers[dim.startBuffer]);
      if (index < 0 || index >= dim.room) {
        isInside = false;
        break;
      }
      place += static_cast<int64_t>(index) * stride;
      stride *= dim.room;
    }
    if (isInside)
      std::copy_n(static_cast<const char *>(buffers[copy.source]) +
                      i * copy.elementBytes,
                  copy.elementBytes, dest.data() + place * copy.elementBytes);
  }
}

std::vector<char> randomBytes(std::mt19937 &random, int64_t size) {
  std::vector<char> bytes(size);
  for (char &byte : bytes)
    byte = random();
  return bytes;
}

int64_t countBytes(const Copy &copy, int64_t CopyDim::*extent) {
  int64_t bytes = copy.elementBytes;
  for (const CopyDim &dim : copy.dims)
    bytes *= dim.*extent;
  return bytes;
}

/// Does one copy, and compares.
void checkCopy(const Copy &copy, std::vector<int64_t> starts,
               std::mt19937 &random, ThreadPool &threads) {
  std::vector<char> source =
      randomBytes(random, countBytes(copy, &CopyDim::extent));
  std::vector<char> dest =
      randomBytes(random, countBytes(copy, &CopyDim::room));
  std::vector<char> expected = dest;
  std::vector<void *> buffers{source.data()};
  for (int64_t &start : starts)
    buffers.push_back(&start);
  runCopies(copy, buffers, dest.data(), threads);
  copySlowly(copy, buffers, expected);
  EXPECT_EQ(dest, expected);
}

TEST(CopyTest, EveryShapeAndElement) {
  std::mt19937 random(1);
  ThreadPool threads(2);
  for (int trial = 0; trial < 500; ++trial) {
    Copy copy{0, int64_t(1) << random() % 4, {}};
    int64_t rank = random() % 5;
    for (int64_t k = 0; k < rank; ++k) {
      int64_t extent = random() % 6, room = extent + random() % 3;
      copy.dims.push_back(
          {extent, room, int64_t(random() % (room - extent + 1)), -1});
    }
    checkCopy(copy, {}, random, threads);
  }
}

TEST(CopyTest, WindowsThatReachOver) {
  std::mt19937 random(2);
  ThreadPool threads(1);
  for (int trial = 0; trial < 500; ++trial) {
    Copy copy{0, 4, {}};
    std::vector<int64_t> starts;
    for (int64_t k = 0; k < 3; ++k) {
      copy.dims.push_back({int64_t(1 + random() % 4), 6, 0, 1 + k});
      starts.push_back(int64_t(random() % 16) - 7);
    }
    checkCopy(copy, starts, random, threads);
  }
  for (int64_t far : {INT64_MAX, INT64_MIN, INT64_MAX - 2})
    checkCopy({0, 4, {{3, 5, 0, 1}}}, {far}, random, threads);
}

// Rows that are cut into blocks, blocks of several rows, and stores past the
// caches, at places of any alignment.
TEST(CopyTest, LargeCopies) {
  std::mt19937 random(3);
  ThreadPool threads(2);
  checkCopy({0, 1, {{3, 5, 1, -1}, {70'001, 70'003, 1, -1}}}, {}, random,
            threads);
  checkCopy({0, 4, {{5'000, 5'001, 1, -1}, {11, 13, 2, -1}}}, {}, random,
            threads);
  checkCopy({0, 2, {{20'000'011, 20'000'029, 7, -1}}}, {}, random, threads);
}

// Many small tensors, one after the other.
TEST(CopyTest, ManyParts) {
  std::mt19937 random(4);
  ThreadPool threads(2);
  constexpr int64_t parts = 3000;
  std::vector<int64_t> extents(parts);
  for (int64_t &extent : extents)
    extent = random() % 40;
  int64_t total = std::accumulate(extents.begin(), extents.end(), int64_t(0));
  std::vector<std::vector<char>> sources;
  std::vector<Copy> copies;
  std::vector<void *> buffers;
  std::vector<char> dest(total * 8), expected(total * 8);
  int64_t begin = 0;
  for (int64_t part = 0; part < parts; ++part) {
    sources.push_back(randomBytes(random, extents[part] * 8));
    buffers.push_back(sources.back().data());
    copies.push_back({part, 8, {{extents[part], total, begin, -1}}});
    begin += extents[part];
  }
  runCopies(copies, buffers, dest.data(), threads);
  for (const Copy &copy : copies)
    copySlowly(copy, buffers, expected);
  EXPECT_EQ(dest, expected);
}
} // namespace
