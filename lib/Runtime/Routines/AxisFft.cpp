//===- AxisFft.cpp - Fourier transforms along one dimension ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines of which a tile with all elements fits into a processor's own cache are
// transformed as many as a tile has columns at once. Where they are beside each
// other in memory, the first pass reads rows of a tile from there, and the last
// one writes them; else they are transposed on both ways.
//
// Others are transformed one by one in four steps, and so are few lines, of
// which there is less than half a tile, and dense ones of lengths that four
// steps divide into whole tiles, which so stay in the first cache. If elements
// of a line are apart, the whole tensor is transposed before and behind.
//
//===----------------------------------------------------------------------===//

#include "AxisFft.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Rows of a tile that, with the one that passes go to and with both parts,
/// take half a megabyte.
static constexpr int64_t kMaxRows = 2048;
/// Lines of so few elements are not worth four steps.
static constexpr int64_t kFewElements = 64;
/// Dense lines of so many elements or more are better done in four steps where
/// these have whole tiles, in which case the length is a multiple of a square.
static constexpr int64_t kFourSteps = 512;
static constexpr int64_t kSquare = 256;
/// Lines of so many elements are shared among threads; of less each has a
/// thread.
static constexpr int64_t kSharedElements = int64_t(1) << 16;

/// Returns true if lines of a shape are transformed in tiles.
template <typename T> static bool isForTiles(AxisShape shape) {
  if (shape.length < kFewElements)
    return true;
  bool isWhole = shape.length >= kFourSteps && shape.length % kSquare == 0;
  if (isSmooth(shape.length) && shape.inner == 1 && isWhole)
    return false;
  int64_t rows = isSmooth(shape.length)
                     ? shape.length
                     : findSmoothLength(2 * shape.length - 1);
  return rows <= kMaxRows && 2 * shape.countLines() >= kTileWidth<T>;
}

template <typename T>
AxisFft<T>::AxisFft(AxisShape shape, FftTables &tables) : shape(shape) {
  if (isForTiles<T>(shape))
    tiles.emplace(shape.length, tables);
  else
    lines.emplace(shape.length, tables);
}

template <typename T> bool AxisFft<T>::areLinesShared() const {
  return shape.length > kSharedElements || shape.countLines() == 1;
}

template <typename T> int64_t AxisFft<T>::countMemory() const {
  if (tiles)
    return 0;
  int64_t transposed = shape.inner > 1 ? 2 * shape.countElements() : 0;
  return transposed + (areLinesShared() ? lines->countMemory() : 0);
}

template <typename T> int64_t AxisFft<T>::countScratch() const {
  if (tiles)
    return tiles->countScratch();
  return lines->countScratch() + (areLinesShared() ? 0 : lines->countMemory());
}

template <typename T>
void AxisFft<T>::append(Phases<T> &phases, Planes<T> from, Planes<T> to,
                        T *memory, T scale) const {
  if (tiles)
    appendTiles(phases, from, to, scale);
  else
    appendLong(phases, from, to, memory, scale);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

template <typename T>
void AxisFft<T>::appendTiles(Phases<T> &phases, Planes<T> from, Planes<T> to,
                             T scale) const {
  int64_t width = kTileWidth<T>, elements = shape.length * width;
  if (shape.inner >= width) {
    auto perOuter = static_cast<int64_t>(llvm::divideCeil(shape.inner, width));
    phases.push_back(
        {shape.outer * perOuter, elements, [=](int64_t tile, T *scratch) {
           runRows(tile, from, to, scratch, scale);
         }});
    return;
  }
  auto count =
      static_cast<int64_t>(llvm::divideCeil(shape.countLines(), width));
  phases.push_back({count, elements, [=](int64_t tile, T *scratch) {
                      runLines(tile, from, to, scratch, scale);
                    }});
}

/// Transforms lines beside each other.
template <typename T>
void AxisFft<T>::runRows(int64_t tile, Planes<T> from, Planes<T> to, T *scratch,
                         T scale) const {
  int64_t perOuter = llvm::divideCeil(shape.inner, kTileWidth<T>);
  int64_t column = tile % perOuter * kTileWidth<T>;
  int64_t width = std::min(kTileWidth<T>, shape.inner - column);
  int64_t place = tile / perOuter * shape.length * shape.inner + column;
  Planes<T> source = from.at(place).withStride(shape.inner);
  Planes<T> target = to.at(place).withStride(shape.inner);
  if (width == kTileWidth<T>) {
    tiles->run(source, target, scratch, scale);
    return;
  }
  Planes<T> padded = getTiles<T>(scratch, tiles->countRows()).first;
  clearRows(padded, 0, shape.length);
  copyRows(source, shape.length, width, padded);
  copyRows(tiles->run(padded, {}, scratch, scale), shape.length, width, target);
}

/// Transforms lines that are not beside each other, or too few of them.
template <typename T>
void AxisFft<T>::runLines(int64_t tile, Planes<T> from, Planes<T> to,
                          T *scratch, T scale) const {
  constexpr int64_t kWidth = kTileWidth<T>;
  int64_t length = shape.length, inner = shape.inner, first = tile * kWidth;
  int64_t width = std::min(kWidth, shape.countLines() - first);
  Planes<T> padded = getTiles<T>(scratch, tiles->countRows()).first;
  if (width < kWidth)
    clearRows(padded, 0, length);
  auto read = [&](const T *source, T *rows) {
    if (inner == 1)
      return transposeSquares(source + first * length, length, width, length,
                              rows, kWidth);
    for (int64_t k = 0; k < width; ++k) {
      int64_t line = first + k;
      const T *begin = source + line / inner * length * inner + line % inner;
      for (int64_t j = 0; j < length; ++j)
        rows[j * kWidth + k] = begin[j * inner];
    }
  };
  read(from.real, padded.real);
  read(from.imag, padded.imag);
  Planes<T> done = tiles->run(padded, {}, scratch, scale);
  auto write = [&](const T *rows, T *target) {
    if (inner == 1)
      return transposeSquares(rows, kWidth, length, width,
                              target + first * length, length);
    for (int64_t k = 0; k < width; ++k) {
      int64_t line = first + k;
      T *begin = target + line / inner * length * inner + line % inner;
      for (int64_t j = 0; j < length; ++j)
        begin[j * inner] = rows[j * kWidth + k];
    }
  };
  write(done.real, to.real);
  write(done.imag, to.imag);
}

//===----------------------------------------------------------------------===//
// Long lines
//===----------------------------------------------------------------------===//

/// Adds a phase that transposes matrices of both parts, a row of squares a
/// unit.
template <typename T>
static void appendTransposes(Phases<T> &phases, int64_t count, int64_t rows,
                             int64_t columns, Planes<T> from, Planes<T> to) {
  constexpr int64_t kWidth = kTileWidth<T>;
  auto bands = static_cast<int64_t>(llvm::divideCeil(rows, kWidth));
  auto run = [=](int64_t unit, T *) {
    int64_t matrix = unit / bands * rows * columns;
    int64_t row = unit % bands * kWidth, height = std::min(kWidth, rows - row);
    int64_t source = matrix + row * columns, target = matrix + row;
    transposeSquares(from.real + source, columns, height, columns,
                     to.real + target, rows);
    transposeSquares(from.imag + source, columns, height, columns,
                     to.imag + target, rows);
  };
  phases.push_back({count * bands, kWidth * columns, run});
}

template <typename T>
void AxisFft<T>::appendLong(Phases<T> &phases, Planes<T> from, Planes<T> to,
                            T *memory, T scale) const {
  Planes<T> source = from, target = to;
  if (shape.inner > 1) {
    source = {memory, memory + shape.countElements(), 0};
    target = source;
    memory += 2 * shape.countElements();
    appendTransposes(phases, shape.outer, shape.length, shape.inner, from,
                     source);
  }
  if (areLinesShared()) {
    for (int64_t line = 0; line < shape.countLines(); ++line)
      lines->append(phases, source.at(line * shape.length),
                    target.at(line * shape.length), memory, scale);
  } else {
    auto run = [=](int64_t line, T *scratch) {
      Phases<T> ofLine;
      lines->append(ofLine, source.at(line * shape.length),
                    target.at(line * shape.length), scratch, scale);
      runSerially(ofLine, scratch + lines->countMemory());
    };
    phases.push_back({shape.countLines(), shape.length, run});
  }
  if (shape.inner > 1)
    appendTransposes(phases, shape.outer, shape.inner, shape.length, target,
                     to);
}

template class metaops::AxisFft<float>;
template class metaops::AxisFft<double>;
