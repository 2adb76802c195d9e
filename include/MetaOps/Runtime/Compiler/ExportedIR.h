//===- ExportedIR.h - Programs as text in files -----------------*- C++ -*-===//
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

/// A slice as the text that a program file has. Its checks name the user's
/// lines, which are those of its operations in `lines`.
llvm::Expected<std::string> writeExportedIR(llvm::StringRef slice,
                                            llvm::ArrayRef<std::string> lines);

/// The slice that a text of a file says, whoever wrote it: one function @main
/// of recorded operations, on tensors as in the signature, with nothing else in
/// it that the compiler would trust.
llvm::Expected<std::string> readExportedIR(llvm::StringRef text,
                                           const ProgramSignature &signature);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_EXPORTEDIR_H
