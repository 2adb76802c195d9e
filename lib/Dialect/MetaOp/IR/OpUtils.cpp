//===- OpUtils.cpp - What verifiers, folders and patterns share -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult metaop::verifyExtents(Operation *op, RankedTensorType result,
                                    ValueRange extents) {
  if (extents.size() == result.getNumDynamicDims())
    return success();
  return op->emitOpError() << "expects " << result.getNumDynamicDims()
                           << " extent operands, one per dynamic dimension of "
                           << result << ", given " << extents.size();
}

LogicalResult metaop::verifySameElementType(Operation *op,
                                            RankedTensorType source,
                                            RankedTensorType result) {
  if (source.getElementType() == result.getElementType())
    return success();
  return op->emitOpError() << "expects source and result to have one element "
                              "type, given "
                           << source.getElementType() << " and "
                           << result.getElementType();
}

LogicalResult metaop::verifyFill(Operation *op, TypedAttr fill,
                                 Type elementType) {
  if (isa<FloatAttr, IntegerAttr>(fill) && fill.getType() == elementType)
    return success();
  return op->emitOpError() << "expects `fill` to be a number of type "
                           << elementType << ", given " << fill;
}

LogicalResult metaop::verifyAccess(Operation *op, AffineMap map,
                                   IntegerSet where, ValueRange symbols,
                                   RankedTensorType iteration,
                                   StringRef iterationName,
                                   RankedTensorType accessed,
                                   StringRef accessedName) {
  // (C1)
  if (map.getNumResults() != accessed.getRank())
    return op->emitOpError()
           << "expects `map` to have " << accessed.getRank()
           << " results, one per dimension of the " << accessedName
           << ", given " << map.getNumResults();
  // (C2)
  if (map.getNumDims() != iteration.getRank())
    return op->emitOpError() << "expects `map` to have " << iteration.getRank()
                             << " dims, one per dimension of the "
                             << iterationName << ", given " << map.getNumDims();
  // (C3)
  if (map.getNumSymbols() != symbols.size())
    return op->emitOpError() << "expects one symbol operand for each of the "
                             << map.getNumSymbols()
                             << " symbols of `map`, given " << symbols.size();
  // (C4)
  if (where && (where.getNumDims() != map.getNumDims() ||
                where.getNumSymbols() != map.getNumSymbols()))
    return op->emitOpError()
           << "expects `where` to have the dims and symbols of `map`, "
           << map.getNumDims() << " and " << map.getNumSymbols() << ", given "
           << where.getNumDims() << " and " << where.getNumSymbols();
  // (C8)
  if (!hasOnlyPositiveConstantDivisors(map) ||
      (where && !hasOnlyPositiveConstantDivisors(where)))
    return op->emitOpError()
           << "expects the divisors of floordiv, ceildiv and mod to be "
              "positive constants";
  return success();
}

LogicalResult metaop::verifyDimension(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("expects a dimension below ")
         << rank << ", given " << dim;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr metaop::getSplatValue(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return nullptr;
  Attribute value = elements.getSplatValue<Attribute>();
  if (!isa<FloatAttr, IntegerAttr>(value))
    return nullptr;
  return cast<TypedAttr>(value);
}

Attribute metaop::getSplat(RankedTensorType type, TypedAttr value) {
  if (!type.hasStaticShape() || value.getType() != type.getElementType())
    return nullptr;
  return DenseElementsAttr::get(type, static_cast<Attribute>(value));
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

bool metaop::isInStage(Operation *op) {
  return isa_and_nonnull<FusedOp>(op->getParentOp());
}

SmallVector<Value> metaop::createExtents(OpBuilder &builder, Location loc,
                                         Value value) {
  SmallVector<Value> extents;
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(tensor::DimOp::create(builder, loc, value, dim));
  return extents;
}
