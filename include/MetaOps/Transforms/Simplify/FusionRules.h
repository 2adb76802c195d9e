//===- FusionRules.h - Which fusion rules apply -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_FUSIONRULES_H
#define METAOPS_TRANSFORMS_SIMPLIFY_FUSIONRULES_H

#include <cstdint>

namespace mlir::metaop {

/// Ratio of a reindex's size to what it reads from which on that is computed
/// again at each point of it rather than held in memory.
constexpr int64_t kSmallProducerRatio = 8;

/// Reach of fusion, and of the cloning that prepares it.
enum class FusionRules {
  /// Every operation is a kernel of its own, and nothing is computed twice.
  None,
  /// Rules 1 to 3 and greedy merging along edges, as published by Hu et al.,
  /// "Jittor: a novel deep learning framework with meta-operators and unified
  /// graph execution" (2020).
  Paper,
  /// Also: producers on small spaces move through reindexes, expanded values
  /// are computed again for each use, and siblings that read one tensor merge.
  Extended
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_FUSIONRULES_H
