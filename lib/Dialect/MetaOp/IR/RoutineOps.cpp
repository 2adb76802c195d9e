//===- RoutineOps.cpp - Sorts ---------------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

LogicalResult SortOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType values = getValues().getType();
  // (C1)
  if (failed(verifyDimension(*this, getDim())))
    return failure();
  // (C2)
  if (source.getElementType() != values.getElementType())
    return emitOpError("expects values of the source's elements, given ")
           << values << " for " << source;
  SmallVector<int64_t> shape(source.getShape());
  if (values.getRank() == source.getRank())
    shape[getDim()] = values.getDimSize(getDim());
  if (failed(verifyCompatibleShape(values.getShape(), shape)))
    return emitOpError("expects values of the source's shape but along "
                       "dimension ")
           << getDim() << ", given " << values << " for " << source;
  // (C3)
  int64_t extent = source.getDimSize(getDim());
  int64_t count = shape[getDim()];
  if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(count) &&
      count > extent)
    return emitOpError("expects places of ")
           << extent << " elements, given " << values;
  return success();
}

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
  Products products(getNumOperands());
  if (!cotangents[0])
    return products;
  TensorEmitter emit(builder, getLoc());
  products[0] = emit.create<ScatterOp>(
      getSource().getType(), Combiner::Add, cotangents[0],
      ValueRange(getIndices()), emit.extents(getSource()), getOriginMap(*this));
  return products;
}

Products SortOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  Value moved = emit.create<GatherOp>(
      getValues().getType(), tangents[0], ValueRange(getIndices()),
      getOriginMap(*this),
      getNumberAttr(getElementTypeOrSelf(getValues()), 0.0));
  return {moved, Value()};
}
