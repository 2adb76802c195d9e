//===- GpuRunner.cpp - Kernels on a GPU, one after another ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module is loaded once, and what the driver has to be told of a function
// is told then. The time of a launch is that between two events around it, on
// the GPU's own clock.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/GpuRunner.h"

using namespace metaops;

// CUfunction_attribute.
static constexpr int kMaxDynamicSharedBytes = 8, kMayHaveLargeClusters = 14;
/// Size of a cluster that every chip with clusters takes; more has to be
/// allowed.
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

llvm::Expected<GpuMemory> GpuRunner::allocate(size_t numBytes) const {
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
                             size_t numBytes) const {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return error;
  const Driver &driver = context->getDriver();
  return driver.check(driver.copyToDevice(to.getAddress(), from, numBytes),
                      "copying to a GPU");
}

llvm::Error GpuRunner::read(void *to, const GpuMemory &from,
                            size_t numBytes) const {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return error;
  const Driver &driver = context->getDriver();
  return driver.check(driver.copyToHost(to, from.getAddress(), numBytes),
                      "copying from a GPU");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

GpuModule::~GpuModule() {
  if (!handle)
    return;
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    llvm::consumeError(std::move(error));
  else
    context->getDriver().unloadModule(handle);
}

llvm::Error GpuModule::load(const std::string &cubin) {
  const Driver &driver = context->getDriver();
  return driver.check(driver.loadModule(&handle, cubin.data()),
                      "loading a kernel's code");
}

llvm::Error GpuModule::find(const GpuLaunch &launch) {
  const Driver &driver = context->getDriver();
  DriverHandle function = nullptr;
  if (llvm::Error error = driver.check(
          driver.getFunction(&function, handle, launch.name.c_str()),
          "finding kernel '" + launch.name + "'"))
    return error;
  if (launch.sharedBytes > 0)
    if (llvm::Error error = driver.check(
            driver.setFunctionAttribute(function, kMaxDynamicSharedBytes,
                                        static_cast<int>(launch.sharedBytes)),
            "asking for " + std::to_string(launch.sharedBytes) +
                " bytes of shared memory"))
      return error;
  if (launch.cluster > kPortableCluster)
    if (llvm::Error error = driver.check(
            driver.setFunctionAttribute(function, kMayHaveLargeClusters, 1),
            "asking for clusters of " + std::to_string(launch.cluster) +
                " blocks"))
      return error;
  functions.push_back({launch, function});
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<GpuModule>>
GpuRunner::load(const std::string &cubin,
                llvm::ArrayRef<GpuLaunch> functions) const {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return std::move(error);
  std::unique_ptr<GpuModule> module(new GpuModule(context));
  if (llvm::Error error = module->load(cubin))
    return std::move(error);
  for (const GpuLaunch &launch : functions)
    if (llvm::Error error = module->find(launch))
      return std::move(error);
  return module;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// A launch between two events.
class TimedLaunch {
public:
  explicit TimedLaunch(const Driver &driver) : driver(driver) {}
  ~TimedLaunch() {
    for (DriverHandle event : {begin, end})
      if (event)
        driver.destroyEvent(event);
  }

  llvm::Error run(DriverHandle function, const GpuLaunch &launch,
                  unsigned numBlocks, void **arguments);
  llvm::Expected<float> getMilliseconds() const;

private:
  const Driver &driver;
  DriverHandle begin = nullptr, end = nullptr;
};
} // namespace

llvm::Error TimedLaunch::run(DriverHandle function, const GpuLaunch &launch,
                             unsigned numBlocks, void **arguments) {
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
  if (llvm::Error error =
          check(driver.launch(function, numBlocks, 1, 1, launch.threads, 1, 1,
                              launch.sharedBytes, nullptr, arguments, nullptr),
                "launching a kernel"))
    return error;
  if (llvm::Error error =
          check(driver.recordEvent(end, nullptr), "recording an event"))
    return error;
  return check(driver.waitForEvent(end), "running a kernel");
}

llvm::Expected<float> TimedLaunch::getMilliseconds() const {
  float milliseconds = 0;
  if (llvm::Error error = driver.check(
          driver.getElapsedTime(&milliseconds, begin, end), "timing a kernel"))
    return std::move(error);
  return milliseconds;
}

llvm::Expected<float> GpuRunner::run(const GpuModule &module, size_t function,
                                     unsigned numBlocks,
                                     llvm::ArrayRef<uint64_t> arguments) const {
  DriverContext::Use use(*context);
  if (llvm::Error error = use.check())
    return std::move(error);
  // The driver wants the address of each argument.
  std::vector<uint64_t> words(arguments.begin(), arguments.end());
  std::vector<void *> addresses;
  for (uint64_t &word : words)
    addresses.push_back(&word);
  const auto &found = module.functions[function];
  TimedLaunch timed(context->getDriver());
  if (llvm::Error error =
          timed.run(found.handle, found.launch, numBlocks, addresses.data()))
    return std::move(error);
  return timed.getMilliseconds();
}
