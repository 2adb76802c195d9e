//===- SharedSort.h - Sorting one line on several threads -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sort by samples: keys of a sample cut the order into ranges, as many as
// there are threads. Each thread counts what its part of the line has of each
// range, then copies it to where the range is in the result, and then sorts a
// range. Equal keys are the same bits, so what comes out does not depend on the
// sample.
//
// No sort fails for want of memory, so this takes none but what
// it is given, and the stack.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SHAREDSORT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SHAREDSORT_H

#include "MetaOps/Runtime/Routines/VectorSort.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>

namespace metaops {

/// So many keys are worth a thread of their own.
inline constexpr int64_t kKeysPerThread = int64_t(1) << 15;
/// Each thread compares its keys with all ranges.
inline constexpr int64_t kMaxParts = 64;

/// Into how many parts a line is to be cut for so many threads.
inline int64_t countParts(int64_t count, unsigned threads) {
  return std::clamp<int64_t>(std::min<int64_t>(count / kKeysPerThread, threads),
                             1, kMaxParts);
}

/// Ranges that have about as many keys each. Keys that differ in the bits of
/// `mask` only are in one.
template <typename Key>
llvm::SmallVector<KeyRange<Key>, kMaxParts>
chooseRanges(const Key *keys, int64_t count, int64_t parts, Key mask) {
  std::array<Key, 2048> sample;
  int64_t size = sample.size();
  for (int64_t i = 0; i < size; ++i)
    sample[i] = keys[count / size * i];
  sortKeys(sample.data(), size);
  llvm::SmallVector<KeyRange<Key>, kMaxParts> ranges(1);
  for (int64_t part = 1; part < parts; ++part) {
    Key first = sample[size * part / parts] & static_cast<Key>(~mask);
    if (first <= ranges.back().low)
      continue;
    ranges.back().high = first - 1;
    ranges.emplace_back().low = first;
  }
  return ranges;
}

/// Sorts the keys that `fill` writes for each range of places; tells `finish`
/// where they then are, range by range.
template <typename Key>
void sortShared(
    Key *keys, Key *other, int64_t count, int64_t parts, Key mask,
    ThreadPool &threads,
    llvm::function_ref<void(int64_t begin, int64_t end)> fill,
    llvm::function_ref<void(Key *sorted, int64_t begin, int64_t end)> finish) {
  if (parts == 1) {
    fill(0, count);
    sortKeys(keys, count);
    return finish(keys, 0, count);
  }
  auto forEachPart = [&](int64_t n, llvm::function_ref<void(int64_t)> visit) {
    threads.parallelFor(n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        visit(part);
    });
  };
  auto getBegin = [&](int64_t part) {
    return count / parts * part + std::min(part, count % parts);
  };
  forEachPart(parts,
              [&](int64_t part) { fill(getBegin(part), getBegin(part + 1)); });
  auto ranges = chooseRanges(keys, count, parts, mask);
  int64_t numRanges = ranges.size();
  // For each part how many of its keys are in each range, then where to.
  std::array<int64_t, kMaxParts * kMaxParts> room;
  llvm::MutableArrayRef<int64_t> places(room.data(), parts * numRanges);
  forEachPart(parts, [&](int64_t part) {
    int64_t first = getBegin(part), size = getBegin(part + 1) - first;
    for (int64_t range = 0; range < numRanges; ++range)
      places[range * parts + part] =
          countKeys(keys + first, size, ranges[range]);
  });
  int64_t next = 0;
  for (int64_t &place : places)
    next += std::exchange(place, next);
  llvm::SmallVector<int64_t, kMaxParts + 1> begins;
  for (int64_t range = 0; range < numRanges; ++range)
    begins.push_back(places[range * parts]);
  begins.push_back(count);
  forEachPart(parts, [&](int64_t part) {
    int64_t first = getBegin(part), size = getBegin(part + 1) - first;
    for (int64_t range = 0; range < numRanges; ++range)
      copyKeys(keys + first, size, ranges[range],
               other + places[range * parts + part]);
  });
  forEachPart(numRanges, [&](int64_t range) {
    int64_t begin = begins[range], end = begins[range + 1];
    sortKeys(other + begin, end - begin);
    finish(other, begin, end);
  });
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SHAREDSORT_H
