//===- KernelLibrary.h - Linked kernels by name -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_JIT_KERNELLIBRARY_H
#define METAOPS_LIB_RUNTIME_JIT_KERNELLIBRARY_H

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/JIT/KernelCache.h"

namespace metaops {

/// The kernels that are linked into this process, and those on disk. A name
/// stands for all that the code depends on, but for the target. Not safe for
/// use from several threads at once.
class KernelLibrary {
public:
  /// Without a linker, kernels are kept as objects and have no functions.
  explicit KernelLibrary(std::unique_ptr<Jit> jit) : jit(std::move(jit)) {}

  /// Where objects are looked for and kept; null for nowhere. Objects for
  /// different targets have nothing in common.
  void setDiskStore(std::shared_ptr<DiskStore> store, const DiskKey &target);

  /// A kernel that is linked, or that can be. Null where it has to be compiled.
  std::shared_ptr<const Kernel> find(llvm::StringRef name);

  /// Links a compiled object, and keeps it on disk.
  llvm::Expected<std::shared_ptr<const Kernel>>
  add(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> object);

  /// The object of a kernel; null where it was linked.
  const llvm::MemoryBuffer *getObject(llvm::StringRef name) const {
    auto it = objects.find(name);
    return it == objects.end() ? nullptr : it->second.get();
  }

  /// How many were on disk.
  unsigned getNumLoaded() const { return numLoaded; }

private:
  llvm::Expected<std::shared_ptr<const Kernel>>
  link(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> object);
  DiskKey keyOf(llvm::StringRef name) const;

  std::unique_ptr<Jit> jit;
  llvm::StringMap<std::shared_ptr<const Kernel>> linked;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> objects;
  std::shared_ptr<DiskStore> store;
  DiskKey target = {};
  unsigned numLoaded = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_JIT_KERNELLIBRARY_H
