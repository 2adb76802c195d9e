//===- Arena.h - Places in shared memory ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_MEMORYPLAN_ARENA_H
#define METAOPS_LIB_TRANSFORMS_MEMORYPLAN_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::metaop {

/// Larger programs are refused, so that sums of sizes do not overflow.
constexpr int64_t kMaxArenaBytes = int64_t(1) << 60;

/// Memory that is needed from one call to another, both included.
struct ArenaValue {
  int64_t bytes;
  int64_t begin;
  int64_t end;
};

struct ArenaPlan {
  /// The first byte of each value.
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The most that lives at a time; no arena is smaller.
int64_t getMostLiveBytes(llvm::ArrayRef<ArenaValue> values);

/// Places the values so that those which live at the same time do not overlap.
/// Nothing where that takes more than `kMaxArenaBytes`.
std::optional<ArenaPlan> packArena(llvm::ArrayRef<ArenaValue> values);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_MEMORYPLAN_ARENA_H
