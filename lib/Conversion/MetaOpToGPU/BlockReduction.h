//===- BlockReduction.h - Combining what threads have -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKREDUCTION_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKREDUCTION_H

#include "GpuFunction.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "MetaOps/Transforms/Schedule/GPU/ThreadLevels.h"

namespace mlir::metaop {

/// Values, one or several of each thread, that are combined in one way along
/// the levels of some dimensions.
struct ThreadPartials {
  Reduction reduction;
  /// The dimensions that results keep.
  llvm::SmallBitVector kept;
  /// Scalars, or vectors of which each lane is a value.
  SmallVector<Value> values;
};

/// Returns whether levels of dimensions that a result does not keep are
/// distributed among threads, or among the blocks of a cluster.
bool isDivided(const ThreadLevels &levels, const llvm::SmallBitVector &kept);

/// Combines what threads and blocks of a cluster have; all of them have the
/// results afterwards. All threads of the block get here. `isRepeated` says
/// that they do so several times.
void emitBlockReduction(GpuFunction &function, const ThreadLevels &levels,
                        MutableArrayRef<ThreadPartials> partials,
                        bool isRepeated);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKREDUCTION_H
