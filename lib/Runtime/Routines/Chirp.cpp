//===- Chirp.cpp - Transforms of any length as convolutions ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chirp.h"
#include "FourStepFft.h"

using namespace metaops;

/// Transforms a line of both parts in place, on this thread.
static void transformLine(std::vector<double> &line, FftTables &tables) {
  int64_t length = line.size() / 2;
  auto fft = tables.get<FourStepFft<double>>(length);
  std::vector<double> memory(fft->countBetween() + fft->countScratch());
  Planes<double> planes = {line.data(), line.data() + length, length};
  Phases<double> phases;
  fft->append(phases, planes, planes, memory.data(), 1.0 / length);
  runSerially(phases, memory.data() + fft->countBetween());
}

template <typename T>
Chirp<T>::Chirp(int64_t length, FftTables &tables)
    : length(length), convolved(findSmoothLength(2 * length - 1)),
      chirp(2 * length), kernel(2 * convolved) {
  std::vector<double> conjugates(2 * convolved);
  // j^2 modulo 2 n, which j^2 itself may be too large for.
  for (int64_t j = 0, square = 0; j < length; ++j) {
    std::complex<double> root = getRootOfUnity(square, 2 * length);
    chirp[j] = static_cast<T>(root.real());
    chirp[length + j] = static_cast<T>(root.imag());
    for (int64_t place : {j, (convolved - j) % convolved}) {
      conjugates[place] = root.real();
      conjugates[convolved + place] = -root.imag();
    }
    square = (square + 2 * j + 1) % (2 * length);
  }
  transformLine(conjugates, tables);
  std::copy(conjugates.begin(), conjugates.end(), kernel.begin());
}

template struct metaops::Chirp<float>;
template struct metaops::Chirp<double>;
