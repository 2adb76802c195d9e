//===- RowGroups.cpp - Rows of several trips at once ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/RowGroups.h"

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::readRows(OpBuilder &builder, Location loc, Value rows,
                       int64_t first, std::optional<int64_t> count) {
  auto type = cast<RankedTensorType>(rows.getType());
  RankedTensorType row = getRowType(type);
  RankedTensorType made = count ? getStackedType(row, *count) : row;
  unsigned rank = made.getRank();
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim < rank; ++dim)
    exprs.push_back(builder.getAffineDimExpr(dim));
  if (count)
    exprs.front() = exprs.front() + first;
  else
    exprs.insert(exprs.begin(), builder.getAffineConstantExpr(first));
  IndexAccess access;
  access.map = AffineMap::get(rank, 0, exprs, builder.getContext());
  access.fill = builder.getZeroAttr(type.getElementType());
  return ReindexOp::create(builder, loc, made, rows, access);
}

Value RowGroups::group(OpBuilder &builder, Location loc, Value rows) const {
  RankedTensorType row = getRowType(cast<RankedTensorType>(rows.getType()));
  if (getNumLeft() > 0)
    rows = readRows(builder, loc, rows, isReverse ? getNumLeft() : 0,
                    countGrouped());
  return ReshapeOp::create(
      builder, loc, getStackedType(getStackedType(row, length), getNumGroups()),
      rows);
}

Value RowGroups::takeLeft(OpBuilder &builder, Location loc, Value rows) const {
  return readRows(builder, loc, rows, getFirstLeft(), getNumLeft());
}

Value RowGroups::join(OpBuilder &builder, Location loc, Value groups,
                      Value left) const {
  RankedTensorType row =
      getRowType(getRowType(cast<RankedTensorType>(groups.getType())));
  Value all = ReshapeOp::create(builder, loc,
                                getStackedType(row, countGrouped()), groups);
  if (!left)
    return all;
  SmallVector<Value> parts = {all, left};
  if (isReverse)
    std::swap(parts[0], parts[1]);
  return ConcatOp::create(builder, loc, parts, /*dim=*/0);
}
