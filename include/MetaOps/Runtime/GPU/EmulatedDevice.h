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
#include "MetaOps/Transforms/Schedule/Gpu/Chip.h"

namespace metaops {

/// Compiles programs for a GPU whose kernels the emulator runs. A fault of a
/// kernel is a failure of its run. `assembledFor` are chips for which each
/// kernel is assembled as well, though nothing runs that code: what the
/// assembler refuses fails to compile.
std::unique_ptr<Compiler>
createEmulatorCompiler(const mlir::metaop::Chip &chip,
                       std::vector<CudaOptions> assembledFor = {});

/// Memory of the host that only kernels look into, between pages that nobody
/// may touch.
std::shared_ptr<MemorySource> createGuardedMemory();

/// The GPUs that are emulated: "emulator:sm_90a" and the like.
std::vector<DeviceKind>
listEmulatedDevices(const std::vector<CudaOptions> &assembledFor = {});

} // namespace metaops

#endif // METAOPS_RUNTIME_GPU_EMULATEDDEVICE_H
