//===- GpuRunner.cpp - Kernels on a GPU, one after another ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time is that between two events around the kernel, on the GPU's own
// clock.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/GpuRunner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <vector>

using namespace metaops;

// CUfunction_attribute.
static constexpr int kMaxDynamicSharedBytes = 8, kMayHaveLargeClusters = 14;
/// What every chip with clusters takes; more has to be allowed.
static constexpr unsigned kPortableCluster = 8;

GpuMemory::~GpuMemory() {
  if (!context)
    return;
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    llvm::consumeError(std::move(error));
  else
    context->getDriver().free(address);
}

llvm::Expected<std::unique_ptr<GpuRunner>>
GpuRunner::create(std::shared_ptr<const Driver> driver, int ordinal) {
  auto context = DriverContext::create(std::move(driver), ordinal);
  if (!context)
    return context.takeError();
  return std::unique_ptr<GpuRunner>(new GpuRunner(std::move(*context)));
}

llvm::Expected<GpuMemory> GpuRunner::allocate(size_t numBytes) {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return std::move(error);
  const Driver &driver = context->getDriver();
  DevicePointer address = 0;
  // The driver gives no memory of no bytes.
  size_t size = std::max<size_t>(numBytes, 1);
  if (llvm::Error error = driver.check(
          driver.allocate(&address, size),
          "allocating " + std::to_string(numBytes) + " bytes of a GPU"))
    return std::move(error);
  return GpuMemory(context, address);
}

llvm::Error GpuRunner::write(const GpuMemory &to, const void *from,
                             size_t numBytes) {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return error;
  const Driver &driver = context->getDriver();
  return driver.check(driver.copyToDevice(to.getAddress(), from, numBytes),
                      "copying to a GPU");
}

llvm::Error GpuRunner::read(void *to, const GpuMemory &from, size_t numBytes) {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return error;
  const Driver &driver = context->getDriver();
  return driver.check(driver.copyToHost(to, from.getAddress(), numBytes),
                      "copying from a GPU");
}

namespace {
/// A module, two events, and whatever went wrong with them: each step is done
/// only if those before it were.
class TimedLaunch {
public:
  explicit TimedLaunch(const Driver &driver) : driver(driver) {}
  ~TimedLaunch() {
    for (DriverHandle event : {begin, end})
      if (event)
        driver.destroyEvent(event);
    if (module)
      driver.unloadModule(module);
  }

  llvm::Expected<float> run(const std::string &cubin, const std::string &kernel,
                            const GpuGrid &grid, void **arguments);

private:
  llvm::Error load(const std::string &cubin, const std::string &kernel);
  llvm::Error allow(const GpuGrid &grid);
  llvm::Error launch(const GpuGrid &grid, void **arguments);

  const Driver &driver;
  DriverHandle module = nullptr, function = nullptr;
  DriverHandle begin = nullptr, end = nullptr;
};
} // namespace

llvm::Error TimedLaunch::load(const std::string &cubin,
                              const std::string &kernel) {
  if (llvm::Error error = driver.check(driver.loadModule(&module, cubin.data()),
                                       "loading kernel '" + kernel + "'"))
    return error;
  return driver.check(driver.getFunction(&function, module, kernel.c_str()),
                      "finding kernel '" + kernel + "'");
}

llvm::Error TimedLaunch::allow(const GpuGrid &grid) {
  if (grid.sharedBytes > 0)
    if (llvm::Error error = driver.check(
            driver.setFunctionAttribute(function, kMaxDynamicSharedBytes,
                                        static_cast<int>(grid.sharedBytes)),
            "asking for " + std::to_string(grid.sharedBytes) +
                " bytes of shared memory"))
      return error;
  if (grid.cluster > kPortableCluster)
    return driver.check(
        driver.setFunctionAttribute(function, kMayHaveLargeClusters, 1),
        "asking for clusters of " + std::to_string(grid.cluster) + " blocks");
  return llvm::Error::success();
}

llvm::Error TimedLaunch::launch(const GpuGrid &grid, void **arguments) {
  auto check = [&](DriverResult result, const char *what) {
    return driver.check(result, what);
  };
  for (DriverHandle *event : {&begin, &end})
    if (llvm::Error error =
            check(driver.createEvent(event, 0), "creating an event"))
      return error;
  if (llvm::Error error =
          check(driver.recordEvent(begin, nullptr), "recording an event"))
    return error;
  // The size of clusters is a part of the code.
  if (llvm::Error error =
          check(driver.launch(function, grid.blocks, 1, 1, grid.threads, 1, 1,
                              grid.sharedBytes, nullptr, arguments, nullptr),
                "launching a kernel"))
    return error;
  if (llvm::Error error =
          check(driver.recordEvent(end, nullptr), "recording an event"))
    return error;
  return check(driver.waitForEvent(end), "running a kernel");
}

llvm::Expected<float> TimedLaunch::run(const std::string &cubin,
                                       const std::string &kernel,
                                       const GpuGrid &grid, void **arguments) {
  if (llvm::Error error = load(cubin, kernel))
    return std::move(error);
  if (llvm::Error error = allow(grid))
    return std::move(error);
  if (llvm::Error error = launch(grid, arguments))
    return std::move(error);
  float milliseconds = 0;
  if (llvm::Error error = driver.check(
          driver.getElapsedTime(&milliseconds, begin, end), "timing a kernel"))
    return std::move(error);
  return milliseconds;
}

llvm::Expected<float> GpuRunner::run(const std::string &cubin,
                                     const std::string &kernel,
                                     const GpuGrid &grid,
                                     llvm::ArrayRef<DevicePointer> buffers,
                                     llvm::ArrayRef<int64_t> numbers) {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return std::move(error);
  // The driver wants the address of each argument.
  std::vector<uint64_t> words(buffers.begin(), buffers.end());
  words.insert(words.end(), numbers.begin(), numbers.end());
  std::vector<void *> arguments;
  for (uint64_t &word : words)
    arguments.push_back(&word);
  return TimedLaunch(context->getDriver())
      .run(cubin, kernel, grid, arguments.data());
}
