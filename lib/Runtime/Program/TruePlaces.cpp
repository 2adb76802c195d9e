//===- TruePlaces.cpp - Where booleans are true ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/TruePlaces.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace metaops;

/// So many booleans are a part.
static constexpr int64_t kPart = int64_t(1) << 15;
/// So many are passed over at once where none is true.
static constexpr int64_t kWord = 8;

/// Writes the places of what is true, without branches that depend on it: each
/// place is written, and stays if it is wanted. They go through a buffer, since
/// what is behind the last one belongs to another thread.
static void writePart(llvm::ArrayRef<uint8_t> booleans, int64_t first,
                      int64_t *places) {
  constexpr int64_t kRoom = 512;
  std::array<int64_t, kRoom> buffer;
  int64_t filled = 0;
  int64_t size = booleans.size();
  for (int64_t i = 0; i < size; i += kWord) {
    int64_t end = std::min(i + kWord, size);
    uint64_t word = 0;
    std::memcpy(&word, booleans.data() + i, end - i);
    if (word == 0)
      continue;
    for (int64_t k = i; k < end; ++k) {
      buffer[filled] = first + k;
      filled += booleans[k] != 0;
    }
    if (filled > kRoom - kWord) {
      places = std::copy_n(buffer.data(), filled, places);
      filled = 0;
    }
  }
  std::copy_n(buffer.data(), filled, places);
}

TruePlaces::TruePlaces(llvm::ArrayRef<uint8_t> booleans, ThreadPool &threads)
    : booleans(booleans), threads(threads) {
  int64_t parts = (booleans.size() + kPart - 1) / kPart;
  begins.resize(parts + 1);
  threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t count = 0;
      for (uint8_t boolean : getPart(part))
        count += boolean != 0;
      begins[part + 1] = count;
    }
  });
  for (int64_t part = 0; part < parts; ++part)
    begins[part + 1] += begins[part];
}

llvm::ArrayRef<uint8_t> TruePlaces::getPart(int64_t part) const {
  return booleans.slice(part * kPart).take_front(kPart);
}

void TruePlaces::write(int64_t *places) const {
  int64_t parts = begins.size() - 1;
  threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      writePart(getPart(part), part * kPart, places + begins[part]);
  });
}
