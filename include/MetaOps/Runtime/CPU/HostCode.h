//===- HostCode.h - Code of a user's in a shared library --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CPU_HOSTCODE_H
#define METAOPS_RUNTIME_CPU_HOSTCODE_H

#include "MetaOps/Runtime/Program/Kernel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace metaops {

/// The ABI of such code: that of kernels, but for what went wrong, which it
/// writes into `message`, of `room` bytes, as a text that ends with a zero. It
/// returns 0 if all went well.
using HostCodeFunction = int (*)(void **buffers, const int64_t *scalars,
                                 int64_t begin, int64_t end, char *message,
                                 int64_t room);

/// Loads the function `symbol` of a shared library, which stays loaded until
/// the process ends, as a kernel of that name, made of `source`.
llvm::Expected<std::shared_ptr<const Kernel>>
loadHostCode(llvm::StringRef name, llvm::StringRef library,
             llvm::StringRef symbol,
             std::shared_ptr<const KernelSource> source);

} // namespace metaops

#endif // METAOPS_RUNTIME_CPU_HOSTCODE_H
