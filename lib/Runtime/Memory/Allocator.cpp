//===- Allocator.cpp - A caching allocator of buffers ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/Allocator.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

using namespace metaops;

namespace metaops {

/// What buffers and the allocator share. The last of them frees it.
class AllocatorState {
public:
  ~AllocatorState() { trim(); }

  void *take(size_t reserved) {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<void *> &cached = free[reserved];
    void *memory = nullptr;
    if (!cached.empty()) {
      memory = cached.back();
      cached.pop_back();
      cachedBytes -= reserved;
    } else {
      memory = takeFromSystem(reserved);
    }
    ++statistics.allocations;
    statistics.bytesInUse += reserved;
    statistics.peakBytes =
        std::max(statistics.peakBytes, statistics.bytesInUse);
    return memory;
  }

  void giveBack(void *memory, size_t reserved) {
    std::lock_guard<std::mutex> lock(mutex);
    free[reserved].push_back(memory);
    cachedBytes += reserved;
    statistics.bytesInUse -= reserved;
  }

  void trim() {
    std::lock_guard<std::mutex> lock(mutex);
    releaseCached();
  }

  AllocatorStatistics getStatistics() const {
    std::lock_guard<std::mutex> lock(mutex);
    return statistics;
  }

  void resetPeak() {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.peakBytes = statistics.bytesInUse;
  }

private:
  void *takeFromSystem(size_t reserved) {
    constexpr int64_t alwaysKept = int64_t(64) << 20;
    if (cachedBytes > std::max(alwaysKept, statistics.bytesInUse / 2))
      releaseCached();
    void *memory = std::aligned_alloc(64, reserved);
    if (!memory) {
      releaseCached();
      memory = std::aligned_alloc(64, reserved);
    }
    if (!memory)
      throw OutOfMemory(reserved, statistics.bytesInUse);
    statistics.bytesReserved += reserved;
    return memory;
  }

  void releaseCached() {
    for (auto &[reserved, cached] : free)
      for (void *memory : cached)
        std::free(memory);
    free.clear();
    statistics.bytesReserved -= cachedBytes;
    cachedBytes = 0;
  }

  mutable std::mutex mutex;
  llvm::DenseMap<size_t, std::vector<void *>> free;
  int64_t cachedBytes = 0;
  AllocatorStatistics statistics;
};

} // namespace metaops

/// At most an eighth is lost above 4 KiB, and sizes that differ a little find
/// each other's memory.
static size_t roundSize(size_t bytes) {
  size_t rounded = llvm::alignTo(std::max<size_t>(bytes, 1), 512);
  if (rounded <= 4096)
    return rounded;
  size_t step = size_t(1) << (llvm::Log2_64(rounded) - 3);
  return llvm::alignTo(rounded, std::max<size_t>(step, 512));
}

Buffer::~Buffer() {
  if (allocator)
    allocator->giveBack(memory, reserved);
  else if (releaseForeign)
    releaseForeign();
}

BufferRef Buffer::wrap(void *data, size_t bytes,
                       std::function<void()> release) {
  BufferRef buffer(new Buffer(data, bytes, nullptr, 0));
  buffer->releaseForeign = std::move(release);
  return buffer;
}

Allocator::Allocator() : state(std::make_shared<AllocatorState>()) {}

Allocator::~Allocator() { state->trim(); }

BufferRef Allocator::allocate(size_t bytes) {
  // Sizes near the top of the address space would wrap when rounded.
  if (bytes > size_t(PTRDIFF_MAX) / 2)
    throw OutOfMemory(bytes, getStatistics().bytesInUse);
  size_t reserved = roundSize(bytes);
  void *memory = state->take(reserved);
  return BufferRef(new Buffer(memory, bytes, state, reserved));
}

AllocatorStatistics Allocator::getStatistics() const {
  return state->getStatistics();
}

void Allocator::resetPeak() { state->resetPeak(); }

void Allocator::trim() { state->trim(); }
