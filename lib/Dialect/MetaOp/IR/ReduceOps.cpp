//===- ReduceOps.cpp - Many-to-one ops ------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/AccessTransforms.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"

using namespace mlir;
using namespace mlir::metaop;

using TensorValue = TypedValue<RankedTensorType>;

//===----------------------------------------------------------------------===//
// ReindexReduceOp
//===----------------------------------------------------------------------===//

MetaOpClass ReindexReduceOp::getMetaOpClass() {
  return MetaOpClass::ReindexReduce;
}
TensorValue ReindexReduceOp::getIterationValue() { return getSource(); }

IndexAccess ReindexReduceOp::getIndexAccess() {
  return {getMap(), llvm::to_vector(getSymbols()),
          getWhere().value_or(IntegerSet()), TypedAttr()};
}

void ReindexReduceOp::build(OpBuilder &builder, OperationState &state,
                            RankedTensorType result, Combiner kind,
                            Value source, const IndexAccess &access,
                            ValueRange extents) {
  IntegerSet conditions = access.conditions;
  auto where = conditions ? IntegerSetAttr::get(conditions) : IntegerSetAttr();
  build(builder, state, static_cast<Type>(result),
        CombinerAttr::get(builder.getContext(), kind), source, access.symbols,
        extents, AffineMapAttr::get(access.map), where);
}

LogicalResult ReindexReduceOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1), (C2), (C3), (C4), (C8)
  if (failed(verifyAccess(*this, getMap(), getWhere().value_or(IntegerSet()),
                          getSymbols(), source, "source", result, "result")))
    return failure();
  // (C6)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C5)
  if (failed(verifyCombiner(*this, CombinerUse::Reduction, getReduceKind(),
                            source.getElementType())))
    return failure();
  // (C7)
  return verifyExtents(*this, result, getExtents());
}

/// Folds both ops: each element into its own place gives the source.
static OpFoldResult foldReduce(ReindexReduceOpInterface op) {
  TensorValue source = op.getSource();
  Value result = op->getResult(0);
  // In a graph region an op may read itself.
  if (source != result && source.getType() == result.getType() &&
      isInBounds(op) &&
      isIdentityOver(op.getIndexAccess().map, source.getType().getShape()))
    return source;
  return {};
}

OpFoldResult ReindexReduceOp::fold(FoldAdaptor adaptor) {
  return foldReduce(*this);
}

//===----------------------------------------------------------------------===//
// Whole dimensions
//===----------------------------------------------------------------------===//

/// Numbers the dimensions that stay, or names them all with 0 for the others.
static IndexAccess getAccessOver(RankedTensorType source,
                                 ArrayRef<int64_t> dims, bool keepDims) {
  Builder builder(source.getContext());
  int64_t rank = source.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(dims, dim))
      exprs.push_back(builder.getAffineDimExpr(dim));
    else if (keepDims)
      exprs.push_back(builder.getAffineConstantExpr(0));
  }
  AffineMap map = AffineMap::get(rank, 0, exprs, source.getContext());
  return {map, {}, IntegerSet(), TypedAttr()};
}

/// Infers the type of what is left of a source; verifies (C1) of both ops.
static LogicalResult inferTypeOver(std::optional<Location> location,
                                   Value operand, DenseI64ArrayAttr dims,
                                   bool keepDims,
                                   SmallVectorImpl<Type> &types) {
  auto source = dyn_cast<RankedTensorType>(operand.getType());
  if (!source || !dims)
    return failure();
  int64_t previous = -1;
  for (int64_t dim : dims.asArrayRef()) {
    if (dim <= previous || dim >= source.getRank())
      return emitOptionalError(
          location, "expects `dims` to rise strictly and to lie in [0, ",
          source.getRank(), "), given [", dims.asArrayRef(), "]");
    previous = dim;
  }

  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(source.getShape())) {
    if (!llvm::is_contained(dims.asArrayRef(), static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (keepDims)
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

MetaOpClass ReduceOp::getMetaOpClass() { return MetaOpClass::ReindexReduce; }
TensorValue ReduceOp::getIterationValue() { return getSource(); }

IndexAccess ReduceOp::getIndexAccess() {
  return getAccessOver(getSource().getType(), getDimensions(), getKeepDims());
}

LogicalResult ReduceOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferredReturnTypes) {
  Adaptor adaptor(operands, attributes, properties, regions);
  return inferTypeOver(location, adaptor.getSource(),
                       adaptor.getDimensionsAttr(), adaptor.getKeepDims(),
                       inferredReturnTypes);
}

LogicalResult ReduceOp::verify() {
  // (C2); inferring the result's type verifies (C1).
  return verifyCombiner(*this, CombinerUse::Reduction, getReduceKind(),
                        getSource().getType().getElementType());
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) { return foldReduce(*this); }

//===----------------------------------------------------------------------===//
// NormOp
//===----------------------------------------------------------------------===//

IndexAccess NormOp::getIndexAccess() {
  return getAccessOver(getSource().getType(), getDimensions(), getKeepDims());
}

LogicalResult
NormOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                         ValueRange operands, DictionaryAttr attributes,
                         OpaqueProperties properties, RegionRange regions,
                         SmallVectorImpl<Type> &inferredReturnTypes) {
  Adaptor adaptor(operands, attributes, properties, regions);
  return inferTypeOver(location, adaptor.getSource(),
                       adaptor.getDimensionsAttr(), adaptor.getKeepDims(),
                       inferredReturnTypes);
}

LogicalResult NormOp::verify() {
  // (C2); inferring the result's type verifies (C1).
  if (double divisor = getDivisor().convertToDouble(); !(divisor >= 0))
    return emitOpError("expects a `divisor` of 0 or more, given ") << divisor;
  double order = getOrder().convertToDouble();
  // (C3)
  if (!(order >= 1.5 && order <= 6.5) || 2 * order != getHalves())
    return emitOpError("expects an `order` that is a multiple of 1/2 in "
                       "[1.5, 6.5], given ")
           << order;
  // (C2)
  if (order != 2 && getDivisor().convertToDouble() != 1)
    return emitOpError("expects a `divisor` of 1 beside an `order` of ")
           << order;
  return success();
}
