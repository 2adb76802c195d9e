//===- Requests.cpp - What accesses of a warp move ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a warp that execute an access together make one request. Global
// memory moves in sectors of 32 bytes, each once for a request. Shared memory
// has 32 banks of four bytes: one pass serves each bank once, whoever asks for
// the same word. Accesses of 8 or 16 bytes are served for half or a quarter of
// the warp at a time.
//
// A vector that is not aligned as a whole is as many requests as it has aligned
// parts, as in the machine code.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include <algorithm>
#include <array>

using namespace metaops;
using namespace metaops::emulator;

static constexpr unsigned sectorBytes = 32;
static constexpr unsigned banks = 32;
static constexpr unsigned bankBytes = 4;
static constexpr unsigned widestAccess = 16;

namespace {
/// The addresses of some lanes, in order.
struct Addresses {
  std::array<uint64_t, warpSize> values;
  unsigned count = 0;

  Addresses(uint32_t lanes, const uint64_t *addresses, uint64_t offset) {
    bool isSorted = true;
    for (; lanes; lanes &= lanes - 1) {
      uint64_t address = addresses[__builtin_ctz(lanes)] + offset;
      isSorted &= count == 0 || values[count - 1] <= address;
      values[count++] = address;
    }
    if (!isSorted)
      std::sort(values.begin(), values.begin() + count);
  }

  /// The bytes that accesses of `width` touch, each once.
  uint64_t countBytes(unsigned width) const {
    uint64_t bytes = 0, end = 0;
    for (unsigned i = 0; i < count; ++i) {
      uint64_t begin = std::max(values[i], end);
      end = values[i] + width;
      bytes += end - std::min(begin, end);
    }
    return bytes;
  }
};
} // namespace

static void countSectors(AccessTotals &totals, const Addresses &addresses,
                         unsigned width) {
  uint64_t sectors = 0, next = 0;
  for (unsigned i = 0; i < addresses.count; ++i) {
    uint64_t first = addresses.values[i] / sectorBytes;
    uint64_t end = (addresses.values[i] + width - 1) / sectorBytes + 1;
    first = std::max(first, next);
    sectors += end - std::min(first, end);
    next = end;
  }
  uint64_t bytes = addresses.countBytes(width);
  totals.bytes += bytes;
  totals.moved += sectors;
  totals.least += (bytes + sectorBytes - 1) / sectorBytes;
}

/// Passes through the banks: the most words that one bank has to give.
static void countPasses(AccessTotals &totals, const Addresses &addresses,
                        unsigned width) {
  std::array<unsigned, banks> words = {};
  unsigned passes = 0;
  uint64_t next = 0;
  for (unsigned i = 0; i < addresses.count; ++i) {
    uint64_t first = addresses.values[i] / bankBytes;
    uint64_t end = (addresses.values[i] + width - 1) / bankBytes + 1;
    for (uint64_t word = std::max(first, next); word < end; ++word)
      passes = std::max(passes, ++words[word % banks]);
    next = std::max(next, end);
  }
  uint64_t bytes = addresses.countBytes(width);
  totals.bytes += bytes;
  totals.moved += passes;
  totals.least += (bytes + banks * bankBytes - 1) / (banks * bankBytes);
}

int64_t emulator::getStride(uint32_t lanes, const uint64_t *addresses) {
  unsigned first = __builtin_ctz(lanes);
  uint32_t shifted = lanes >> first;
  if (shifted & (shifted + 1))
    return -1;
  unsigned count = __builtin_popcount(lanes);
  const uint64_t *own = addresses + first;
  uint64_t stride = count == 1 ? 0 : own[1] - own[0], differences = 0;
  for (unsigned i = 1; i < count; ++i)
    differences |= (own[i] - own[i - 1]) ^ stride;
  return differences ? -1 : static_cast<int64_t>(stride);
}

/// Counts a request of neighbours, or of one place, without looking at each
/// lane; false if it is neither.
static bool countSimple(AccessTotals &totals, uint32_t lanes,
                        const uint64_t *addresses, int64_t stride,
                        unsigned width, bool isShared) {
  if (stride != 0 && stride != static_cast<int64_t>(width))
    return false;
  uint64_t begin = addresses[__builtin_ctz(lanes)];
  uint64_t bytes = stride ? width * uint64_t(__builtin_popcount(lanes)) : width;
  // Words of four bytes and more that follow each other are in different banks.
  if (isShared && (width < bankBytes || (width > bankBytes && stride)))
    return false;
  totals.bytes += bytes;
  totals.moved +=
      isShared ? 1
               : (begin + bytes - 1) / sectorBytes - begin / sectorBytes + 1;
  totals.least += isShared ? 1 : (bytes + sectorBytes - 1) / sectorBytes;
  return true;
}

void emulator::countRequest(AccessTotals &totals, const Site &site,
                            uint32_t lanes, const uint64_t *addresses,
                            int64_t stride) {
  unsigned width =
      std::min({site.bytes, std::max(1u, site.alignment), widestAccess});
  bool isShared = addresses[__builtin_ctz(lanes)] >> 48 == sharedWindow >> 48;
  for (unsigned offset = 0; offset < site.bytes; offset += width) {
    ++totals.requests;
    if (width == site.bytes &&
        countSimple(totals, lanes, addresses, stride, width, isShared))
      continue;
    if (!isShared) {
      countSectors(totals, Addresses(lanes, addresses, offset), width);
      continue;
    }
    unsigned together = warpSize * bankBytes / std::max(width, bankBytes);
    for (unsigned first = 0; first < warpSize; first += together) {
      uint32_t part = lanes >> first << first;
      if (first + together < warpSize)
        part &= (uint32_t(1) << (first + together)) - 1;
      if (part)
        countPasses(totals, Addresses(part, addresses, offset), width);
    }
  }
}
