//===- CallSteps.h - Calls that run side by side ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_CALLSTEPS_H
#define METAOPS_LIB_RUNTIME_CPU_CALLSTEPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// Bytes of a program's memory: of an argument, of a result, or of the arena.
struct MemoryRange {
  /// Ranges of different objects do not overlap.
  int64_t object;
  int64_t begin, end;
  /// Bytes of a row, and from one row to the next, where rows are apart.
  int64_t row = 0, pitch = 0;
};

/// Facts that decide with which calls a call may run.
struct CallFacts {
  llvm::SmallVector<MemoryRange, 4> reads;
  llvm::SmallVector<MemoryRange, 2> writes;
  /// Predicted picoseconds.
  int64_t work = 0;
  /// Its own loop is shared among threads.
  bool isSplit = false;
};

/// One call, or several that run side by side, each on one thread.
using CallStep = llvm::SmallVector<unsigned, 1>;

/// Puts the calls of a program into steps that run one after another. Each call
/// finds in memory what it would find if the calls ran in their order.
std::vector<CallStep> planSteps(llvm::ArrayRef<CallFacts> calls);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_CALLSTEPS_H
