//===- AxisFft.h - Fourier transforms along one dimension -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_AXISFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_AXISFFT_H

#include "LineFft.h"
#include "TileFft.h"

#include <optional>

namespace metaops {

/// Lines of `length` elements that are `inner` apart; `outer * inner` of them.
struct AxisShape {
  int64_t outer = 0, length = 0, inner = 0;

  int64_t countLines() const { return outer * inner; }
  int64_t countElements() const { return countLines() * length; }
};

/// Transforms along one dimension of dense tensors. See AxisFft.cpp.
template <typename T> class AxisFft {
public:
  AxisFft(AxisShape shape, FftTables &tables);

  /// Elements of memory that the phases share, and of scratch memory of a
  /// thread.
  int64_t countMemory() const;
  int64_t countScratch() const;
  /// Adds the phases, which live no longer than this. `to` may be `from`.
  void append(Phases<T> &phases, Planes<T> from, Planes<T> to, T *memory,
              T scale) const;

private:
  bool areLinesShared() const;
  void appendTiles(Phases<T> &phases, Planes<T> from, Planes<T> to,
                   T scale) const;
  void runRows(int64_t tile, Planes<T> from, Planes<T> to, T *scratch,
               T scale) const;
  void runLines(int64_t tile, Planes<T> from, Planes<T> to, T *scratch,
                T scale) const;
  void appendLong(Phases<T> &phases, Planes<T> from, Planes<T> to, T *memory,
                  T scale) const;

  AxisShape shape;
  /// One of them is there.
  std::optional<TileFft<T>> tiles;
  std::optional<LineFft<T>> lines;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_AXISFFT_H
