//===- GuardedMemory.cpp - Memory of an emulated GPU ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pages before and behind each piece cannot be read or written, so that
// nothing of the process takes them for its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"

#include <cstring>
#include <sys/mman.h>

namespace metaops {
namespace {

class GuardedMemory : public MemorySource {
public:
  void *take(size_t bytes) override {
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

  void giveBack(void *memory, size_t bytes) override {
    size_t page = llvm::sys::Process::getPageSizeEstimate();
    munmap(static_cast<char *>(memory) - page, getLength(bytes, page));
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
  static size_t getLength(size_t bytes, size_t page) {
    return llvm::alignTo(bytes, page) + 2 * page;
  }
};

} // namespace

std::shared_ptr<MemorySource> createGuardedMemory() {
  return std::make_shared<GuardedMemory>();
}

} // namespace metaops
