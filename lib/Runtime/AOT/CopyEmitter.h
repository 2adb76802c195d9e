//===- CopyEmitter.h - Copies as loops --------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_AOT_COPYEMITTER_H
#define METAOPS_LIB_RUNTIME_AOT_COPYEMITTER_H

#include "MetaOps/Runtime/Program/Copy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"

namespace metaops {

/// Emits what runCopies does for one copy. `buffers` are the addresses of what
/// the copy names by number, `dest` that of the tensor that it writes.
void emitCopy(llvm::IRBuilder<> &builder, const Copy &copy,
              llvm::ArrayRef<llvm::Value *> buffers, llvm::Value *dest);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_AOT_COPYEMITTER_H
