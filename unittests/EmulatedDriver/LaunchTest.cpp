//===- LaunchTest.cpp - Launches through an emulated driver ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <thread>

using namespace metaops;

namespace {

class EmulatedLaunchTest : public EmulatedDriverTest {
protected:
  EmulatedLaunchTest() : x(allocate()), y(allocate()) {
    std::vector<float> ones(32, 1);
    expectSuccess(driver->copyToDevice(x, ones.data(), 128));
  }
  ~EmulatedLaunchTest() override {
    expectSuccess(driver->waitForContext());
    for (DevicePointer memory : {x, y})
      expectSuccess(driver->free(memory));
    stop();
    EXPECT_EQ(emulated->listLeaks(), std::vector<std::string>());
  }

  /// Says that x is an input and y a result.
  void beginCall(bool isCounted = false) {
    CallDescription call;
    call.pieces = {makePiece("input 0", x, true, false),
                   makePiece("result 0", y, false, true)};
    call.isCounted = isCounted;
    driver->getEmulation()->beginCall(std::move(call));
  }

  DevicePointer x, y;
};

TEST_F(EmulatedLaunchTest, runsAKernel) {
  expectSuccess(launch(getFunction("add"), x, y, 2));
  std::vector<float> sums(32);
  expectSuccess(driver->copyToHost(sums.data(), y, 128));
  EXPECT_EQ(sums, std::vector<float>(32, 3));
}

TEST_F(EmulatedLaunchTest, argumentsAreThoseOfTheTimeOfTheCall) {
  DriverHandle function = getFunction("add");
  float k = 2;
  void *arguments[] = {&x, &y, &k};
  expectSuccess(driver->launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr,
                               arguments, nullptr));
  k = 100;
  std::vector<float> sums(32);
  expectSuccess(driver->copyToHost(sums.data(), y, 128));
  EXPECT_EQ(sums[31], 3);
}

TEST_F(EmulatedLaunchTest, aWriteToAnInputIsFound) {
  DriverHandle add = getFunction("add");
  beginCall();
  expectSuccess(launch(add, x, x, 2));
  expect(kLaunchFailed, "input 0", driver->waitForStream(nullptr));
  driver->getEmulation()->endCall();
}

TEST_F(EmulatedLaunchTest, aReadOfWhatNobodyWroteIsFoundInTheCallAlone) {
  DriverHandle add = getFunction("add");
  beginCall();
  expectSuccess(launch(add, y, y, 2));
  expect(kLaunchFailed, "uninitialised", driver->waitForStream(nullptr));
  // A launch may read the writes of another one of its call.
  beginCall();
  expectSuccess(launch(add, x, y, 2));
  expectSuccess(launch(add, y, y, 2));
  expectSuccess(driver->waitForStream(nullptr));
  beginCall();
  expectSuccess(launch(add, y, y, 2));
  expect(kLaunchFailed, "result 0", driver->waitForStream(nullptr));
  driver->getEmulation()->endCall();
}

TEST_F(EmulatedLaunchTest, anAccessBehindAPieceIsFoundThoughMemoryFollows) {
  DevicePointer large = allocate(4096);
  DriverHandle late = getFunction("late");
  CallDescription call;
  call.pieces = {makePiece("input 0", large, true, false),
                 makePiece("result 0", large + 8192, false, true)};
  driver->getEmulation()->beginCall(call);
  expectSuccess(launch(late, large, large + 8192, 0));
  expect(kLaunchFailed, "out of bounds", driver->waitForStream(nullptr));
  driver->getEmulation()->endCall();
  // Nothing is wrong with it where it may use all.
  expectSuccess(launch(late, large, large + 8192, 0));
  expectSuccess(driver->waitForStream(nullptr));
  expectSuccess(driver->free(large));
}

TEST_F(EmulatedLaunchTest, whatACallDoesIsCounted) {
  DriverHandle add = getFunction("add");
  beginCall(/*isCounted=*/true);
  expectSuccess(launch(add, x, y, 2));
  expectSuccess(launch(add, x, y, 3));
  expectSuccess(driver->waitForStream(nullptr));
  LaunchCounts counts = driver->getEmulation()->endCall();
  EXPECT_EQ(counts.getGlobal().bytes, 4 * 128u);
}

TEST_F(EmulatedLaunchTest, launchesOfAModuleThatIsUnloadedComeToTheirEnd) {
  DriverHandle add = getFunction("add");
  expectSuccess(launch(add, x, y, 2));
  expectSuccess(driver->unloadModule(module));
  module = nullptr;
  std::vector<float> sums(32);
  expectSuccess(driver->copyToHost(sums.data(), y, 128));
  EXPECT_EQ(sums[0], 3);
  expect(kInvalidHandle, "there is no such function", launch(add, x, y, 2));
}

TEST_F(EmulatedLaunchTest, whatIsNoModuleIsRefused) {
  DriverHandle loaded = nullptr;
  expect(kInvalidImage, "it is no module in the phase nvvm",
         driver->loadModule(&loaded, "\177ELF"));
  std::string image = EmulatedDriver::makeImage(kKernels);
  image.back() = '(';
  expect(kInvalidImage, "a kernel could not be read",
         driver->loadModule(&loaded, image.data()));
  getFunction("add");
  expect(kNotFound, "", driver->getFunction(&loaded, module, "sub"));
}

TEST_F(EmulatedLaunchTest, sharedMemoryHasToBeAskedFor) {
  DriverHandle add = getFunction("add");
  float k = 0;
  void *arguments[] = {&x, &y, &k};
  auto launchWith = [&](unsigned bytes) {
    return driver->launch(add, 1, 1, 1, 32, 1, 1, bytes, nullptr, arguments,
                          nullptr);
  };
  expect(kInvalidValue, "a launch of 65536 bytes of shared memory, where 49152",
         launchWith(65536));
  expectSuccess(driver->setFunctionAttribute(add, 8, 65536));
  expectSuccess(launchWith(65536));
  expect(kInvalidValue, "an sm_90a has no such attribute or value",
         driver->setFunctionAttribute(add, 8, 1 << 20));
}

TEST_F(EmulatedLaunchTest, argumentsAreNeeded) {
  DriverHandle add = getFunction("add");
  expect(kInvalidValue, "a launch of add has no addresses of arguments",
         driver->launch(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  CallDescription call;
  call.pieces = {makePiece("input 0", x, true, false),
                 makePiece("result 0", y, false, true)};
  call.numArguments = 2;
  driver->getEmulation()->beginCall(call);
  expect(kInvalidValue, "a launch of add has 2 arguments, not 3",
         launch(add, x, y, 2));
  driver->getEmulation()->endCall();
}

TEST_F(EmulatedLaunchTest, aLaunchOnAFreedPieceIsRefused) {
  DriverHandle add = getFunction("add");
  DevicePointer gone = allocate();
  expectSuccess(driver->free(gone));
  CallDescription call;
  call.pieces = {makePiece("input 0", gone, true, false)};
  driver->getEmulation()->beginCall(call);
  expect(kInvalidValue,
         "a launch (input 0) uses 128 bytes at 128 bytes of GPU 0, which were "
         "freed",
         launch(add, gone, y, 2));
  driver->getEmulation()->endCall();
  // The emulator finds it where nobody has said what the launch is for.
  expectSuccess(launch(add, gone, y, 2));
  expect(kLaunchFailed, "out of bounds", driver->waitForStream(nullptr));
}

TEST_F(EmulatedLaunchTest, threadsHaveCallsOfTheirOwn) {
  DriverHandle add = getFunction("add");
  beginCall();
  DriverResult result = kNotReady;
  std::thread other([&] {
    driver->pushContext(context);
    // Not described, so it may write x.
    result = launch(add, x, x, 2);
    if (result == kSuccess)
      result = driver->waitForStream(nullptr);
    DriverHandle popped = nullptr;
    driver->popContext(&popped);
  });
  other.join();
  EXPECT_EQ(result, kSuccess);
  driver->getEmulation()->endCall();
}

} // namespace
