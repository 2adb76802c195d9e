//===- ColumnFft.h - Fourier transforms of columns --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is a matrix with as many columns as elements are in a line of the
// cache. Its columns are transformed beside each other, in vectors, so no
// element ever moves within a vector. See ColumnFft.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H

#include <cstdint>
#include <utility>
#include <vector>

namespace metaops {

/// Columns of a tile.
template <typename T>
inline constexpr int64_t kTileWidth = 64 / static_cast<int64_t>(sizeof(T));

/// Real and imaginary parts, and the elements from one row to the next.
template <typename T> struct Planes {
  T *real = nullptr;
  T *imag = nullptr;
  int64_t stride = 0;

  Planes at(int64_t place) const {
    return {real + place, imag + place, stride};
  }
  Planes withStride(int64_t other) const { return {real, imag, other}; }
  /// The transform of numbers whose parts are exchanged is the inverse one,
  /// with its parts exchanged.
  Planes swapped() const { return {imag, real, stride}; }
};

/// A pass over the rows: transforms of `radix` rows each, `groups` * `span` of
/// them. Those of a group are multiplied by the same roots of unity.
struct ColumnPass {
  int64_t radix = 0, groups = 0, span = 0;
  /// The place of its roots in the table.
  int64_t roots = 0;
};

/// A transform of columns of one length by passes.
template <typename T> struct ColumnFft {
  int64_t length = 0;
  std::vector<ColumnPass> passes;
  /// For each pass, group and row but the first: real and imaginary part.
  std::vector<T> roots;
};

/// Elements of a part of a tile in scratch memory, which has whole squares.
/// Parts begin at different places of a page: what is at the same ones gets
/// into each other's way in caches.
template <typename T> int64_t countPart(int64_t length) {
  int64_t width = kTileWidth<T>;
  return width * ((length + width - 1) / width * width + 5);
}

/// Elements of scratch memory for columns of a length: two tiles.
template <typename T> int64_t countColumnScratch(int64_t length) {
  return 4 * countPart<T>(length);
}

/// The two tiles in scratch memory for columns of a length.
template <typename T>
std::pair<Planes<T>, Planes<T>> getTiles(T *scratch, int64_t length) {
  int64_t part = countPart<T>(length), width = kTileWidth<T>;
  return {{scratch, scratch + part, width},
          {scratch + 2 * part, scratch + 3 * part, width}};
}

/// Transforms a tile. `from` may be one of those in the scratch memory. Writes
/// the results, times a factor, to `to`, or into a tile where that is null;
/// returns where they are. `to` may be `from`.
template <typename T>
Planes<T> transformColumns(const ColumnFft<T> &fft, Planes<T> from,
                           Planes<T> to, T *scratch, T scale);

/// Transposes a square of kTileWidth rows and columns.
template <typename T>
void transposeSquare(const T *from, int64_t fromStride, T *to,
                     int64_t toStride);

/// Multiplies each row of a tile by a number: the factors have real parts, then
/// imaginary parts `count` behind them. Writes to `to`, which may be `from`.
template <typename T>
void multiplyRows(Planes<T> from, int64_t count, const T *factors,
                  Planes<T> to);

/// Multiplies each row of a tile by a number of the row and by those of its
/// columns, of which there is a tile.
template <typename T>
void twistRows(Planes<T> tile, int64_t count, const T *factors,
               Planes<const T> columns);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H
