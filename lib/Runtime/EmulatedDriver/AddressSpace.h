//===- AddressSpace.h - Memory that an emulated driver gave -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATEDDRIVER_ADDRESSSPACE_H
#define METAOPS_LIB_RUNTIME_EMULATEDDRIVER_ADDRESSSPACE_H

#include "MetaOps/Runtime/Memory/MemorySource.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace metaops::emulated {

/// Memory that was taken at once.
struct Block {
  uint64_t begin, bytes;
  /// The GPU whose memory it is, or for whose copies the host's is pinned.
  unsigned device;
  bool isPinned;

  uint64_t getEnd() const { return begin + bytes; }
  /// "4000 bytes of GPU 0".
  std::string str() const;
};

/// All memory that GPUs know of, by its addresses, which are the host's. Bytes
/// that nobody has written are those of NaNs. What is given back is kept for a
/// while, so that who still uses it is found.
class AddressSpace {
public:
  AddressSpace(unsigned devices, uint64_t bytesOfEach);
  ~AddressSpace();

  /// Returns 0 where a GPU has not as much left.
  uint64_t take(uint64_t bytes, unsigned device, bool isPinned);
  /// Of the beginning of a block.
  void giveBack(uint64_t begin);

  /// Returns the block that an address is in, or null.
  const Block *find(uint64_t address) const;
  /// Returns true for an address in a block that was given back and is kept.
  bool wasFreed(uint64_t address) const;
  uint64_t getFree(unsigned device) const { return free[device]; }
  std::vector<Block> list() const;
  /// Says what an address is, to those who have it wrong: "12 bytes into 4000
  /// bytes of GPU 0, which were freed".
  std::string describe(uint64_t address) const;

private:
  void drop(const Block &block);

  std::shared_ptr<MemorySource> source;
  /// The bytes that are left of each GPU's memory.
  std::vector<uint64_t> free;
  /// By their first addresses.
  std::map<uint64_t, Block> blocks;
  /// Blocks that were given back and are kept, and their order.
  std::map<uint64_t, Block> freed;
  std::deque<uint64_t> order;
  uint64_t freedBytes = 0;
};

} // namespace metaops::emulated

#endif // METAOPS_LIB_RUNTIME_EMULATEDDRIVER_ADDRESSSPACE_H
