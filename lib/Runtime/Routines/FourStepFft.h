//===- FourStepFft.h - Fourier transforms of long lines ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line of n1 * n2 elements is a matrix of n1 rows and n2 columns. Its columns
// are transformed, its elements multiplied by roots of unity, then its rows are
// transformed; results are columns of a matrix of n2 rows (D. Bailey, "FFTs in
// external or hierarchical memory", 1990). So each element is read and written
// twice, and what is between is in the caches.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_FOURSTEPFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_FOURSTEPFFT_H

#include "FftTables.h"
#include "Phases.h"

namespace metaops {

/// Transforms of lines of one smooth length.
template <typename T> class FourStepFft : public FftTable {
public:
  static constexpr int kKind = 32 + sizeof(T);

  FourStepFft(int64_t length, FftTables &tables);

  int64_t countBytes() const override {
    return roots.countBytes() + columnRoots.size() * sizeof(T);
  }
  /// Elements between the steps, of which a line has its own, and of scratch
  /// memory of a thread.
  int64_t countBetween() const { return 2 * blocks * rows * kTileWidth<T>; }
  int64_t countScratch() const;

  /// Adds the phases for one line, whose elements follow each other. `to` may
  /// be `from`. The transform has the life of the phases at least.
  void append(Phases<T> &phases, Planes<T> from, Planes<T> to, T *between,
              T scale) const;

private:
  Planes<T> getBetween(T *memory) const {
    return {memory, memory + countBetween() / 2, kTileWidth<T>};
  }
  void twist(int64_t tile, Planes<T> elements, T *factors) const;
  void runFirst(int64_t tile, Planes<T> from, Planes<T> between,
                T *scratch) const;
  void runSecond(int64_t block, Planes<T> between, Planes<T> to, T *scratch,
                 T scale) const;

  /// n1 and n2; rows of n1 in tiles are `blocks` blocks.
  int64_t columns, rows, blocks;
  std::shared_ptr<const ColumnTable<T>> first, second;
  /// Has the roots of all tiles.
  bool isShort;
  TwoLevelRoots roots;
  /// The roots of unity that are powers k * j, for k < n1 and the columns j of
  /// a tile, the first one or each: real parts, then imaginary ones.
  std::vector<T> columnRoots;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_FOURSTEPFFT_H
