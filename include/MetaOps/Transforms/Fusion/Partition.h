//===- Partition.h - Groups of operations for fusion ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_FUSION_PARTITION_H
#define METAOPS_TRANSFORMS_FUSION_PARTITION_H

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Transforms/Fusion/FusionGraph.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"

namespace mlir::metaop {

struct PartitionOptions {
  FusionRules rules = FusionRules::Extended;
  /// The most operations in a group.
  unsigned maxGroupOps = 256;
  /// The most instructions that one vector of a group's space takes.
  int64_t maxGroupCode = kMaxBodyCode;
  /// The most tensors that a group reads.
  unsigned maxGroupReads = 64;
  /// Reductions merge if their common parallel extent reaches this, or what
  /// each has alone.
  int64_t minParallelExtent = 64;
};

/// The groups in a topological order; nodes of a group in program order. A node
/// that is no meta-operator is alone in its group.
struct Partition {
  SmallVector<SmallVector<unsigned>> groups;
  /// The group of each node.
  SmallVector<unsigned> groupOf;
};

Partition partition(const FusionGraph &graph, const PartitionOptions &options);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_FUSION_PARTITION_H
