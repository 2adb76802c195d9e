//===- GpuResources.h - What a block takes of a GPU -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_GPURESOURCES_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_GPURESOURCES_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"

namespace mlir::metaop {

/// The elements that a block's memory has room for where a result needs so
/// many: lengths that are near to each other have the same code.
int64_t roundLocalSize(int64_t elements, int64_t elementBytes);

/// Resources of a multiprocessor that a block takes, about: before code is made
/// of it.
struct GpuResources {
  int64_t threads = 1;
  /// Shared memory: staged reads, results that live there, and what warps
  /// exchange of sums.
  int64_t sharedBytes = 0;
  /// Of a thread.
  int64_t registers = 0;

  static GpuResources estimate(ArrayRef<GpuStage> stages,
                               FindSourceFn find = findSourceInKernel);
  /// Blocks that a multiprocessor holds at a time.
  int64_t countBlocks(const Chip &chip) const;
  /// The part of the threads of a multiprocessor that these blocks have.
  double getOccupancy(const Chip &chip) const;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_GPURESOURCES_H
