//===- RoutineOps.cpp - Sorts ---------------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "OpUtils.h"
#include "TensorEmitter.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

LogicalResult SortOp::verify() {
  return verifyDimension(*this, getDim());
} // (C1)

//===----------------------------------------------------------------------===//
// Derivatives of sorts
//===----------------------------------------------------------------------===//

/// The map by which the indices of a sort read its source.
static AffineMap getOriginMap(SortOp op) {
  int64_t rank = op.getSource().getType().getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim)
    indices.push_back(static_cast<uint64_t>(dim) == op.getDim()
                          ? getAffineSymbolExpr(0, op.getContext())
                          : getAffineDimExpr(dim, op.getContext()));
  return AffineMap::get(rank, 1, indices, op.getContext());
}

Products SortOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!cotangents[0])
    return {Value()};
  TensorEmitter emit(builder, getLoc());
  return {emit.create<ScatterOp>(getSource().getType(), ReduceKind::Add,
                                 cotangents[0], ValueRange(getIndices()),
                                 emit.extents(getSource()),
                                 getOriginMap(*this))};
}

Products SortOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  Value moved = emit.create<GatherOp>(
      getValues().getType(), tangents[0], ValueRange(getIndices()),
      getOriginMap(*this),
      getNumberAttr(getElementTypeOrSelf(getValues()), 0.0));
  return {moved, Value()};
}
