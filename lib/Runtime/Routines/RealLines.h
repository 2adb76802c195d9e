//===- RealLines.h - Real numbers, and half results -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See RealFft.h. Elements are taken in vectors: of a row or, where rows have
// one element, of rows, those before the end in reversed ones.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_REALLINES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_REALLINES_H

#include "Tiles.h"

namespace metaops {

/// Copies pairs of elements to real and imaginary parts, and back.
template <typename T>
void splitPairs(const T *from, int64_t count, Planes<T> to);
template <typename T> void mergePairs(Planes<T> from, int64_t count, T *to);

/// A range of rows, each of which stands with the one that is as far from the
/// end, and their roots of unity: each is a factor times one of a table.
template <typename T> struct MirroredRange {
  /// Rows of complex numbers, and the range, which is behind the first.
  int64_t length = 0, begin = 0, count = 0;
  /// Elements of a row.
  int64_t inner = 1;
  T factorReal = 1, factorImag = 0;
  const T *real = nullptr, *imag = nullptr;
};

/// Makes results of real numbers of a transform of pairs, and such a transform
/// of results, to be transformed back.
template <typename T>
void unpackRange(const MirroredRange<T> &range, Planes<T> from, Planes<T> to);
template <typename T>
void packRange(const MirroredRange<T> &range, Planes<T> from, Planes<T> to);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_REALLINES_H
