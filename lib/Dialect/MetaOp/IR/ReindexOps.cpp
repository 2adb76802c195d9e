//===- ReindexOps.cpp - One-to-many ops and reshape -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/AccessTransforms.h"
#include "MetaOps/Dialect/MetaOp/IR/Canonicalization.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::metaop;

using TensorValue = TypedValue<RankedTensorType>;

static TypedAttr getZero(RankedTensorType type) {
  return Builder(type.getContext()).getZeroAttr(type.getElementType());
}

/// Folds all ops of this file: a read of each element at its own place gives
/// the source, and a read of a splat that meets nothing else gives a splat.
static OpFoldResult foldReindex(ReindexOpInterface op, Attribute source) {
  TensorValue from = op.getSource();
  auto to = cast<TensorValue>(op->getResult(0));
  IndexAccess access = op.getIndexAccess();
  AccessBounds bounds = getAccessBounds(op);
  // In a graph region an op may read itself.
  if (bounds.isInBounds() && from != to && from.getType() == to.getType() &&
      isIdentityOver(access.map, to.getType().getShape()))
    return from;
  if (bounds.alwaysOutside)
    return getSplat(to.getType(), access.fill);
  TypedAttr splat = getSplatValue(source);
  if (splat && (bounds.isInBounds() || splat == access.fill))
    return getSplat(to.getType(), splat);
  return {};
}

//===----------------------------------------------------------------------===//
// ReindexOp
//===----------------------------------------------------------------------===//

MetaOpClass ReindexOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue ReindexOp::getIterationValue() { return getResult(); }

IndexAccess ReindexOp::getIndexAccess() {
  return {getMap(), llvm::to_vector(getSymbols()),
          getWhere().value_or(IntegerSet()), getFill()};
}

void ReindexOp::build(OpBuilder &builder, OperationState &state,
                      RankedTensorType result, Value source,
                      const IndexAccess &access, ValueRange extents) {
  IntegerSet conditions = access.conditions;
  auto where = conditions ? IntegerSetAttr::get(conditions) : IntegerSetAttr();
  TypedAttr fill = access.fill ? access.fill : getZero(result);
  build(builder, state, static_cast<Type>(result), source, access.symbols,
        extents, AffineMapAttr::get(access.map), where, fill);
}

LogicalResult ReindexOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1), (C2), (C3), (C4), (C8)
  if (failed(verifyAccess(*this, getMap(), getWhere().value_or(IntegerSet()),
                          getSymbols(), result, "result", source, "source")))
    return failure();
  // (C6)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C5)
  if (failed(verifyFill(*this, getFill(), source.getElementType())))
    return failure();
  // (C7)
  return verifyExtents(*this, result, getExtents());
}

OpFoldResult ReindexOp::fold(FoldAdaptor adaptor) {
  return foldReindex(*this, adaptor.getSource());
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

MetaOpClass BroadcastOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue BroadcastOp::getIterationValue() { return getResult(); }

IndexAccess BroadcastOp::getIndexAccess() {
  Builder builder(getContext());
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  SmallVector<AffineExpr> exprs;
  for (auto [from, to] : llvm::enumerate(getDimensions())) {
    bool repeats = source.getDimSize(from) == 1 && result.getDimSize(to) != 1;
    exprs.push_back(repeats ? builder.getAffineConstantExpr(0)
                            : builder.getAffineDimExpr(to));
  }
  AffineMap map = AffineMap::get(result.getRank(), 0, exprs, getContext());
  return {map, {}, IntegerSet(), getZero(source)};
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  ArrayRef<int64_t> dims = getDimensions();
  // (C1)
  if (static_cast<int64_t>(dims.size()) != source.getRank())
    return emitOpError() << "expects `dims` to have " << source.getRank()
                         << " entries, one per dimension of the source, given "
                         << dims.size();
  // (C2)
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim <= previous || dim >= result.getRank())
      return emitOpError() << "expects `dims` to rise strictly and to lie in "
                              "[0, "
                           << result.getRank() << "), given [" << dims << "]";
    previous = dim;
  }
  // (C3)
  for (auto [from, to] : llvm::enumerate(dims)) {
    int64_t given = source.getDimSize(from), expected = result.getDimSize(to);
    if (given != 1 && failed(verifyCompatibleShape({given}, {expected})))
      return emitOpError() << "expects dimension " << from
                           << " of the source to have extent 1 or " << expected
                           << ", given " << given;
  }
  // (C5)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C4)
  return verifyExtents(*this, result, getExtents());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return foldReindex(*this, adaptor.getSource());
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

MetaOpClass TransposeOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue TransposeOp::getIterationValue() { return getResult(); }

IndexAccess TransposeOp::getIndexAccess() {
  Builder builder(getContext());
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<AffineExpr> exprs(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    exprs[from] = builder.getAffineDimExpr(to);
  AffineMap map = AffineMap::get(exprs.size(), 0, exprs, getContext());
  return {map, {}, IntegerSet(), getZero(getSource().getType())};
}

LogicalResult TransposeOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferredReturnTypes) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto source = dyn_cast<RankedTensorType>(adaptor.getSource().getType());
  if (!source || !adaptor.getPermutationAttr())
    return failure();

  // (C1)
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  llvm::SmallBitVector seen(source.getRank());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= source.getRank() || seen.test(dim))
      break;
    seen.set(dim);
    shape.push_back(source.getDimSize(dim));
  }
  if (shape.size() != permutation.size() || !seen.all())
    return emitOptionalError(location, "expects `perm` to be a permutation of ",
                             source.getRank(), " dimensions, given [",
                             permutation, "]");
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, source.getElementType()));
  return success();
}

// Inferring the result's type verifies (C1).
LogicalResult TransposeOp::verify() { return success(); }

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  return foldReindex(*this, adaptor.getSource());
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

MetaOpClass SliceOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue SliceOp::getIterationValue() { return getResult(); }

IndexAccess SliceOp::getIndexAccess() {
  Builder builder(getContext());
  SmallVector<AffineExpr> exprs;
  for (auto [dim, stride] : llvm::enumerate(getStrides()))
    exprs.push_back(builder.getAffineDimExpr(dim) * stride +
                    builder.getAffineSymbolExpr(dim));
  AffineMap map =
      AffineMap::get(exprs.size(), exprs.size(), exprs, getContext());
  return {map, llvm::to_vector(getStarts()), IntegerSet(),
          getZero(getSource().getType())};
}

LogicalResult SliceOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1)
  size_t rank = source.getRank();
  if (getStarts().size() != rank || getStrides().size() != rank)
    return emitOpError() << "expects one start and one stride for each of the "
                         << rank << " dimensions of the source, given "
                         << getStarts().size() << " and "
                         << getStrides().size();
  // (C2)
  if (result.getRank() != source.getRank())
    return emitOpError() << "expects the result to have rank " << rank
                         << " as the source, given " << result.getRank();
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C3)
  if (llvm::is_contained(getStrides(), 0))
    return emitOpError() << "expects no stride to be zero, given ["
                         << getStrides() << "]";
  // (C4)
  return verifyExtents(*this, result, getExtents());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  return foldReindex(*this, adaptor.getSource());
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

MetaOpClass PadOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue PadOp::getIterationValue() { return getResult(); }

IndexAccess PadOp::getIndexAccess() {
  Builder builder(getContext());
  SmallVector<AffineExpr> exprs;
  for (auto [dim, low] : llvm::enumerate(getLow()))
    exprs.push_back(builder.getAffineDimExpr(dim) - low);
  AffineMap map = AffineMap::get(exprs.size(), 0, exprs, getContext());
  return {map, {}, IntegerSet(), getFill()};
}

LogicalResult
PadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                        ValueRange operands, DictionaryAttr attributes,
                        OpaqueProperties properties, RegionRange regions,
                        SmallVectorImpl<Type> &inferredReturnTypes) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto source = dyn_cast<RankedTensorType>(adaptor.getSource().getType());
  if (!source || !adaptor.getLowAttr() || !adaptor.getHighAttr())
    return failure();

  // (C1)
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  size_t rank = source.getRank();
  if (low.size() != rank || high.size() != rank)
    return emitOptionalError(
        location, "expects `low` and `high` to have ", rank,
        " entries, one per dimension of the source, given ", low.size(),
        " and ", high.size());
  // (C3)
  SmallVector<int64_t> shape(source.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> sum = llvm::checkedAdd(extent, low[dim]);
    if (sum)
      sum = llvm::checkedAdd(*sum, high[dim]);
    if (!sum || *sum < 0)
      return emitOptionalError(location, "expects dimension ", dim,
                               " of the result to have an extent from 0 to "
                               "2^63 - 1, given ",
                               extent, " + ", low[dim], " + ", high[dim]);
    extent = *sum;
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult PadOp::verify() {
  // (C2); inferring the result's type verifies (C1) and (C3).
  return verifyFill(*this, getFill(), getSource().getType().getElementType());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  return foldReindex(*this, adaptor.getSource());
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C2)
  if (source.hasStaticShape() && result.hasStaticShape()) {
    int64_t given = countElements(source.getShape());
    if (given == kMaxCount || given != countElements(result.getShape()))
      return emitOpError() << "expects source and result to have one number of "
                              "elements, given "
                           << source << " and " << result;
  }
  // (C3)
  return verifyExtents(*this, result, getExtents());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // One dynamic extent is implied by the others and the number of elements.
  if (source == result && getSource() != getResult() &&
      result.getNumDynamicDims() <= 1 &&
      !llvm::is_contained(result.getShape(), 0))
    return getSource();
  auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource());
  if (value && result.hasStaticShape())
    return value.reshape(result);
  return {};
}
