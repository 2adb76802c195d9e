//===- TileFft.cpp - Fourier transforms of tiles, of any length -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileFft.h"

using namespace metaops;

template <typename T>
TileFft<T>::TileFft(int64_t length, FftTables &tables) : length(length) {
  if (!isSmooth(length))
    chirp = tables.get<Chirp<T>>(length);
  table = tables.get<ColumnTable<T>>(chirp ? chirp->convolved : length);
}

template <typename T>
Planes<T> TileFft<T>::run(Planes<T> from, Planes<T> to, T *scratch,
                          T scale) const {
  if (!chirp)
    return transformColumns(*table, from, to, scratch, scale);
  int64_t rows = countRows();
  Planes<T> tile = getTiles<T>(scratch, rows).first;
  multiplyRows(from, length, chirp->chirp.data(), tile);
  clearRows(tile, length, rows);
  tile = transformColumns<T>(*table, tile, {}, scratch, 1);
  multiplyRows(tile, rows, chirp->kernel.data(), tile);
  tile =
      transformColumns<T>(*table, tile.swapped(), {}, scratch, scale).swapped();
  Planes<T> target = to.real ? to : tile;
  multiplyRows(tile, length, chirp->chirp.data(), target);
  return target;
}

template class metaops::TileFft<float>;
template class metaops::TileFft<double>;
