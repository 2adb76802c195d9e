//===- GuardedMemory.h - Memory of an emulated GPU --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EMULATOR_GUARDEDMEMORY_H
#define METAOPS_RUNTIME_EMULATOR_GUARDEDMEMORY_H

#include "MetaOps/Runtime/Memory/MemorySource.h"

#include <memory>

namespace metaops {

/// Memory of the host that only kernels look into, between pages that nobody
/// may touch.
std::shared_ptr<MemorySource> createGuardedMemory();

} // namespace metaops

#endif // METAOPS_RUNTIME_EMULATOR_GUARDEDMEMORY_H
