//===- StagedBox.h - Boxes of reads in shared memory ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEDBOX_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEDBOX_H

#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"
#include "MetaOps/Transforms/Schedule/GPU/StagedLayout.h"

namespace mlir::metaop {

/// The part of a read that a block copies to shared memory at a time. What is
/// not known counts as one.
struct StagedBox {
  struct Side {
    unsigned loop;
    int64_t length;
  };

  StagedBox(const GpuStage &each, StagedRead staged);

  int64_t getSize() const;
  int64_t getBytes() const { return multiplyCounts(elements, elementBytes); }
  /// Returns the place in shared memory of the element at these places of the
  /// sides.
  int64_t getPlace(ArrayRef<int64_t> at) const;
  /// The places of the element that is copied as the `number`-th.
  SmallVector<int64_t> getSides(int64_t number) const;

  const StageRead &read;
  /// From the longest step in memory to the shortest one.
  SmallVector<Side> sides;
  StagedLayout layout;
  int64_t elementBytes;
  /// Elements that shared memory has room for.
  int64_t elements;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGEDBOX_H
