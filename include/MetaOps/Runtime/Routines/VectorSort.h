//===- VectorSort.h - Sorts and selections of keys --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements become integers without sign in the same order (keys), which vector
// instructions sort. See VectorSort.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_VECTORSORT_H
#define METAOPS_RUNTIME_ROUTINES_VECTORSORT_H

#include "MetaOps/Runtime/Memory/DType.h"

#include <array>
#include <cstdint>
#include <limits>

namespace metaops {

/// The order of elements, given by their bits: NaN is the largest. Both zeros
/// are one key where places are asked for, and two, of which elements are made
/// again, where not.
template <typename Bits> struct KeyOrder {
  static constexpr Bits kLast = std::numeric_limits<Bits>::max();
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);

  /// Of integers no magnitude is above `infinity`.
  Bits infinity = kLast;
  /// The sign bit, but for integers without sign.
  Bits offset = 0;
  /// All bits for floats, whose magnitudes fall where they are negative.
  Bits isFloat = 0;
  /// All bits where zeros are one key.
  Bits isZeroOne = 0;
  /// All bits for a falling order.
  Bits flip = 0;

  KeyOrder(DType dtype, bool isDescending, bool isZeroOne)
      : offset(isUnsigned(dtype) ? 0 : kSign), isZeroOne(isZeroOne ? kLast : 0),
        flip(isDescending ? kLast : 0) {
    if (uint64_t bits = getInfinity(dtype)) {
      infinity = static_cast<Bits>(bits);
      isFloat = kLast;
    }
  }

  Bits toKey(Bits bits) const {
    Bits magnitude = bits & static_cast<Bits>(~kSign);
    Bits negative = bits & kSign ? isFloat : 0;
    Bits key = bits ^ (negative | offset);
    if (isFloat & isZeroOne & (magnitude == 0 ? kLast : 0))
      key = kSign;
    if (magnitude > infinity)
      key = kLast;
    return key ^ flip;
  }
  /// The element of a key; of several that have it, one.
  Bits toBits(Bits key) const {
    key ^= flip;
    Bits negative = key & kSign ? 0 : isFloat;
    Bits bits = key ^ (negative | offset);
    return key == kLast && isFloat ? infinity | infinity >> 1 : bits;
  }
  bool hasSharedKeys() const { return isFloat != 0; }
  /// The keys that several floats have: that of NaN, and that of zeros if they
  /// have one.
  std::array<Bits, 2> getSharedKeys() const {
    return {static_cast<Bits>(kLast ^ flip), static_cast<Bits>(kSign ^ flip)};
  }

private:
  static bool isUnsigned(DType dtype) {
    return dtype == DType::Bool || dtype == DType::U8 || dtype == DType::U16 ||
           dtype == DType::U32 || dtype == DType::U64;
  }
  static uint64_t getInfinity(DType dtype) {
    switch (dtype) {
    case DType::F16:
      return 0x7c00;
    case DType::BF16:
      return 0x7f80;
    case DType::F32:
      return 0x7f800000;
    case DType::F64:
      return 0x7ff0000000000000;
    default:
      return 0;
    }
  }
};

/// The keys between two keys, both included.
template <typename Bits> struct KeyRange {
  Bits low = 0, high = std::numeric_limits<Bits>::max();
};

/// Result of a pass over elements that looks for a range of keys.
struct Selected {
  /// Elements whose keys are below the range, and inside of it.
  int64_t below = 0, inside = 0;
};

/// For uint8_t to uint64_t.
template <typename Bits> void sortKeys(Bits *keys, int64_t count);
template <typename Bits>
void makeKeys(const KeyOrder<Bits> &order, const Bits *from, int64_t count,
              Bits *keys);
/// In place, too.
template <typename Bits>
void makeElements(const KeyOrder<Bits> &order, const Bits *keys, int64_t count,
                  Bits *to);
/// Writes the numbers of the elements that are inside of a range; there is room
/// for `count`.
template <typename Bits>
Selected selectKeys(const KeyOrder<Bits> &order, const Bits *from,
                    uint32_t count, KeyRange<Bits> range, uint32_t *numbers);
/// Form of a key and an element's number as an item of 64 bits.
template <typename Bits> struct ItemForm {
  /// The least key.
  Bits low = 0;
  /// The lowest bits of keys that items lack, and bits of numbers.
  unsigned lost = 0, numberBits = 0;

  uint64_t make(Bits key, uint64_t number) const {
    return uint64_t(static_cast<Bits>(key - low)) >> lost << numberBits |
           number;
  }
  Bits getKey(uint64_t item) const {
    return static_cast<Bits>((item >> numberBits << lost) + low);
  }
  uint64_t getMask() const { return (uint64_t(1) << numberBits) - 1; }
};

/// The items of elements, of which the first has the number `first`.
template <typename Bits>
void makeItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
               const Bits *from, int64_t count, int64_t first, uint64_t *items);
/// The elements of the keys of items that have lost nothing.
template <typename Bits>
void readItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
               const uint64_t *items, int64_t count, Bits *to);
/// Returns the number of keys inside of a range.
template <typename Bits>
int64_t countKeys(const Bits *keys, int64_t count, KeyRange<Bits> range);
/// Copies these.
template <typename Bits>
void copyKeys(const Bits *keys, int64_t count, KeyRange<Bits> range, Bits *to);
/// The least and the greatest key.
template <typename Bits>
KeyRange<Bits> getRange(const KeyOrder<Bits> &order, const Bits *from,
                        int64_t count);

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_VECTORSORT_H
