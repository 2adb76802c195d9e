//===- ThreadPlan.h - Dimensions on blocks and threads ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_THREADPLAN_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_THREADPLAN_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"

namespace mlir::metaop {

/// Plan of one dimension.
struct DimPlan {
  /// Blocks have parts of it.
  bool isGrid = false;
  /// The blocks of a cluster that have parts of it, and these parts.
  int64_t cluster = 1;
  int64_t clusterPart = 0;
  int64_t threads = 1;
  /// Pieces of it that a block of the grid has, one after another.
  int64_t run = 1;
  /// Vectors, or elements, that a thread has side by side.
  int64_t copies = 1;
  int64_t lanes = 1;
  /// Threads that have no part of it alone have a loop of their own, in blocks
  /// of `ownBlock` steps that the whole block does one after another, 0 for
  /// one.
  bool isOwnLoop = false;
  int64_t ownBlock = 0;

  int64_t getTile() const { return copies * lanes; }
  /// Returns what all threads together have of it.
  int64_t getSpan() const { return threads * getTile(); }
};

/// Plans of all dimensions of a stage, of which a schedule is made.
struct ThreadPlan {
  explicit ThreadPlan(unsigned numDims) : dims(numDims) {
    for (unsigned dim = 0; dim < numDims; ++dim)
      order.push_back(dim);
  }

  int64_t getNumThreads() const {
    int64_t threads = 1;
    for (const DimPlan &dim : dims)
      threads *= dim.threads;
    return threads;
  }
  /// Makes the dimension the last one: neighbouring threads and blocks are
  /// neighbours along it.
  void moveLast(int64_t dim) {
    llvm::erase(order, dim);
    order.push_back(dim);
  }
  ScheduleFields build() const;

  SmallVector<DimPlan> dims;
  /// Dimensions from outside to inside.
  SmallVector<int64_t> order;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_THREADPLAN_H
