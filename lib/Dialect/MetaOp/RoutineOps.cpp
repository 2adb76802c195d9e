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

LogicalResult ArgsortOp::verify() {
  return verifyDimension(*this, getDim());
} // (C1)

//===----------------------------------------------------------------------===//
// Derivatives of sorts
//===----------------------------------------------------------------------===//

/// Where the elements of a sorted tensor come from, and the map that reads
/// them.
static std::pair<Value, AffineMap> getOrigins(TensorEmitter &emit, SortOp op) {
  auto type = op.getType();
  MLIRContext *context = op.getContext();
  Value places =
      emit.create<ArgsortOp>(type.clone(IntegerType::get(context, 64)),
                             op.getSource(), op.getDim(), op.getDescending());
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(static_cast<uint64_t>(dim) == op.getDim()
                          ? getAffineSymbolExpr(0, context)
                          : getAffineDimExpr(dim, context));
  return {places, AffineMap::get(type.getRank(), 1, indices, context)};
}

Products SortOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return {Value()};
  TensorEmitter emit(builder, getLoc());
  auto [places, map] = getOrigins(emit, *this);
  return {emit.create<ScatterOp>(getType(), ReduceKind::Add, cotangents[0],
                                 ValueRange(places), emit.extents(getSource()),
                                 map)};
}

Products SortOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  auto [places, map] = getOrigins(emit, *this);
  return {emit.create<GatherOp>(
      getType(), tangents[0], ValueRange(places), map,
      getNumberAttr(getElementTypeOrSelf(getResult()), 0.0))};
}
