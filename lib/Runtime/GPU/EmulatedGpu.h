//===- EmulatedGpu.h - A GPU of an emulated driver --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_EMULATEDGPU_H
#define METAOPS_LIB_RUNTIME_GPU_EMULATEDGPU_H

#include "GpuLauncher.h"
#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"

namespace metaops {

/// Takes modules in the phase nvvm as code, and needs no assembler.
class EmulatedGpu : public LaunchTarget {
public:
  /// For code of a chip, or of the GPU's own where that is null.
  EmulatedGpu(std::shared_ptr<EmulatedDriver> driver, unsigned ordinal,
              const mlir::metaop::Chip *chip)
      : driver(std::move(driver)), ordinal(ordinal), chip(chip) {}

  llvm::Expected<const GpuRunner *> getRunner() override;
  llvm::Expected<std::unique_ptr<GpuModule>>
  load(llvm::StringRef code, llvm::ArrayRef<GpuLaunch> functions) override;

private:
  const std::shared_ptr<EmulatedDriver> driver;
  const unsigned ordinal;
  const mlir::metaop::Chip *const chip;
  std::mutex mutex;
  std::unique_ptr<GpuRunner> runner;
};

/// Compiles programs for a chip that an emulated GPU runs.
std::unique_ptr<Compiler>
createEmulatedCompiler(const mlir::metaop::Chip &chip,
                       std::shared_ptr<EmulatedGpu> gpu,
                       EmulatedDeviceOptions options);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_EMULATEDGPU_H
