//===- Tiles.cpp - Matrices of columns beside each other ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Highway includes this file once for each instruction set.
//
//===----------------------------------------------------------------------===//

#include "VectorTarget.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "Tiles.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "Tiles.h"

//===----------------------------------------------------------------------===//
// For each instruction set
//===----------------------------------------------------------------------===//

// All of this has to have a name of its own for each instruction set.
// NOLINTBEGIN(misc-use-internal-linkage, misc-unused-alias-decls)
HWY_BEFORE_NAMESPACE();
namespace metaops {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T> using Tag = hn::CappedTag<T, kTileWidth<T>>;
template <typename T> using Vector = hn::Vec<Tag<T>>;

#if HWY_TARGET == HWY_SCALAR
template <typename T>
void transposeSquare(const T *from, int64_t fromStride, T *to,
                     int64_t toStride) {
  for (int64_t i = 0; i < kTileWidth<T>; ++i)
    for (int64_t j = 0; j < kTileWidth<T>; ++j)
      to[j * toStride + i] = from[i * fromStride + j];
}
#else
/// Transposes the rows of a square within each block of 128 bits.
template <typename T, size_t kLanes>
HWY_INLINE void transposeInBlocks(Vector<T> (&rows)[kLanes]) {
  const Tag<T> tag;
  if constexpr (sizeof(T) == 8) {
    for (size_t k = 0; k < kLanes; k += 2) {
      const auto first = rows[k];
      rows[k] = hn::InterleaveLower(tag, first, rows[k + 1]);
      rows[k + 1] = hn::InterleaveUpper(tag, first, rows[k + 1]);
    }
  } else {
    for (size_t k = 0; k < kLanes; k += 4) {
      const auto even0 = hn::InterleaveLower(tag, rows[k], rows[k + 2]);
      const auto even1 = hn::InterleaveUpper(tag, rows[k], rows[k + 2]);
      const auto odd0 = hn::InterleaveLower(tag, rows[k + 1], rows[k + 3]);
      const auto odd1 = hn::InterleaveUpper(tag, rows[k + 1], rows[k + 3]);
      rows[k] = hn::InterleaveLower(tag, even0, odd0);
      rows[k + 1] = hn::InterleaveUpper(tag, even0, odd0);
      rows[k + 2] = hn::InterleaveLower(tag, even1, odd1);
      rows[k + 3] = hn::InterleaveUpper(tag, even1, odd1);
    }
  }
}

/// Exchanges blocks of 128 bits of four or two rows that are `step` apart.
template <typename T, size_t kLanes>
HWY_INLINE void transposeBlocks(Vector<T> (&rows)[kLanes]) {
  const Tag<T> tag;
  constexpr size_t kStep = 16 / sizeof(T), kBlocks = kLanes / kStep;
  for (size_t k = 0; k < kStep; ++k) {
    if constexpr (kBlocks == 2) {
      const auto first = rows[k], second = rows[k + kStep];
      rows[k] = hn::ConcatLowerLower(tag, second, first);
      rows[k + kStep] = hn::ConcatUpperUpper(tag, second, first);
    } else if constexpr (kBlocks == 4) {
      const auto a = rows[k], b = rows[k + kStep];
      const auto c = rows[k + 2 * kStep], d = rows[k + 3 * kStep];
      const auto even0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
      const auto odd0 = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      const auto even1 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(d), c);
      const auto odd1 = hn::OddEvenBlocks(d, hn::SwapAdjacentBlocks(c));
      rows[k] = hn::ConcatLowerLower(tag, even1, even0);
      rows[k + kStep] = hn::ConcatLowerLower(tag, odd1, odd0);
      rows[k + 2 * kStep] = hn::ConcatUpperUpper(tag, even1, even0);
      rows[k + 3 * kStep] = hn::ConcatUpperUpper(tag, odd1, odd0);
    }
  }
}

template <typename T>
void transposeSquare(const T *from, int64_t fromStride, T *to,
                     int64_t toStride) {
  const Tag<T> tag;
  constexpr int64_t kLanes = HWY_MIN(HWY_LANES(T), kTileWidth<T>);
  for (int64_t i = 0; i < kTileWidth<T>; i += kLanes)
    for (int64_t j = 0; j < kTileWidth<T>; j += kLanes) {
      Vector<T> rows[kLanes];
      for (int64_t k = 0; k < kLanes; ++k)
        rows[k] = hn::LoadU(tag, from + (i + k) * fromStride + j);
      transposeInBlocks<T>(rows);
      transposeBlocks<T>(rows);
      for (int64_t k = 0; k < kLanes; ++k)
        hn::StoreU(rows[k], tag, to + (j + k) * toStride + i);
    }
}
#endif

template <typename T>
void multiplyRows(Planes<T> from, int64_t count, const T *factors,
                  Planes<T> to) {
  const Tag<T> tag;
  for (int64_t row = 0; row < count; ++row) {
    const auto cosine = hn::Set(tag, factors[row]);
    const auto sine = hn::Set(tag, factors[count + row]);
    for (int64_t k = 0; k < kTileWidth<T>; k += hn::Lanes(tag)) {
      const auto real = hn::LoadU(tag, from.real + row * from.stride + k);
      const auto imag = hn::LoadU(tag, from.imag + row * from.stride + k);
      hn::StoreU(hn::MulSub(real, cosine, hn::Mul(imag, sine)), tag,
                 to.real + row * to.stride + k);
      hn::StoreU(hn::MulAdd(imag, cosine, hn::Mul(real, sine)), tag,
                 to.imag + row * to.stride + k);
    }
  }
}

template <typename T>
void multiplyTile(Planes<T> tile, int64_t count, Planes<const T> factors) {
  const Tag<T> tag;
  for (int64_t row = 0; row < count; ++row)
    for (int64_t k = 0; k < kTileWidth<T>; k += hn::Lanes(tag)) {
      const int64_t place = row * tile.stride + k;
      const auto c = hn::LoadU(tag, factors.real + row * factors.stride + k);
      const auto s = hn::LoadU(tag, factors.imag + row * factors.stride + k);
      const auto real = hn::LoadU(tag, tile.real + place);
      const auto imag = hn::LoadU(tag, tile.imag + place);
      hn::StoreU(hn::MulSub(real, c, hn::Mul(imag, s)), tag, tile.real + place);
      hn::StoreU(hn::MulAdd(imag, c, hn::Mul(real, s)), tag, tile.imag + place);
    }
}

template <typename T>
void twistRows(Planes<T> tile, int64_t count, const T *factors,
               Planes<const T> columns) {
  const Tag<T> tag;
  for (int64_t row = 0; row < count; ++row) {
    const auto cosine = hn::Set(tag, factors[row]);
    const auto sine = hn::Set(tag, factors[count + row]);
    for (int64_t k = 0; k < kTileWidth<T>; k += hn::Lanes(tag)) {
      const int64_t place = row * tile.stride + k;
      const auto a = hn::LoadU(tag, columns.real + row * columns.stride + k);
      const auto b = hn::LoadU(tag, columns.imag + row * columns.stride + k);
      const auto c = hn::MulSub(a, cosine, hn::Mul(b, sine));
      const auto s = hn::MulAdd(b, cosine, hn::Mul(a, sine));
      const auto real = hn::LoadU(tag, tile.real + place);
      const auto imag = hn::LoadU(tag, tile.imag + place);
      hn::StoreU(hn::MulSub(real, c, hn::Mul(imag, s)), tag, tile.real + place);
      hn::StoreU(hn::MulAdd(imag, c, hn::Mul(real, s)), tag, tile.imag + place);
    }
  }
}

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
template <typename T> struct Functions {
  decltype(&HWY_NAMESPACE::transposeSquare<T>) transposeSquare;
  decltype(&HWY_NAMESPACE::multiplyRows<T>) multiplyRows;
  decltype(&HWY_NAMESPACE::multiplyTile<T>) multiplyTile;
  decltype(&HWY_NAMESPACE::twistRows<T>) twistRows;
};
} // namespace

#define METAOPS_FUNCTIONS(target)                                              \
  {target::transposeSquare<T>, target::multiplyRows<T>,                        \
   target::multiplyTile<T>, target::twistRows<T>}

/// The best that this processor has.
template <typename T> static Functions<T> choose() {
  METAOPS_RETURN_BEST(METAOPS_FUNCTIONS);
}

template <typename T> static const Functions<T> &getFunctions() {
  static const Functions<T> functions = choose<T>();
  return functions;
}

template <typename T>
void metaops::transposeSquare(const T *from, int64_t fromStride, T *to,
                              int64_t toStride) {
  getFunctions<T>().transposeSquare(from, fromStride, to, toStride);
}
template <typename T>
void metaops::multiplyRows(Planes<T> from, int64_t count, const T *factors,
                           Planes<T> to) {
  getFunctions<T>().multiplyRows(from, count, factors, to);
}
template <typename T>
void metaops::multiplyTile(Planes<T> tile, int64_t count,
                           Planes<const T> factors) {
  getFunctions<T>().multiplyTile(tile, count, factors);
}
template <typename T>
void metaops::twistRows(Planes<T> tile, int64_t count, const T *factors,
                        Planes<const T> columns) {
  getFunctions<T>().twistRows(tile, count, factors, columns);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define METAOPS_INSTANTIATE(T)                                                 \
  template void metaops::transposeSquare(const T *, int64_t, T *, int64_t);    \
  template void metaops::multiplyRows(Planes<T>, int64_t, const T *,           \
                                      Planes<T>);                              \
  template void metaops::multiplyTile(Planes<T>, int64_t, Planes<const T>);    \
  template void metaops::twistRows(Planes<T>, int64_t, const T *,              \
                                   Planes<const T>);
// NOLINTEND(bugprone-macro-parentheses)
METAOPS_INSTANTIATE(float)
METAOPS_INSTANTIATE(double)

#endif // HWY_ONCE
