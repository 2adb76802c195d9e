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

namespace metaops {

/// Vectors that are made beside values: as many as values, or whole bases.
enum class SpectrumVectors { None, Thin, Full };

/// Makes the function of "eigh" and "eigvalsh" by the library's syevd. Null
/// where the library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction>
makeEigh(const MatrixBatch &batch, void *syevd, bool isWide, bool hasVectors);

/// Makes the function of "svd" and "svdvals" by the library's gesdd. Null
/// where the library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction> makeSvd(const MatrixBatch &batch,
                                              void *gesdd, bool isWide,
                                              SpectrumVectors vectors);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SPECTRA_H
