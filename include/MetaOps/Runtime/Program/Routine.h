//===- Routine.h - Sorts of tensors in memory -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_ROUTINE_H
#define METAOPS_RUNTIME_PROGRAM_ROUTINE_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace metaops {

/// What a call of a routine does, as numbers.
struct Routine {
  enum class Kind { None, Sort };

  Kind kind = Kind::None;
  DType dtype = DType::F32;
  /// Lines of `extent` elements, `inner` elements apart; `outer * inner` lines.
  int64_t outer = 0, extent = 0, inner = 0;
  /// Of a line's order, so many places are in the results.
  int64_t count = 0;
  /// The first of them is an input of the step, a 64-bit integer; else it is 0.
  bool hasBegin = false;
  /// In falling order.
  bool isReverse = false;
  /// Which results a sort has: the elements, and where they were.
  bool givesValues = false;
  bool givesIndices = false;

  int64_t countElements() const { return outer * extent * inner; }
  int64_t countResults() const { return outer * count * inner; }
  unsigned getNumResults() const { return givesValues + givesIndices; }
  /// Predicted picoseconds on one thread.
  int64_t getWork() const;
  /// How many threads there is work for.
  int64_t getMaxThreads() const;
  bool isValid() const;

  /// Scratch memory that a run takes, in bytes; it is aligned to 64.
  int64_t getScratchBytes() const;
  /// Reads the inputs of the op and writes those of its results that are used.
  /// Returns where it was when it was stopped, for `begin` another time.
  std::optional<int64_t> run(llvm::ArrayRef<void *> inputs,
                             llvm::ArrayRef<void *> results, char *scratch,
                             ThreadPool &threads,
                             StopCheck shouldStop = nullptr,
                             int64_t begin = 0) const;
};

/// The kinds of routines; see Sort.cpp.
/// Writes the places of the order from `place` on.
std::optional<int64_t> runSort(const Routine &routine, const void *source,
                               int64_t place, llvm::ArrayRef<void *> results,
                               char *scratch, ThreadPool &threads,
                               StopCheck shouldStop, int64_t begin);
int64_t getSortScratch(const Routine &routine);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_ROUTINE_H
