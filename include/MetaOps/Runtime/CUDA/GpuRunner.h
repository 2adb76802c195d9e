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

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// The launch of a function, but for how many blocks there are.
struct GpuLaunch {
  std::string name;
  /// Of a block.
  unsigned threads = 1;
  /// Blocks of a cluster, which the code says, too.
  unsigned cluster = 1;
  /// Shared memory that each launch asks for.
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

/// Machine code that is loaded, and the functions of it that are launched.
class GpuModule {
public:
  ~GpuModule();
  GpuModule(const GpuModule &) = delete;
  GpuModule &operator=(const GpuModule &) = delete;

private:
  friend class GpuRunner;

  struct Function {
    GpuLaunch launch;
    DriverHandle handle;
  };

  explicit GpuModule(std::shared_ptr<const DriverContext> context)
      : context(std::move(context)) {}

  llvm::Error load(const std::string &cubin);
  llvm::Error find(const GpuLaunch &launch);

  std::shared_ptr<const DriverContext> context;
  DriverHandle handle = nullptr;
  std::vector<Function> functions;
};

/// Runs kernels and waits for each. Nothing is done side by side. Threads may
/// use one at once.
class GpuRunner {
public:
  static llvm::Expected<std::unique_ptr<GpuRunner>>
  create(std::shared_ptr<const Driver> driver, int ordinal);

  const DriverContext &getContext() const { return *context; }

  llvm::Expected<GpuMemory> allocate(size_t numBytes) const;
  llvm::Error write(const GpuMemory &to, const void *from,
                    size_t numBytes) const;
  llvm::Error read(void *to, const GpuMemory &from, size_t numBytes) const;

  /// Loads a cubin and has its functions ready for launches like these.
  llvm::Expected<std::unique_ptr<GpuModule>>
  load(const std::string &cubin, llvm::ArrayRef<GpuLaunch> functions) const;

  /// Runs a function of so many blocks, by its place among those that were
  /// loaded, with addresses and numbers as arguments, and returns the
  /// milliseconds that it took on the GPU.
  llvm::Expected<float> run(const GpuModule &module, size_t function,
                            unsigned numBlocks,
                            llvm::ArrayRef<uint64_t> arguments) const;

private:
  explicit GpuRunner(std::shared_ptr<const DriverContext> context)
      : context(std::move(context)) {}

  std::shared_ptr<const DriverContext> context;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_GPURUNNER_H
