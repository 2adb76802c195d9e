//===- SmallMatrices.h - A small matrix in each lane ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has a matrix in each of its columns, so that vectors have the same
// element of each: no element ever moves within a vector. What depends on a
// matrix, such as its pivots, is chosen by selects. See SmallMatrices.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRICES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRICES_H

#include "Tiles.h"

namespace metaops {

/// The most rows and columns of a small matrix.
inline constexpr int64_t kMaxSmall = 16;

/// The matrices of a tile.
template <typename T> struct LaneMatrices {
  T *elements = nullptr;
  int64_t rows = 0, columns = 0;
  /// Elements of a matrix from one row, or column, to the next.
  int64_t rowStep = 0, columnStep = 0;

  T *at(int64_t i, int64_t j) const {
    return elements + (i * rowStep + j * columnStep) * kTileWidth<T>;
  }
  LaneMatrices transposed() const {
    return {elements, columns, rows, columnStep, rowStep};
  }
  LaneMatrices from(int64_t lane) const {
    return {elements + lane, rows, columns, rowStep, columnStep};
  }
};

/// Matrices in rows, one element behind the other.
template <typename T>
LaneMatrices<T> makeLaneMatrices(T *elements, int64_t rows, int64_t columns) {
  return {elements, rows, columns, columns, 1};
}

/// A triangle of matrices, and its diagonal: ones where it is not read.
struct TriangleForm {
  bool isLower = true, isUnit = false;
};

/// Makes triangular factors of the lower triangles, and zeros above. `info` is
/// the first minor that is not positive, from 1 on, or 0.
template <typename T> void factorCholesky(const LaneMatrices<T> &a, T *info);

/// Makes triangular factors of matrices whose rows are exchanged. `pivots` has
/// the number of the row with which each was, from 0 on, `info` the first pivot
/// that is 0, from 1 on, or 0. A NaN is the largest element of its column.
template <typename T>
void factorLu(const LaneMatrices<T> &a, T *pivots, T *info);

/// Solves triangular systems for the columns of x.
template <typename T>
void solveTriangle(const LaneMatrices<T> &a, TriangleForm form,
                   const LaneMatrices<T> &x);

/// Exchanges rows of x as `pivots` say, the first one first or the last one.
template <typename T>
void exchangeRows(const T *pivots, bool isLastFirst, const LaneMatrices<T> &x);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRICES_H
