//===- KernelCache.h - Compiled kernels by what they compute ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_KERNELCACHE_H
#define METAOPS_RUNTIME_KERNELS_KERNELCACHE_H

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Runtime/Program/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace metaops {

class KernelFamily;
class KernelLibrary;
class OperationKeys;
class TextNumbers;

struct KernelCacheOptions {
  /// Threads that compile kernels of one program; 0 for as many as the
  /// processor runs.
  unsigned threads = 0;
};

/// Compiles each kernel once, whichever programs it appears in. A kernel is
/// known by its operations, types and schedule; not by its name or the user's
/// lines. Kernels that differ in extents, strides and offsets only share code
/// that takes these as arguments. Not safe for use from several threads at
/// once.
class KernelCache {
public:
  explicit KernelCache(std::shared_ptr<KernelBackend> backend,
                       const KernelCacheOptions &options = {});
  ~KernelCache();

  /// The calls of functions that hold one scheduled `metaop.kernel` each, in
  /// their order. Adds to `compiled` how many kernels had to be compiled. Fails
  /// with Interrupted if `shouldStop` says so, and keeps what is compiled.
  llvm::Expected<std::vector<std::shared_ptr<const KernelCall>>>
  getAll(llvm::ArrayRef<mlir::func::FuncOp> functions, unsigned &compiled,
         StopCheck shouldStop = nullptr);
  llvm::Expected<std::shared_ptr<const KernelCall>>
  get(mlir::func::FuncOp function, unsigned &compiled);

  /// Sets where code is looked for before it is compiled, and kept; null for
  /// nowhere.
  void setDiskStore(std::shared_ptr<DiskStore> store);
  /// A kernel by its name, loaded or on disk; null where it has to be compiled.
  std::shared_ptr<const Kernel> find(llvm::StringRef name);
  /// Adds code of a user's, which is known by its name from now on.
  void addExtern(std::shared_ptr<const Kernel> kernel);
  /// Adds what may be compiled for other processes of what another one has.
  void addSources(const KernelCache &other);
  /// Returns the one of a name; null where it has not been added.
  std::shared_ptr<const Kernel> findExtern(llvm::StringRef name) const {
    return externs.lookup(name);
  }
  /// Returns the number of kernels that were found on disk.
  unsigned getNumLoaded() const;

  const KernelBackend &getBackend() const { return *backend; }
  /// Differs between any two builds of the compiler and between targets.
  /// Nothing where this build has no identity.
  const std::optional<DiskKey> &getTargetKey() const { return targetKey; }
  /// Functions for which there is a call.
  size_t size() const { return known.size(); }
  /// Contexts for the programs that have the kernels.
  ContextPool &getContexts() { return contexts; }

private:
  struct Lowered;
  struct Job;
  class LoopsLowering;
  struct Known {
    std::shared_ptr<const KernelCall> call;
    /// For a backend that notes calls.
    std::vector<uint64_t> features;
  };

  void forgetMany();
  llvm::Error lower(mlir::func::FuncOp function, LoopsLowering &lowering,
                    OperationKeys &keys, Lowered &kernel);
  bool hasForm(const Lowered &kernel) const;
  std::vector<Job> plan(llvm::ArrayRef<Lowered *> lowered);
  llvm::Error compile(llvm::MutableArrayRef<Job> jobs, unsigned &compiled,
                      StopCheck shouldStop);

  std::shared_ptr<KernelBackend> backend;
  std::optional<DiskKey> targetKey;
  std::unique_ptr<KernelLibrary> library;
  ContextPool contexts;
  /// Numbers of texts in keys of kernels, and of loops.
  std::unique_ptr<TextNumbers> kernelTexts, loopsTexts;
  unsigned threads;
  /// By the kernel's key.
  llvm::StringMap<Known> known;
  /// By the key of the loops without numbers.
  llvm::StringMap<std::unique_ptr<KernelFamily>> families;
  /// By name: code of users.
  llvm::StringMap<std::shared_ptr<const Kernel>> externs;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_KERNELCACHE_H
