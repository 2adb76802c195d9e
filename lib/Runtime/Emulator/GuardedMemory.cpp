//===- GuardedMemory.cpp - Memory of an emulated GPU ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pages before and behind each piece cannot be read or written, so that
// nothing of the process takes them for its own. Small pieces lie side by side
// between such pages: a process has no more than some ten thousand mappings.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Emulator/GuardedMemory.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace metaops {
namespace {

/// Unit to which small pieces are rounded up, and bytes of them that are mapped
/// at a time.
constexpr size_t kSmallUnit = 512;
constexpr size_t kSlabBytes = 1 << 20;

class GuardedMemory : public MemorySource {
public:
  ~GuardedMemory() override {
    for (char *slab : slabs)
      unmap(slab, kSlabBytes);
  }

  void *take(size_t bytes) override {
    if (!isSmall(bytes))
      return map(bytes);
    std::lock_guard lock(mutex);
    size_t size = roundUp(bytes);
    std::vector<char *> &pieces = spare[size];
    if (pieces.empty() && !addSlab(pieces, size))
      return nullptr;
    char *piece = pieces.back();
    pieces.pop_back();
    return piece;
  }

  void giveBack(void *memory, size_t bytes) override {
    if (!isSmall(bytes)) {
      unmap(static_cast<char *>(memory), bytes);
      return;
    }
    std::lock_guard lock(mutex);
    spare[roundUp(bytes)].push_back(static_cast<char *>(memory));
  }

  bool isHost() const override { return false; }
  void upload(void *to, const void *from, size_t bytes) override {
    copy(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) override {
    copy(to, from, bytes);
  }
  void copy(void *to, const void *from, size_t bytes) override {
    if (bytes > 0)
      std::memcpy(to, from, bytes);
  }

private:
  static bool isSmall(size_t bytes) { return bytes <= kSlabBytes / 64; }
  static size_t roundUp(size_t bytes) {
    return llvm::alignTo(std::max<size_t>(bytes, 1), kSmallUnit);
  }

  static size_t getLength(size_t bytes, size_t page) {
    return llvm::alignTo(bytes, page) + 2 * page;
  }

  /// Memory between two pages that nobody may touch.
  static char *map(size_t bytes) {
    size_t page = llvm::sys::Process::getPageSizeEstimate();
    size_t length = getLength(bytes, page);
    if (length < bytes)
      return nullptr;
    void *all =
        mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
      return nullptr;
    char *begin = static_cast<char *>(all) + page;
    if (mprotect(begin, length - 2 * page, PROT_READ | PROT_WRITE) == 0)
      return begin;
    munmap(all, length);
    return nullptr;
  }

  static void unmap(char *memory, size_t bytes) {
    size_t page = llvm::sys::Process::getPageSizeEstimate();
    munmap(memory - page, getLength(bytes, page));
  }

  bool addSlab(std::vector<char *> &pieces, size_t size) {
    char *slab = map(kSlabBytes);
    if (!slab)
      return false;
    slabs.push_back(slab);
    for (size_t at = 0; at + size <= kSlabBytes; at += size)
      pieces.push_back(slab + at);
    return true;
  }

  std::mutex mutex;
  std::vector<char *> slabs;
  /// Small pieces that nobody has, by their sizes.
  std::map<size_t, std::vector<char *>> spare;
};

} // namespace

std::shared_ptr<MemorySource> createGuardedMemory() {
  return std::make_shared<GuardedMemory>();
}

} // namespace metaops
