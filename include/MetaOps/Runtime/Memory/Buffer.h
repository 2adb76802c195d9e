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
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace metaops {

class AllocatorState;
class MemorySource;
class PackedCopy;
struct RunFailure;

/// Use of a buffer.
enum class MemoryUse : uint8_t {
  Values,
  /// Holds what only the kernels of one program see.
  Scratch,
  /// Holds what a kernel has packed, for later runs.
  Packed
};

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
  /// The same memory under conditions of its own: it may be lost (`failure`)
  /// where the other is not. It is foreign memory, and is never written.
  static llvm::IntrusiveRefCntPtr<Buffer>
  alias(llvm::IntrusiveRefCntPtr<Buffer> other);

  /// An address of the device that the buffer is for. The host may only look
  /// there where the memory is its own; see getDeviceMemory.
  void *data() const { return memory; }
  size_t bytes() const { return size; }
  /// Null for memory of the host.
  MemorySource *getDeviceMemory() const;
  /// Copies the first bytes to or from the host's memory, wherever they are,
  /// in no order with runs.
  void read(void *to, size_t count) const;
  void write(const void *from, size_t count);
  /// The same for all of another buffer with as many bytes.
  void copyFrom(const Buffer &other);
  bool isForeign() const { return !allocator; }
  /// The buffer whose memory this is: itself but for an alias.
  const Buffer *getOrigin() const {
    return aliased ? aliased->getOrigin() : this;
  }
  /// Returns the bytes that the allocator set aside for it; 0 for foreign
  /// memory.
  size_t getReserved() const { return reserved; }

  /// Someone outside of the runtime (a NumPy array) sees this memory, so it is
  /// never written again.
  bool exported() const { return isExported.load(std::memory_order_relaxed); }
  void markExported();

  /// Another thread reads this memory when it comes to it. For good: programs
  /// are not to depend on when it has.
  void forbidWrites() { isReadOnly = true; }
  /// Returns whether a result may be written here, when nobody needs the value.
  bool mayBeWritten() const {
    return !isReadOnly && !exported() && !isForeign();
  }

  /// A number for what is in the buffer: equal ones of buffers of one allocator
  /// are the same contents of the same buffer, and none is used again when that
  /// has died or is written anew. 0 where the contents may change unnoticed,
  /// for others see the memory, and of an allocator's model.
  uint64_t getContents() const { return exported() ? 0 : contents; }

  /// References beside those of runs that wait in a queue.
  uint64_t getOwners() const {
    uint64_t now = count.load(std::memory_order_acquire);
    return (now & (kRun - 1)) - now / kRun;
  }
  /// Returns whether there is more than one: what is queued later may overwrite
  /// what queued runs read. If not, no other thread can make a second one.
  bool isShared() const { return getOwners() > 1; }

  void Retain() const { count.fetch_add(kOne, std::memory_order_relaxed); }
  void Release() const { release(kOne); }

  /// The same for a queued run's reference.
  void retainForRun() const {
    count.fetch_add(kRun + kOne, std::memory_order_relaxed);
  }
  void releaseFromRun() const { release(kRun + kOne); }

  /// Why the memory holds no value: the run that was to compute it failed.
  /// Written by that run, read by later ones and by whoever has waited for it.
  std::shared_ptr<const RunFailure> failure;

private:
  friend class Allocator;
  Buffer(void *memory, size_t size, std::shared_ptr<AllocatorState> allocator,
         size_t reserved, MemoryUse use, uint64_t contents = 0)
      : memory(memory), size(size), reserved(reserved), use(use),
        contents(contents), allocator(std::move(allocator)) {}
  ~Buffer();

  void dropCopies();

  /// One reference, in the low half of the count, and one of a queued run, in
  /// the high half. Both change at once.
  static constexpr uint64_t kOne = 1;
  static constexpr uint64_t kRun = uint64_t(1) << 32;

  void release(uint64_t references) const {
    uint64_t before = count.fetch_sub(references, std::memory_order_acq_rel);
    if ((before & (kRun - 1)) == 1)
      delete this;
  }

  void *memory;
  size_t size;
  /// Bytes that the allocator set aside for this buffer.
  size_t reserved;
  MemoryUse use;
  /// See getContents. Used in the session's scope, like the copies.
  uint64_t contents;
  /// Copies that kernels have made of these contents.
  std::vector<std::shared_ptr<PackedCopy>> copies;
  mutable std::atomic<uint64_t> count{0};
  std::atomic<bool> isExported{false};
  /// Used in the session's scope.
  bool isReadOnly = false;
  /// The allocator to which the memory returns; null for foreign memory.
  std::shared_ptr<AllocatorState> allocator;
  std::function<void()> releaseForeign;
  /// Whose memory this is; null but for an alias.
  llvm::IntrusiveRefCntPtr<Buffer> aliased;
};

using BufferRef = llvm::IntrusiveRefCntPtr<Buffer>;

/// A queued run's reference; see Buffer::isShared.
class RunRef {
public:
  RunRef() = default;
  RunRef(const BufferRef &buffer) : buffer(buffer.get()) {
    if (this->buffer)
      this->buffer->retainForRun();
  }
  RunRef(const RunRef &other) : buffer(other.buffer) {
    if (buffer)
      buffer->retainForRun();
  }
  RunRef(RunRef &&other) noexcept : buffer(other.buffer) {
    other.buffer = nullptr;
  }
  RunRef &operator=(RunRef other) noexcept {
    std::swap(buffer, other.buffer);
    return *this;
  }
  ~RunRef() {
    if (buffer)
      buffer->releaseFromRun();
  }

  explicit operator bool() const { return buffer; }
  Buffer *operator->() const { return buffer; }
  Buffer *get() const { return buffer; }

private:
  Buffer *buffer = nullptr;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_BUFFER_H
