//===- Copy.cpp - Tensors copied into windows of others -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is rows of contiguous bytes: the innermost dimensions that fill their
// room, and the one outside of them. The outer dimensions number the rows. Rows
// are cut, or taken together, into blocks of about one size; the blocks of all
// copies are one range, which threads share. So many small tensors and few
// large ones are shared alike.
//
// A store to a line that is in no cache reads the line first. Copies that are
// larger than the caches go past them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Copy.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace metaops;

/// Bytes of a block: more than what a block costs, less than a thread's share
/// of what is worth sharing.
static constexpr int64_t kBlockBytes = int64_t(1) << 16;
/// So much is worth a thread of its own.
static constexpr int64_t kBytesPerThread = int64_t(1) << 17;
/// Bytes above which copied memory is in no cache when it is read again.
static constexpr int64_t kStreamedBytes = int64_t(1) << 25;
/// A copy asks whether it is to stop after so many blocks, 16 MB: some
/// milliseconds.
static constexpr int64_t kBlocksBetweenChecks = 256;

namespace {
/// A dimension that numbers rows: its extent, and the bytes from one index to
/// the next.
struct RowLoop {
  int64_t extent, from, to;
};

/// A copy of one run.
struct Rows {
  const char *from;
  char *to;
  /// Bytes of a row.
  int64_t bytes;
  int64_t count = 1;
  /// Outermost first.
  llvm::SmallVector<RowLoop, 2> loops;
  /// The number of the first of its blocks.
  int64_t firstBlock = 0;
  /// One of these is 1.
  int64_t blocksPerRow = 1, rowsPerBlock = 1;
};

/// The part of a dimension that lies in the room: its first index in the
/// tensor, its place in the room, its extent.
struct Clipped {
  int64_t first, start, extent;
};
} // namespace

static Clipped clip(const CopyDim &dim, llvm::ArrayRef<void *> buffers) {
  if (dim.startBuffer < 0)
    return {0, dim.start, dim.extent};
  int64_t number;
  std::memcpy(&number, buffers[dim.startBuffer], sizeof(number));
  int64_t start;
  // A sum beyond 64 bits lies outside whatever it is.
  if (llvm::AddOverflow(dim.start, number, start) || start >= dim.room ||
      start <= -dim.extent)
    return {0, 0, 0};
  int64_t first = std::max<int64_t>(-start, 0);
  return {first, start + first,
          std::min(dim.extent - first, dim.room - start - first)};
}

/// The rows of a copy; none where nothing lies in the window.
static bool findRows(const Copy &copy, llvm::ArrayRef<void *> buffers,
                     void *dest, Rows &rows) {
  rows.bytes = copy.elementBytes;
  int64_t from = copy.elementBytes, to = copy.elementBytes;
  int64_t firstFrom = 0, firstTo = 0;
  bool isContiguous = true;
  for (size_t k = copy.dims.size(); k-- > 0;) {
    const CopyDim &dim = copy.dims[k];
    Clipped part = clip(dim, buffers);
    if (part.extent == 0)
      return false;
    firstFrom += part.first * from;
    firstTo += part.start * to;
    if (isContiguous)
      rows.bytes *= part.extent;
    else if (part.extent > 1)
      rows.loops.push_back({part.extent, from, to});
    isContiguous &= part.extent == dim.extent && part.extent == dim.room;
    from *= dim.extent;
    to *= dim.room;
  }
  // Only now: where nothing is copied, there may be no memory.
  rows.from = static_cast<const char *>(buffers[copy.source]) + firstFrom;
  rows.to = static_cast<char *>(dest) + firstTo;
  std::reverse(rows.loops.begin(), rows.loops.end());
  for (const RowLoop &loop : rows.loops)
    rows.count *= loop.extent;
  if (rows.bytes >= kBlockBytes)
    rows.blocksPerRow = llvm::divideCeil(rows.bytes, kBlockBytes);
  else
    rows.rowsPerBlock = std::min(kBlockBytes / rows.bytes, rows.count);
  return true;
}

static int64_t countBlocks(const Rows &rows) {
  return rows.blocksPerRow * llvm::divideCeil(rows.count, rows.rowsPerBlock);
}

/// Copies bytes past the caches.
static void stream(char *to, const char *from, int64_t bytes) {
#ifdef __SSE2__
  constexpr int64_t lane = sizeof(__m128i);
  int64_t head = -reinterpret_cast<uintptr_t>(to) & (lane - 1);
  head = std::min(head, bytes);
  std::memcpy(to, from, head);
  int64_t at = head;
  for (; at + lane <= bytes; at += lane)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(to + at),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at)));
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Makes streamed stores visible to other threads.
static void endStream() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Calls `copyRow(to, from)` for rows first <= row < end.
template <typename CopyRow>
static void forEachRow(const Rows &rows, int64_t first, int64_t end,
                       CopyRow copyRow) {
  for (int64_t row = first; row < end;) {
    const char *from = rows.from;
    char *to = rows.to;
    int64_t left = row, next = end - row;
    for (size_t k = rows.loops.size(); k-- > 0;) {
      const RowLoop &loop = rows.loops[k];
      int64_t index = left % loop.extent;
      left /= loop.extent;
      from += index * loop.from;
      to += index * loop.to;
      // The innermost loop goes on from here.
      if (k + 1 == rows.loops.size())
        next = std::min(next, loop.extent - index);
    }
    RowLoop inner = rows.loops.empty() ? RowLoop{1, 0, 0} : rows.loops.back();
    for (int64_t i = 0; i < next; ++i)
      copyRow(to + i * inner.to, from + i * inner.from);
    row += next;
  }
}

/// Rows of a few bytes, whose size the compiler knows.
template <int64_t Bytes>
static void copyShortRows(const Rows &rows, int64_t first, int64_t end) {
  forEachRow(rows, first, end,
             [](char *to, const char *from) { std::memcpy(to, from, Bytes); });
}

static void copyBlock(const Rows &rows, int64_t block, bool isStreamed) {
  int64_t row = block / rows.blocksPerRow * rows.rowsPerBlock;
  int64_t end = std::min(row + rows.rowsPerBlock, rows.count);
  switch (rows.bytes) {
  case 1:
    return copyShortRows<1>(rows, row, end);
  case 2:
    return copyShortRows<2>(rows, row, end);
  case 4:
    return copyShortRows<4>(rows, row, end);
  case 8:
    return copyShortRows<8>(rows, row, end);
  case 16:
    return copyShortRows<16>(rows, row, end);
  default:
    break;
  }
  int64_t begin = block % rows.blocksPerRow * kBlockBytes;
  int64_t bytes = rows.blocksPerRow > 1
                      ? std::min(kBlockBytes, rows.bytes - begin)
                      : rows.bytes;
  forEachRow(rows, row, end, [&](char *to, const char *from) {
    if (isStreamed)
      stream(to + begin, from + begin, bytes);
    else
      std::memcpy(to + begin, from + begin, bytes);
  });
}

int64_t metaops::getMaxCopyThreads(int64_t bytes) {
  return std::max<int64_t>(bytes / kBytesPerThread, 1);
}

std::optional<int64_t> metaops::copyBytes(void *to, const void *from,
                                          int64_t bytes, ThreadPool &threads,
                                          StopCheck shouldStop, int64_t begin) {
  return threads.parallelFor(
      llvm::divideCeil(bytes, kBlockBytes), kBytesPerThread / kBlockBytes,
      [&](int64_t first, int64_t end) {
        int64_t place = first * kBlockBytes;
        std::memcpy(static_cast<char *>(to) + place,
                    static_cast<const char *>(from) + place,
                    std::min(end * kBlockBytes, bytes) - place);
      },
      {shouldStop, kBlocksBetweenChecks, begin});
}

std::optional<int64_t> metaops::runCopies(llvm::ArrayRef<Copy> copies,
                                          llvm::ArrayRef<void *> buffers,
                                          void *dest, ThreadPool &threads,
                                          StopCheck shouldStop, int64_t begin) {
  std::vector<Rows> all;
  all.reserve(copies.size());
  int64_t blocks = 0, bytes = 0;
  for (const Copy &copy : copies) {
    Rows &rows = all.emplace_back();
    if (!findRows(copy, buffers, dest, rows)) {
      all.pop_back();
      continue;
    }
    rows.firstBlock = blocks;
    blocks += countBlocks(rows);
    bytes += rows.bytes * rows.count;
  }
  if (blocks == 0)
    return std::nullopt;
  bool isStreamed = bytes >= kStreamedBytes;
  int64_t grain =
      llvm::divideCeil(kBytesPerThread, std::max<int64_t>(bytes / blocks, 1));
  auto copyBlocks = [&](int64_t first, int64_t end) {
    auto rows = std::prev(
        llvm::upper_bound(all, first, [](int64_t block, const Rows &r) {
          return block < r.firstBlock;
        }));
    for (int64_t block = first; block < end; ++block) {
      while (std::next(rows) != all.end() &&
             std::next(rows)->firstBlock <= block)
        ++rows;
      copyBlock(*rows, block - rows->firstBlock, isStreamed);
    }
    if (isStreamed)
      endStream();
  };
  return threads.parallelFor(blocks, grain, copyBlocks,
                             {shouldStop, kBlocksBetweenChecks, begin});
}
