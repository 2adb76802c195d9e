//===- SortTask.h - Sorts of lines as numbers -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SORTTASK_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SORTTASK_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace metaops {

/// A sort of dense lines, as numbers.
struct SortTask {
  DType dtype = DType::F32;
  /// Lines of `extent` elements, `inner` elements apart; `outer * inner` lines.
  int64_t outer = 0, extent = 0, inner = 0;
  /// Of a line's order, so many places are in the results.
  int64_t count = 0;
  /// In falling order.
  bool isReverse = false;
  /// Which results a sort has: the elements, and where they were.
  bool givesValues = false;
  bool givesIndices = false;

  int64_t countElements() const { return outer * extent * inner; }
  int64_t countResults() const { return outer * count * inner; }
};

/// Writes the places of the order from `place` on, from group `begin` of the
/// lines on. Returns the group where it was when it was stopped.
std::optional<int64_t> runSort(const SortTask &task, const void *source,
                               int64_t place, llvm::ArrayRef<void *> results,
                               char *scratch, ThreadPool &threads,
                               StopCheck shouldStop, int64_t begin);
/// Scratch memory that a run takes, in bytes.
int64_t getSortScratch(const SortTask &task);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SORTTASK_H
