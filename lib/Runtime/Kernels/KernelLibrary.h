//===- KernelLibrary.h - Loaded kernels by name -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_KERNELLIBRARY_H
#define METAOPS_LIB_RUNTIME_KERNELS_KERNELLIBRARY_H

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "llvm/ADT/StringMap.h"

namespace metaops {

/// The kernels that are loaded, and those on disk. A name stands for all that
/// the code depends on, but for the target. Not safe for use from several
/// threads at once.
class KernelLibrary {
public:
  explicit KernelLibrary(std::shared_ptr<KernelBackend> backend)
      : backend(std::move(backend)) {}

  /// Sets where code is looked for and kept, if it is not null. Code for
  /// different targets has nothing in common.
  void setDiskStore(std::shared_ptr<DiskStore> store, const DiskKey &target);

  /// A kernel that is loaded, or that can be. Null where it has to be compiled.
  std::shared_ptr<const Kernel> find(llvm::StringRef name);

  /// Loads compiled code, and keeps it on disk.
  llvm::Expected<std::shared_ptr<const Kernel>>
  add(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> code);

  /// Returns the number that were on disk.
  unsigned getNumLoaded() const { return numLoaded; }

private:
  llvm::Expected<std::shared_ptr<const Kernel>>
  load(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> code);
  DiskKey keyOf(llvm::StringRef name) const;

  std::shared_ptr<KernelBackend> backend;
  llvm::StringMap<std::shared_ptr<const Kernel>> loaded;
  std::shared_ptr<DiskStore> store;
  DiskKey target = {};
  unsigned numLoaded = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_KERNELLIBRARY_H
