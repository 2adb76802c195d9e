//===- Gpu.h - The GPU of a backend, and code for it ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_GPU_H
#define METAOPS_LIB_RUNTIME_GPU_GPU_H

#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Runtime/CUDA/CubinCache.h"
#include "MetaOps/Runtime/CUDA/GpuRunner.h"
#include "MetaOps/Runtime/GPU/CudaDevice.h"

#include <mutex>
#include <optional>

namespace metaops {

/// A maker of code for a GPU, and the GPU itself, which is opened when the
/// first code is loaded. Threads may use one at once.
class Gpu {
public:
  /// Finds an assembler and libdevice; and the GPU, if the options do not name
  /// a chip.
  static llvm::Expected<std::shared_ptr<Gpu>>
  create(const CudaOptions &options, std::shared_ptr<DiskStore> store);

  const mlir::metaop::PtxOptions &getPtxOptions() const { return ptxOptions; }
  CubinCache &getCubins() { return *cubins; }
  /// Keeps cubins elsewhere.
  void setStore(std::shared_ptr<DiskStore> newStore);

  llvm::Expected<const GpuRunner *> getRunner();
  /// Loads a kernel's code, made or found. What the driver refuses is made by
  /// its own assembler.
  llvm::Expected<std::unique_ptr<GpuModule>>
  load(llvm::StringRef ptx, llvm::ArrayRef<GpuLaunch> functions);

private:
  explicit Gpu(std::shared_ptr<DiskStore> store) : store(std::move(store)) {}

  llvm::Error open(const mlir::metaop::Chip *chip);
  llvm::Expected<CubinCache *> getDriversCubins();

  std::string driverLibrary;
  mlir::metaop::PtxOptions ptxOptions;
  std::unique_ptr<CubinCache> cubins;
  std::mutex mutex;
  std::shared_ptr<DiskStore> store;
  std::shared_ptr<const Driver> driver;
  std::unique_ptr<GpuRunner> runner;
  /// By the driver's assembler.
  std::unique_ptr<CubinCache> driversCubins;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_GPU_H
