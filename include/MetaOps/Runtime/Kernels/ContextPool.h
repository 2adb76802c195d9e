//===- ContextPool.h - Contexts for many kernels ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_CONTEXTPOOL_H
#define METAOPS_RUNTIME_KERNELS_CONTEXTPOOL_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <vector>

namespace metaops {

/// Contexts, without threads, that one kernel after another of a backend uses,
/// or one program: to load the dialects of a GPU's code takes as long as to
/// lower a small kernel. A context keeps all types, attributes and locations
/// that it has seen, so each is given up after some kernels, and few wait for
/// others.
class ContextPool {
public:
  explicit ContextPool(mlir::DialectRegistry registry)
      : registry(std::move(registry)) {}

private:
  friend class PooledContext;

  struct Entry {
    std::unique_ptr<mlir::MLIRContext> context;
    unsigned kernels = 0;
  };

  Entry take();
  void giveBack(Entry entry);

  const mlir::DialectRegistry registry;
  std::mutex mutex;
  /// Those that nobody uses.
  std::vector<Entry> idle;
};

/// A context of a pool, for one user at a time; the pool lives longer.
class PooledContext {
public:
  explicit PooledContext(ContextPool &pool) : pool(pool), entry(pool.take()) {}
  ~PooledContext() { pool.giveBack(std::move(entry)); }
  PooledContext(const PooledContext &) = delete;
  PooledContext &operator=(const PooledContext &) = delete;

  mlir::MLIRContext *get() const { return entry.context.get(); }
  /// Says that as much as so many kernels has been read in the context.
  void countKernels(unsigned count = 1) { entry.kernels += count; }

private:
  ContextPool &pool;
  ContextPool::Entry entry;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_CONTEXTPOOL_H
