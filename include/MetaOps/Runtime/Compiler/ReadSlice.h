//===- ReadSlice.h - Slices out of bytes ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_READSLICE_H
#define METAOPS_RUNTIME_COMPILER_READSLICE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace metaops {

/// The module of a slice, which has a function @main with a body. Loads the
/// dialects of slices; that of control flow where a slice has some.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readSlice(llvm::StringRef slice, mlir::MLIRContext &context);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_READSLICE_H
