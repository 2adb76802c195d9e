//===- RealFft.h - Fourier transforms of real numbers -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of an even number n of real numbers, those with even and odd places are the
// real and the imaginary parts of n / 2 complex ones, whose transform Z has the
// transforms E of the even and O of the odd ones:
//
//   E[k] = (Z[k] + conj(Z[n/2 - k])) / 2, O[k] = (Z[k] - conj(Z[n/2 - k])) /
//   2i, X[k] = E[k] + exp(-2 pi i k / n) O[k].
//
// Of an odd number, all are transformed with imaginary parts of 0.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_REALFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_REALFFT_H

#include "AxisFft.h"
#include "RealLines.h"

namespace metaops {

/// Transforms between real numbers and half of their results, along one
/// dimension of dense tensors.
template <typename T> class RealFft {
public:
  /// The shape is that of the real numbers.
  RealFft(AxisShape shape, FftTables &tables);

  /// Elements of memory that the phases share, and of scratch memory of a
  /// thread.
  int64_t countMemory() const {
    return 2 * packed.countElements() + axis.countMemory();
  }
  int64_t countScratch() const { return axis.countScratch(); }
  /// Adds the phases of the transform and of its inverse, which live no longer
  /// than this.
  void appendForward(Phases<T> &phases, const T *from, Planes<T> to, T *memory,
                     T scale) const;
  void appendInverse(Phases<T> &phases, Planes<T> from, T *to, T *memory,
                     T scale) const;

private:
  bool isEven() const { return shape.length % 2 == 0; }
  int64_t countHalf() const { return shape.length / 2 + 1; }
  /// Does rows [begin, end) of matrix `outer`.
  using Rows = std::function<void(int64_t outer, int64_t begin, int64_t end)>;
  void appendRows(Phases<T> &phases, int64_t rows, Rows run) const;
  MirroredRange<T> getRange(int64_t begin, int64_t end) const;
  void split(const T *from, Planes<T> to, int64_t begin, int64_t end) const;
  void merge(Planes<T> from, T *to, int64_t begin, int64_t end) const;
  void unpack(Planes<T> from, Planes<T> to, int64_t begin, int64_t end) const;
  void pack(Planes<T> from, Planes<T> to, int64_t begin, int64_t end) const;
  void extend(Planes<T> from, Planes<T> to, int64_t begin, int64_t end) const;
  void truncate(Planes<T> from, Planes<T> to, int64_t begin, int64_t end) const;

  /// Of the real numbers, and of the complex ones that are transformed.
  AxisShape shape, packed;
  AxisFft<T> axis;
  std::shared_ptr<const RootTable> roots;
  /// The first roots of unity of the length: real parts, then imaginary ones.
  std::vector<T> firstRoots;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_REALFFT_H
