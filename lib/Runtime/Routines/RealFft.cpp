//===- RealFft.cpp - Fourier transforms of real numbers -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows have `inner` elements, and `outer` matrices of rows are one after the
// other. Threads share ranges of rows.
//
//===----------------------------------------------------------------------===//

#include "RealFft.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Elements of a range of rows, and rows of one.
static constexpr int64_t kChunk = 4096;
static constexpr int64_t kMaxRows = 512;

static AxisShape getPacked(AxisShape shape) {
  return {shape.outer, shape.length % 2 == 0 ? shape.length / 2 : shape.length,
          shape.inner};
}

template <typename T>
RealFft<T>::RealFft(AxisShape shape, FftTables &tables)
    : shape(shape), packed(getPacked(shape)), axis(packed, tables),
      roots(tables.get<RootTable>(shape.length)), firstRoots(2 * kMaxRows) {
  for (int64_t k = 0; k < std::min(kMaxRows, shape.length); ++k) {
    firstRoots[k] = static_cast<T>(roots->get(k).real());
    firstRoots[kMaxRows + k] = static_cast<T>(roots->get(k).imag());
  }
}

template <typename T>
void RealFft<T>::appendRows(Phases<T> &phases, int64_t rows, Rows run) const {
  int64_t size = std::clamp<int64_t>(kChunk / shape.inner, 1, kMaxRows);
  size = std::min(size, rows);
  int64_t units = llvm::divideCeil(rows, size);
  phases.push_back({shape.outer * units, size * shape.inner,
                    [=, run = std::move(run)](int64_t unit, T *) {
                      int64_t begin = unit % units * size;
                      run(unit / units, begin, std::min(begin + size, rows));
                    }});
}

template <typename T>
void RealFft<T>::appendForward(Phases<T> &phases, const T *from, Planes<T> to,
                               T *memory, T scale) const {
  Planes<T> numbers = {memory, memory + packed.countElements(), 0};
  int64_t reals = shape.length * shape.inner;
  int64_t complexes = packed.length * shape.inner;
  int64_t halves = countHalf() * shape.inner;
  appendRows(
      phases, packed.length, [=](int64_t outer, int64_t begin, int64_t end) {
        split(from + outer * reals, numbers.at(outer * complexes), begin, end);
      });
  axis.append(phases, numbers, numbers, memory + 2 * packed.countElements(),
              scale);
  appendRows(phases, isEven() ? packed.length / 2 + 1 : countHalf(),
             [=](int64_t outer, int64_t begin, int64_t end) {
               Planes<T> source = numbers.at(outer * complexes);
               Planes<T> target = to.at(outer * halves);
               if (isEven())
                 unpack(source, target, begin, end);
               else
                 truncate(source, target, begin, end);
             });
}

template <typename T>
void RealFft<T>::appendInverse(Phases<T> &phases, Planes<T> from, T *to,
                               T *memory, T scale) const {
  Planes<T> numbers = {memory, memory + packed.countElements(), 0};
  int64_t reals = shape.length * shape.inner;
  int64_t complexes = packed.length * shape.inner;
  int64_t halves = countHalf() * shape.inner;
  appendRows(phases, isEven() ? packed.length / 2 + 1 : countHalf(),
             [=](int64_t outer, int64_t begin, int64_t end) {
               Planes<T> source = from.at(outer * halves);
               Planes<T> target = numbers.at(outer * complexes);
               if (isEven())
                 pack(source, target, begin, end);
               else
                 extend(source, target, begin, end);
             });
  axis.append(phases, numbers.swapped(), numbers.swapped(),
              memory + 2 * packed.countElements(), scale);
  appendRows(
      phases, packed.length, [=](int64_t outer, int64_t begin, int64_t end) {
        merge(numbers.at(outer * complexes), to + outer * reals, begin, end);
      });
}

//===----------------------------------------------------------------------===//
// Ranges of rows
//===----------------------------------------------------------------------===//

template <typename T>
void RealFft<T>::split(const T *from, Planes<T> to, int64_t begin,
                       int64_t end) const {
  int64_t inner = shape.inner, place = begin * inner;
  if (!isEven()) {
    std::copy(from + place, from + end * inner, to.real + place);
    std::fill(to.imag + place, to.imag + end * inner, T(0));
  } else if (inner == 1) {
    splitPairs(from + 2 * begin, end - begin, to.at(begin));
  } else {
    for (int64_t row = begin; row < end; ++row) {
      const T *pair = from + 2 * row * inner;
      std::copy_n(pair, inner, to.real + row * inner);
      std::copy_n(pair + inner, inner, to.imag + row * inner);
    }
  }
}

template <typename T>
void RealFft<T>::merge(Planes<T> from, T *to, int64_t begin,
                       int64_t end) const {
  int64_t inner = shape.inner, place = begin * inner;
  if (!isEven()) {
    std::copy(from.real + place, from.real + end * inner, to + place);
  } else if (inner == 1) {
    mergePairs(from.at(begin), end - begin, to + 2 * begin);
  } else {
    for (int64_t row = begin; row < end; ++row) {
      T *pair = to + 2 * row * inner;
      std::copy_n(from.real + row * inner, inner, pair);
      std::copy_n(from.imag + row * inner, inner, pair + inner);
    }
  }
}

template <typename T>
void RealFft<T>::truncate(Planes<T> from, Planes<T> to, int64_t begin,
                          int64_t end) const {
  int64_t inner = shape.inner, place = begin * inner, last = end * inner;
  std::copy(from.real + place, from.real + last, to.real + place);
  std::copy(from.imag + place, from.imag + last, to.imag + place);
  if (begin == 0)
    std::fill_n(to.imag, inner, T(0));
}

/// Writes results k and n - k of all, of which half are given.
template <typename T>
void RealFft<T>::extend(Planes<T> from, Planes<T> to, int64_t begin,
                        int64_t end) const {
  int64_t inner = shape.inner;
  for (int64_t k = begin; k < end; ++k) {
    int64_t place = k * inner;
    std::copy_n(from.real + place, inner, to.real + place);
    if (k == 0) {
      std::fill_n(to.imag, inner, T(0));
      continue;
    }
    std::copy_n(from.imag + place, inner, to.imag + place);
    int64_t mirrored = (shape.length - k) * inner;
    std::copy_n(from.real + place, inner, to.real + mirrored);
    for (int64_t i = 0; i < inner; ++i)
      to.imag[mirrored + i] = -from.imag[place + i];
  }
}

/// Returns the rows of a range but the first one of all.
template <typename T>
MirroredRange<T> RealFft<T>::getRange(int64_t begin, int64_t end) const {
  MirroredRange<T> range;
  range.length = packed.length;
  range.inner = shape.inner;
  range.begin = std::max<int64_t>(begin, 1);
  range.count = end - range.begin;
  std::complex<double> factor = roots->get(range.begin);
  range.factorReal = static_cast<T>(factor.real());
  range.factorImag = static_cast<T>(factor.imag());
  range.real = firstRoots.data();
  range.imag = range.real + kMaxRows;
  return range;
}

/// Writes results k and n / 2 - k.
template <typename T>
void RealFft<T>::unpack(Planes<T> from, Planes<T> to, int64_t begin,
                        int64_t end) const {
  int64_t inner = shape.inner, last = packed.length * inner;
  for (int64_t i = 0; begin == 0 && i < inner; ++i) {
    T even = from.real[i], odd = from.imag[i];
    to.real[i] = even + odd;
    to.real[last + i] = even - odd;
    to.imag[i] = to.imag[last + i] = 0;
  }
  unpackRange(getRange(begin, end), from, to);
}

/// Writes numbers k and n / 2 - k to be transformed back.
template <typename T>
void RealFft<T>::pack(Planes<T> from, Planes<T> to, int64_t begin,
                      int64_t end) const {
  int64_t inner = shape.inner, last = packed.length * inner;
  for (int64_t i = 0; begin == 0 && i < inner; ++i) {
    T first = from.real[i], middle = from.real[last + i];
    to.real[i] = first + middle;
    to.imag[i] = first - middle;
  }
  packRange(getRange(begin, end), from, to);
}

template class metaops::RealFft<float>;
template class metaops::RealFft<double>;
