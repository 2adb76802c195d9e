//===- CloneProducers.h - Computing producers again -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_CLONEPRODUCERS_H
#define METAOPS_TRANSFORMS_SIMPLIFY_CLONEPRODUCERS_H

#include "mlir/IR/Block.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir::metaop {

/// Gives each op that reads a cheap producer in place a copy of its own.
/// Cheap are constants and iotas and, unless `generatorsOnly`, reindexes.
void cloneProducersPerUse(Block &block, bool generatorsOnly);

struct PullOptions {
  /// A reindex has to be so many times larger than its producer's space.
  int64_t smallProducerRatio = 8;
  /// Ratio from which on a value counts as expanded.
  int64_t expandedRatio = 4;
  /// The most element-wise ops that move through one reindex.
  unsigned maxClonedOps = 16;
};

/// Moves element-wise producers through the reindexes that read them, where
/// that spares a kernel and costs little. `canonicalization` holds patterns
/// that put a reindex of a reindex into one.
void pullThroughReindexes(Block &block, const PullOptions &options,
                          const FrozenRewritePatternSet &canonicalization);

/// Copies expanded values for each reduction, or other op, at which they end.
/// Values for which that would make more than `maxRoots` copies stay.
void cloneExpandedValues(Block &block, int64_t expandedRatio,
                         unsigned maxRoots);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_CLONEPRODUCERS_H
