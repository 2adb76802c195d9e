//===- Driver.cpp - NVIDIA's driver ---------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "SharedLibrary.h"

using namespace metaops;

// CUdevice_attribute.
static constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;

llvm::Expected<std::shared_ptr<const Driver>>
Driver::open(const std::string &name) {
  auto fail = [&](llvm::Error error) {
    return llvm::createStringError(
        "there is no use of a GPU: " + toString(std::move(error)) + " (" +
        name + " is a part of NVIDIA's driver)");
  };
  auto library = SharedLibrary::open(name);
  if (!library)
    return fail(library.takeError());
  std::shared_ptr<Driver> driver(new Driver());
  llvm::Error error = llvm::Error::success();
#define METAOPS_FIND(member, symbol, parameters)                               \
  if (!error)                                                                  \
    error = library->find(symbol, driver->member);
  METAOPS_DRIVER_FUNCTIONS(METAOPS_FIND)
#undef METAOPS_FIND
  if (!error)
    error = driver->check(driver->init(0), "starting the driver");
  if (!error)
    error = driver->check(driver->getVersion(&driver->version),
                          "asking for the driver's version");
  if (error)
    return fail(std::move(error));
  return driver;
}

llvm::Error Driver::check(DriverResult result, const llvm::Twine &what) const {
  if (result == 0)
    return llvm::Error::success();
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return llvm::createStringError(
      what + " failed: " + (name ? name : "error " + std::to_string(result)) +
      (text ? std::string(", ") + text : ""));
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
