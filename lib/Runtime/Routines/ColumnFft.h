//===- ColumnFft.h - Fourier transforms of columns --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The columns of a tile are transformed beside each other, in vectors, so no
// element ever moves within a vector. See ColumnFft.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H

#include "Tiles.h"

#include <vector>

namespace metaops {

/// A pass over the rows: transforms of `radix` rows each, `groups` * `span` of
/// them. Those of a group are multiplied by the same roots of unity.
struct ColumnPass {
  int64_t radix = 0, groups = 0, span = 0;
  /// The place of its roots in the table.
  int64_t roots = 0;
};

/// A transform of columns of one length by passes.
template <typename T> struct ColumnFft {
  int64_t length = 0;
  std::vector<ColumnPass> passes;
  /// For each pass, group and row but the first: real and imaginary part.
  std::vector<T> roots;
};

/// Transforms a tile. `from` may be one of those in the scratch memory. Writes
/// the results, times a factor, to `to`, or into a tile where that is null;
/// returns where they are. `to` may be `from`.
template <typename T>
Planes<T> transformColumns(const ColumnFft<T> &fft, Planes<T> from,
                           Planes<T> to, T *scratch, T scale);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_COLUMNFFT_H
