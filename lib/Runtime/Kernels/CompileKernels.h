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

#include <memory>
#include <vector>

namespace metaops {

/// The name of the function, and of the symbol that it is called through, for a
/// key.
std::string getKernelName(llvm::StringRef key);
std::string getKernelEntry(llvm::StringRef key);

struct CompiledKernels {
  /// Of each kernel. Of some there is none, and no error, if it was stopped.
  std::vector<CompiledCode> codes;
  bool wasStopped = false;
};

/// Makes the code of `kernels`, in their order, on up to `threads` threads.
/// Stops when `shouldStop`, which is asked on the calling thread, says so: what
/// a thread has begun then is waited for a short time, and left to end by
/// itself.
CompiledKernels compileKernels(std::vector<BoundKernel> kernels,
                               std::shared_ptr<const KernelBackend> backend,
                               unsigned threads, StopCheck shouldStop);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_COMPILEKERNELS_H
