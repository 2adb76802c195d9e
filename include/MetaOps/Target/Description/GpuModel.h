//===- GpuModel.h - How fast a GPU is ---------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip decides what code is made; a model is for predictions alone. The H100
// and the H200 have one chip, and so the same code.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_DESCRIPTION_GPUMODEL_H
#define METAOPS_TARGET_DESCRIPTION_GPUMODEL_H

#include "MetaOps/Target/Description/BlockWork.h"
#include "MetaOps/Target/Description/Chip.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// Bytes that a kernel moves.
struct Traffic {
  /// Inputs and results, each once.
  int64_t once = 0;
  /// Inputs that further stages read, counted for each of these stages.
  int64_t again = 0;
  /// The same inputs, each counted once.
  int64_t repeated = 0;
};

/// Time of a call, and what it is spent on: `memory`, `second cache`,
/// `instructions`, `f32`, `f64`, `functions`, `shared memory`, `first
/// cache` or `waiting`.
struct Prediction {
  double seconds;
  llvm::StringLiteral bound;
};

/// A GPU that can be bought.
struct GpuModel {
  llvm::StringLiteral name;
  /// Without the letter of chips that later ones do not run.
  llvm::StringLiteral chip;
  int64_t multiprocessors;
  double gigahertz;
  /// Rates of memory, in 1e9 bytes a second, and of the second cache, in bytes
  /// a cycle.
  double memoryRate;
  double cacheRate;
  int64_t cacheBytes;
  /// Instructions of a multiprocessor in a cycle.
  int64_t singleRate;
  int64_t wideRate;
  int64_t specialRate;

  /// One call takes the largest of the times that memory, or the cache if all
  /// fits there, and each part of a multiprocessor need, and the start of the
  /// kernel. What is read again comes from the cache if that holds what all
  /// blocks read that a multiprocessor each has `residentBlocks` of. The
  /// multiprocessor that has the most blocks decides; it is also as long at
  /// work as the blocks that it has one after another need alone.
  Prediction predict(const Traffic &traffic, const BlockWork &work,
                     int64_t blocks, int64_t residentBlocks) const;

  static llvm::ArrayRef<GpuModel> getAll();
  /// Those that have a chip.
  static llvm::SmallVector<const GpuModel *> find(const Chip &chip);
};

} // namespace mlir::metaop

#endif // METAOPS_TARGET_DESCRIPTION_GPUMODEL_H
