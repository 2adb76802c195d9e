//===- Determinants.h - Products of pivots, and diagonal forms --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_DETERMINANTS_H
#define METAOPS_SUPPORT_DETERMINANTS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace metaops {

/// A product whose partial products may be beyond the type's range.
class ScaledProduct {
public:
  void multiply(double factor) {
    if (!std::isfinite(factor)) {
      mantissa *= factor;
      return;
    }
    int added = 0, normalised = 0;
    mantissa *= std::frexp(factor, &added);
    if (std::isfinite(mantissa))
      mantissa = std::frexp(mantissa, &normalised);
    exponent += added + normalised;
  }

  double get() const {
    // Beyond these bounds all products are 0 or infinite. No zero is negative.
    int scale = std::clamp<int64_t>(exponent, -100'000, 100'000);
    return std::ldexp(mantissa, scale) + 0.0;
  }

private:
  double mantissa = 1;
  int64_t exponent = 0;
};

/// Makes a square matrix in rows diagonal by elimination with the largest of
/// all pivots: left * a * right, with determinants of 1. A zero is a pivot only
/// where all that is left of the matrix is zeros.
template <typename T> class DiagonalForm {
public:
  DiagonalForm(T *a, T *left, T *right, int64_t n)
      : a(a), left(left), right(right), n(n) {}

  void compute() {
    for (T *matrix : {left, right})
      for (int64_t i = 0; i < n * n; ++i)
        matrix[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k < n && choosePivot(k); ++k) {
      for (int64_t i = k + 1; i < n; ++i)
        eliminateRow(k, i);
      for (int64_t j = k + 1; j < n; ++j)
        eliminateColumn(k, j);
    }
  }

private:
  /// Brings the largest element of what is left to (k, k); returns false where
  /// all of that is zeros, or not a number.
  bool choosePivot(int64_t k) {
    int64_t row = k, column = k;
    T most = 0;
    for (int64_t i = k; i < n; ++i)
      for (int64_t j = k; j < n; ++j)
        if (std::abs(a[i * n + j]) > most) {
          most = std::abs(a[i * n + j]);
          row = i;
          column = j;
        }
    if (!(most > 0))
      return false;
    // An exchange with one change of sign has the determinant 1.
    if (row != k)
      for (T *matrix : {a, left})
        for (int64_t j = 0; j < n; ++j) {
          std::swap(matrix[row * n + j], matrix[k * n + j]);
          matrix[row * n + j] = -matrix[row * n + j];
        }
    if (column != k)
      for (T *matrix : {a, right})
        for (int64_t i = 0; i < n; ++i) {
          std::swap(matrix[i * n + column], matrix[i * n + k]);
          matrix[i * n + column] = -matrix[i * n + column];
        }
    return true;
  }

  void eliminateRow(int64_t k, int64_t i) {
    T factor = a[i * n + k] / a[k * n + k];
    if (factor == 0)
      return;
    a[i * n + k] = 0;
    for (int64_t j = k + 1; j < n; ++j)
      a[i * n + j] -= factor * a[k * n + j];
    for (int64_t j = 0; j < n; ++j)
      left[i * n + j] -= factor * left[k * n + j];
  }

  /// Below row k the column of the pivot is zeros.
  void eliminateColumn(int64_t k, int64_t j) {
    T factor = a[k * n + j] / a[k * n + k];
    if (factor == 0)
      return;
    a[k * n + j] = 0;
    for (int64_t i = 0; i < n; ++i)
      right[i * n + j] -= factor * right[i * n + k];
  }

  T *a, *left, *right;
  int64_t n;
};

} // namespace metaops

#endif // METAOPS_SUPPORT_DETERMINANTS_H
