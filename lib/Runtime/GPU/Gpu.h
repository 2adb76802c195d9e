//===- Gpu.h - The GPU of a backend, and code for it ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_GPU_H
#define METAOPS_LIB_RUNTIME_GPU_GPU_H

#include "GpuLauncher.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Runtime/CUDA/CubinCache.h"
#include "MetaOps/Runtime/GPU/CudaDevice.h"

namespace metaops {

/// Fails where a GPU does not run code for a chip.
llvm::Error checkChip(const GpuRunner &runner, unsigned ordinal,
                      const mlir::metaop::Chip &chip);

/// A maker of code for a GPU, and the GPU itself, which is opened when the
/// first code is loaded.
class Gpu : public LaunchTarget {
public:
  /// Finds an assembler and libdevice; and the GPU, if the options do not name
  /// a chip.
  static llvm::Expected<std::shared_ptr<Gpu>>
  create(const CudaOptions &options, std::shared_ptr<DiskStore> store);

  const mlir::metaop::PtxOptions &getPtxOptions() const { return ptxOptions; }
  CubinCache &getCubins() { return *cubins; }
  /// Keeps cubins elsewhere.
  void setStore(std::shared_ptr<DiskStore> newStore);

  llvm::Expected<const GpuRunner *> getRunner() override;
  /// The code is PTX, of which machine code is made or found. What the driver
  /// refuses is made by its own assembler.
  llvm::Expected<std::unique_ptr<GpuModule>>
  load(llvm::StringRef ptx, llvm::ArrayRef<GpuLaunch> functions) override;

private:
  Gpu(unsigned ordinal, std::shared_ptr<DiskStore> store)
      : ordinal(ordinal), store(std::move(store)) {}

  llvm::Error open(const mlir::metaop::Chip *chip);
  llvm::Expected<CubinCache *> getDriversCubins();

  const unsigned ordinal;
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
