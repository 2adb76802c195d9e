//===- TensorBuilders.cpp - Small tensors made from others ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"

using namespace mlir;
using namespace mlir::metaop;

TypedAttr metaop::getNumberAttr(Type elementType, double value) {
  if (isa<FloatType>(elementType))
    return FloatAttr::get(elementType, value);
  return IntegerAttr::get(elementType,
                          APInt(elementType.getIntOrFloatBitWidth(),
                                static_cast<int64_t>(value), /*isSigned=*/true,
                                /*implicitTrunc=*/true));
}

Value metaop::splatLike(OpBuilder &builder, Location loc, Value like,
                        double value) {
  return splatLike(builder, loc, like,
                   getNumberAttr(getElementTypeOrSelf(like), value));
}

Value metaop::splatLike(OpBuilder &builder, Location loc, Value like,
                        TypedAttr value) {
  auto type = cast<RankedTensorType>(like.getType());
  auto constantOf = [&](RankedTensorType type) -> Value {
    return ConstantOp::create(
        builder, loc, type,
        DenseElementsAttr::get(type, static_cast<Attribute>(value)));
  };
  if (type.hasStaticShape())
    return constantOf(type);
  Value number = constantOf(RankedTensorType::get({}, type.getElementType()));
  return BroadcastOp::create(builder, loc, type, number,
                             createExtents(builder, loc, like),
                             ArrayRef<int64_t>{});
}
