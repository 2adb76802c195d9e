//===- CudaDevice.h - A GPU as a device of a session ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GPU_CUDADEVICE_H
#define METAOPS_RUNTIME_GPU_CUDADEVICE_H

#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "MetaOps/Target/Description/Chip.h"

#include <functional>

namespace metaops {

struct CudaOptions {
  /// The chip for which code is made; null for that of the GPU.
  const mlir::metaop::Chip *chip = nullptr;
  /// The number of the GPU, as the driver counts.
  unsigned ordinal = 0;
  /// The driver, and so all GPUs; null for NVIDIA's.
  std::shared_ptr<EmulatedDriver> emulated;
  /// Finds libdevice, assemblers, and the driver's library. Called when
  /// something is compiled for the first time.
  std::function<AssemblerSearch()> search = [] { return AssemblerSearch(); };
  /// Assemblers whose cubins are taken where they are on disk, though they are
  /// not here; see CubinCache.
  std::vector<std::string> otherAssemblers;
  /// A folder in which cubins are kept by the assembler's build, or none where
  /// that is not known; where it is empty they are kept beside the session's
  /// other code, or in memory.
  std::string cubinFolder;
};

/// Compiles programs for an NVIDIA GPU, and has it run their kernels, one after
/// another. Values are in the host's memory; each call copies what it needs.
/// For a chip that is named, programs compile without a GPU, too.
std::unique_ptr<Compiler> createCudaCompiler(CudaOptions options);

/// Says why a GPU cannot be used, if so: there is no driver, or not as many.
llvm::Error checkGpu(const CudaOptions &options, unsigned ordinal);

/// The device of the machine's GPU, "cuda:0", and those by which it runs code
/// for one chip, "cuda:sm_90a" and the like. They are there on every machine:
/// what a device needs is looked for when it is first used. Of an emulated
/// driver there are all GPUs, "cuda:1" and so on.
std::vector<DeviceKind> listCudaDevices(const CudaOptions &options);

} // namespace metaops

#endif // METAOPS_RUNTIME_GPU_CUDADEVICE_H
