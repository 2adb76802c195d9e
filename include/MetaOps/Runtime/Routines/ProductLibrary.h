//===- ProductLibrary.h - A library of products of matrices -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_PRODUCTLIBRARY_H
#define METAOPS_RUNTIME_ROUTINES_PRODUCTLIBRARY_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

/// The library by which products of matrices are computed, oneDNN.
struct ProductLibrary {
  std::string path, version;
};

/// Looks for oneDNN 3, the library of a path or else of folders and the system,
/// and has a registry compute the routine "product" by it, unless it does so
/// already. Fails saying what was looked for.
llvm::Expected<ProductLibrary>
addProductLibrary(RoutineRegistry &registry, llvm::StringRef path,
                  llvm::ArrayRef<std::string> folders);

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_PRODUCTLIBRARY_H
