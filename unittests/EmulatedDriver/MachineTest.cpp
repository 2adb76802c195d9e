//===- MachineTest.cpp - GPUs and their memory, emulated ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cmath>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace metaops;
using mlir::metaop::Chip;

namespace {

using MachineTest = EmulatedDriverTest;
using Texts = std::vector<std::string>;

EmulatedDriverOptions parse(const char *text) {
  return llvm::cantFail(EmulatedDriverOptions::parse(text));
}

TEST(EmulatedDriverOptionsTest, aTextSaysWhatThereIs) {
  EmulatedDriverOptions plain = parse("emulated");
  EXPECT_EQ(plain.devices, 1u);
  EXPECT_EQ(plain.chip, Chip::getDefault());
  EmulatedDriverOptions all =
      parse("emulated:devices=2,memory=64M,seed=7,chip=sm_80");
  EXPECT_EQ(all.devices, 2u);
  EXPECT_EQ(all.memory, uint64_t(64) << 20);
  EXPECT_EQ(all.seed, 7u);
  EXPECT_EQ(all.chip->name, "sm_80");
  EXPECT_EQ(parse("emulated:memory=1000").memory, 1000u);
  EXPECT_EQ(parse("emulated:memory=3G").memory, uint64_t(3) << 30);
}

TEST(EmulatedDriverOptionsTest, nonsenseIsAnErrorThatSaysWhatWasExpected) {
  for (auto [text, part] :
       {std::pair("", ""),
        {"emulatd", "emulatd"},
        {"Emulated", "Emulated"},
        {"emulated:", ""},
        {"emulated:devices", "devices"},
        {"emulated:devices=0", "devices=0"},
        {"emulated:devices=17", "devices=17"},
        {"emulated:devices=-1", "devices=-1"},
        {"emulated:memory=0", "memory=0"},
        {"emulated:memory=64Q", "memory=64Q"},
        {"emulated:memory=99999999999G", "memory=99999999999G"},
        {"emulated:seed=x", "seed=x"},
        {"emulated:chip=sm_70", "chip=sm_70"},
        {"emulated:devices=2,", ""},
        {"emulated:devices=2 memory=1M", "devices=2 memory=1M"},
        {"emulated:colour=red", "colour=red"}}) {
    auto options = EmulatedDriverOptions::parse(text);
    ASSERT_FALSE(bool(options)) << text;
    std::string message = toString(options.takeError());
    EXPECT_TRUE(llvm::StringRef(message).starts_with(
        (llvm::Twine("given '") + text + "', in which '" + part +
         "' means nothing; expected emulated, or emulated: with some of")
            .str()))
        << message;
  }
}

TEST_F(MachineTest, tellsFactsOfItsGpus) {
  start(parse("emulated:devices=2,memory=64M,chip=sm_80"));
  int count = 0, number = 0;
  expectSuccess(driver->countDevices(&count));
  EXPECT_EQ(count, 2);
  expect(kInvalidDevice, "there are 2 GPUs, the first of which is 0",
         driver->getDevice(&number, 7));
  size_t free = 0, total = 0;
  expectSuccess(driver->getTotalMemory(&total, device));
  EXPECT_EQ(total, size_t(64) << 20);
  char name[64];
  expectSuccess(driver->getDeviceName(name, sizeof(name), device));
  EXPECT_STREQ(name, "emulated sm_80");
  for (auto [attribute, expected] :
       {std::pair(16, 108), {75, 8}, {76, 0}, {97, 163 << 10}}) {
    expectSuccess(driver->getDeviceAttribute(&number, attribute, device));
    EXPECT_EQ(number, expected) << attribute;
  }
  DevicePointer memory = allocate(1000);
  expectSuccess(driver->getFreeMemory(&free, &total));
  EXPECT_EQ(total - free, 4096u);
  expectSuccess(driver->free(memory));
}

TEST_F(MachineTest, whatIsFreshOrFreedIsNobodys) {
  DevicePointer memory = allocate();
  std::vector<float> values(32, 1);
  expectSuccess(driver->copyToHost(values.data(), memory, 128));
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[31]));
  values.assign(32, 1);
  expectSuccess(driver->copyToDevice(memory, values.data(), 128));
  expectSuccess(driver->free(memory));
  // The emulated GPU's memory is the host's.
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const float *>(memory)));
  expect(kInvalidValue,
         "a copy of 128 bytes from a GPU uses 128 bytes at 128 bytes of GPU 0, "
         "which were freed",
         driver->copyToHost(values.data(), memory, 128));
  expect(kInvalidValue, "what is freed is 128 bytes of GPU 0, which were freed",
         driver->free(memory));
  expectSuccess(driver->free(0));
}

TEST_F(MachineTest, accessesEndWithTheirMemory) {
  DevicePointer memory = allocate();
  std::vector<float> values(64);
  expect(kInvalidValue, "128 bytes of GPU 0, which are not as many",
         driver->copyToDevice(memory, values.data(), 256));
  expect(kInvalidValue,
         "64 bytes into 128 bytes of GPU 0, which are not as many",
         driver->copyToDevice(memory + 64, values.data(), 128));
  expect(kInvalidValue, "what is freed is 64 bytes into 128 bytes of GPU 0",
         driver->free(memory + 64));
  expect(kInvalidValue, "an address that is in no memory of a GPU's",
         driver->copyToDevice(0x1000, values.data(), 128));
  expect(kInvalidValue, "of the host's at 128 bytes of GPU 0",
         driver->copyToDevice(memory, reinterpret_cast<void *>(memory), 128));
  expectSuccess(driver->copyToDevice(memory, nullptr, 0));
  expectSuccess(driver->free(memory));
}

TEST_F(MachineTest, memoryHasALimitBehindWhichWorkGoesOn) {
  start(parse("emulated:memory=1M"));
  DevicePointer most = 0, more = 0;
  expectSuccess(driver->allocate(&most, 1 << 20));
  expect(kOutOfMemory, "GPU 0 has 0 bytes left of 1048576 bytes",
         driver->allocate(&more, 1));
  expectSuccess(driver->free(most));
  expect(kOutOfMemory, "GPU 0 has 1048576 bytes left",
         driver->allocate(&more, UINT64_MAX));
  expectSuccess(driver->allocate(&more, 1000));
  expectSuccess(driver->free(more));
  expect(kInvalidValue, "", driver->allocate(&more, 0));
}

TEST_F(MachineTest, pinnedMemoryIsTheHosts) {
  void *pinned = nullptr;
  expectSuccess(driver->allocateHost(&pinned, 128, 0));
  auto *values = static_cast<float *>(pinned);
  EXPECT_TRUE(std::isnan(values[3]));
  DevicePointer memory = allocate();
  std::fill_n(values, 32, 2.0f);
  expectSuccess(driver->copyToDevice(memory, pinned, 128));
  expect(kInvalidValue,
         "of the host's at 4 bytes into 128 bytes of pinned memory",
         driver->copyToHost(values + 1, memory, 128));
  expect(kInvalidValue, "what is freed is 128 bytes of pinned memory",
         driver->free(reinterpret_cast<DevicePointer>(pinned)));
  expectSuccess(driver->freeHost(pinned));
  expect(kInvalidValue, "128 bytes of pinned memory, which were freed",
         driver->copyToHost(pinned, memory, 128));
  expectSuccess(driver->free(memory));
}

TEST_F(MachineTest, whatIsNotGivenBackIsListed) {
  DevicePointer memory = allocate(1000);
  DriverHandle stream = makeStream(), event = makeEvent();
  EXPECT_EQ(emulated->listLeaks(), (Texts{"4000 bytes of GPU 0", "a stream",
                                          "an event", "a context"}));
  expectSuccess(driver->free(memory));
  expectSuccess(driver->destroyStream(stream));
  expectSuccess(driver->destroyEvent(event));
  EXPECT_EQ(emulated->listLeaks(), (Texts{"a context"}));
  // A context takes all with it that is its own.
  allocate(1000);
  makeEvent();
  stop();
  EXPECT_EQ(emulated->listLeaks(),
            (Texts{"an event of GPU 0", "4000 bytes of GPU 0"}));
}

TEST_F(MachineTest, aContextIsNeededAndItsOwnThings) {
  start(parse("emulated:devices=2"));
  DevicePointer memory = allocate(), none = 0;
  DriverHandle stream = makeStream(), other = nullptr, popped = nullptr;
  int second = 0;
  expectSuccess(driver->getDevice(&second, 1));
  expectSuccess(driver->retainContext(&other, second));
  expectSuccess(driver->pushContext(other));
  std::vector<float> values(32);
  expect(kInvalidValue, "128 bytes of GPU 0, in a context of GPU 1",
         driver->copyToDevice(memory, values.data(), 128));
  expect(kInvalidHandle,
         "the stream is of GPU 0, whose context is not this thread's",
         driver->waitForStream(stream));
  expectSuccess(driver->popContext(&popped));
  EXPECT_EQ(popped, other);
  expectSuccess(driver->releaseContext(second));
  expect(kInvalidContext, "nobody retains such a context",
         driver->pushContext(other));
  expectSuccess(driver->free(memory));
  expectSuccess(driver->destroyStream(stream));
  expectSuccess(driver->popContext(&popped));
  expect(kInvalidContext, "this thread has no context",
         driver->allocate(&none, 1));
  expect(kInvalidContext, "this thread has no context",
         driver->popContext(&popped));
  expectSuccess(driver->pushContext(context));
}

TEST_F(MachineTest, aForkedChildGetsAnError) {
  pid_t child = fork();
  if (child == 0) {
    DevicePointer memory = 0;
    _exit(driver->allocate(&memory, 1));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), kNotInitialized);
}

TEST(VisibleDevicesTest, gpusMayBeHidden) {
  auto count = [](const char *visible, bool mayBeHidden = true) {
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    EmulatedDriverOptions options = parse("emulated:devices=3");
    options.mayBeHidden = mayBeHidden;
    EmulatedDriver emulated(options);
    auto driver = emulated.open();
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (!driver)
      return toString(driver.takeError());
    int number = 0;
    (*driver)->countDevices(&number);
    return std::to_string(number);
  };
  EXPECT_EQ(count("2,0"), "2");
  EXPECT_EQ(count("", /*mayBeHidden=*/false), "3");
  EXPECT_EQ(count("0,9,1"), "1");
  for (const char *none : {"", "-1", "x"})
    EXPECT_EQ(count(none),
              std::string("there is no use of a GPU: starting the driver "
                          "failed: CUDA_ERROR_NO_DEVICE, no CUDA-capable "
                          "device is detected; CUDA_VISIBLE_DEVICES is '") +
                  none + "' (it is an emulated driver)");
}

} // namespace
