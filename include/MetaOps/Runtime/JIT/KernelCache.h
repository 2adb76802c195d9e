//===- KernelCache.h - Compiled kernels by what they compute ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_JIT_KERNELCACHE_H
#define METAOPS_RUNTIME_JIT_KERNELCACHE_H

#include "MetaOps/Runtime/JIT/Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace metaops {

/// A kernel in machine code.
struct Kernel {
  KernelFunction function = nullptr;
  /// Length of the range that calls may split among threads.
  int64_t parallelRange = 1;
  /// Operations and memory accesses of one step of that range, for deciding
  /// whether threads are worth it.
  int64_t workPerStep = 0;
};

/// Compiles each kernel once, whichever programs it appears in. A kernel is
/// known by its operations, types and schedule; not by its name or the user's
/// lines.
class KernelCache {
public:
  static llvm::Expected<std::unique_ptr<KernelCache>> create();

  /// The machine code of a function that holds one scheduled `metaop.kernel`.
  /// Adds to `compiled` if it had to be compiled.
  llvm::Expected<std::shared_ptr<const Kernel>> get(mlir::func::FuncOp function,
                                                    unsigned &compiled);

  unsigned getVectorBits() const { return jit->getVectorBits(); }
  size_t size() const { return kernels.size(); }

private:
  explicit KernelCache(std::unique_ptr<Jit> jit) : jit(std::move(jit)) {}
  llvm::Expected<Kernel> compile(mlir::func::FuncOp function);

  std::unique_ptr<Jit> jit;
  llvm::StringMap<std::shared_ptr<const Kernel>> kernels;
  /// Kernels that the linker was given, those that it refused included.
  unsigned numLinked = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_JIT_KERNELCACHE_H
