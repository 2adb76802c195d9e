//===- BlockWork.h - Work of a GPU's block ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_BLOCKWORK_H
#define METAOPS_TARGET_DESCRIPTION_BLOCKWORK_H

namespace mlir::metaop {

/// Work of a block by the schedules of a kernel, in the mean of the grid's
/// blocks. What is behind the end of a dimension is done as well.
struct BlockWork {
  /// Instructions of warps, each of which takes a slot of a scheduler; among
  /// them, those of three units: arithmetic of f32 and integers; of f64;
  /// reciprocals, roots, and powers and logarithms of two.
  double slots = 0;
  double single = 0, wide = 0, special = 0;
  /// Passes through the banks of shared memory, and through the first cache.
  double passes = 0;
  double lines = 0;
  /// Cycles that a thread waits, one time after another, for what it has asked
  /// of memory, or for other threads.
  double waits = 0;
};

} // namespace mlir::metaop

#endif // METAOPS_TARGET_DESCRIPTION_BLOCKWORK_H
