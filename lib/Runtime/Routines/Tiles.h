//===- Tiles.h - Matrices of columns beside each other ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is a matrix of complex numbers with as many columns as elements are in
// a line of the cache.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_TILES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_TILES_H

#include <algorithm>
#include <cstdint>
#include <utility>

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

/// Transposes a square of kTileWidth rows and columns.
template <typename T>
void transposeSquare(const T *from, int64_t fromStride, T *to,
                     int64_t toStride);

/// Copies elements of a matrix to places that are exchanged: from `rows` rows
/// to as many columns, square by square.
template <typename T>
void transposeSquares(const T *from, int64_t fromStride, int64_t rows,
                      int64_t columns, T *to, int64_t toStride) {
  constexpr int64_t kWidth = kTileWidth<T>;
  int64_t wholeRows = rows / kWidth * kWidth;
  int64_t wholeColumns = columns / kWidth * kWidth;
  for (int64_t i = 0; i < wholeRows; i += kWidth)
    for (int64_t j = 0; j < wholeColumns; j += kWidth)
      transposeSquare(from + i * fromStride + j, fromStride,
                      to + j * toStride + i, toStride);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < wholeRows ? wholeColumns : 0; j < columns; ++j)
      to[j * toStride + i] = from[i * fromStride + j];
}

/// Multiplies each row of a tile by a number: the factors have real parts, then
/// imaginary parts `count` behind them. Writes to `to`, which may be `from`.
template <typename T>
void multiplyRows(Planes<T> from, int64_t count, const T *factors,
                  Planes<T> to);

/// Multiplies each element of a tile by that of another one.
template <typename T>
void multiplyTile(Planes<T> tile, int64_t count, Planes<const T> factors);

/// Multiplies each row of a tile by a number of the row and by those of its
/// columns, of which there is a tile.
template <typename T>
void twistRows(Planes<T> tile, int64_t count, const T *factors,
               Planes<const T> columns);

/// Copies `count` rows of `width` columns of both parts.
template <typename T>
void copyRows(Planes<T> from, int64_t count, int64_t width, Planes<T> to) {
  for (int64_t row = 0; row < count; ++row) {
    std::copy_n(from.real + row * from.stride, width,
                to.real + row * to.stride);
    std::copy_n(from.imag + row * from.stride, width,
                to.imag + row * to.stride);
  }
}

/// Sets rows of a tile to 0.
template <typename T>
void clearRows(Planes<T> tile, int64_t begin, int64_t end) {
  int64_t place = begin * tile.stride, count = (end - begin) * tile.stride;
  std::fill_n(tile.real + place, count, T(0));
  std::fill_n(tile.imag + place, count, T(0));
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_TILES_H
