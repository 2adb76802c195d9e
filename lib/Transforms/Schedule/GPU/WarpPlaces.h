//===- WarpPlaces.h - Places that a warp accesses ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_WARPPLACES_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_WARPPLACES_H

#include "MetaOps/Transforms/Schedule/GPU/ThreadLevels.h"

namespace mlir::metaop {

/// An access of a warp's threads at a time.
struct WarpRequest {
  /// Bytes that the first cache gives at a time.
  static constexpr int64_t kFirstLineBytes = 128;

  /// The place of each thread's, in bytes.
  SmallVector<int64_t, 32> addresses;
  /// The size of each thread's.
  int64_t bytes = 4;

  /// Passes through the banks of shared memory: in each of them, a bank gives
  /// one word to all that ask for it.
  int64_t countPasses() const;
  /// Passes through the first cache: in each of them it gives one line.
  int64_t countLines() const;
};

/// The first warp of a block in the first iteration of a stage's loops.
class WarpPlaces {
public:
  /// An element number, given the iteration.
  using PlaceFn = llvm::function_ref<int64_t(ArrayRef<int64_t> positions)>;

  explicit WarpPlaces(const ThreadLevels &levels);

  /// Returns the value of an expression in an iteration. Numbers that are known
  /// only at run time are taken to be of some size.
  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> positions) const;
  /// An access of so many bytes, at places in elements.
  WarpRequest request(PlaceFn getPlace, int64_t elementBytes,
                      int64_t bytes) const;

private:
  int64_t evaluateSymbol(unsigned symbol, ArrayRef<int64_t> positions) const;

  const Stage &stage;
  /// Of each thread, the iteration.
  SmallVector<SmallVector<int64_t>, 32> threads;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_WARPPLACES_H
