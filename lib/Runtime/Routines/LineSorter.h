//===- LineSorter.h - One line in order, or a part of it --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Sort.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_LINESORTER_H
#define METAOPS_LIB_RUNTIME_ROUTINES_LINESORTER_H

#include "MetaOps/Runtime/Routines/VectorSort.h"
#include "SharedSort.h"
#include "SortTask.h"

#include <array>
#include <limits>
#include <optional>

namespace metaops {

/// Scratch memory for an element of a line: two items where there are such,
/// else two keys.
int64_t getWorkBytes(const SortTask &task);

/// Sorts dense lines, in the scratch memory that it is given.
template <typename Bits> class LineSorter {
public:
  /// Writes the places of the order from `place` on. A line is cut into `parts`
  /// for the threads.
  LineSorter(const SortTask &task, int64_t place, char *memory, int64_t parts,
             ThreadPool &threads)
      : task(task), place(place), memory(memory), parts(parts),
        threads(threads), order(task.dtype, task.isReverse,
                                /*isZeroOne=*/task.givesIndices) {}

  /// The elements that are at the places of the task in the order of a line.
  void sort(const Bits *line, Bits *to);
  /// Finds the places of these in the line; and, unless null, the elements.
  void sort(const Bits *line, int64_t *to, Bits *values);

private:
  using Item = uint64_t;
  using Number = uint32_t;

  /// Elements of which the places of the task are a part, as numbers; and
  /// how many come before them. Null where all are to be sorted.
  struct Part {
    const Number *numbers;
    int64_t count;
    int64_t before;
  };
  std::optional<Part> selectPart(const Bits *line);
  KeyRange<Bits> guessRange(const Bits *line);

  bool argsort(const Bits *line, const Part *part, int64_t *to, Bits *values);
  void readValues(const Bits *line, ItemForm<Bits> form, const Item *items,
                  int64_t count, Bits *to);
  void forWanted(int64_t before, int64_t begin, int64_t end,
                 llvm::function_ref<void(int64_t, int64_t)> visit);
  void sortTied(const Bits *line, const Part *part, Item *items, Item *other,
                int64_t count, Item mask);
  void sortTies(const Bits *line, const Part *part, Item *items, Item *other,
                int64_t begin, int64_t end, Item mask);
  void argsortLong(const Bits *line, int64_t *to);
  void argsortBytes(const Bits *line, int64_t *to);

  bool isWhole() const { return task.count == task.extent; }
  template <typename T> T *getMemory(int64_t skipped) {
    return reinterpret_cast<T *>(memory + skipped);
  }
  Bits getKey(const Bits *line, const Part *part, int64_t number) const {
    return order.toKey(line[part ? part->numbers[number] : number]);
  }

  const SortTask &task;
  const int64_t place;
  char *memory;
  int64_t parts;
  ThreadPool &threads;
  KeyOrder<Bits> order;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_LINESORTER_H
