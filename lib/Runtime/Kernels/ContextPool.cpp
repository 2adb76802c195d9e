//===- ContextPool.cpp - Contexts for many kernels ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/ContextPool.h"

using namespace mlir;
using namespace metaops;

/// Kernels of which a context keeps what it has seen: a few megabytes.
static constexpr unsigned kMaxKernels = 128;
/// Contexts that are kept for later; each has a few megabytes.
static constexpr size_t kMaxIdle = 4;

ContextPool::Entry ContextPool::take() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      Entry entry = std::move(idle.back());
      idle.pop_back();
      return entry;
    }
  }
  return {std::make_unique<MLIRContext>(registry,
                                        MLIRContext::Threading::DISABLED)};
}

void ContextPool::giveBack(Entry entry) {
  if (entry.kernels >= kMaxKernels)
    return;
  std::lock_guard lock(mutex);
  if (idle.size() < kMaxIdle)
    idle.push_back(std::move(entry));
}
