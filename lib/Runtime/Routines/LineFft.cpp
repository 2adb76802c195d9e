//===- LineFft.cpp - Fourier transforms of lines, of any length -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineFft.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Elements that a unit multiplies.
static constexpr int64_t kChunk = 4096;

template <typename T>
LineFft<T>::LineFft(int64_t length, FftTables &tables) : length(length) {
  if (!isSmooth(length))
    chirp = tables.get<Chirp<T>>(length);
  steps = tables.get<FourStepFft<T>>(chirp ? chirp->convolved : length);
}

template <typename T> int64_t LineFft<T>::countMemory() const {
  return steps->countBetween() + (chirp ? 2 * chirp->convolved : 0);
}

/// Adds a phase that multiplies elements of a line by those of a list, of which
/// there are real parts and then imaginary ones, and by a factor; from `count`
/// to `end` there are zeros.
template <typename T>
static void appendProduct(Phases<T> &phases, Planes<T> from, int64_t count,
                          int64_t end, const std::vector<T> &list, T scale,
                          Planes<T> to) {
  const T *real = list.data(), *imag = real + list.size() / 2;
  auto run = [=](int64_t chunk, T *) {
    int64_t begin = chunk * kChunk, last = std::min(begin + kChunk, end);
    int64_t k = begin;
    for (; k < std::min(last, count); ++k) {
      T a = from.real[k], b = from.imag[k];
      to.real[k] = (a * real[k] - b * imag[k]) * scale;
      to.imag[k] = (a * imag[k] + b * real[k]) * scale;
    }
    for (; k < last; ++k)
      to.real[k] = to.imag[k] = 0;
  };
  phases.push_back({static_cast<int64_t>(llvm::divideCeil(end, kChunk)),
                    std::min(kChunk, end), run});
}

template <typename T>
void LineFft<T>::append(Phases<T> &phases, Planes<T> from, Planes<T> to,
                        T *memory, T scale) const {
  if (!chirp)
    return steps->append(phases, from, to, memory, scale);
  int64_t convolved = chirp->convolved;
  T *parts = memory + steps->countBetween();
  Planes<T> line = {parts, parts + convolved, convolved};
  appendProduct<T>(phases, from, length, convolved, chirp->chirp, 1, line);
  steps->append(phases, line, line, memory, 1);
  appendProduct<T>(phases, line, convolved, convolved, chirp->kernel, 1, line);
  steps->append(phases, line.swapped(), line.swapped(), memory, 1);
  appendProduct<T>(phases, line, length, length, chirp->chirp, scale, to);
}

template class metaops::LineFft<float>;
template class metaops::LineFft<double>;
