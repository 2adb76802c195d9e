//===- AllocatorTest.cpp - Tests of buffers and their allocator -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "llvm/ADT/ArrayRef.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace metaops;
using llvm::ArrayRef;

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

TEST(AllocatorTest, ContentsHaveNumbersThatAreNotUsedAgain) {
  Allocator allocator;
  BufferRef first = allocator.allocate(1000);
  uint64_t contents = first->getContents();
  EXPECT_NE(contents, 0u);
  EXPECT_EQ(first->getContents(), contents);
  allocator.renewContents(*first);
  EXPECT_NE(first->getContents(), contents);
  contents = first->getContents();
  void *memory = first->data();
  first.reset();
  BufferRef second = allocator.allocate(1000);
  EXPECT_EQ(second->data(), memory);
  EXPECT_GT(second->getContents(), contents);
  second->markExported();
  EXPECT_EQ(second->getContents(), 0u);
  float value;
  EXPECT_EQ(Buffer::wrap(&value, 4, {})->getContents(), 0u);
}

TEST(AllocatorTest, AModelLeavesContentsAsTheyAre) {
  Allocator allocator;
  auto model = Allocator::createModel(0);
  BufferRef buffer = allocator.allocate(1000);
  uint64_t contents = buffer->getContents();
  model->renewContents(*buffer);
  EXPECT_EQ(buffer->getContents(), contents);
  EXPECT_EQ(model->allocate(1000)->getContents(), 0u);
  EXPECT_TRUE(model->isModel());
  EXPECT_FALSE(allocator.isModel());
}

TEST(AllocatorTest, ACopyGoesWithWhatItWasMadeOf) {
  Allocator allocator;
  auto attach = [&](ArrayRef<BufferRef> buffers) {
    auto copy = std::make_shared<PackedCopy>(
        allocator.allocate(1 << 16, MemoryUse::Packed));
    for (const BufferRef &buffer : buffers)
      Allocator::attachCopy(*buffer, copy);
    return copy;
  };
  BufferRef x = allocator.allocate(1000), y = allocator.allocate(1000);
  auto ofX = attach({x}), ofY = attach({y}), ofBoth = attach({x, y});
  EXPECT_EQ(allocator.getStatistics().packedBytes, 3 << 16);
  allocator.renewContents(*x);
  EXPECT_FALSE(ofX->getMemory());
  EXPECT_FALSE(ofBoth->getMemory());
  EXPECT_TRUE(ofY->getMemory());
  EXPECT_EQ(allocator.getStatistics().packedBytes, 1 << 16);
  y.reset();
  EXPECT_FALSE(ofY->getMemory());
  EXPECT_EQ(allocator.getStatistics().packedBytes, 0);
}

TEST(AllocatorTest, RefusesWhatIsNotThere) {
  Allocator allocator;
  EXPECT_THROW(allocator.allocate(size_t(1) << 62), std::bad_alloc);
  EXPECT_THROW(allocator.allocate(~size_t(0)), std::bad_alloc);
  EXPECT_EQ(allocator.getStatistics().bytesInUse, 0);
  EXPECT_TRUE(allocator.allocate(8));
}

TEST(AllocatorTest, KeepsToItsLimit) {
  Allocator allocator;
  allocator.setLimit(10240);
  EXPECT_EQ(allocator.getStatistics().limit, 10240);
  BufferRef first = allocator.allocate(4096), second = allocator.allocate(4096);
  EXPECT_THROW(allocator.allocate(4096), OutOfMemory);
  EXPECT_EQ(allocator.getStatistics().bytesInUse, 8192);
  // As much as there is room for.
  EXPECT_TRUE(allocator.allocate(2048));
  second.reset();
  EXPECT_TRUE(allocator.allocate(4096));
  allocator.setLimit(0);
  EXPECT_TRUE(allocator.allocate(1 << 20));
}

TEST(AllocatorTest, CachedMemoryMakesRoom) {
  Allocator allocator;
  allocator.setLimit(1 << 20);
  for (size_t bytes = 512; bytes <= 1 << 20; bytes *= 2)
    EXPECT_TRUE(allocator.allocate(bytes)) << bytes;
  EXPECT_LE(allocator.getStatistics().bytesReserved, 1 << 20);
  // A lower limit gives back at once what nobody uses.
  allocator.setLimit(512);
  EXPECT_EQ(allocator.getStatistics().bytesReserved, 0);
}

TEST(AllocatorTest, ALimitBelowWhatIsInUseLetsItLive) {
  Allocator allocator;
  BufferRef buffer = allocator.allocate(4096);
  allocator.setLimit(1024);
  EXPECT_THROW(allocator.allocate(512), OutOfMemory);
  std::memset(buffer->data(), 1, 4096);
  buffer.reset();
  EXPECT_EQ(allocator.getStatistics().bytesReserved, 0);
  EXPECT_TRUE(allocator.allocate(512));
}

TEST(AllocatorTest, SaysWhatIsMissing) {
  Allocator allocator;
  BufferRef buffer = allocator.allocate(1000);
  allocator.setLimit(2048);
  try {
    allocator.allocate(3000);
    FAIL() << "the limit was not kept";
  } catch (const OutOfMemory &error) {
    EXPECT_EQ(std::string(error.what()),
              "out of memory: a buffer of 3072 bytes was asked for, with 1024 "
              "bytes in use of the 2048 that may be (limit)");
  }
  allocator.setLimit(0);
  try {
    allocator.allocate(size_t(1) << 62);
    FAIL() << "so much is nowhere";
  } catch (const OutOfMemory &error) {
    EXPECT_NE(std::string(error.what()).find("the system has no more"),
              std::string::npos);
  }
}

TEST(AllocatorTest, CountsScratchAndWhatOthersSee) {
  Allocator allocator;
  BufferRef value = allocator.allocate(600);
  {
    BufferRef scratch = allocator.allocate(5000, MemoryUse::Scratch);
    EXPECT_EQ(allocator.getStatistics().scratchBytes, 5120);
    value->markExported();
    value->markExported();
    EXPECT_EQ(allocator.getStatistics().exportedBytes, 1024);
  }
  value.reset();
  EXPECT_EQ(allocator.getStatistics().scratchBytes, 0);
  EXPECT_EQ(allocator.getStatistics().exportedBytes, 0);
}

TEST(AllocatorTest, AModelCountsWithoutMemory) {
  std::unique_ptr<Allocator> model = Allocator::createModel(4096);
  BufferRef huge = model->allocate(size_t(1) << 50);
  EXPECT_EQ(huge->data(), nullptr);
  EXPECT_EQ(model->getStatistics().bytesInUse, (int64_t(1) << 50) + 4096);
  huge.reset();
  model->discount(1024);
  EXPECT_EQ(model->getStatistics().bytesInUse, 3072);
  EXPECT_EQ(model->getStatistics().peakBytes, (int64_t(1) << 50) + 4096);
  EXPECT_EQ(model->getStatistics().bytesReserved, 0);
}

TEST(AllocatorTest, TheLimitHoldsForThreadsTogether) {
  constexpr int64_t limit = 1 << 20;
  Allocator allocator;
  allocator.setLimit(limit);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      std::vector<BufferRef> held;
      for (int j = 0; j < 2000; ++j) {
        try {
          held.push_back(allocator.allocate(1000 * (1 + j % 50)));
          std::memset(held.back()->data(), j, held.back()->bytes());
        } catch (const OutOfMemory &) {
          held.clear();
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  AllocatorStatistics statistics = allocator.getStatistics();
  EXPECT_EQ(statistics.bytesInUse, 0);
  EXPECT_LE(statistics.peakBytes, limit);
  EXPECT_GT(statistics.peakBytes, limit / 2);
}

TEST(AllocatorTest, BuffersOutliveIt) {
  BufferRef buffer;
  {
    Allocator allocator;
    buffer = allocator.allocate(100);
  }
  std::memset(buffer->data(), 7, 100);
  EXPECT_EQ(static_cast<const char *>(buffer->data())[99], 7);
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

TEST(BufferTest, AnAliasKeepsTheMemory) {
  Allocator allocator;
  BufferRef buffer = allocator.allocate(8);
  void *data = buffer->data();
  BufferRef alias = Buffer::alias(Buffer::alias(buffer));
  EXPECT_EQ(alias->data(), data);
  EXPECT_EQ(alias->bytes(), 8u);
  EXPECT_EQ(alias->getOrigin(), buffer.get());
  EXPECT_EQ(buffer->getOrigin(), buffer.get());
  EXPECT_TRUE(buffer->isShared());
  EXPECT_FALSE(alias->mayBeWritten());
  buffer.reset();
  EXPECT_GT(allocator.getStatistics().bytesInUse, 0);
  alias.reset();
  EXPECT_EQ(allocator.getStatistics().bytesInUse, 0);
}

TEST(BufferTest, RemembersBeingExported) {
  Allocator allocator;
  BufferRef buffer = allocator.allocate(8);
  EXPECT_FALSE(buffer->exported());
  buffer->markExported();
  EXPECT_TRUE(buffer->exported());
}

} // namespace
