//===- AllocatorTest.cpp - Tests of buffers and their allocator -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/Allocator.h"

#include "gtest/gtest.h"

#include <cstring>
#include <thread>
#include <vector>

using namespace metaops;

namespace {

TEST(AllocatorTest, AlignsAndPads) {
  Allocator allocator;
  for (size_t bytes : {0, 1, 63, 512, 513, 5000, 1 << 20}) {
    BufferRef buffer = allocator.allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
    std::memset(buffer->data(), 1, (bytes + 63) / 64 * 64);
  }
}

TEST(AllocatorTest, ReusesMemory) {
  Allocator allocator;
  void *first = allocator.allocate(1000)->data();
  EXPECT_EQ(allocator.allocate(900)->data(), first);
  AllocatorStatistics statistics = allocator.getStatistics();
  EXPECT_EQ(statistics.bytesInUse, 0);
  EXPECT_EQ(statistics.bytesReserved, 1024);
  EXPECT_EQ(statistics.peakBytes, 1024);
  EXPECT_EQ(statistics.allocations, 2);
  allocator.trim();
  EXPECT_EQ(allocator.getStatistics().bytesReserved, 0);
}

TEST(AllocatorTest, CountsThePeakSinceTheReset) {
  Allocator allocator;
  {
    BufferRef large = allocator.allocate(1 << 20);
  }
  BufferRef small = allocator.allocate(512);
  EXPECT_GE(allocator.getStatistics().peakBytes, 1 << 20);
  allocator.resetPeak();
  EXPECT_EQ(allocator.getStatistics().peakBytes, 512);
}

TEST(AllocatorTest, RefusesWhatIsNotThere) {
  Allocator allocator;
  EXPECT_THROW(allocator.allocate(size_t(1) << 62), std::bad_alloc);
  EXPECT_THROW(allocator.allocate(~size_t(0)), std::bad_alloc);
  EXPECT_EQ(allocator.getStatistics().bytesInUse, 0);
  EXPECT_TRUE(allocator.allocate(8));
}

TEST(AllocatorTest, BuffersOutliveIt) {
  BufferRef buffer;
  {
    Allocator allocator;
    buffer = allocator.allocate(100);
  }
  std::memset(buffer->data(), 0, 100);
}

TEST(AllocatorTest, WorksFromSeveralThreads) {
  Allocator allocator;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j)
        std::memset(allocator.allocate(j * 10)->data(), 0, j * 10);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(allocator.getStatistics().bytesInUse, 0);
}

TEST(BufferTest, GivesForeignMemoryBack) {
  int data[4] = {}, released = 0;
  {
    BufferRef buffer = Buffer::wrap(data, sizeof(data), [&] { ++released; });
    BufferRef second = buffer;
    EXPECT_TRUE(buffer->isForeign());
    EXPECT_TRUE(buffer->isShared());
    second.reset();
    EXPECT_FALSE(buffer->isShared());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(BufferTest, RemembersBeingExported) {
  Allocator allocator;
  BufferRef buffer = allocator.allocate(8);
  EXPECT_FALSE(buffer->exported());
  buffer->markExported();
  EXPECT_TRUE(buffer->exported());
}

} // namespace
