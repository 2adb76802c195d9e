//===- Spectra.h - Eigenvalues and singular values --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SPECTRA_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SPECTRA_H

#include "MatrixBatch.h"

#include <cmath>
#include <limits>

namespace metaops {

/// Values of `info`.
inline constexpr int64_t kNotFinite = 1, kNotConverged = 2;

/// Returns true if there is neither a NaN nor an infinity.
template <typename T> bool isFinite(const T *x, int64_t count) {
  bool isAny = false;
  for (int64_t i = 0; i < count; ++i)
    isAny |= !(std::abs(x[i]) <= std::numeric_limits<T>::max());
  return !isAny;
}

template <typename T> void fillNaN(T *x, int64_t count) {
  std::fill(x, x + count, std::numeric_limits<T>::quiet_NaN());
}

/// Vectors that are made beside values: as many as values, or whole bases.
enum class SpectrumVectors { None, Thin, Full };

/// Makes the function of "eigh" and "eigvalsh" by the library's syevd. Null
/// where the library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction>
makeEigh(const MatrixBatch &batch, void *syevd, bool isWide, bool hasVectors);

/// Makes the function of "eig" and "eigvals" by the library's geev. Null where
/// the library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction>
makeEig(const MatrixBatch &batch, void *geev, bool isWide, bool hasVectors);

/// Makes the function of "svd" and "svdvals" by the library's gesdd. Null
/// where the library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction> makeSvd(const MatrixBatch &batch,
                                              void *gesdd, bool isWide,
                                              SpectrumVectors vectors);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SPECTRA_H
