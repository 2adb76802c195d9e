//===- CompileKernels.h - Code of several kernels ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_COMPILEKERNELS_H
#define METAOPS_LIB_RUNTIME_KERNELS_COMPILEKERNELS_H

#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "llvm/ADT/ArrayRef.h"

#include <atomic>
#include <vector>

namespace metaops {

/// The name of the function, and of the symbol that it is called through, for a
/// key.
std::string getKernelName(llvm::StringRef key);
std::string getKernelEntry(llvm::StringRef key);

/// Makes the code of `kernels`, in their order, on up to `threads` threads.
/// When `shouldStop`, which is asked on the calling thread, says so,
/// `isStopped` is set, and some kernels have no code.
std::vector<CompiledCode> compileKernels(llvm::ArrayRef<BoundKernel> kernels,
                                         const KernelBackend &backend,
                                         unsigned threads, StopCheck shouldStop,
                                         std::atomic<bool> &isStopped);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_COMPILEKERNELS_H
