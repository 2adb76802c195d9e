//===- ExportedIR.h - IR of program files -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_EXPORTEDIR_H
#define METAOPS_RUNTIME_COMPILER_EXPORTEDIR_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace metaops {

/// Writes a slice as the text that a program file has. Its checks name the
/// user's lines, which are those of its operations in `lines`.
llvm::Expected<std::string> writeExportedIR(llvm::StringRef slice,
                                            llvm::ArrayRef<std::string> lines);

/// Reads the slice that a text of a file says, whoever wrote it: one function
/// @main of recorded operations, on tensors as the file's function has them,
/// with nothing else in it that the compiler would trust.
llvm::Expected<std::string> readExportedIR(llvm::StringRef text,
                                           const ProgramSignature &signature,
                                           const FunctionSignature &function);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_EXPORTEDIR_H
