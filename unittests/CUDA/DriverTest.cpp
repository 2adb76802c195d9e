//===- DriverTest.cpp - NVIDIA's driver, and kernels through it -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "MetaOps/Runtime/CUDA/GpuRunner.h"
#include "gtest/gtest.h"

#include <dlfcn.h>

using namespace metaops;
using mlir::metaop::Chip;

namespace {

class DriverTest : public ::testing::Test {
protected:
  DriverTest() {
    void *library = dlopen(METAOPS_FAKE_DRIVER, RTLD_NOW);
    auto *get =
        reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "fakeDriver"));
    fake = get();
    *fake = FakeDriver();
  }
  ~DriverTest() override {
    EXPECT_EQ(fake->depth, 0);
    EXPECT_EQ(fake->live, 0);
  }

  static std::shared_ptr<const Driver> open() {
    return llvm::cantFail(Driver::open(METAOPS_FAKE_DRIVER));
  }
  static std::unique_ptr<GpuRunner> makeRunner() {
    return llvm::cantFail(GpuRunner::create(open(), 0));
  }
  /// The error of the first call that fails.
  static std::string messageOf(llvm::Error error) {
    return toString(std::move(error));
  }

  FakeDriver *fake;
};

/// Of (x, y, n, k), y[i] = x[i] + k for i < n.
void addNumber(void **arguments) {
  const auto *x = *static_cast<float **>(arguments[0]);
  auto *y = *static_cast<float **>(arguments[1]);
  int64_t n = *static_cast<int64_t *>(arguments[2]);
  int64_t k = *static_cast<int64_t *>(arguments[3]);
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] + static_cast<float>(k);
}

TEST_F(DriverTest, runsAKernelAndTellsItsTime) {
  fake->kernel = addNumber;
  auto runner = makeRunner();
  EXPECT_EQ(runner->getContext().getCapability(), 90);
  std::vector<float> x = {1, -2, 3.5f}, y(3);
  size_t bytes = x.size() * sizeof(float);
  GpuMemory from = llvm::cantFail(runner->allocate(bytes));
  GpuMemory to = llvm::cantFail(runner->allocate(bytes));
  ASSERT_FALSE(runner->write(from, x.data(), bytes));
  fake->calls.clear();
  auto module = llvm::cantFail(
      runner->load("the code", {{"fill", 32, 1, 0}, {"k", 256, 1, 0}}));
  EXPECT_EQ(fake->calls, (std::vector<std::string>{"cuCtxPushCurrent",
                                                   "cuModuleLoadData the code",
                                                   "cuModuleGetFunction fill",
                                                   "cuModuleGetFunction k"}));
  // As often as one likes.
  for (uint64_t number : {10, 20}) {
    fake->calls.clear();
    float milliseconds = llvm::cantFail(runner->run(
        *module, 1, 8, {from.getAddress(), to.getAddress(), 3, number}));
    EXPECT_EQ(milliseconds, 1.5f);
    EXPECT_EQ(fake->calls, (std::vector<std::string>{
                               "cuCtxPushCurrent", "cuEventRecord",
                               "cuLaunchKernel 8 x 256, 0 bytes",
                               "cuEventRecord", "cuEventSynchronize"}));
  }
  ASSERT_FALSE(runner->read(y.data(), to, bytes));
  EXPECT_EQ(y, (std::vector<float>{21, 18, 23.5f}));
}

TEST_F(DriverTest, asksForSharedMemoryAndLargeClusters) {
  auto runner = makeRunner();
  fake->calls.clear();
  auto module =
      llvm::cantFail(runner->load("the code", {{"k", 128, 16, 65536}}));
  EXPECT_EQ(fake->calls, (std::vector<std::string>{"cuCtxPushCurrent",
                                                   "cuModuleLoadData the code",
                                                   "cuModuleGetFunction k",
                                                   "cuFuncSetAttribute 8 65536",
                                                   "cuFuncSetAttribute 14 1"}));
  llvm::cantFail(runner->run(*module, 0, 32, {}));
  EXPECT_EQ(fake->calls[7], "cuLaunchKernel 32 x 128, 65536 bytes");
}

TEST_F(DriverTest, whatMayBeMissingIsEmpty) {
  auto driver = open();
  EXPECT_FALSE(driver->createStream || driver->launchGraph);
  EXPECT_EQ(driver->getEmulation(), nullptr);
}

TEST_F(DriverTest, takesMemoryOfNoBytes) {
  auto runner = makeRunner();
  GpuMemory memory = llvm::cantFail(runner->allocate(0));
  EXPECT_NE(memory.getAddress(), 0u);
}

TEST_F(DriverTest, saysWhatFailed) {
  auto runner = makeRunner();
  fake->failing = "cuMemAlloc";
  EXPECT_EQ(messageOf(runner->allocate(12).takeError()),
            "allocating 12 bytes of a GPU failed: CUDA_ERROR_OUT_OF_MEMORY, "
            "out of memory");
  for (auto [call, text] :
       {std::pair("cuModuleLoadData", "loading a kernel's code"),
        {"cuModuleGetFunction", "finding kernel 'k'"},
        {"cuFuncSetAttribute", "asking for 5 bytes of shared memory"}}) {
    fake->failing = call;
    auto module = runner->load("the code", {{"k", 1, 1, 5}});
    EXPECT_EQ(messageOf(module.takeError()),
              std::string(text) +
                  " failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory");
  }
  fake->failing.clear();
  auto module = llvm::cantFail(runner->load("the code", {{"k"}}));
  for (auto [call, text] : {std::pair("cuEventRecord", "recording an event"),
                            {"cuLaunchKernel", "launching a kernel"},
                            {"cuEventSynchronize", "running a kernel"}}) {
    fake->failing = call;
    EXPECT_EQ(messageOf(runner->run(*module, 0, 1, {}).takeError()),
              std::string(text) +
                  " failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory");
  }
  fake->failing = "cuCtxPushCurrent";
  EXPECT_EQ(messageOf(runner->allocate(12).takeError()),
            "using a GPU's context failed: CUDA_ERROR_OUT_OF_MEMORY, out of "
            "memory");
  // The module is yet to be unloaded.
  fake->failing.clear();
}

TEST_F(DriverTest, saysWhyThereIsNone) {
  std::string absent = messageOf(Driver::open("libcuda-absent.so").takeError());
  EXPECT_NE(absent.find("libcuda-absent.so is a part of NVIDIA's driver"),
            std::string::npos)
      << absent;
  std::string old = messageOf(Driver::open(METAOPS_OLD_DRIVER).takeError());
  EXPECT_NE(old.find("has no function cuLinkDestroy"), std::string::npos)
      << old;
  fake->failing = "cuInit";
  std::string none = messageOf(Driver::open(METAOPS_FAKE_DRIVER).takeError());
  EXPECT_NE(none.find("starting the driver failed"), std::string::npos) << none;
  fake->failing.clear();
  fake->devices = 0;
  std::string empty = messageOf(Driver::open(METAOPS_FAKE_DRIVER).takeError());
  EXPECT_NE(empty.find("the driver knows of none"), std::string::npos) << empty;
  fake->devices = 1;
  fake->failing = "cuDeviceGet";
  EXPECT_EQ(messageOf(GpuRunner::create(open(), 3).takeError()),
            "using GPU 3 failed: CUDA_ERROR_OUT_OF_MEMORY, out of memory");
}

/// A search that finds nothing but the fake driver.
AssemblerSearch searchDriver() {
  AssemblerSearch search;
  search.toolkits = Toolkits({});
  search.nvJitLinks = {};
  search.driver = METAOPS_FAKE_DRIVER;
  search.ptxas = "ptxas-absent";
  return search;
}

TEST_F(DriverTest, assembles) {
  auto assembler = llvm::cantFail(findAssembler(searchDriver()));
  EXPECT_EQ(assembler->getDescription(), "the driver of CUDA 13.0");
  const auto *chip = llvm::cantFail(Chip::find("sm_90a"));
  Cubin cubin = llvm::cantFail(assembler->assemble(".version 8.0", *chip));
  EXPECT_EQ(cubin.code, "driver's code");
  EXPECT_EQ(fake->target, 0x10000 + 90);
  ASSERT_EQ(cubin.kernels.size(), 1u);
  EXPECT_EQ(cubin.kernels[0].registers, 40);
  const auto *other = llvm::cantFail(Chip::find("sm_80"));
  llvm::cantFail(assembler->assemble(".version 8.0", *other));
  EXPECT_EQ(fake->target, 80);
  EXPECT_EQ(messageOf(assembler->assemble("bogus", *chip).takeError()),
            "the driver of CUDA 13.0 refuses the PTX: assembling failed: "
            "CUDA_ERROR_OUT_OF_MEMORY, out of memory\n"
            "ptxas ptx, line 3; error : bogus");
}

} // namespace
