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
#include "MetaOps/Transforms/Schedule/Gpu/Chip.h"

namespace metaops {

/// Compiles programs for a GPU whose kernels the emulator runs. A fault of a
/// kernel is a failure of its run.
std::unique_ptr<Compiler>
createEmulatorCompiler(const mlir::metaop::Chip &chip);

/// Memory of the host that only kernels look into, between pages that nobody
/// may touch.
std::shared_ptr<MemorySource> createGuardedMemory();

/// The GPUs that are emulated: "emulator:sm_90a" and the like.
std::vector<DeviceKind> listEmulatedDevices();

} // namespace metaops

#endif // METAOPS_RUNTIME_GPU_EMULATEDDEVICE_H
