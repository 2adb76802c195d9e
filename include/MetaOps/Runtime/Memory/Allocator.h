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

#include <new>
#include <string>

#include <cstdint>
#include <memory>

namespace metaops {

struct AllocatorStatistics {
  /// Of live buffers, as rounded up.
  int64_t bytesInUse = 0;
  /// The most that `bytesInUse` has been since the last reset.
  int64_t peakBytes = 0;
  /// Taken from the system: in use or kept for later.
  int64_t bytesReserved = 0;
  /// Buffers given out since the beginning.
  int64_t allocations = 0;
};

/// The system has no memory left; says how much was asked for.
class OutOfMemory : public std::bad_alloc {
public:
  OutOfMemory(size_t asked, int64_t inUse)
      : message("out of memory: a buffer of " + std::to_string(asked) +
                " bytes was asked for, with " + std::to_string(inUse) +
                " bytes in use") {}
  const char *what() const noexcept override { return message.c_str(); }

private:
  std::string message;
};

/// Gives out buffers and keeps the memory of dead ones for later buffers of
/// about the same size: a training loop asks for the same sizes in every
/// iteration. Sizes are rounded up to 512 bytes, above 4 KiB to an eighth of
/// a power of two. Memory kept beyond half of that in use (and 64 MiB) goes
/// back to the system when new memory is taken. Buffers may outlive the
/// allocator.
class Allocator {
public:
  Allocator();
  ~Allocator();
  Allocator(const Allocator &) = delete;
  Allocator &operator=(const Allocator &) = delete;

  /// Throws OutOfMemory where the system has no memory left.
  BufferRef allocate(size_t bytes);

  AllocatorStatistics getStatistics() const;
  void resetPeak();

  /// Gives the memory that no buffer uses back to the system.
  void trim();

private:
  std::shared_ptr<AllocatorState> state;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_ALLOCATOR_H
