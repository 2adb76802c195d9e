//===- MatrixLibrary.h - The LAPACK that there is ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_MATRIXLIBRARY_H
#define METAOPS_RUNTIME_ROUTINES_MATRIXLIBRARY_H

#include "llvm/Support/Error.h"

#include <string>

namespace metaops {

/// The library by which matrices are factored.
struct MatrixLibrary {
  std::string path;
  /// Integers of its functions have 64 bits, and not 32.
  bool hasWideIntegers = false;
};

/// Finds it as the routines do. Fails saying what was looked for.
llvm::Expected<MatrixLibrary> findMatrixLibrary();

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_MATRIXLIBRARY_H
