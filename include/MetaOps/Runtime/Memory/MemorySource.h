//===- MemorySource.h - Where buffers' memory comes from --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_MEMORY_MEMORYSOURCE_H
#define METAOPS_RUNTIME_MEMORY_MEMORYSOURCE_H

#include <cstddef>
#include <memory>

namespace metaops {

/// A device's memory, before an allocator divides it among buffers. Addresses
/// mean something to the device's backend, and to nobody else where `isHost`
/// says no. Safe for use from any thread.
class MemorySource {
public:
  virtual ~MemorySource() = default;

  /// Memory that is aligned to 64 bytes, or null where none is left.
  virtual void *take(size_t bytes) = 0;
  virtual void giveBack(void *memory, size_t bytes) = 0;

  /// Returns whether the host reads and writes the memory as its own.
  virtual bool isHost() const = 0;
  /// From the host's memory, to it, and within this. Done when they return, in
  /// no order with what the device is doing.
  virtual void upload(void *to, const void *from, size_t bytes) = 0;
  virtual void download(void *to, const void *from, size_t bytes) = 0;
  virtual void copy(void *to, const void *from, size_t bytes) = 0;
};

/// The host's memory, which all that is in it shares.
std::shared_ptr<MemorySource> createHostMemory();

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_MEMORYSOURCE_H
