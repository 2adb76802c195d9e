//===- CubinCache.h - Machine code that was made before ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_CUBINCACHE_H
#define METAOPS_RUNTIME_CUDA_CUBINCACHE_H

#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

namespace metaops {

/// Assembles PTX, but for what was assembled before. Threads may use one at
/// once.
class CubinCache {
public:
  /// The part of an entry's key that stands for the assembler.
  enum class KeyedBy { Description, Build };

  /// Keeps cubins in the store, or in memory where there is none. If the store
  /// has a cubin of one of the `others`, which are descriptions of assemblers,
  /// that is taken, too.
  CubinCache(std::shared_ptr<Assembler> assembler,
             std::shared_ptr<DiskStore> store,
             std::vector<std::string> others = {},
             KeyedBy keyedBy = KeyedBy::Description)
      : assembler(std::move(assembler)), others(std::move(others)),
        keyedBy(keyedBy), store(std::move(store)) {}

  llvm::Expected<Cubin> get(llvm::StringRef ptx,
                            const mlir::metaop::Chip &chip);

  /// Keeps what is made from now on elsewhere.
  void setStore(std::shared_ptr<DiskStore> newStore);

private:
  std::shared_ptr<DiskStore> getStore() const;
  llvm::Expected<Cubin> getFromMemory(llvm::StringRef ptx,
                                      const mlir::metaop::Chip &chip,
                                      const std::string &key);

  const std::shared_ptr<Assembler> assembler;
  const std::vector<std::string> others;
  const KeyedBy keyedBy;
  mutable std::mutex mutex;
  std::shared_ptr<DiskStore> store;
  /// By key.
  llvm::StringMap<Cubin> made;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_CUBINCACHE_H
