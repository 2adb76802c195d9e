//===- Chirp.h - Transforms of any length as convolutions -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With j k = (j^2 + k^2 - (k - j)^2) / 2 and b[j] = exp(-pi i j^2 / n), a
// transform of n elements is
//
//   X[k] = b[k] * sum over j of (x[j] b[j]) * conj(b[k - j]),
//
// a convolution, which is made by transforms of a smooth length m of 2 n - 1 at
// least (L. Bluestein, "A linear filtering approach to the computation of the
// discrete Fourier transform", 1970).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_CHIRP_H
#define METAOPS_LIB_RUNTIME_ROUTINES_CHIRP_H

#include "FftTables.h"

namespace metaops {

/// The numbers of such a convolution. Of each list there are real parts, then
/// imaginary ones.
template <typename T> struct Chirp : FftTable {
  static constexpr int kKind = 64 + sizeof(T);
  Chirp(int64_t length, FftTables &tables);
  int64_t countBytes() const override {
    return (chirp.size() + kernel.size()) * sizeof(T);
  }

  int64_t length, convolved;
  /// b, and the transform of its conjugates, divided by m.
  std::vector<T> chirp, kernel;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_CHIRP_H
