//===- KernelCompiler.h - Object files of kernels ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_JIT_KERNELCOMPILER_H
#define METAOPS_LIB_RUNTIME_JIT_KERNELCOMPILER_H

#include "MetaOps/Runtime/JIT/Jit.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <vector>

namespace metaops {

/// A kernel over buffers whose numbers are bound: what an object file is made
/// of.
struct BoundKernel {
  /// Tells all that the code depends on, but for the target.
  std::string key;
  /// The symbol that the object defines; made from the key.
  std::string entry;
  /// A module that holds the kernel, as bytecode.
  std::string bytecode;
};

/// An object file, or why there is none.
struct CompiledObject {
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::string error;
};

/// The name of the function, and of the symbol that it is called through, for a
/// key.
std::string getKernelName(llvm::StringRef key);
std::string getKernelEntry(llvm::StringRef key);

/// Makes the object files of `kernels`, in their order, on up to `threads`
/// threads. What is made of a kernel does not depend on the others. When
/// `shouldStop`, which is asked on the calling thread, says so, `isStopped` is
/// set, and some kernels have no object.
std::vector<CompiledObject> compileKernels(llvm::ArrayRef<BoundKernel> kernels,
                                           const CodeTarget &target,
                                           unsigned threads,
                                           StopCheck shouldStop,
                                           std::atomic<bool> &isStopped);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_JIT_KERNELCOMPILER_H
