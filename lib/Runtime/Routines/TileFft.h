//===- TileFft.h - Fourier transforms of tiles, of any length ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_TILEFFT_H
#define METAOPS_LIB_RUNTIME_ROUTINES_TILEFFT_H

#include "Chirp.h"

namespace metaops {

/// Transforms of the columns of tiles, by passes or by a chirp.
template <typename T> class TileFft {
public:
  TileFft(int64_t length, FftTables &tables);

  /// Rows that a tile in scratch memory has.
  int64_t countRows() const { return table->length; }
  int64_t countScratch() const { return countColumnScratch<T>(countRows()); }
  /// As transformColumns.
  Planes<T> run(Planes<T> from, Planes<T> to, T *scratch, T scale) const;

private:
  int64_t length;
  std::shared_ptr<const ColumnTable<T>> table;
  /// Null where the length is smooth.
  std::shared_ptr<const Chirp<T>> chirp;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_TILEFFT_H
