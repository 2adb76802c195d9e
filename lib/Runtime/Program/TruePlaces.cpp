//===- TruePlaces.cpp - Where booleans are true ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/TruePlaces.h"

#include "MetaOps/Runtime/Routines/VectorSort.h"

#include <algorithm>
#include <array>

using namespace metaops;

/// So many booleans are a part.
static constexpr int64_t kPart = int64_t(1) << 15;
/// The numbers of so many are found before they become places.
static constexpr int64_t kBlock = 4096;

/// True bytes, as a range of keys: any byte but 0.
static constexpr KeyRange<uint8_t> kTrue = {1, 255};

TruePlaces::TruePlaces(llvm::ArrayRef<uint8_t> booleans, ThreadPool &threads)
    : booleans(booleans), threads(threads) {
  int64_t parts = (booleans.size() + kPart - 1) / kPart;
  begins.resize(parts + 1);
  threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      llvm::ArrayRef<uint8_t> own = getPart(part);
      begins[part + 1] = countKeys<uint8_t>(own.data(), own.size(), kTrue);
    }
  });
  for (int64_t part = 0; part < parts; ++part)
    begins[part + 1] += begins[part];
}

llvm::ArrayRef<uint8_t> TruePlaces::getPart(int64_t part) const {
  int64_t first = part * kPart, size = booleans.size();
  return booleans.slice(first, std::min(kPart, size - first));
}

/// Writes the places of what is true; the first boolean is at place `first`.
static void writePart(llvm::ArrayRef<uint8_t> booleans, int64_t first,
                      int64_t *places) {
  const KeyOrder<uint8_t> order(DType::Bool, /*isDescending=*/false,
                                /*isZeroOne=*/false);
  std::array<uint32_t, kBlock> numbers;
  int64_t size = booleans.size();
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    int64_t count =
        selectKeys(order, booleans.data() + begin,
                   std::min(kBlock, size - begin), kTrue, numbers.data())
            .inside;
    for (int64_t i = 0; i < count; ++i)
      places[i] = first + begin + numbers[i];
    places += count;
  }
}

void TruePlaces::write(int64_t *places) const {
  int64_t parts = begins.size() - 1;
  threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      writePart(getPart(part), part * kPart, places + begins[part]);
  });
}
