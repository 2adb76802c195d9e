//===- Driver.h - NVIDIA's driver -------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's functions by their names in its library, which is loaded at run
// time, so that nothing of NVIDIA is needed where there is no GPU. Types and
// numbers are those of cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_DRIVER_H
#define METAOPS_RUNTIME_CUDA_DRIVER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace metaops {

/// CUresult; 0 is success.
using DriverResult = int;
/// Opaque things of the driver: CUcontext, CUmodule, ...
using DriverHandle = void *;
/// CUdeviceptr.
using DevicePointer = uint64_t;

// name of the member, symbol, parameters
#define METAOPS_DRIVER_FUNCTIONS(FUNCTION)                                     \
  FUNCTION(init, "cuInit", (unsigned))                                         \
  FUNCTION(getVersion, "cuDriverGetVersion", (int *))                          \
  FUNCTION(getErrorName, "cuGetErrorName", (DriverResult, const char **))      \
  FUNCTION(getErrorString, "cuGetErrorString", (DriverResult, const char **))  \
  FUNCTION(getDevice, "cuDeviceGet", (int *, int))                             \
  FUNCTION(getDeviceAttribute, "cuDeviceGetAttribute", (int *, int, int))      \
  FUNCTION(retainContext, "cuDevicePrimaryCtxRetain", (DriverHandle *, int))   \
  FUNCTION(releaseContext, "cuDevicePrimaryCtxRelease_v2", (int))              \
  FUNCTION(pushContext, "cuCtxPushCurrent_v2", (DriverHandle))                 \
  FUNCTION(popContext, "cuCtxPopCurrent_v2", (DriverHandle *))                 \
  FUNCTION(allocate, "cuMemAlloc_v2", (DevicePointer *, size_t))               \
  FUNCTION(free, "cuMemFree_v2", (DevicePointer))                              \
  FUNCTION(copyToDevice, "cuMemcpyHtoD_v2",                                    \
           (DevicePointer, const void *, size_t))                              \
  FUNCTION(copyToHost, "cuMemcpyDtoH_v2", (void *, DevicePointer, size_t))     \
  FUNCTION(loadModule, "cuModuleLoadData", (DriverHandle *, const void *))     \
  FUNCTION(unloadModule, "cuModuleUnload", (DriverHandle))                     \
  FUNCTION(getFunction, "cuModuleGetFunction",                                 \
           (DriverHandle *, DriverHandle, const char *))                       \
  FUNCTION(setFunctionAttribute, "cuFuncSetAttribute",                         \
           (DriverHandle, int, int))                                           \
  FUNCTION(launch, "cuLaunchKernel",                                           \
           (DriverHandle, unsigned, unsigned, unsigned, unsigned, unsigned,    \
            unsigned, unsigned, DriverHandle, void **, void **))               \
  FUNCTION(createEvent, "cuEventCreate", (DriverHandle *, unsigned))           \
  FUNCTION(destroyEvent, "cuEventDestroy_v2", (DriverHandle))                  \
  FUNCTION(recordEvent, "cuEventRecord", (DriverHandle, DriverHandle))         \
  FUNCTION(waitForEvent, "cuEventSynchronize", (DriverHandle))                 \
  FUNCTION(getElapsedTime, "cuEventElapsedTime",                               \
           (float *, DriverHandle, DriverHandle))                              \
  FUNCTION(createLink, "cuLinkCreate_v2",                                      \
           (unsigned, int *, void **, DriverHandle *))                         \
  FUNCTION(addLinkData, "cuLinkAddData_v2",                                    \
           (DriverHandle, int, void *, size_t, const char *, unsigned, int *,  \
            void **))                                                          \
  FUNCTION(completeLink, "cuLinkComplete", (DriverHandle, void **, size_t *))  \
  FUNCTION(destroyLink, "cuLinkDestroy", (DriverHandle))

/// The table of the driver's functions. Threads may use one at once.
class Driver {
public:
  /// Loads and starts the driver. The error says what was looked for, and that
  /// NVIDIA's driver brings it.
  static llvm::Expected<std::shared_ptr<const Driver>>
  open(const std::string &library = "libcuda.so.1");

  /// The newest CUDA that it knows: 1000 times the major number and ten times
  /// the minor.
  int getCudaVersion() const { return version; }

  /// An error that says what failed, unless `result` is success.
  llvm::Error check(DriverResult result, const llvm::Twine &what) const;

// NOLINTBEGIN(bugprone-macro-parentheses): parameters have theirs.
#define METAOPS_DECLARE(member, symbol, parameters)                            \
  DriverResult(*member) parameters = nullptr;
  METAOPS_DRIVER_FUNCTIONS(METAOPS_DECLARE)
#undef METAOPS_DECLARE
  // NOLINTEND(bugprone-macro-parentheses)

private:
  Driver() = default;

  int version = 0;
};

/// The first context of a device, while this exists.
class DriverContext {
public:
  static llvm::Expected<std::unique_ptr<DriverContext>>
  create(std::shared_ptr<const Driver> driver, int ordinal);
  ~DriverContext();
  DriverContext(const DriverContext &) = delete;
  DriverContext &operator=(const DriverContext &) = delete;

  const Driver &getDriver() const { return *driver; }
  /// Its compute capability, as chips are numbered: 90 for sm_90.
  int getCapability() const { return capability; }

  /// Has the driver's functions mean this context, on this thread and while it
  /// exists.
  class Use {
  public:
    explicit Use(const DriverContext &context);
    ~Use();
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

    /// Returns whether they do.
    llvm::Error check() const;

  private:
    const DriverContext &context;
    DriverResult result;
  };

private:
  DriverContext(std::shared_ptr<const Driver> driver, int device)
      : driver(std::move(driver)), device(device) {}

  std::shared_ptr<const Driver> driver;
  int device;
  int capability = 0;
  DriverHandle handle = nullptr;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_DRIVER_H
