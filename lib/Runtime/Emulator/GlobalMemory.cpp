//===- GlobalMemory.cpp - The memory of a launch --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalMemory.h"

#include <algorithm>

using namespace metaops;
using namespace metaops::emulator;

GlobalMemory::GlobalMemory(llvm::ArrayRef<Allocation> given, unsigned granule) {
  for (const Allocation &allocation : given) {
    TrackedAllocation tracked;
    tracked.allocation = allocation;
    tracked.begin = reinterpret_cast<uint64_t>(allocation.begin);
    allocations.push_back(std::move(tracked));
  }
  std::sort(allocations.begin(), allocations.end(),
            [](const auto &a, const auto &b) { return a.begin < b.begin; });
  for (TrackedAllocation &tracked : allocations) {
    // Cells are as far apart as addresses are aligned.
    uint64_t offset = tracked.begin % granule;
    tracked.shadow.resize(tracked.allocation.bytes + offset, granule);
  }
}

TrackedAllocation *GlobalMemory::find(uint64_t address, uint32_t bytes,
                                      unsigned &guess) {
  auto contains = [&](const TrackedAllocation &tracked) {
    uint64_t offset = address - tracked.begin;
    return offset < tracked.allocation.bytes &&
           bytes <= tracked.allocation.bytes - offset;
  };
  if (guess < allocations.size() && contains(allocations[guess]))
    return &allocations[guess];
  const TrackedAllocation *below = findBelow(address);
  if (!below || !contains(*below))
    return nullptr;
  guess = below - allocations.data();
  return &allocations[guess];
}

const TrackedAllocation *GlobalMemory::findBelow(uint64_t address) const {
  auto above = std::upper_bound(allocations.begin(), allocations.end(), address,
                                [](uint64_t address, const auto &tracked) {
                                  return address < tracked.begin;
                                });
  return above == allocations.begin() ? nullptr : &*std::prev(above);
}

uint32_t EpochSets::allocate() {
  if (unused.empty()) {
    sets.push_back(std::make_unique<Set>());
    return sets.size();
  }
  uint32_t number = unused.back();
  unused.pop_back();
  (*this)[number].clear();
  return number;
}
