//===- Sort.cpp - Sorted lines, and where their elements come from --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If nobody asks for indices, the keys of a line are written and sorted, and
// elements made of them again. Else items are sorted: a key and the element's
// number below it, in 64 bits. All items differ, so the sort is stable whatever
// it does. Keys are counted from the least one; those that still leave too few
// bits for the numbers lose their lowest, and items that are one without these
// are sorted once more, by them. Values are then made of the items, or gathered
// by the indices where something is lost.
//
// If only a part of the order is wanted, keys of a sample say between which two
// keys it is, and only elements between these are sorted; see selectPart.
//
// Lines that are not dense are copied, as many at once as elements are in a
// line of the cache. Groups of lines are shared among threads, each with
// scratch memory of its own; see SharedSort.h for a single long line. A sort
// that is stopped has sorted the first groups; within a line it goes on to its
// end.
//
//===----------------------------------------------------------------------===//

#include "LineSorter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Scratch memory is there for so many groups of lines.
static constexpr int64_t kMaxGroups = 64;
static constexpr int64_t kCacheLine = 64;

//===----------------------------------------------------------------------===//
// Groups of lines
//===----------------------------------------------------------------------===//

namespace {
/// Groups of lines that threads share, and the memory that they take.
struct LineGroups {
  explicit LineGroups(const SortTask &task);

  /// Lines beside each other that are copied at once; 1 where they are dense.
  int64_t tile = 1;
  /// Of all lines.
  int64_t tiles = 0;
  int64_t groups = 0;
  /// Bytes of a group: of the work on one line, of copied lines, of their
  /// indices and of their values.
  int64_t workBytes = 0, copiedBytes = 0, indexBytes = 0, valueBytes = 0;

  int64_t getBytes() const {
    return workBytes + copiedBytes + indexBytes + valueBytes;
  }
};
} // namespace

LineGroups::LineGroups(const SortTask &task) {
  int64_t size = sizeOf(task.dtype);
  auto align = [](int64_t bytes) {
    return static_cast<int64_t>(llvm::alignTo(bytes, kCacheLine));
  };
  if (task.inner > 1) {
    tile = std::min(kCacheLine / size, task.inner);
    copiedBytes = align(tile * task.extent * size);
    if (task.givesIndices)
      indexBytes = align(tile * task.count * sizeof(int64_t));
    if (task.givesValues)
      valueBytes = align(tile * task.count * size);
  }
  tiles = task.outer * llvm::divideCeil(task.inner, tile);
  groups = std::min(tiles, kMaxGroups);
  workBytes = align(task.extent) * getWorkBytes(task);
}

int64_t metaops::getSortScratch(const SortTask &task) {
  LineGroups groups(task);
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

namespace {
/// Places of the results of lines; null where they are not asked for.
template <typename Bits> struct Results {
  Bits *values;
  int64_t *indices;

  Results at(int64_t place) const {
    return {values ? values + place : nullptr,
            indices ? indices + place : nullptr};
  }
};
} // namespace

template <typename Bits>
static void sortLine(LineSorter<Bits> &sorter, const Bits *line,
                     Results<Bits> to) {
  if (to.indices)
    sorter.sort(line, to.indices, to.values);
  else
    sorter.sort(line, to.values);
}

template <typename Bits>
static std::optional<int64_t> runLines(const SortTask &task, const Bits *from,
                                       int64_t place, Results<Bits> to,
                                       char *scratch, ThreadPool &threads,
                                       StopCheck shouldStop, int64_t done) {
  LineGroups layout(task);
  int64_t inner = task.inner, extent = task.extent, count = task.count;
  int64_t tilesPerLine = llvm::divideCeil(inner, layout.tile);
  auto runTile = [&](int64_t number, char *memory, int64_t parts) {
    LineSorter<Bits> sorter(task, place, memory, parts, threads);
    int64_t outer = number / tilesPerLine;
    int64_t first = number % tilesPerLine * layout.tile;
    const Bits *source = from + outer * extent * inner + first;
    Results<Bits> results = to.at(outer * count * inner + first);
    if (inner == 1)
      return sortLine(sorter, source, results);
    int64_t width = std::min(layout.tile, inner - first);
    auto *lines = reinterpret_cast<Bits *>(memory + layout.workBytes);
    char *indices = memory + layout.workBytes + layout.copiedBytes;
    char *values = indices + layout.indexBytes;
    Results<Bits> sorted = {
        to.values ? reinterpret_cast<Bits *>(values) : nullptr,
        to.indices ? reinterpret_cast<int64_t *>(indices) : nullptr};
    copyColumns(source, inner, width, extent, lines);
    for (int64_t k = 0; k < width; ++k)
      sortLine(sorter, lines + k * extent, sorted.at(k * count));
    if (sorted.values)
      copyLines(sorted.values, width, count, results.values, inner);
    if (sorted.indices)
      copyLines(sorted.indices, width, count, results.indices, inner);
  };
  // A loop inside of another one has a single thread.
  int64_t parts =
      sizeof(Bits) == 1 ? 1 : countParts(extent, threads.getThreads());
  if (layout.tiles < parts) {
    // So each is a group.
    for (int64_t tile = done; tile < layout.tiles; ++tile) {
      if (shouldStop && shouldStop())
        return tile;
      runTile(tile, scratch, parts);
    }
    return std::nullopt;
  }
  int64_t tilesPerGroup = llvm::divideCeil(layout.tiles, layout.groups);
  int64_t grain =
      llvm::divideCeil(kKeysPerThread, tilesPerGroup * layout.tile * extent);
  auto runGroups = [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      for (int64_t tile = group * tilesPerGroup;
           tile < std::min((group + 1) * tilesPerGroup, layout.tiles); ++tile)
        runTile(tile, scratch + group * layout.getBytes(), 1);
  };
  return threads.parallelFor(layout.groups, grain, runGroups,
                             {shouldStop, /*range=*/1, done});
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Calls `visit` with an integer of the size of `dtype`.
template <typename VisitT> static auto dispatch(DType dtype, VisitT visit) {
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

std::optional<int64_t> metaops::runSort(const SortTask &task,
                                        const void *source, int64_t place,
                                        llvm::ArrayRef<void *> results,
                                        char *scratch, ThreadPool &threads,
                                        StopCheck shouldStop, int64_t begin) {
  return dispatch(task.dtype, [&](auto bits) {
    using Bits = decltype(bits);
    Results<Bits> to = {nullptr, nullptr};
    if (task.givesValues)
      to.values = static_cast<Bits *>(results.front());
    if (task.givesIndices)
      to.indices = static_cast<int64_t *>(results.back());
    return runLines(task, static_cast<const Bits *>(source), place, to, scratch,
                    threads, shouldStop, begin);
  });
}
