//===- Allocator.cpp - A caching allocator of buffers ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/Allocator.h"

#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

using namespace metaops;

namespace metaops {

/// State that buffers and the allocator share. The last of them frees it.
class AllocatorState {
public:
  explicit AllocatorState(std::shared_ptr<MemorySource> source)
      : source(std::move(source)) {}
  /// A model; see Allocator::createModel.
  explicit AllocatorState(int64_t bytesInUse) : isModel(true) {
    statistics.bytesInUse = statistics.peakBytes = bytesInUse;
  }
  ~AllocatorState() { trim(); }

  /// The memory, and the number of its contents.
  std::pair<void *, uint64_t> take(size_t reserved, MemoryUse use) {
    std::lock_guard<std::mutex> lock(mutex);
    void *memory = isModel ? nullptr : find(reserved);
    ++statistics.allocations;
    statistics.bytesInUse += reserved;
    statistics.peakBytes =
        std::max(statistics.peakBytes, statistics.bytesInUse);
    count(use, reserved);
    if (memory && poisons)
      poison(memory, reserved);
    return {memory, isModel ? 0 : ++lastContents};
  }

  uint64_t takeContents() {
    std::lock_guard<std::mutex> lock(mutex);
    return ++lastContents;
  }

  void giveBack(void *memory, size_t reserved, MemoryUse use, bool isExported) {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.bytesInUse -= reserved;
    count(use, -static_cast<int64_t>(reserved));
    if (isExported)
      statistics.exportedBytes -= reserved;
    if (isModel)
      return;
    if (poisons)
      poison(memory, reserved);
    free[reserved].push_back(memory);
    cachedBytes += reserved;
    releaseBeyondLimit(0);
  }

  void countExported(size_t reserved) {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.exportedBytes += reserved;
  }

  void discount(int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.bytesInUse -= bytes;
  }

  void trim() {
    std::lock_guard<std::mutex> lock(mutex);
    releaseCached();
  }

  AllocatorStatistics getStatistics() const {
    std::lock_guard<std::mutex> lock(mutex);
    return statistics;
  }

  void setLimit(int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.limit = bytes;
    releaseBeyondLimit(0);
  }

  void setPoisons(bool isOn) {
    std::lock_guard<std::mutex> lock(mutex);
    poisons = isOn;
  }

  bool getPoisons() const {
    std::lock_guard<std::mutex> lock(mutex);
    return poisons;
  }

  void poison(void *memory, size_t bytes) {
    // NaN in each type of floats, and -1 of integers.
    constexpr int pattern = 0xff;
    if (source->isHost()) {
      std::memset(memory, pattern, bytes);
      return;
    }
    std::vector<char> filled(bytes, static_cast<char>(pattern));
    source->upload(memory, filled.data(), bytes);
  }

  void resetPeak() {
    std::lock_guard<std::mutex> lock(mutex);
    statistics.peakBytes = statistics.bytesInUse;
  }

  const bool isModel = false;
  /// Null for a model.
  const std::shared_ptr<MemorySource> source;

private:
  void count(MemoryUse use, int64_t bytes) {
    if (use == MemoryUse::Scratch)
      statistics.scratchBytes += bytes;
    else if (use == MemoryUse::Packed)
      statistics.packedBytes += bytes;
  }

  void *find(size_t reserved) {
    if (statistics.limit > 0 &&
        statistics.bytesInUse + int64_t(reserved) > statistics.limit)
      throw OutOfMemory(reserved, statistics);
    auto cached = free.find(reserved);
    if (cached == free.end() || cached->second.empty())
      return takeFromSource(reserved);
    void *memory = cached->second.back();
    cached->second.pop_back();
    cachedBytes -= reserved;
    return memory;
  }

  void *takeFromSource(size_t reserved) {
    constexpr int64_t alwaysKept = int64_t(64) << 20;
    if (cachedBytes > std::max(alwaysKept, statistics.bytesInUse / 2))
      releaseCached();
    releaseBeyondLimit(reserved);
    void *memory = source->take(reserved);
    if (!memory) {
      releaseCached();
      memory = source->take(reserved);
    }
    if (!memory)
      throw OutOfMemory(reserved, statistics);
    statistics.bytesReserved += reserved;
    return memory;
  }

  /// Keeps nothing where the limit would be exceeded by what is kept and
  /// `more`.
  void releaseBeyondLimit(size_t more) {
    if (statistics.limit > 0 &&
        statistics.bytesReserved + int64_t(more) > statistics.limit)
      releaseCached();
  }

  void releaseCached() {
    for (auto &[reserved, cached] : free)
      for (void *memory : cached)
        source->giveBack(memory, reserved);
    free.clear();
    statistics.bytesReserved -= cachedBytes;
    cachedBytes = 0;
  }

  mutable std::mutex mutex;
  llvm::DenseMap<size_t, std::vector<void *>> free;
  int64_t cachedBytes = 0;
  uint64_t lastContents = 0;
  bool poisons = false;
  AllocatorStatistics statistics;
};

} // namespace metaops

OutOfMemory::OutOfMemory(size_t asked, const AllocatorStatistics &statistics)
    : message("out of memory: a buffer of " + std::to_string(asked) +
              " bytes was asked for, with " +
              std::to_string(statistics.bytesInUse) + " bytes in use") {
  if (statistics.limit > 0 &&
      asked > size_t(std::max<int64_t>(statistics.limit - statistics.bytesInUse,
                                       0)))
    message +=
        " of the " + std::to_string(statistics.limit) + " that may be (limit)";
  else
    message += ", and the system has no more";
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer::~Buffer() {
  dropCopies();
  if (allocator)
    allocator->giveBack(memory, reserved, use, exported());
  else if (releaseForeign)
    releaseForeign();
}

void Buffer::dropCopies() {
  for (const std::shared_ptr<PackedCopy> &copy : copies)
    copy->drop();
  copies.clear();
}

void Buffer::markExported() {
  if (!isExported.exchange(true, std::memory_order_relaxed) && allocator)
    allocator->countExported(reserved);
}

MemorySource *Buffer::getDeviceMemory() const {
  if (aliased)
    return aliased->getDeviceMemory();
  if (!allocator || !allocator->source || allocator->source->isHost())
    return nullptr;
  return allocator->source.get();
}

// Memory of no bytes may be null, which memcpy does not take.
void Buffer::read(void *to, size_t count) const {
  if (count == 0)
    return;
  if (MemorySource *source = getDeviceMemory())
    source->download(to, memory, count);
  else
    std::memcpy(to, memory, count);
}

void Buffer::write(const void *from, size_t count) {
  if (count == 0)
    return;
  if (MemorySource *source = getDeviceMemory())
    source->upload(memory, from, count);
  else
    std::memcpy(memory, from, count);
}

void Buffer::copyFrom(const Buffer &other) {
  MemorySource *source = other.getDeviceMemory();
  if (!source)
    return write(other.memory, size);
  if (source == getDeviceMemory())
    return source->copy(memory, other.memory, size);
  if (!getDeviceMemory())
    return other.read(memory, size);
  // Two devices that know nothing of each other.
  std::vector<char> between(size);
  other.read(between.data(), size);
  write(between.data(), size);
}

BufferRef Buffer::wrap(void *data, size_t bytes,
                       std::function<void()> release) {
  BufferRef buffer(new Buffer(data, bytes, nullptr, 0, MemoryUse::Values));
  buffer->releaseForeign = std::move(release);
  return buffer;
}

BufferRef Buffer::alias(BufferRef other) {
  BufferRef buffer = wrap(other->data(), other->bytes(), {});
  buffer->aliased = std::move(other);
  return buffer;
}

//===----------------------------------------------------------------------===//
// The allocator
//===----------------------------------------------------------------------===//

Allocator::Allocator(std::shared_ptr<MemorySource> source)
    : Allocator(std::make_shared<AllocatorState>(std::move(source))) {}

Allocator::Allocator(std::shared_ptr<AllocatorState> state)
    : state(std::move(state)) {}

Allocator::~Allocator() { state->trim(); }

std::unique_ptr<Allocator> Allocator::createModel(int64_t bytesInUse) {
  return std::unique_ptr<Allocator>(
      new Allocator(std::make_shared<AllocatorState>(bytesInUse)));
}

/// At most an eighth is lost above 4 KiB, from 1 MiB on a 32nd part, and sizes
/// that differ a little find each other's memory.
int64_t Allocator::getReserved(size_t bytes) {
  size_t rounded = llvm::alignTo(std::max<size_t>(bytes, 1), 512);
  if (rounded <= 4096)
    return rounded;
  size_t parts = rounded < (size_t(1) << 20) ? 3 : 5;
  size_t step = size_t(1) << (llvm::Log2_64(rounded) - parts);
  return llvm::alignTo(rounded, std::max<size_t>(step, 512));
}

BufferRef Allocator::allocate(size_t bytes, MemoryUse use) {
  // Sizes near the top of the address space would wrap when rounded.
  if (bytes > size_t(PTRDIFF_MAX) / 2)
    throw OutOfMemory(bytes, getStatistics());
  size_t reserved = getReserved(bytes);
  auto [memory, contents] = state->take(reserved, use);
  return BufferRef(new Buffer(memory, bytes, state, reserved, use, contents));
}

void Allocator::renewContents(Buffer &buffer) {
  if (state->isModel || buffer.allocator != state)
    return;
  buffer.contents = state->takeContents();
  buffer.dropCopies();
}

void Allocator::attachCopy(Buffer &buffer, std::shared_ptr<PackedCopy> copy) {
  // Copies whose programs are gone.
  llvm::erase_if(buffer.copies, [](const std::shared_ptr<PackedCopy> &other) {
    return !other->getMemory();
  });
  buffer.copies.push_back(std::move(copy));
}

bool Allocator::isModel() const { return state->isModel; }

AllocatorStatistics Allocator::getStatistics() const {
  return state->getStatistics();
}

void Allocator::resetPeak() { state->resetPeak(); }

void Allocator::setLimit(int64_t bytes) { state->setLimit(bytes); }

void Allocator::setPoisons(bool isOn) { state->setPoisons(isOn); }

bool Allocator::getPoisons() const { return state->getPoisons(); }

void Allocator::poison(Buffer &buffer) {
  if (!state->isModel && buffer.allocator == state)
    state->poison(buffer.memory, buffer.reserved);
}

BufferRef Allocator::copyAside(const Buffer &buffer) {
  size_t reserved = getReserved(buffer.bytes());
  void *memory = state->source ? state->source->take(reserved) : nullptr;
  if (!memory)
    return nullptr;
  BufferRef copy(
      new Buffer(memory, buffer.bytes(), nullptr, 0, MemoryUse::Values));
  copy->releaseForeign = [state = state, memory, reserved] {
    state->poison(memory, reserved);
    state->source->giveBack(memory, reserved);
  };
  if (!state->source->isHost())
    state->source->copy(memory, buffer.data(), buffer.bytes());
  else if (buffer.bytes() > 0)
    std::memcpy(memory, buffer.data(), buffer.bytes());
  return copy;
}

void Allocator::trim() { state->trim(); }

void Allocator::discount(int64_t bytes) { state->discount(bytes); }
