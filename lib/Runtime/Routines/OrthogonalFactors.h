//===- OrthogonalFactors.h - Matrices as Q R --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_ORTHOGONALFACTORS_H
#define METAOPS_LIB_RUNTIME_ROUTINES_ORTHOGONALFACTORS_H

#include "MatrixBatch.h"

namespace metaops {

/// Makes the function of "qr" by the library's geqrf and orgqr. Null where the
/// library's integers are too small for such matrices.
std::unique_ptr<const MatrixFunction> makeQr(const MatrixBatch &batch,
                                             llvm::ArrayRef<void *> functions,
                                             bool isWide, bool isComplete);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_ORTHOGONALFACTORS_H
