//===- AddressSpace.cpp - Memory that an emulated driver gave -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddressSpace.h"
#include "MetaOps/Runtime/Emulator/GuardedMemory.h"

#include <cstring>

using namespace metaops;
using namespace metaops::emulated;

/// A float of such bytes is a NaN, an integer is -1.
static constexpr int kNobodysByte = 0xff;
/// A driver's memory is so aligned, and takes as much.
static constexpr uint64_t kUnit = 512;

/// The most memory that is kept after it was given back.
static constexpr uint64_t kKeptBytes = 16 << 20;
static constexpr size_t kKeptBlocks = 1024;

static uint64_t roundUp(uint64_t bytes) {
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

static void fill(const Block &block) {
  std::memset(reinterpret_cast<void *>(block.begin), kNobodysByte, block.bytes);
}

std::string Block::str() const {
  return std::to_string(bytes) + " bytes of " +
         (isPinned ? "pinned memory" : "GPU " + std::to_string(device));
}

AddressSpace::AddressSpace(unsigned devices, uint64_t bytesOfEach)
    : source(createGuardedMemory()), free(devices, bytesOfEach) {}

AddressSpace::~AddressSpace() {
  for (const auto *map : {&blocks, &freed})
    for (const auto &[begin, block] : *map)
      drop(block);
}

void AddressSpace::drop(const Block &block) {
  source->giveBack(reinterpret_cast<void *>(block.begin), block.bytes);
}

uint64_t AddressSpace::take(uint64_t bytes, unsigned device, bool isPinned) {
  if (!isPinned && (bytes > free[device] || roundUp(bytes) > free[device]))
    return 0;
  void *memory = source->take(bytes);
  if (!memory)
    return 0;
  if (!isPinned)
    free[device] -= roundUp(bytes);
  Block block{reinterpret_cast<uint64_t>(memory), bytes, device, isPinned};
  fill(block);
  blocks.insert({block.begin, block});
  return block.begin;
}

void AddressSpace::giveBack(uint64_t begin) {
  auto found = blocks.find(begin);
  const Block block = found->second;
  blocks.erase(found);
  if (!block.isPinned)
    free[block.device] += roundUp(block.bytes);
  fill(block);
  freed.insert({begin, block});
  order.push_back(begin);
  freedBytes += block.bytes;
  while (freedBytes > kKeptBytes || order.size() > kKeptBlocks) {
    auto oldest = freed.find(order.front());
    freedBytes -= oldest->second.bytes;
    drop(oldest->second);
    freed.erase(oldest);
    order.pop_front();
  }
}

/// Returns the block of a map that an address is in, or null.
static const Block *findIn(const std::map<uint64_t, Block> &blocks,
                           uint64_t address) {
  auto above = blocks.upper_bound(address);
  if (above == blocks.begin())
    return nullptr;
  const Block &below = std::prev(above)->second;
  return address < below.getEnd() ? &below : nullptr;
}

const Block *AddressSpace::find(uint64_t address) const {
  return findIn(blocks, address);
}

bool AddressSpace::wasFreed(uint64_t address) const {
  return findIn(freed, address) != nullptr;
}

std::vector<Block> AddressSpace::list() const {
  std::vector<Block> all;
  for (const auto &[begin, block] : blocks)
    all.push_back(block);
  return all;
}

std::string AddressSpace::describe(uint64_t address) const {
  const Block *block = find(address);
  bool isFreed = !block;
  if (isFreed)
    block = findIn(freed, address);
  if (!block)
    return "an address that is in no memory of a GPU's";
  uint64_t offset = address - block->begin;
  return (offset ? std::to_string(offset) + " bytes into " : "") +
         block->str() + (isFreed ? ", which were freed" : "");
}
