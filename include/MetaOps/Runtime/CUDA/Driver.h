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
// numbers are those of cuda.h. A table may be filled by another one, too, which
// emulates GPUs (EmulatedDriver.h).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_DRIVER_H
#define METAOPS_RUNTIME_CUDA_DRIVER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace metaops {

class DriverEmulation;
struct CopyNode;
struct FillNode;
struct KernelNode;

/// CUresult; 0 is success.
using DriverResult = int;
/// Opaque things of the driver: CUcontext, CUmodule, ...
using DriverHandle = void *;
/// CUdeviceptr.
using DevicePointer = uint64_t;

// Each function: the member, the name in cuda.h and what stands behind it in
// the library, where cuda.h renames it, and the parameters.

/// The texts of results.
#define METAOPS_DRIVER_TEXTS(FUNCTION)                                         \
  FUNCTION(getErrorName, cuGetErrorName, "", (DriverResult, const char **))    \
  FUNCTION(getErrorString, cuGetErrorString, "", (DriverResult, const char **))

/// The assembler.
#define METAOPS_DRIVER_LINKER(FUNCTION)                                        \
  FUNCTION(createLink, cuLinkCreate, "_v2",                                    \
           (unsigned, int *, void **, DriverHandle *))                         \
  FUNCTION(addLinkData, cuLinkAddData, "_v2",                                  \
           (DriverHandle, int, void *, size_t, const char *, unsigned, int *,  \
            void **))                                                          \
  FUNCTION(completeLink, cuLinkComplete, "",                                   \
           (DriverHandle, void **, size_t *))                                  \
  FUNCTION(destroyLink, cuLinkDestroy, "", (DriverHandle))

/// Functions that run kernels one after another.
#define METAOPS_DRIVER_WORK(FUNCTION)                                          \
  FUNCTION(init, cuInit, "", (unsigned))                                       \
  FUNCTION(getVersion, cuDriverGetVersion, "", (int *))                        \
  FUNCTION(countDevices, cuDeviceGetCount, "", (int *))                        \
  FUNCTION(getDevice, cuDeviceGet, "", (int *, int))                           \
  FUNCTION(getDeviceAttribute, cuDeviceGetAttribute, "", (int *, int, int))    \
  FUNCTION(retainContext, cuDevicePrimaryCtxRetain, "", (DriverHandle *, int)) \
  FUNCTION(releaseContext, cuDevicePrimaryCtxRelease, "_v2", (int))            \
  FUNCTION(pushContext, cuCtxPushCurrent, "_v2", (DriverHandle))               \
  FUNCTION(popContext, cuCtxPopCurrent, "_v2", (DriverHandle *))               \
  FUNCTION(allocate, cuMemAlloc, "_v2", (DevicePointer *, size_t))             \
  FUNCTION(free, cuMemFree, "_v2", (DevicePointer))                            \
  FUNCTION(copyToDevice, cuMemcpyHtoD, "_v2",                                  \
           (DevicePointer, const void *, size_t))                              \
  FUNCTION(copyToHost, cuMemcpyDtoH, "_v2", (void *, DevicePointer, size_t))   \
  FUNCTION(loadModule, cuModuleLoadData, "", (DriverHandle *, const void *))   \
  FUNCTION(unloadModule, cuModuleUnload, "", (DriverHandle))                   \
  FUNCTION(getFunction, cuModuleGetFunction, "",                               \
           (DriverHandle *, DriverHandle, const char *))                       \
  FUNCTION(setFunctionAttribute, cuFuncSetAttribute, "",                       \
           (DriverHandle, int, int))                                           \
  FUNCTION(launch, cuLaunchKernel, "",                                         \
           (DriverHandle, unsigned, unsigned, unsigned, unsigned, unsigned,    \
            unsigned, unsigned, DriverHandle, void **, void **))               \
  FUNCTION(createEvent, cuEventCreate, "", (DriverHandle *, unsigned))         \
  FUNCTION(destroyEvent, cuEventDestroy, "_v2", (DriverHandle))                \
  FUNCTION(recordEvent, cuEventRecord, "", (DriverHandle, DriverHandle))       \
  FUNCTION(waitForEvent, cuEventSynchronize, "", (DriverHandle))               \
  FUNCTION(getElapsedTime, cuEventElapsedTime, "",                             \
           (float *, DriverHandle, DriverHandle))

/// Functions of all drivers that are new enough.
#define METAOPS_DRIVER_FUNCTIONS(FUNCTION)                                     \
  METAOPS_DRIVER_TEXTS(FUNCTION)                                               \
  METAOPS_DRIVER_LINKER(FUNCTION)                                              \
  METAOPS_DRIVER_WORK(FUNCTION)

/// Facts of GPUs, pinned memory, streams and copies in them.
#define METAOPS_DRIVER_STREAMS(FUNCTION)                                       \
  FUNCTION(getDeviceName, cuDeviceGetName, "", (char *, int, int))             \
  FUNCTION(getTotalMemory, cuDeviceTotalMem, "_v2", (size_t *, int))           \
  FUNCTION(getFreeMemory, cuMemGetInfo, "_v2", (size_t *, size_t *))           \
  FUNCTION(waitForContext, cuCtxSynchronize, "", ())                           \
  FUNCTION(allocateHost, cuMemHostAlloc, "", (void **, size_t, unsigned))      \
  FUNCTION(freeHost, cuMemFreeHost, "", (void *))                              \
  FUNCTION(enqueueToDevice, cuMemcpyHtoDAsync, "_v2",                          \
           (DevicePointer, const void *, size_t, DriverHandle))                \
  FUNCTION(enqueueToHost, cuMemcpyDtoHAsync, "_v2",                            \
           (void *, DevicePointer, size_t, DriverHandle))                      \
  FUNCTION(enqueueCopy, cuMemcpyDtoDAsync, "_v2",                              \
           (DevicePointer, DevicePointer, size_t, DriverHandle))               \
  FUNCTION(enqueueFill, cuMemsetD8Async, "",                                   \
           (DevicePointer, unsigned char, size_t, DriverHandle))               \
  FUNCTION(createStream, cuStreamCreate, "", (DriverHandle *, unsigned))       \
  FUNCTION(destroyStream, cuStreamDestroy, "_v2", (DriverHandle))              \
  FUNCTION(waitForStream, cuStreamSynchronize, "", (DriverHandle))             \
  FUNCTION(queryStream, cuStreamQuery, "", (DriverHandle))                     \
  FUNCTION(enqueueWait, cuStreamWaitEvent, "",                                 \
           (DriverHandle, DriverHandle, unsigned))                             \
  FUNCTION(queryEvent, cuEventQuery, "", (DriverHandle))

/// Graphs of launches and copies.
#define METAOPS_DRIVER_GRAPHS(FUNCTION)                                        \
  FUNCTION(createGraph, cuGraphCreate, "", (DriverHandle *, unsigned))         \
  FUNCTION(destroyGraph, cuGraphDestroy, "", (DriverHandle))                   \
  FUNCTION(addKernelNode, cuGraphAddKernelNode, "_v2",                         \
           (DriverHandle *, DriverHandle, const DriverHandle *, size_t,        \
            const KernelNode *))                                               \
  FUNCTION(addCopyNode, cuGraphAddMemcpyNode, "",                              \
           (DriverHandle *, DriverHandle, const DriverHandle *, size_t,        \
            const CopyNode *, DriverHandle))                                   \
  FUNCTION(addFillNode, cuGraphAddMemsetNode, "",                              \
           (DriverHandle *, DriverHandle, const DriverHandle *, size_t,        \
            const FillNode *, DriverHandle))                                   \
  FUNCTION(instantiateGraph, cuGraphInstantiateWithFlags, "",                  \
           (DriverHandle *, DriverHandle, unsigned long long))                 \
  FUNCTION(setKernelNode, cuGraphExecKernelNodeSetParams, "_v2",               \
           (DriverHandle, DriverHandle, const KernelNode *))                   \
  FUNCTION(launchGraph, cuGraphLaunch, "", (DriverHandle, DriverHandle))       \
  FUNCTION(destroyInstance, cuGraphExecDestroy, "", (DriverHandle))

/// Functions that may be missing: one that the driver lacks is empty.
#define METAOPS_OPTIONAL_DRIVER_FUNCTIONS(FUNCTION)                            \
  METAOPS_DRIVER_STREAMS(FUNCTION)                                             \
  METAOPS_DRIVER_GRAPHS(FUNCTION)

/// The table of the driver's functions. Threads may use one at once.
class Driver {
public:
  virtual ~Driver() = default;
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

  /// Loads and starts the driver. The error says what was looked for, and that
  /// NVIDIA's driver brings it.
  static llvm::Expected<std::shared_ptr<const Driver>>
  open(const std::string &library = "libcuda.so.1");

  /// The newest CUDA that it knows: 1000 times the major number and ten times
  /// the minor.
  int getCudaVersion() const { return version; }
  /// Tells builds of NVIDIA's driver apart; empty where nothing does.
  const std::string &getBuild() const { return build; }
  /// Null of NVIDIA's driver.
  virtual DriverEmulation *getEmulation() const { return nullptr; }

  /// An error that says what failed, unless `result` is success.
  llvm::Error check(DriverResult result, const llvm::Twine &what) const;

// NOLINTBEGIN(bugprone-macro-parentheses): parameters have theirs.
#define METAOPS_DECLARE(member, name, version, parameters)                     \
  std::function<DriverResult parameters> member;
  METAOPS_DRIVER_FUNCTIONS(METAOPS_DECLARE)
  METAOPS_OPTIONAL_DRIVER_FUNCTIONS(METAOPS_DECLARE)
#undef METAOPS_DECLARE
  // NOLINTEND(bugprone-macro-parentheses)

protected:
  Driver() = default;

  /// Has a table that is complete begin to work.
  llvm::Error start();

private:
  class Library;

  int version = 0;
  std::string build;
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
