//===- Shadow.h - Who accessed memory last ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_SHADOW_H
#define METAOPS_LIB_RUNTIME_EMULATOR_SHADOW_H

#include "Clocks.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace metaops::emulator {

/// An access by lanes of a warp at one time of their clocks.
struct Epoch {
  /// The clock of what an asynchronous copy is still to write: nobody knows of
  /// it.
  static constexpr uint32_t pending = ~uint32_t(0);

  /// By its number in the launch.
  uint32_t warp = 0;
  uint32_t lanes = 0;
  /// 0 where there was no access.
  uint32_t clock = 0;
  uint32_t site = 0;

  bool exists() const { return clock != 0; }
};

/// The last accesses of a piece of memory, as large as the smallest access of
/// the kernel.
struct Cell {
  /// The last write that is not atomic.
  Epoch write;
  /// The epoch of what has read it since, or written it atomically, of the
  /// cluster that did so last: one warp, or a set of several epochs whose
  /// number is the clock.
  Epoch others;
  /// The number of a set with one reader and one who wrote it atomically of all
  /// other clusters; 0 where there are none.
  uint32_t foreign = 0;

  bool isTouched() const { return write.clock | others.clock | foreign; }
  bool hasSet() const { return others.clock && others.lanes == 0; }
};

/// The epochs of cells that have several.
class EpochSets {
public:
  using Set = llvm::SmallVector<Epoch, 4>;

  uint32_t allocate();
  void release(uint32_t number) { unused.push_back(number); }
  Set &operator[](uint32_t number) { return *sets[number - 1]; }

private:
  std::vector<std::unique_ptr<Set>> sets;
  std::vector<uint32_t> unused;
};

/// The cells of a range of memory, made when they are first used.
class Shadow {
public:
  static constexpr unsigned pageCells = 1024;

  void resize(uint64_t bytes, unsigned granule) {
    this->granule = granule;
    pages.clear();
    pages.resize((bytes / granule + pageCells) / pageCells);
  }
  unsigned getGranule() const { return granule; }
  /// The cell of a granule.
  Cell &operator[](uint64_t number) {
    std::unique_ptr<Cell[]> &page = pages[number / pageCells];
    if (!page)
      page = std::make_unique<Cell[]>(pageCells);
    return page[number % pageCells];
  }

  EpochSets sets;

private:
  unsigned granule = 1;
  std::vector<std::unique_ptr<Cell[]>> pages;
};

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_SHADOW_H
