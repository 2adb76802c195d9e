//===- ImageLinker.h - Object files as a code image -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_JIT_IMAGELINKER_H
#define METAOPS_RUNTIME_JIT_IMAGELINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/TargetParser/Triple.h"

#include <string>

namespace metaops {

/// Links relocatable ELF files, of position-independent code for `triple`
/// (x86-64 or AArch64), into the bytes of an image that CodeImage loads.
/// `entries` are global functions of the files. What no file defines becomes an
/// import. Local names do not clash. Nor do those of hidden and weak
/// definitions other than entries: each file has its own. A further global name
/// that two files define is an error, as is what images do not have: variables,
/// weak and thread-local symbols, initialisers, and absolute addresses of other
/// than 64 bits.
///
/// Equal arguments give equal bytes.
llvm::Expected<std::string>
linkImage(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
          llvm::ArrayRef<std::string> entries, const llvm::Triple &triple);

} // namespace metaops

#endif // METAOPS_RUNTIME_JIT_IMAGELINKER_H
