//===- ProgramCache.h - Programs by the slices that they run ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_PROGRAMCACHE_H
#define METAOPS_RUNTIME_PROGRAMS_PROGRAMCACHE_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Graph/Slice.h"

#include <list>
#include <memory>
#include <unordered_map>

namespace metaops {

struct CachedProgram {
  std::shared_ptr<Program> program;
  /// The slice that it was compiled from, for reports.
  std::string slice;
  CompileOptions options;
  /// By which; null for what is only moved.
  Compiler *compiler = nullptr;
};

/// The programs of a session. A hit is found by hash and confirmed by
/// comparing keys. The least recently used ones go beyond a bound.
class ProgramCache {
public:
  explicit ProgramCache(size_t capacity = 1024) : capacity(capacity) {}

  /// Null where the program has to be compiled.
  std::shared_ptr<const CachedProgram> find(const ProgramKey &key);
  /// In place of what was found by the key, if anything was.
  void insert(ProgramKey key, std::shared_ptr<const CachedProgram> program);

  /// Lets go of programs whose kernels are shared with those of other lengths.
  void eraseShared();

  /// See Program.h.
  void dropPacked(bool isShort);

  size_t size() const { return entries.size(); }

private:
  struct Entry {
    uint64_t hash;
    ProgramKey key;
    std::shared_ptr<const CachedProgram> program;
  };
  using Entries = std::list<Entry>;

  void erase(Entries::iterator entry);

  size_t capacity;
  /// Most recently used first.
  Entries entries;
  std::unordered_multimap<uint64_t, Entries::iterator> byHash;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_PROGRAMCACHE_H
