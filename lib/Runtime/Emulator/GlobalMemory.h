//===- GlobalMemory.h - The memory of a launch ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_GLOBALMEMORY_H
#define METAOPS_LIB_RUNTIME_EMULATOR_GLOBALMEMORY_H

#include "MetaOps/Conversion/EmulatedThread.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "Shadow.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <mutex>

namespace metaops::emulator {

/// A thread's view when it wrote a place for others to see.
struct ReleasedView {
  uint32_t cluster, block;
  SyncScope scope;
  std::shared_ptr<const ClockView> view;
};

/// The places that atomic instructions wrote, by address, and what those learn
/// who read there.
using SyncPlaces = llvm::DenseMap<uint64_t, llvm::SmallVector<ReleasedView, 1>>;

/// An allocation and what was done with it.
struct TrackedAllocation {
  Allocation allocation;
  uint64_t begin = 0;
  Shadow shadow;
  /// Keeps other threads of the host from the cells, and from bytes that are
  /// changed in one step.
  std::unique_ptr<std::mutex> lock = std::make_unique<std::mutex>();
};

/// The allocations that a launch may use. Blocks on several threads of the host
/// share it.
class GlobalMemory {
public:
  GlobalMemory(llvm::ArrayRef<Allocation> allocations, unsigned granule);

  /// The allocation in which `bytes` at `address` are, or null. `guess` is
  /// where to look first, and is set to where it was.
  TrackedAllocation *find(uint64_t address, uint32_t bytes, unsigned &guess);
  /// The allocation that lies nearest below an address, or null.
  const TrackedAllocation *findBelow(uint64_t address) const;

  /// Held while an atomic instruction reads and writes.
  std::mutex stepLock;
  std::mutex syncLock;
  SyncPlaces syncPlaces;

private:
  /// By address.
  std::vector<TrackedAllocation> allocations;
};

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_GLOBALMEMORY_H
