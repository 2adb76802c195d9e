//===- KernelImports.h - What kernels call ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EXPORT_KERNELIMPORTS_H
#define METAOPS_RUNTIME_EXPORT_KERNELIMPORTS_H

#include "llvm/ADT/StringRef.h"

namespace metaops {

/// The address of a function that machine code of a program file may call: of
/// the C library's for memory, of its mathematics, and of conversions that
/// compilers leave to their library. Null for any other name.
void *findKernelImport(llvm::StringRef name);

/// The library of the GNU C library's functions of vectors.
inline constexpr const char *kVectorMathLibrary = "libmvec.so.1";

/// The address of a function of that library, by its name in the vector
/// function ABI (`_ZGVdN4v_sin`); null where there is none.
void *findVectorFunction(llvm::StringRef name);

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_KERNELIMPORTS_H
