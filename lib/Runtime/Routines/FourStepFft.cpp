//===- FourStepFft.cpp - Fourier transforms of long lines -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of the first step are transposed where they are written, so that the
// second step reads tiles as they are. Roots of unity between the steps are in
// a table where that is short; else those of a tile are products of those of
// the first one, and of one root for each row.
//
//===----------------------------------------------------------------------===//

#include "FourStepFft.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Lines of so many elements have all roots in a table.
static constexpr int64_t kShort = 4096;

template <typename T>
FourStepFft<T>::FourStepFft(int64_t length, FftTables &tables)
    : columns(findMiddleFactor(length)), rows(length / columns),
      blocks(llvm::divideCeil(columns, kTileWidth<T>)),
      first(tables.get<ColumnTable<T>>(columns)),
      second(tables.get<ColumnTable<T>>(rows)), isShort(length <= kShort),
      roots(length) {
  int64_t tiles = isShort ? llvm::divideCeil(rows, kTileWidth<T>) : 1;
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (bool isImaginary : {false, true})
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t j = 0; j < kTileWidth<T>; ++j) {
          int64_t power = k * (tile * kTileWidth<T> + j) % length;
          std::complex<double> root = getRootOfUnity(power, length);
          columnRoots.push_back(
              static_cast<T>(isImaginary ? root.imag() : root.real()));
        }
}

template <typename T> int64_t FourStepFft<T>::countScratch() const {
  return std::max(countColumnScratch<T>(columns) + 2 * columns,
                  countColumnScratch<T>(rows));
}

template <typename T>
void FourStepFft<T>::append(Phases<T> &phases, Planes<T> from, Planes<T> to,
                            T *memory, T scale) const {
  Planes<T> between = getBetween(memory);
  int64_t width = kTileWidth<T>;
  phases.push_back({static_cast<int64_t>(llvm::divideCeil(rows, width)),
                    columns * width, [=](int64_t tile, T *scratch) {
                      runFirst(tile, from, between, scratch);
                    }});
  phases.push_back({blocks, rows * width, [=](int64_t block, T *scratch) {
                      runSecond(block, between, to, scratch, scale);
                    }});
}

/// Writes the columns of a tile to rows, of which there are `count`.
template <typename T>
static void writeColumns(const T *tile, int64_t count, T *to) {
  constexpr int64_t kWidth = kTileWidth<T>;
  if (count == kWidth)
    return transposeSquare(tile, kWidth, to, kWidth);
  T square[kWidth * kWidth];
  transposeSquare(tile, kWidth, square, kWidth);
  std::copy_n(square, count * kWidth, to);
}

/// Multiplies a tile by roots of unity.
template <typename T>
void FourStepFft<T>::twist(int64_t tile, Planes<T> elements, T *factors) const {
  constexpr int64_t kWidth = kTileWidth<T>;
  int64_t part = columns * kWidth;
  const T *table = columnRoots.data();
  if (isShort) {
    table += 2 * part * tile;
    return multiplyTile<T>(elements, columns, {table, table + part, kWidth});
  }
  for (int64_t k = 0; k < columns; ++k) {
    std::complex<double> root = roots.get(k * tile * kWidth);
    factors[k] = static_cast<T>(root.real());
    factors[columns + k] = static_cast<T>(root.imag());
  }
  twistRows<T>(elements, columns, factors, {table, table + part, kWidth});
}

template <typename T>
void FourStepFft<T>::runFirst(int64_t tile, Planes<T> from, Planes<T> between,
                              T *scratch) const {
  constexpr int64_t kWidth = kTileWidth<T>;
  int64_t column = tile * kWidth, width = std::min(kWidth, rows - column);
  Planes<T> source = from.at(column).withStride(rows);
  if (width < kWidth) {
    Planes<T> padded = getTiles<T>(scratch, columns).first;
    clearRows(padded, 0, columns);
    copyRows(source, columns, width, padded);
    source = padded;
  }
  Planes<T> done = transformColumns<T>(*first, source, {}, scratch, 1);
  twist(tile, done, scratch + countColumnScratch<T>(columns));
  clearRows(done, columns, blocks * kWidth);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t source = block * kWidth * kWidth;
    int64_t target = (block * rows + column) * kWidth;
    writeColumns(done.real + source, width, between.real + target);
    writeColumns(done.imag + source, width, between.imag + target);
  }
}

template <typename T>
void FourStepFft<T>::runSecond(int64_t block, Planes<T> between, Planes<T> to,
                               T *scratch, T scale) const {
  constexpr int64_t kWidth = kTileWidth<T>;
  int64_t column = block * kWidth, width = std::min(kWidth, columns - column);
  Planes<T> source = between.at(block * rows * kWidth);
  Planes<T> target = to.at(column).withStride(columns);
  if (width == kWidth) {
    transformColumns<T>(*second, source, target, scratch, scale);
    return;
  }
  Planes<T> done = transformColumns<T>(*second, source, {}, scratch, scale);
  copyRows(done, rows, width, target);
}

template class metaops::FourStepFft<float>;
template class metaops::FourStepFft<double>;
