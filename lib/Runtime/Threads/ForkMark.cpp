//===- ForkMark.cpp - Telling a forked child from its parent --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Threads/ForkMark.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace metaops;

static size_t pageSize() { return sysconf(_SC_PAGESIZE); }

ForkMark::ForkMark() : owner(getpid()) {
#ifdef MADV_WIPEONFORK
  void *memory = mmap(nullptr, pageSize(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return;
  if (madvise(memory, pageSize(), MADV_WIPEONFORK) != 0) {
    munmap(memory, pageSize());
    return;
  }
  page = static_cast<volatile char *>(memory);
  *page = 1;
#endif
}

ForkMark::~ForkMark() {
  if (page)
    munmap(const_cast<char *>(page), pageSize());
}

bool ForkMark::isChild() const { return page ? *page == 0 : owner != getpid(); }

void ForkMark::renew() {
  owner = getpid();
  if (page)
    *page = 1;
}
