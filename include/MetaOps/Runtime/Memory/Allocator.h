//===- Allocator.h - A caching allocator of buffers -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_MEMORY_ALLOCATOR_H
#define METAOPS_RUNTIME_MEMORY_ALLOCATOR_H

#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Memory/MemorySource.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace metaops {

struct AllocatorStatistics {
  /// Of live buffers, as rounded up.
  int64_t bytesInUse = 0;
  /// The most that `bytesInUse` has been since the last reset.
  int64_t peakBytes = 0;
  /// Taken from the source: in use or kept for later.
  int64_t bytesReserved = 0;
  /// Of those in use, scratch memory, what is kept packed for later runs, and
  /// what others see (NumPy's arrays).
  int64_t scratchBytes = 0;
  int64_t packedBytes = 0;
  int64_t exportedBytes = 0;
  /// Buffers given out since the beginning.
  int64_t allocations = 0;
  /// Bytes that may be in use; 0: as much as there is.
  int64_t limit = 0;
};

/// A buffer would have exceeded the limit, or its source has no memory left.
class OutOfMemory : public std::bad_alloc {
public:
  /// Rounded up as the allocator does.
  OutOfMemory(size_t asked, const AllocatorStatistics &statistics);
  /// The same with more to read.
  OutOfMemory(const OutOfMemory &error, const std::string &appendix)
      : message(error.message + appendix) {}

  const char *what() const noexcept override { return message.c_str(); }

private:
  std::string message;
};

/// Gives out buffers and keeps the memory of dead ones for later buffers of
/// about the same size: a training loop asks for the same sizes in every
/// iteration. Sizes are rounded up to 512 bytes, above 4 KiB to an eighth of
/// a power of two, from 1 MiB on to a 32nd part. Memory kept beyond half of
/// that in use (and 64 MiB) goes back to its source when new memory is taken,
/// and all of it where the limit would be exceeded. Safe for use from any
/// thread; buffers may outlive the allocator.
class Allocator {
public:
  explicit Allocator(std::shared_ptr<MemorySource> source = createHostMemory());
  ~Allocator();
  Allocator(const Allocator &) = delete;
  Allocator &operator=(const Allocator &) = delete;

  /// One that takes no memory, and counts as if it did, from `bytesInUse` on.
  /// Its buffers have no data. For finding out what a run will need.
  static std::unique_ptr<Allocator> createModel(int64_t bytesInUse);

  /// Throws OutOfMemory.
  BufferRef allocate(size_t bytes, MemoryUse use = MemoryUse::Values);

  /// A run that is about to be put into the queue writes over the buffer: its
  /// contents are others for all later runs, and copies of them are dropped.
  /// Nothing for a model, whose runs are none.
  void renewContents(Buffer &buffer);
  /// The copy is dropped when the buffer dies, or its contents change.
  static void attachCopy(Buffer &buffer, std::shared_ptr<PackedCopy> copy);

  /// Returns whether it takes no memory; see createModel.
  bool isModel() const;

  /// Returns whether it has given out the buffer.
  bool owns(const Buffer &buffer) const { return buffer.allocator == state; }

  /// Returns the bytes that a buffer of that size takes.
  static int64_t getReserved(size_t bytes);

  AllocatorStatistics getStatistics() const;
  void resetPeak();
  /// Has memory filled with NaNs (-1 of integers) when it is given out
  /// and given back, so that nobody finds there what he should not read.
  void setPoisons(bool isOn);
  bool getPoisons() const;
  /// The same for a buffer of its own that is used once more.
  void poison(Buffer &buffer);
  /// The same contents at another address, in memory that is not counted; null
  /// where there is none.
  BufferRef copyAside(const Buffer &buffer);

  /// No more than this may be taken from the source, in bytes; 0: as much as
  /// there is. What is in use already stays.
  void setLimit(int64_t bytes);

  /// Gives the memory that no buffer uses back to its source.
  void trim();

  /// Of a model: memory that was in use at the beginning is free.
  void discount(int64_t bytes);

private:
  explicit Allocator(std::shared_ptr<AllocatorState> state);

  std::shared_ptr<AllocatorState> state;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_ALLOCATOR_H
