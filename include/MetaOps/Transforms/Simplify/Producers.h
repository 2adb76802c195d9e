//===- Producers.h - Facts on uses and extents of values --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_PRODUCERS_H
#define METAOPS_TRANSFORMS_SIMPLIFY_PRODUCERS_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir::metaop {

/// Returns whether `op` makes its elements from nothing but their indices: a
/// constant or an iota, but no random numbers.
bool isCheapGenerator(Operation *op);

/// Returns whether the user reads, at each point of its iteration space, the
/// element at that same point: the operand of an element-wise op, the source of
/// a reindex-reduce. Only such uses can be inside one fused stage.
bool isPointwiseUse(OpOperand &use);

/// Returns whether the value is the tensor that a reindex reads through its
/// map.
bool isReindexSourceUse(OpOperand &use);

/// Returns the price of an element-wise op for each element, in elements of
/// memory traffic: measured times of vector code beside those of a copy.
/// Nothing if it is too dear to be done more often than necessary.
std::optional<int64_t> getElementPrice(ElementwiseOpInterface op);

/// The extent operands of an op: one for each dynamic dimension of its result,
/// or none.
SmallVector<Value> getExtentOperands(Operation *op);

/// The canonicalisation patterns of all ops of the metaop dialect.
void populateMetaOpCanonicalizationPatterns(RewritePatternSet &patterns);

/// Applies patterns to the ops inside of `root` until nothing changes. Left out
/// are terminators, which have no patterns: one that returns n values would be
/// visited, with all its operands, whenever one of these changes.
void canonicalizeOps(Operation *root, const FrozenRewritePatternSet &patterns);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_PRODUCERS_H
