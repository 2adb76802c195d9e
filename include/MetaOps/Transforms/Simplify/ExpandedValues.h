//===- ExpandedValues.h - Values much larger than their inputs --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_EXPANDEDVALUES_H
#define METAOPS_TRANSFORMS_SIMPLIFY_EXPANDEDVALUES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::metaop {

/// Finds the expanded element-wise values of a block: those whose space S is at
/// least `ratio` times larger than all the arrays from which they are computed
/// on S. The arrays are the sources of reindexes, reduced values, arguments and
/// random numbers; constants and iotas are made from nothing. The product of a
/// convolution is the typical one: 7 dimensions computed from two tensors of 4.
class ExpandedValues {
public:
  ExpandedValues(Block &block, int64_t ratio);

  /// Returns whether `value` is much larger than what it is computed from.
  bool isExpanded(Value value) const { return expanded.contains(value); }

  /// Returns whether something reads `value` that cannot be in its stage, so
  /// that it has to exist in memory: a result of the function, a view, a
  /// reindex.
  static bool isMaterialised(Value value);

  /// Returns whether `value` is reduced at once, with element-wise ops on
  /// expanded values between at most: work on it is repeated inside of a
  /// contraction.
  bool feedsContraction(Value value) const {
    return contracted.contains(value);
  }

private:
  llvm::DenseSet<Value> expanded;
  llvm::DenseSet<Value> contracted;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_EXPANDEDVALUES_H
