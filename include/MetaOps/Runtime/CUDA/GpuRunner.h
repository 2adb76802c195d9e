//===- GpuRunner.h - Kernels on a GPU, one after another --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_GPURUNNER_H
#define METAOPS_RUNTIME_CUDA_GPURUNNER_H

#include "MetaOps/Runtime/CUDA/Driver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace metaops {

/// How many threads a call of a kernel has, and the shared memory that it asks
/// for.
struct GpuGrid {
  unsigned blocks = 1;
  unsigned threads = 1;
  unsigned cluster = 1;
  unsigned sharedBytes = 0;
};

/// Memory of a GPU.
class GpuMemory {
public:
  GpuMemory(std::shared_ptr<const DriverContext> context, DevicePointer address)
      : context(std::move(context)), address(address) {}
  GpuMemory(GpuMemory &&other)
      : context(std::move(other.context)), address(other.address) {}
  GpuMemory &operator=(GpuMemory &&) = delete;
  ~GpuMemory();

  DevicePointer getAddress() const { return address; }

private:
  std::shared_ptr<const DriverContext> context;
  DevicePointer address;
};

/// Runs kernels and waits for each. Nothing is done side by side.
class GpuRunner {
public:
  static llvm::Expected<std::unique_ptr<GpuRunner>>
  create(std::shared_ptr<const Driver> driver, int ordinal);

  /// As chips are numbered: 90 for sm_90.
  int getArchitecture() const { return context->getArchitecture(); }

  llvm::Expected<GpuMemory> allocate(size_t numBytes);
  llvm::Error write(const GpuMemory &to, const void *from, size_t numBytes);
  llvm::Error read(void *to, const GpuMemory &from, size_t numBytes);

  /// Runs the kernel of that name in a cubin, with the addresses of buffers and
  /// the numbers behind them as arguments, and returns the milliseconds that it
  /// took on the GPU.
  llvm::Expected<float> run(const std::string &cubin, const std::string &kernel,
                            const GpuGrid &grid,
                            llvm::ArrayRef<DevicePointer> buffers,
                            llvm::ArrayRef<int64_t> numbers);

private:
  explicit GpuRunner(std::shared_ptr<const DriverContext> context)
      : context(std::move(context)) {}

  std::shared_ptr<const DriverContext> context;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_GPURUNNER_H
