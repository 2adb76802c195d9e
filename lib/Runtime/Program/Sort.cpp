//===- Sort.cpp - Sorted lines, and where their elements come from --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where nobody asks for indices, the keys of a line are written and sorted, and
// elements made of them again. Else items are sorted: a key and the element's
// number below it, in 64 bits. All items differ, so the sort is stable whatever
// it does. Keys are counted from the least one; those that still leave too few
// bits for the numbers lose their lowest, and items that are one without these
// are sorted once more, by them. Values are then gathered by the indices.
//
// Where only a part of the order is wanted, keys of a sample say between which
// two keys it is, and only elements between these are sorted; see selectPart.
//
// Lines that are not dense are copied, as many at once as elements are in a
// line of the cache. Groups of lines are shared among threads, each with
// scratch memory of its own; see SharedSort.h for a single long line.
//
//===----------------------------------------------------------------------===//

#include "LineSorter.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;

/// Scratch memory is there for so many groups of lines.
static constexpr int64_t kMaxGroups = 64;
static constexpr int64_t kCacheLine = 64;
/// So many elements are gathered at once.
static constexpr int64_t kGatherGrain = int64_t(1) << 13;

//===----------------------------------------------------------------------===//
// Groups of lines
//===----------------------------------------------------------------------===//

namespace {
/// How a routine's lines are shared, and what memory that takes.
struct LineGroups {
  explicit LineGroups(const Routine &routine);

  /// Lines beside each other that are copied at once; 1 where they are dense.
  int64_t tile = 1;
  /// Of all lines.
  int64_t tiles = 0;
  int64_t groups = 0;
  /// Bytes of a group's copied lines, of their results, and of the work on one.
  int64_t copiedBytes = 0, resultBytes = 0, workBytes = 0;

  int64_t getBytes() const { return copiedBytes + resultBytes + workBytes; }
};
} // namespace

LineGroups::LineGroups(const Routine &routine) {
  int64_t size = sizeOf(routine.dtype);
  auto align = [](int64_t bytes) {
    return static_cast<int64_t>(llvm::alignTo(bytes, kCacheLine));
  };
  if (routine.inner > 1) {
    tile = std::min(kCacheLine / size, routine.inner);
    copiedBytes = align(tile * routine.extent * size);
    resultBytes =
        align(tile * routine.count * (routine.givesIndices ? 8 : size));
  }
  tiles = routine.outer * llvm::divideCeil(routine.inner, tile);
  groups = std::min(tiles, kMaxGroups);
  workBytes = align(routine.extent) * getWorkBytes(routine);
}

int64_t metaops::getSortScratch(const Routine &routine) {
  LineGroups groups(routine);
  return groups.groups * groups.getBytes();
}

/// Copies `width` columns of elements into lines, or back.
template <typename T>
static void copyColumns(const T *from, int64_t pitch, int64_t width,
                        int64_t count, T *lines) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < width; ++k)
      lines[k * count + i] = from[i * pitch + k];
}
template <typename T>
static void copyLines(const T *lines, int64_t width, int64_t count, T *to,
                      int64_t pitch) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < width; ++k)
      to[i * pitch + k] = lines[k * count + i];
}

template <typename Bits, typename Result>
static void runLines(const Routine &routine, const Bits *from, Result *to,
                     char *scratch, ThreadPool &threads) {
  LineGroups layout(routine);
  int64_t inner = routine.inner, extent = routine.extent;
  int64_t tilesPerLine = llvm::divideCeil(inner, layout.tile);
  auto runTile = [&](int64_t number, char *memory, int64_t parts) {
    LineSorter<Bits> sorter(routine, memory, parts, threads);
    int64_t outer = number / tilesPerLine;
    int64_t first = number % tilesPerLine * layout.tile;
    const Bits *source = from + outer * extent * inner + first;
    Result *result = to + outer * routine.count * inner + first;
    if (inner == 1)
      return sorter.sort(source, result);
    int64_t width = std::min(layout.tile, inner - first);
    auto *lines = reinterpret_cast<Bits *>(memory + layout.workBytes);
    auto *results = reinterpret_cast<Result *>(memory + layout.workBytes +
                                               layout.copiedBytes);
    copyColumns(source, inner, width, extent, lines);
    for (int64_t k = 0; k < width; ++k)
      sorter.sort(lines + k * extent, results + k * routine.count);
    copyLines(results, width, routine.count, result, inner);
  };
  // A loop inside of another one has a single thread.
  int64_t parts =
      sizeof(Bits) == 1 ? 1 : countParts(extent, threads.getThreads());
  if (layout.tiles < parts) {
    for (int64_t tile = 0; tile < layout.tiles; ++tile)
      runTile(tile, scratch, parts);
    return;
  }
  int64_t tilesPerGroup = llvm::divideCeil(layout.tiles, layout.groups);
  int64_t grain =
      llvm::divideCeil(kKeysPerThread, tilesPerGroup * layout.tile * extent);
  threads.parallelFor(layout.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      for (int64_t tile = group * tilesPerGroup;
           tile < std::min((group + 1) * tilesPerGroup, layout.tiles); ++tile)
        runTile(tile, scratch + group * layout.getBytes(), 1);
  });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Calls `visit` with an integer of the size of `dtype`.
template <typename VisitT> static void dispatch(DType dtype, VisitT visit) {
  switch (sizeOf(dtype)) {
  case 1:
    return visit(uint8_t());
  case 2:
    return visit(uint16_t());
  case 4:
    return visit(uint32_t());
  case 8:
    return visit(uint64_t());
  }
  llvm_unreachable("all sizes are handled");
}

/// The elements that the indices of a routine's order tell.
template <typename Bits>
static void gatherValues(const Routine &routine, const Bits *from,
                         const int64_t *indices, Bits *to,
                         ThreadPool &threads) {
  int64_t inner = routine.inner, count = routine.count;
  threads.parallelFor(
      routine.outer * count, llvm::divideCeil(kGatherGrain, inner),
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end;) {
          int64_t outer = row / count;
          const Bits *lines = from + outer * routine.extent * inner;
          for (int64_t last = std::min(end, (outer + 1) * count); row < last;
               ++row)
            for (int64_t i = 0, place = row * inner; i < inner; ++i, ++place)
              to[place] = lines[indices[place] * inner + i];
        }
      });
}

void metaops::runSort(const Routine &routine, const void *source,
                      llvm::ArrayRef<void *> results, char *scratch,
                      ThreadPool &threads) {
  dispatch(routine.dtype, [&](auto bits) {
    using Bits = decltype(bits);
    auto *from = static_cast<const Bits *>(source);
    auto *values = static_cast<Bits *>(results.front());
    if (!routine.givesIndices)
      return runLines(routine, from, values, scratch, threads);
    auto *indices = static_cast<int64_t *>(results.back());
    runLines(routine, from, indices, scratch, threads);
    if (routine.givesValues)
      gatherValues(routine, from, indices, values, threads);
  });
}
