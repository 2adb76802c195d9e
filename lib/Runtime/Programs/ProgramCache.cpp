//===- ProgramCache.cpp - Programs by the slices that they run ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/ProgramCache.h"

#include <algorithm>

using namespace metaops;

std::shared_ptr<const CachedProgram> ProgramCache::find(const ProgramKey &key) {
  auto [begin, end] = byHash.equal_range(key.hash());
  for (auto it = begin; it != end; ++it) {
    Entries::iterator entry = it->second;
    if (!(entry->key == key))
      continue;
    entries.splice(entries.begin(), entries, entry);
    return entry->program;
  }
  return nullptr;
}

void ProgramCache::insert(ProgramKey key,
                          std::shared_ptr<const CachedProgram> program) {
  uint64_t hash = key.hash();
  auto [first, last] = byHash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->key == key) {
      it->second->program->program->dropPacked(/*isShort=*/false);
      it->second->program = std::move(program);
      return;
    }
  entries.push_front({hash, std::move(key), std::move(program)});
  byHash.emplace(hash, entries.begin());
  if (entries.size() > capacity)
    erase(std::prev(entries.end()));
}

/// Others may still hold the program.
void ProgramCache::erase(Entries::iterator entry) {
  auto [begin, end] = byHash.equal_range(entry->hash);
  byHash.erase(std::find_if(
      begin, end, [&](const auto &place) { return place.second == entry; }));
  entry->program->program->dropPacked(/*isShort=*/false);
  entries.erase(entry);
}

void ProgramCache::eraseShared() {
  for (auto next = entries.begin(); next != entries.end();)
    if (auto entry = next++; !entry->program->options.varying.empty())
      erase(entry);
}

void ProgramCache::dropPacked(bool isShort) {
  for (const Entry &entry : entries)
    entry.program->program->dropPacked(isShort);
}
