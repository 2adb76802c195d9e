//===- HostMemory.cpp - Memory of the host's processors -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers of many megabytes are read a fifth faster in pages of 2 MB than of
// 4 KB, so these are asked for where whole ones fit. It is a wish only: errors
// are no matter.
//
// Such a buffer starts at a page, because others do so, or shortly behind it
// (foreign ones at 16 bytes): a load waits for earlier stores that are not yet
// done if it equals one in the low 12 bits of the address, and a kernel that
// reads a little behind the place where it writes would meet its last store.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/MemorySource.h"

#include "llvm/Support/MathExtras.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace metaops;

namespace {
class HostMemory : public MemorySource {
public:
  void *take(size_t bytes) override {
    constexpr size_t hugePage = size_t(2) << 20, page = 4096;
    if (bytes < 2 * hugePage)
      return std::aligned_alloc(64, bytes);
    void *memory = std::aligned_alloc(page, bytes);
    if (!memory)
      return memory;
    auto address = reinterpret_cast<uintptr_t>(memory);
    uintptr_t begin = llvm::alignTo(address, hugePage);
    uintptr_t end = (address + bytes) & ~uintptr_t(hugePage - 1);
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
    return memory;
  }

  void giveBack(void *memory, size_t) override { std::free(memory); }

  bool isHost() const override { return true; }

  void upload(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }

  void download(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }

  void copy(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
};
} // namespace

std::shared_ptr<MemorySource> metaops::createHostMemory() {
  return std::make_shared<HostMemory>();
}
