//===- Driver.cpp - NVIDIA's driver ---------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "MetaOps/Runtime/CUDA/DriverEmulation.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "SharedLibrary.h"

#include <cstdlib>

using namespace metaops;

// CUdevice_attribute.
static constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;

/// The driver as the loader finds it.
class Driver::Library : public Driver {
public:
  llvm::Error load(const std::string &name);
  using Driver::start;
};

llvm::Error Driver::Library::load(const std::string &name) {
  auto library = SharedLibrary::open(name);
  if (!library)
    return library.takeError();
  llvm::Error error = llvm::Error::success();
// NOLINTBEGIN(bugprone-macro-parentheses): parameters have theirs.
#define METAOPS_FIND(member, name, version, parameters)                        \
  if (DriverResult(*found) parameters = nullptr; !error) {                     \
    error = library->find(#name version, found);                               \
    member = found;                                                            \
  }
  METAOPS_DRIVER_FUNCTIONS(METAOPS_FIND)
#undef METAOPS_FIND
#define METAOPS_FIND(member, name, version, parameters)                        \
  if (DriverResult(*found) parameters = nullptr;                               \
      library->has(#name version, found))                                      \
    member = found;
  METAOPS_OPTIONAL_DRIVER_FUNCTIONS(METAOPS_FIND)
#undef METAOPS_FIND
  // NOLINTEND(bugprone-macro-parentheses)
  if (!error)
    build = getBuildId(library->getAddress("cuInit"));
  return error;
}

llvm::Expected<std::shared_ptr<const Driver>>
Driver::open(const std::string &name) {
  auto driver = std::make_shared<Library>();
  llvm::Error error = driver->load(name);
  if (!error)
    error = driver->start();
  if (error)
    return llvm::createStringError(
        "there is no use of a GPU: " + toString(std::move(error)) + " (" +
        name + " is a part of NVIDIA's driver)");
  return driver;
}

/// Says that the user has hidden GPUs, if so.
static std::string describeVisible() {
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? std::string("; CUDA_VISIBLE_DEVICES is '") + visible + "'"
                 : "";
}

llvm::Error Driver::start() {
  if (llvm::Error error = check(init(0), "starting the driver"))
    return llvm::createStringError(toString(std::move(error)) +
                                   describeVisible());
  if (llvm::Error error =
          check(getVersion(&version), "asking for the driver's version"))
    return error;
  int count = 0;
  if (llvm::Error error = check(countDevices(&count), "counting GPUs"))
    return error;
  if (count == 0)
    return llvm::createStringError("the driver knows of none" +
                                   describeVisible());
  return llvm::Error::success();
}

llvm::Error Driver::check(DriverResult result, const llvm::Twine &what) const {
  if (result == 0)
    return llvm::Error::success();
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string faults;
  if (DriverEmulation *emulation = getEmulation())
    faults = emulation->takeFaults();
  return llvm::createStringError(
      what + " failed: " + (name ? name : "error " + std::to_string(result)) +
      (text ? std::string(", ") + text : "") +
      (faults.empty() ? "" : ": " + faults));
}

llvm::Expected<std::unique_ptr<DriverContext>>
DriverContext::create(std::shared_ptr<const Driver> driver, int ordinal) {
  int device = 0, major = 0, minor = 0;
  auto name = [&] { return "GPU " + std::to_string(ordinal); };
  if (auto error =
          driver->check(driver->getDevice(&device, ordinal), "using " + name()))
    return std::move(error);
  for (auto [number, attribute] : {std::pair(&major, kComputeCapabilityMajor),
                                   {&minor, kComputeCapabilityMinor}})
    if (auto error =
            driver->check(driver->getDeviceAttribute(number, attribute, device),
                          "asking what " + name() + " is"))
      return std::move(error);
  std::unique_ptr<DriverContext> context(
      new DriverContext(std::move(driver), device));
  context->capability = 10 * major + minor;
  if (auto error = context->driver->check(
          context->driver->retainContext(&context->handle, device),
          "using " + name()))
    return std::move(error);
  return context;
}

DriverContext::~DriverContext() {
  if (handle)
    driver->releaseContext(device);
}

DriverContext::Use::Use(const DriverContext &context)
    : context(context), result(context.driver->pushContext(context.handle)) {}

DriverContext::Use::~Use() {
  DriverHandle popped = nullptr;
  if (result == 0)
    context.driver->popContext(&popped);
}

llvm::Error DriverContext::Use::check() const {
  return context.driver->check(result, "using a GPU's context");
}
