//===- Buffer.h - Memory that holds a tensor --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_MEMORY_BUFFER_H
#define METAOPS_RUNTIME_MEMORY_BUFFER_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

namespace metaops {

class AllocatorState;

/// Memory of one tensor, shared by counted references from any thread. Its
/// start is aligned to 64 bytes, and it may be read up to the next multiple of
/// 64 bytes, so a vector may be loaded at the end. (Foreign memory promises
/// neither; see `isForeign`.)
class Buffer {
public:
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Wraps memory of someone else, which `release` gives back.
  static llvm::IntrusiveRefCntPtr<Buffer> wrap(void *data, size_t bytes,
                                               std::function<void()> release);

  void *data() const { return memory; }
  size_t bytes() const { return size; }
  bool isForeign() const { return !allocator; }

  /// Someone outside of the runtime (a NumPy array) sees this memory, so it is
  /// never written again.
  bool exported() const { return isExported.load(std::memory_order_relaxed); }
  void markExported() { isExported.store(true, std::memory_order_relaxed); }

  /// Whether one reference exists, in which case no other thread can make
  /// a second one.
  bool isShared() const { return count.load(std::memory_order_acquire) > 1; }

  void Retain() const { count.fetch_add(1, std::memory_order_relaxed); }
  void Release() const {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

private:
  friend class Allocator;
  Buffer(void *memory, size_t size, std::shared_ptr<AllocatorState> allocator,
         size_t reserved)
      : memory(memory), size(size), reserved(reserved),
        allocator(std::move(allocator)) {}
  ~Buffer();

  void *memory;
  size_t size;
  /// Bytes that the allocator set aside for this buffer.
  size_t reserved;
  mutable std::atomic<unsigned> count{0};
  std::atomic<bool> isExported{false};
  /// Where the memory returns to; null for foreign memory.
  std::shared_ptr<AllocatorState> allocator;
  std::function<void()> releaseForeign;
};

using BufferRef = llvm::IntrusiveRefCntPtr<Buffer>;

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_BUFFER_H
