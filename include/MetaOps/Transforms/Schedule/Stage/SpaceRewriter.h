//===- SpaceRewriter.h - A stage over another space -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_SPACEREWRITER_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_SPACEREWRITER_H

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {

/// A change of a stage's iteration space.
struct SpaceChange {
  /// The extents of the new space.
  SmallVector<int64_t> space;
  /// The dimensions of the space before, in those of the new one.
  SmallVector<AffineExpr> oldDims;
  /// 0-d tensors of the stage before, for the symbols of `oldDims`.
  SmallVector<Value> symbols;
};

/// Leaves out the points where some of the expressions are below 0.
void addConditions(IndexAccess &access, ArrayRef<AffineExpr> conditions);

/// Clones the operations of a stage into another iteration space. What the
/// stage reads it reads through the map from the new space to the old one; what
/// that leaves is read as a fill value, or zero. The stage may hold reindexes,
/// element-wise operations, splats, counters, and random numbers where elements
/// have the same numbers in both spaces.
class SpaceRewriter {
public:
  SpaceRewriter(OpBuilder &b, FusedOp fused, const SpaceChange &change,
                ValueRange arguments);

  /// Returns whether all operations of the stage but random numbers can be
  /// cloned.
  static bool isSupported(FusedOp fused);

  /// Clones all but reductions at the insertion point.
  void cloneBody();
  /// A value of the stage, for each point of the new space.
  Value lookUp(Value value);
  /// An argument of the stage as a whole.
  Value lookUpArgument(Value value) const { return mapping.lookup(value); }
  /// The access in the new space.
  IndexAccess compose(IndexAccess access) const;
  RankedTensorType getType(Type type) const {
    return RankedTensorType::get(change.space, getElementTypeOrSelf(type));
  }

private:
  Value read(Location loc, Value source, Type type, IndexAccess access);
  Value buildIndex(Location loc, AffineExpr index, RankedTensorType type);
  Value buildCounter(IotaOp op);

  OpBuilder &b;
  FusedOp fused;
  const SpaceChange &change;
  IRMapping mapping;
  /// Arguments that are read as they lie, in the new space.
  llvm::DenseMap<Value, Value> whole;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_SPACEREWRITER_H
