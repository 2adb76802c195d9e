//===- OrderTest.cpp - Streams and events that are emulated ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <map>

using namespace metaops;

namespace {

/// Two streams that the legacy one does not order, an event, and two pieces of
/// memory.
class OrderTest : public EmulatedDriverTest {
protected:
  OrderTest() { make(0); }
  ~OrderTest() override { drop(); }

  void make(uint64_t seed) {
    EmulatedDriverOptions options;
    options.seed = seed;
    start(options);
    first = makeStream(kNonBlocking);
    second = makeStream(kNonBlocking);
    event = makeEvent();
    x = allocate();
    y = allocate();
  }
  void drop() {
    expectSuccess(driver->waitForContext());
    for (DriverHandle stream : {first, second})
      expectSuccess(driver->destroyStream(stream));
    expectSuccess(driver->destroyEvent(event));
    for (DevicePointer memory : {x, y})
      expectSuccess(driver->free(memory));
    stop();
    EXPECT_EQ(emulated->listLeaks(), std::vector<std::string>());
  }

  static constexpr unsigned kNonBlocking = 1;
  DriverHandle first, second, event;
  DevicePointer x, y;
  // Copies may be done as late as at the end of a test.
  std::vector<float> ones = std::vector<float>(32, 1);
  std::vector<float> sums = std::vector<float>(32);
  std::vector<float> others = std::vector<float>(32);
};

TEST_F(OrderTest, whatAnEventOrdersIsRightWithEachSeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    drop();
    make(seed);
    DriverHandle add = getFunction("add");
    expectSuccess(upload(x, ones, first));
    expectSuccess(driver->recordEvent(event, first));
    expectSuccess(driver->enqueueWait(second, event, 0));
    expectSuccess(launch(add, x, y, 2, second));
    expectSuccess(launch(add, y, y, 4, second));
    expectSuccess(download(sums, y, second));
    expectSuccess(driver->waitForStream(second));
    EXPECT_EQ(sums, std::vector<float>(32, 7));
  }
}

TEST_F(OrderTest, anEventThatIsNotWaitedForIsFound) {
  DriverHandle add = getFunction("add");
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->recordEvent(event, first));
  expect(kLaunchFailed,
         "a launch of add and a copy of 128 bytes to a GPU use the same bytes, "
         "and nothing orders them",
         launch(add, x, y, 2, second));
}

TEST_F(OrderTest, anEventThatIsWaitedForTooEarlyOrdersNothing) {
  expectSuccess(driver->enqueueWait(second, event, 0));
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->recordEvent(event, first));
  expect(kLaunchFailed, "nothing orders them", download(sums, x, second));
}

TEST_F(OrderTest, anEventThatIsUsedAgainStandsForWhatItWasLast) {
  expectSuccess(driver->recordEvent(event, first));
  expectSuccess(upload(x, ones, first));
  // The wait is for what was recorded before the copy.
  expectSuccess(driver->enqueueWait(second, event, 0));
  expectSuccess(driver->recordEvent(event, first));
  expect(kLaunchFailed, "nothing orders them", download(sums, x, second));
  expectSuccess(driver->enqueueWait(second, event, 0));
  expectSuccess(download(sums, x, second));
}

TEST_F(OrderTest, anOverwriteOfWhatACopyReadsIsFound) {
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->waitForStream(first));
  // Two that read need no order.
  expectSuccess(download(sums, x, first));
  expectSuccess(download(others, x, second));
  expect(kLaunchFailed,
         "a fill of 128 bytes and a copy of 128 bytes from a GPU",
         driver->enqueueFill(x, 0, 128, second));
  // Bytes beside them are others.
  expectSuccess(driver->enqueueFill(y, 0, 128, second));
}

TEST_F(OrderTest, theHostOrdersWhatItWaitsFor) {
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->recordEvent(event, first));
  expectSuccess(driver->waitForEvent(event));
  expectSuccess(download(sums, x, second));
  expectSuccess(driver->waitForStream(second));
  EXPECT_EQ(sums, ones);
}

TEST_F(OrderTest, memoryOfTheHostIsReadAsLateAsItMayBe) {
  expectSuccess(upload(x, ones, first));
  ones.assign(32, 5);
  expectSuccess(download(sums, x, first));
  EXPECT_EQ(sums, std::vector<float>(32, 0));
  expectSuccess(driver->waitForStream(first));
  EXPECT_EQ(sums, ones);
}

TEST_F(OrderTest, whoAsksSeesItGoOn) {
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->recordEvent(event, first));
  expect(kNotReady, "", driver->queryEvent(event));
  unsigned asked = 1;
  while (driver->queryEvent(event) == kNotReady && asked < 10)
    ++asked;
  EXPECT_EQ(asked, 2u);
  // It is known, so nothing has to be waited for.
  expectSuccess(download(sums, x, second));
  expect(kNotReady, "", driver->queryStream(second));
  expectSuccess(driver->queryStream(second));
  EXPECT_EQ(sums, ones);
}

TEST_F(OrderTest, theLegacyStreamIsInOrderWithThoseThatBlock) {
  DriverHandle blocking = makeStream();
  expectSuccess(upload(x, ones, blocking));
  expectSuccess(download(sums, x, nullptr));
  expectSuccess(driver->enqueueFill(x, 0, 128, blocking));
  expect(kLaunchFailed, "nothing orders them",
         driver->enqueueFill(x, 0, 128, first));
  // It stays so when the stream is gone.
  expectSuccess(driver->destroyStream(blocking));
  expectSuccess(driver->enqueueFill(x, 1, 128, nullptr));
  expectSuccess(driver->waitForStream(nullptr));
  EXPECT_EQ(sums, ones);
}

TEST_F(OrderTest, theOrderOfTheRestIsDrawnFromTheSeed) {
  std::map<std::string, unsigned> orders;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    drop();
    make(seed);
    expectSuccess(driver->enqueueFill(x, 0, 128, first));
    expectSuccess(driver->enqueueFill(y, 0, 128, second));
    expectSuccess(download(sums, x, first));
    expectSuccess(download(others, y, second));
    sums.assign(32, 1);
    others.assign(32, 1);
    // The host waits for one of them; another may have come along.
    expectSuccess(driver->waitForStream(first));
    EXPECT_EQ(sums[0], 0);
    ++orders[others[0] == 0 ? "both" : "one"];
  }
  EXPECT_GT(orders["both"], 0u);
  EXPECT_GT(orders["one"], orders["both"]);
}

TEST_F(OrderTest, whatIsFreedTooEarlyIsFound) {
  DevicePointer gone = allocate();
  expectSuccess(upload(gone, ones, first));
  expect(kLaunchFailed,
         "128 bytes of GPU 0 are freed while a copy of 128 bytes to a GPU, "
         "which uses them, may not be done",
         driver->free(gone));
}

TEST_F(OrderTest, timesAreBetweenEvents) {
  DriverHandle end = makeEvent();
  float milliseconds = -1;
  expect(kInvalidHandle, "", driver->getElapsedTime(&milliseconds, event, end));
  expectSuccess(driver->recordEvent(event, first));
  expectSuccess(upload(x, ones, first));
  expectSuccess(driver->recordEvent(end, first));
  expect(kNotReady, "", driver->getElapsedTime(&milliseconds, event, end));
  expectSuccess(driver->waitForEvent(end));
  expectSuccess(driver->getElapsedTime(&milliseconds, event, end));
  EXPECT_GE(milliseconds, 0);
  expectSuccess(driver->destroyEvent(end));
}

} // namespace
