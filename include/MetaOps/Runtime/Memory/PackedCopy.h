//===- PackedCopy.h - What a kernel has made of buffers ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_MEMORY_PACKEDCOPY_H
#define METAOPS_RUNTIME_MEMORY_PACKEDCOPY_H

#include "MetaOps/Runtime/Memory/Buffer.h"

#include <mutex>
#include <utility>

namespace metaops {

/// Copy that a kernel has made of the contents of buffers, for later runs of
/// its program. These buffers and the program share it; the memory goes as soon
/// as one of them dies, or a buffer's contents change.
class PackedCopy {
public:
  explicit PackedCopy(BufferRef memory) : memory(std::move(memory)) {}

  /// Null when it has been dropped.
  BufferRef getMemory() const {
    std::lock_guard<std::mutex> lock(mutex);
    return memory;
  }

  /// Lets go of the memory, which runs in the queue may still hold. From any
  /// thread.
  void drop() {
    // The memory goes without the mutex.
    BufferRef dropped;
    std::lock_guard<std::mutex> lock(mutex);
    dropped = std::move(memory);
  }

  /// True if a run has written the memory. For runs alone: those that use it
  /// before it is filled follow one another.
  bool isFilled = false;

private:
  mutable std::mutex mutex;
  BufferRef memory;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_PACKEDCOPY_H
