//===- EmulatedDevice.h - GPUs as devices of a session ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GPU_EMULATEDDEVICE_H
#define METAOPS_RUNTIME_GPU_EMULATEDDEVICE_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/GPU/CudaDevice.h"
#include "MetaOps/Target/Description/Chip.h"

namespace metaops {

struct EmulatedDeviceOptions {
  /// Chips for which each kernel is assembled as well, though nothing runs that
  /// code: what the assembler refuses fails to compile.
  std::vector<CudaOptions> assembledFor;
  /// A file that gets a line for each kernel of a program that is compiled:
  /// hashes of what its code is made of (CodeFeatures.h). None where it is
  /// empty.
  std::string kernelLog;
};

/// Compiles programs for a GPU whose kernels the emulator runs. A fault of a
/// kernel is a failure of its run.
std::unique_ptr<Compiler>
createEmulatorCompiler(const mlir::metaop::Chip &chip,
                       EmulatedDeviceOptions options = {});

/// The GPUs that are emulated: "emulator:sm_90a" and the like.
std::vector<DeviceKind>
listEmulatedDevices(const EmulatedDeviceOptions &options = {});

} // namespace metaops

#endif // METAOPS_RUNTIME_GPU_EMULATEDDEVICE_H
