//===- roof.cpp - What the machine can move at best -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads so many bytes and writes so many, doing nothing with them: no kernel
// that has to do the same can be faster. In pages, so that reads and writes
// alternate as in a kernel; of whole vectors, aligned, with ordinary stores or
// with ones past the caches; on one thread or on several. kernels.py calls it
// beside each row, by roof.py.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Threads/ThreadPool.h"

#include <cstdint>

using Line = uint64_t __attribute__((vector_size(64)));

static constexpr int64_t kPage = 4096;
static constexpr int64_t kLine = sizeof(Line);
/// Pages that are worth a thread: some microseconds.
static constexpr int64_t kGrain = 32;

/// Where part `i` of `n` parts of so many lines begins.
static int64_t beginOf(int64_t i, int64_t n, int64_t lines) {
  return static_cast<int64_t>(static_cast<__int128>(lines) * i / n);
}

/// What has been read, so that reading is not taken for dead code.
static volatile uint64_t sink;

template <bool IsStreamed>
static void movePages(const Line *source, int64_t linesRead, Line *target,
                      int64_t linesWritten, int64_t begin, int64_t end,
                      int64_t pages) {
  Line total = {};
  for (int64_t page = begin; page < end; ++page) {
    const Line *lastRead = source + beginOf(page + 1, pages, linesRead);
    for (const Line *at = source + beginOf(page, pages, linesRead);
         at < lastRead; ++at)
      total ^= *at;
    Line *lastWritten = target + beginOf(page + 1, pages, linesWritten);
    for (Line *at = target + beginOf(page, pages, linesWritten);
         at < lastWritten; ++at)
      if (IsStreamed)
        __builtin_nontemporal_store(total, at);
      else
        *at = total;
  }
  if (IsStreamed)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  sink = total[0];
}

extern "C" {

void *metaopsMakePool(unsigned threads) {
  return new metaops::ThreadPool(threads);
}

/// Buffers begin at lines; of their bytes, whole lines are read and written.
void metaopsMove(void *pool, const void *source, int64_t bytesRead,
                 void *target, int64_t bytesWritten, bool isStreamed) {
  int64_t linesRead = bytesRead / kLine, linesWritten = bytesWritten / kLine;
  int64_t most = linesRead > linesWritten ? linesRead : linesWritten;
  int64_t pages = (most * kLine + kPage - 1) / kPage;
  auto move = isStreamed ? movePages<true> : movePages<false>;
  static_cast<metaops::ThreadPool *>(pool)->parallelFor(
      pages, kGrain, [&](int64_t begin, int64_t end) {
        move(static_cast<const Line *>(source), linesRead,
             static_cast<Line *>(target), linesWritten, begin, end, pages);
      });
}
}
