//===- AssemblerMessages.h - What assemblers say ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CUDA_ASSEMBLERMESSAGES_H
#define METAOPS_LIB_RUNTIME_CUDA_ASSEMBLERMESSAGES_H

#include "MetaOps/Runtime/CUDA/Assembler.h"

namespace metaops {

/// The first of the lines that are errors.
std::string selectErrors(llvm::StringRef messages);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_ASSEMBLERMESSAGES_H
