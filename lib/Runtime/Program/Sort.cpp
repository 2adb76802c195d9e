//===- Sort.cpp - Sorts by digits -----------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements become integers without sign in the same order (keys): NaN the
// largest, all bits flipped for a falling order. Both zeros are one key where
// their places are asked for, and two, of which elements are made again, where
// not. Keys are sorted by their digits of 8 bits, from the lowest on, each time
// stably into a second buffer; all digits are counted in one pass over the
// keys, and a digit that all of them share is left out. An argsort moves the
// numbers of the elements along.
//
// Short lines are sorted by comparison: counting 256 digits takes longer.
//
// Lines are shared among threads.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Routine.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

using namespace metaops;

/// Lines of fewer elements are sorted by comparison.
static constexpr int64_t kShortLine = 128;
/// So many elements are worth a thread of their own.
static constexpr int64_t kElementsPerThread = int64_t(1) << 12;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

namespace {
/// An element type, as its bits, with those of infinity; 0 for integers.
template <typename BitsT, bool isSignedT, BitsT infinity> struct Element {
  using Bits = BitsT;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);

  static Bits toKey(Bits bits, bool isZeroOne) {
    if constexpr (infinity != 0) {
      Bits magnitude = bits & static_cast<Bits>(~kSign);
      if (magnitude > infinity)
        return std::numeric_limits<Bits>::max();
      if (isZeroOne && magnitude == 0)
        return kSign;
      return bits & kSign ? static_cast<Bits>(~bits)
                          : static_cast<Bits>(bits | kSign);
    } else {
      return isSignedT ? static_cast<Bits>(bits ^ kSign) : bits;
    }
  }
  /// The element of a key, if zeros have two.
  static Bits toBits(Bits key) {
    if constexpr (infinity != 0) {
      if (key == std::numeric_limits<Bits>::max())
        return static_cast<Bits>(infinity | infinity >> 1);
      return key & kSign ? static_cast<Bits>(key ^ kSign)
                         : static_cast<Bits>(~key);
    } else {
      return isSignedT ? static_cast<Bits>(key ^ kSign) : key;
    }
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Sorts by digits
//===----------------------------------------------------------------------===//

using Counts = std::array<int64_t, 256>;

template <typename Key> static unsigned getDigit(Key key, unsigned number) {
  return key >> (8 * number) & 0xff;
}

/// Sorts what `getKey` gives the keys of, with the other buffer's help; returns
/// the one of both in which the result is.
template <typename T, typename GetKey>
static T *sortByDigits(T *items, T *other, int64_t count, GetKey getKey) {
  using Key = decltype(getKey(*items));
  std::array<Counts, sizeof(Key)> counts = {};
  for (int64_t i = 0; i < count; ++i) {
    Key key = getKey(items[i]);
    for (unsigned digit = 0; digit < sizeof(Key); ++digit)
      ++counts[digit][getDigit(key, digit)];
  }
  for (unsigned digit = 0; digit < sizeof(Key); ++digit) {
    Counts &count256 = counts[digit];
    if (count256[getDigit(getKey(items[0]), digit)] == count)
      continue;
    int64_t begin = 0;
    for (int64_t &number : count256)
      begin += std::exchange(number, begin);
    for (int64_t i = 0; i < count; ++i)
      other[count256[getDigit(getKey(items[i]), digit)]++] = items[i];
    std::swap(items, other);
  }
  return items;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {
template <typename Element> class LineSort {
public:
  using Bits = typename Element::Bits;

  explicit LineSort(const Routine &routine) : routine(routine) {}

  /// Writes the sorted elements of a line.
  void sort(const Bits *from, Bits *to) {
    keys.resize(2 * routine.extent);
    for (int64_t i = 0; i < routine.extent; ++i)
      keys[i] = flip(Element::toKey(from[i * routine.inner], false));
    Bits *sorted = keys.data();
    if (routine.extent < kShortLine)
      std::sort(sorted, sorted + routine.extent);
    else
      sorted = sortByDigits(sorted, sorted + routine.extent, routine.extent,
                            [](Bits key) { return key; });
    for (int64_t i = 0; i < routine.extent; ++i)
      to[i * routine.inner] = Element::toBits(flip(sorted[i]));
  }

  /// Writes where the sorted elements come from.
  void argsort(const Bits *from, int64_t *to) {
    if (routine.extent <= std::numeric_limits<uint32_t>::max())
      argsortBy(shortItems, from, to);
    else
      argsortBy(longItems, from, to);
  }

private:
  template <typename Number> struct Item {
    Bits key;
    Number number;
  };
  template <typename Number>
  void argsortBy(std::vector<Item<Number>> &items, const Bits *from,
                 int64_t *to) {
    items.resize(2 * routine.extent);
    for (int64_t i = 0; i < routine.extent; ++i)
      items[i] = {flip(Element::toKey(from[i * routine.inner], true)),
                  static_cast<Number>(i)};
    Item<Number> *sorted = items.data();
    if (routine.extent < kShortLine)
      std::sort(sorted, sorted + routine.extent,
                [](const Item<Number> &a, const Item<Number> &b) {
                  return std::tie(a.key, a.number) < std::tie(b.key, b.number);
                });
    else
      sorted = sortByDigits(sorted, sorted + routine.extent, routine.extent,
                            [](const Item<Number> &item) { return item.key; });
    for (int64_t i = 0; i < routine.extent; ++i)
      to[i * routine.inner] = sorted[i].number;
  }

  Bits flip(Bits key) const {
    return routine.isReverse ? static_cast<Bits>(~key) : key;
  }

  const Routine &routine;
  /// Twice the elements of a line.
  std::vector<Bits> keys;
  std::vector<Item<uint32_t>> shortItems;
  std::vector<Item<uint64_t>> longItems;
};
} // namespace

template <typename Element>
static void
forEachLine(const Routine &routine, ThreadPool &threads,
            llvm::function_ref<void(LineSort<Element> &, int64_t)> visit) {
  int64_t grain = llvm::divideCeil(kElementsPerThread, routine.extent);
  threads.parallelFor(
      routine.outer * routine.inner, grain, [&](int64_t begin, int64_t end) {
        LineSort<Element> sort(routine);
        for (int64_t line = begin; line < end; ++line)
          visit(sort, line / routine.inner * routine.extent * routine.inner +
                          line % routine.inner);
      });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Calls `visit` with the element type of `dtype`.
template <typename VisitT> static void dispatch(DType dtype, VisitT visit) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return visit(Element<uint8_t, false, 0>());
  case DType::U16:
    return visit(Element<uint16_t, false, 0>());
  case DType::U32:
    return visit(Element<uint32_t, false, 0>());
  case DType::U64:
    return visit(Element<uint64_t, false, 0>());
  case DType::I8:
    return visit(Element<uint8_t, true, 0>());
  case DType::I16:
    return visit(Element<uint16_t, true, 0>());
  case DType::I32:
    return visit(Element<uint32_t, true, 0>());
  case DType::I64:
    return visit(Element<uint64_t, true, 0>());
  case DType::F16:
    return visit(Element<uint16_t, true, 0x7c00>());
  case DType::BF16:
    return visit(Element<uint16_t, true, 0x7f80>());
  case DType::F32:
    return visit(Element<uint32_t, true, 0x7f800000>());
  case DType::F64:
    return visit(Element<uint64_t, true, 0x7ff0000000000000>());
  }
}

void metaops::runSort(const Routine &routine, const void *source, void *result,
                      ThreadPool &threads) {
  dispatch(routine.dtype, [&](auto element) {
    using Sort = LineSort<decltype(element)>;
    auto *from = static_cast<const typename Sort::Bits *>(source);
    auto *to = static_cast<typename Sort::Bits *>(result);
    forEachLine<decltype(element)>(routine, threads,
                                   [&](Sort &sort, int64_t first) {
                                     sort.sort(from + first, to + first);
                                   });
  });
}

void metaops::runArgsort(const Routine &routine, const void *source,
                         int64_t *result, ThreadPool &threads) {
  dispatch(routine.dtype, [&](auto element) {
    using Sort = LineSort<decltype(element)>;
    auto *from = static_cast<const typename Sort::Bits *>(source);
    forEachLine<decltype(element)>(routine, threads,
                                   [&](Sort &sort, int64_t first) {
                                     sort.argsort(from + first, result + first);
                                   });
  });
}
