//===- VectorSort.cpp - Sorts and selections of keys ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sort is Highway's vqsort (M. Blacher, J. Giesen, P. Sanders, J.
// Wassenberg: Vectorized and performance-portable Quicksort, 2022): keys are
// partitioned by compressing vectors, and the ends sorted by networks. Only its
// headers are used. Highway includes this file once for each instruction set,
// and the one of the processor is chosen when a function is called first.
//
// Keys of 8 bits are counted instead.
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "VectorSort.cpp"
#include "hwy/foreach_target.h"

#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"
#include "hwy/highway.h"

#include "MetaOps/Runtime/Routines/VectorSort.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>
#include <type_traits>

//===----------------------------------------------------------------------===//
// For each instruction set
//===----------------------------------------------------------------------===//

// What is here has to have a name of its own for each instruction set.
// NOLINTBEGIN(misc-use-internal-linkage, misc-unused-alias-decls)
HWY_BEFORE_NAMESPACE();
#if HWY_TARGET == HWY_AVX3
namespace hwy::HWY_NAMESPACE {
/// Says that a vector of 32-bit keys is partitioned in a register, as of 64
/// bits it is (see Order), and not compressed into memory twice: that is slow
/// on AMD's processors.
template <> struct CompressIsPartition<uint32_t> {
  enum { value = 1 };
};
} // namespace hwy::HWY_NAMESPACE
#endif

namespace metaops {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define METAOPS_HAS_VECTORS 0
#else
#define METAOPS_HAS_VECTORS 1
#endif

/// So few keys are sorted sooner than vectors are filled or counts cleared.
constexpr int64_t kFewKeys = 6;

/// Keys of 8 bits by their counts.
inline void sortByCounts(uint8_t *keys, int64_t count) {
  std::array<int64_t, 256> counts = {};
  for (int64_t i = 0; i < count; ++i)
    ++counts[keys[i]];
  for (unsigned key = 0; key < counts.size(); ++key)
    keys = std::fill_n(keys, counts[key], static_cast<uint8_t>(key));
}

#if METAOPS_HAS_VECTORS
/// Rising keys, as Highway wants to be told.
template <typename Bits>
struct Order : hn::detail::TraitsLane<hn::detail::OrderAscending<Bits>> {
  /// The keys outside of the mask, then those inside.
  template <typename Vector, typename Mask>
  Vector CompressKeys(Vector keys, Mask mask) const {
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<Bits, uint32_t>) {
      const __mmask16 right = mask.raw, left = static_cast<__mmask16>(~right);
      const int count = __builtin_popcount(left);
      const __m512i first = _mm512_maskz_compress_epi32(left, keys.raw);
      const __m512i second = _mm512_maskz_compress_epi32(right, keys.raw);
      return Vector{_mm512_mask_expand_epi32(
          first, static_cast<__mmask16>(0xFFFFu << count), second)};
    }
#endif
    return hn::CompressNot(keys, mask);
  }
};
#endif

template <typename Bits> void sort(Bits *keys, int64_t count) {
  if (count < kFewKeys) {
    std::sort(keys, keys + count);
  } else if constexpr (sizeof(Bits) == 1) {
    sortByCounts(keys, count);
  } else {
#if METAOPS_HAS_VECTORS
    const hn::SortTag<Bits> tag;
    const hn::detail::SharedTraits<Order<Bits>> traits;
    HWY_ALIGN Bits buffer[hwy::SortConstants::BufNum<Bits>(HWY_LANES(Bits))];
    // The order is total, so the choice of pivots decides the time only.
    hn::detail::Generator pivots{uint64_t(count)};
    hn::detail::Recurse(tag, traits, keys, keys + count, count, buffer, pivots,
                        2 * llvm::bit_width(uint64_t(count)) + 4);
#else
    std::sort(keys, keys + count);
#endif
  }
}

template <typename Bits>
void makeKeys(const KeyOrder<Bits> &order, const Bits *from, int64_t count,
              Bits *keys) {
  KeyOrder<Bits> local = order;
  for (int64_t i = 0; i < count; ++i)
    keys[i] = local.toKey(from[i]);
}

template <typename Bits>
void makeElements(const KeyOrder<Bits> &order, const Bits *keys, int64_t count,
                  Bits *to) {
  KeyOrder<Bits> local = order;
  constexpr int64_t kBlock = 256;
  Bits block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t size = std::min(kBlock, count - begin);
    std::copy_n(keys + begin, size, block);
    for (int64_t i = 0; i < size; ++i)
      to[begin + i] = local.toBits(block[i]);
  }
}

template <typename Bits>
void makeItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
               const Bits *from, int64_t count, int64_t first,
               uint64_t *items) {
  KeyOrder<Bits> local = order;
  for (int64_t i = 0; i < count; ++i)
    items[i] = form.make(local.toKey(from[i]), first + i);
}

template <typename Bits>
void readItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
               const uint64_t *items, int64_t count, Bits *to) {
  KeyOrder<Bits> local = order;
  for (int64_t i = 0; i < count; ++i)
    to[i] = local.toBits(form.getKey(items[i]));
}

template <typename Bits>
KeyRange<Bits> getRange(const KeyOrder<Bits> &order, const Bits *from,
                        int64_t count) {
  KeyOrder<Bits> local = order;
  Bits low = KeyOrder<Bits>::kLast, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits key = local.toKey(from[i]);
    low = std::min(low, key);
    high = std::max(high, key);
  }
  return {low, high};
}

template <typename Bits>
int64_t countKeys(const Bits *keys, int64_t count, KeyRange<Bits> range) {
  // Counts of a block fit into few bits, of which a vector has many.
  using Count = std::conditional_t<sizeof(Bits) == 1, uint16_t, uint32_t>;
  constexpr int64_t kBlock = 4096;
  int64_t inside = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    Count ofBlock = 0;
    for (int64_t i = begin, end = std::min(begin + kBlock, count); i < end; ++i)
      ofBlock += (keys[i] >= range.low) & (keys[i] <= range.high);
    inside += ofBlock;
  }
  return inside;
}

/// Whole vectors are stored into a buffer, since what is behind the last key
/// belongs to another thread.
template <typename Bits>
void copyKeys(const Bits *keys, int64_t count, KeyRange<Bits> range, Bits *to) {
  int64_t i = 0;
#if METAOPS_HAS_VECTORS
  if constexpr (sizeof(Bits) > 1) {
    const hn::ScalableTag<Bits> tag;
    constexpr int64_t kLanes = HWY_LANES(Bits), kRoom = 1024;
    const auto low = hn::Set(tag, range.low), high = hn::Set(tag, range.high);
    Bits buffer[kRoom];
    int64_t filled = 0;
    for (; i + kLanes <= count; i += hn::Lanes(tag)) {
      const auto key = hn::LoadU(tag, keys + i);
      const auto isInside =
          hn::Not(hn::Or(hn::Lt(key, low), hn::Gt(key, high)));
      hn::StoreU(hn::Compress(key, isInside), tag, buffer + filled);
      filled += hn::CountTrue(tag, isInside);
      if (filled > kRoom - kLanes) {
        to = std::copy_n(buffer, filled, to);
        filled = 0;
      }
    }
    to = std::copy_n(buffer, filled, to);
  }
#endif
  for (; i < count; ++i)
    if (keys[i] >= range.low && keys[i] <= range.high)
      *to++ = keys[i];
}

#if METAOPS_HAS_VECTORS
/// A vector of keys of at most 32 bits, in 32 bits each.
template <typename Bits> auto widen(const Bits *keys) {
  const hn::ScalableTag<uint32_t> tag;
  if constexpr (sizeof(Bits) == sizeof(uint32_t))
    return hn::LoadU(tag, keys);
  else
    return hn::PromoteTo(tag,
                         hn::LoadU(hn::Rebind<Bits, decltype(tag)>(), keys));
}
#endif

/// Blocks without such an element are passed over.
template <typename Bits>
Selected selectKeys(const KeyOrder<Bits> &order, const Bits *from,
                    uint32_t count, KeyRange<Bits> range, uint32_t *numbers) {
  constexpr uint32_t kBlock = 64;
  KeyOrder<Bits> local = order;
  Selected selected;
  Bits keys[kBlock];
  for (uint32_t begin = 0; begin < count; begin += kBlock) {
    uint32_t size = std::min(kBlock, count - begin);
    uint32_t below = 0, inside = 0;
    for (uint32_t i = 0; i < size; ++i) {
      Bits key = keys[i] = local.toKey(from[begin + i]);
      below += key < range.low;
      inside += (key >= range.low) & (key <= range.high);
    }
    selected.below += below;
    if (inside == 0)
      continue;
#if METAOPS_HAS_VECTORS
    if constexpr (sizeof(Bits) <= sizeof(uint32_t)) {
      const hn::ScalableTag<uint32_t> tag;
      const auto low = hn::Set(tag, range.low), high = hn::Set(tag, range.high);
      if (size == kBlock) {
        for (uint32_t i = 0; i < kBlock; i += hn::Lanes(tag)) {
          const auto key = widen<Bits>(keys + i);
          const auto isInside =
              hn::Not(hn::Or(hn::Lt(key, low), hn::Gt(key, high)));
          selected.inside +=
              hn::CompressBlendedStore(hn::Iota(tag, begin + i), isInside, tag,
                                       numbers + selected.inside);
        }
        continue;
      }
    }
#endif
    for (uint32_t i = 0; i < size; ++i) {
      numbers[selected.inside] = begin + i;
      selected.inside += (keys[i] >= range.low) & (keys[i] <= range.high);
    }
  }
  return selected;
}

#undef METAOPS_HAS_VECTORS

} // namespace HWY_NAMESPACE
} // namespace metaops
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-use-internal-linkage, misc-unused-alias-decls)

//===----------------------------------------------------------------------===//
// The choice of one
//===----------------------------------------------------------------------===//

#if HWY_ONCE

using namespace metaops;

namespace {
template <typename Bits> struct Functions {
  void (*sort)(Bits *keys, int64_t count);
  decltype(&HWY_NAMESPACE::makeKeys<Bits>) makeKeys;
  decltype(&HWY_NAMESPACE::makeElements<Bits>) makeElements;
  decltype(&HWY_NAMESPACE::makeItems<Bits>) makeItems;
  decltype(&HWY_NAMESPACE::readItems<Bits>) readItems;
  decltype(&HWY_NAMESPACE::getRange<Bits>) getRange;
  decltype(&HWY_NAMESPACE::selectKeys<Bits>) select;
  decltype(&HWY_NAMESPACE::countKeys<Bits>) count;
  decltype(&HWY_NAMESPACE::copyKeys<Bits>) copy;
};
} // namespace

#define METAOPS_FUNCTIONS(target)                                              \
  {target::sort<Bits>,         target::makeKeys<Bits>,                         \
   target::makeElements<Bits>, target::makeItems<Bits>,                        \
   target::readItems<Bits>,    target::getRange<Bits>,                         \
   target::selectKeys<Bits>,   target::countKeys<Bits>,                        \
   target::copyKeys<Bits>}

/// The best that this processor has.
template <typename Bits> static Functions<Bits> choose() {
  METAOPS_RETURN_BEST(METAOPS_FUNCTIONS);
}

template <typename Bits> static const Functions<Bits> &getFunctions() {
  static const Functions<Bits> functions = choose<Bits>();
  return functions;
}

template <typename Bits> void metaops::sortKeys(Bits *keys, int64_t count) {
  getFunctions<Bits>().sort(keys, count);
}
template <typename Bits>
void metaops::makeKeys(const KeyOrder<Bits> &order, const Bits *from,
                       int64_t count, Bits *keys) {
  getFunctions<Bits>().makeKeys(order, from, count, keys);
}
template <typename Bits>
void metaops::makeElements(const KeyOrder<Bits> &order, const Bits *keys,
                           int64_t count, Bits *to) {
  getFunctions<Bits>().makeElements(order, keys, count, to);
}
template <typename Bits>
void metaops::makeItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
                        const Bits *from, int64_t count, int64_t first,
                        uint64_t *items) {
  getFunctions<Bits>().makeItems(order, form, from, count, first, items);
}
template <typename Bits>
void metaops::readItems(const KeyOrder<Bits> &order, ItemForm<Bits> form,
                        const uint64_t *items, int64_t count, Bits *to) {
  getFunctions<Bits>().readItems(order, form, items, count, to);
}
template <typename Bits>
KeyRange<Bits> metaops::getRange(const KeyOrder<Bits> &order, const Bits *from,
                                 int64_t count) {
  return getFunctions<Bits>().getRange(order, from, count);
}
template <typename Bits>
Selected metaops::selectKeys(const KeyOrder<Bits> &order, const Bits *from,
                             uint32_t count, KeyRange<Bits> range,
                             uint32_t *numbers) {
  return getFunctions<Bits>().select(order, from, count, range, numbers);
}
template <typename Bits>
int64_t metaops::countKeys(const Bits *keys, int64_t count,
                           KeyRange<Bits> range) {
  return getFunctions<Bits>().count(keys, count, range);
}
template <typename Bits>
void metaops::copyKeys(const Bits *keys, int64_t count, KeyRange<Bits> range,
                       Bits *to) {
  getFunctions<Bits>().copy(keys, count, range, to);
}

// NOLINTBEGIN(bugprone-macro-parentheses): Bits is a type.
#define METAOPS_INSTANTIATE(Bits)                                              \
  template void metaops::sortKeys(Bits *, int64_t);                            \
  template void metaops::makeKeys(const KeyOrder<Bits> &, const Bits *,        \
                                  int64_t, Bits *);                            \
  template void metaops::makeElements(const KeyOrder<Bits> &, const Bits *,    \
                                      int64_t, Bits *);                        \
  template void metaops::makeItems(const KeyOrder<Bits> &, ItemForm<Bits>,     \
                                   const Bits *, int64_t, int64_t,             \
                                   uint64_t *);                                \
  template void metaops::readItems(const KeyOrder<Bits> &, ItemForm<Bits>,     \
                                   const uint64_t *, int64_t, Bits *);         \
  template KeyRange<Bits> metaops::getRange(const KeyOrder<Bits> &,            \
                                            const Bits *, int64_t);            \
  template Selected metaops::selectKeys(const KeyOrder<Bits> &, const Bits *,  \
                                        uint32_t, KeyRange<Bits>, uint32_t *); \
  template int64_t metaops::countKeys(const Bits *, int64_t, KeyRange<Bits>);  \
  template void metaops::copyKeys(const Bits *, int64_t, KeyRange<Bits>,       \
                                  Bits *);
// NOLINTEND(bugprone-macro-parentheses)
METAOPS_INSTANTIATE(uint8_t)
METAOPS_INSTANTIATE(uint16_t)
METAOPS_INSTANTIATE(uint32_t)
METAOPS_INSTANTIATE(uint64_t)

#endif // HWY_ONCE
