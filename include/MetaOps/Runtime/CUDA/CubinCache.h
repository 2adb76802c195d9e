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

namespace metaops {

/// Assembles PTX, but for what is on disk. Threads may use one at once.
class CubinCache {
public:
  /// Without a store, nothing is kept.
  CubinCache(std::shared_ptr<Assembler> assembler,
             std::shared_ptr<DiskStore> store)
      : assembler(std::move(assembler)), store(std::move(store)) {}

  llvm::Expected<Cubin> get(llvm::StringRef ptx,
                            const mlir::metaop::Chip &chip);

private:
  std::shared_ptr<Assembler> assembler;
  std::shared_ptr<DiskStore> store;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_CUBINCACHE_H
