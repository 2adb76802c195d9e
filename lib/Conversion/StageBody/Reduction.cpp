//===- Reduction.cpp - Combination of values ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

static Type withShapeOf(Type element, Type shaped) {
  if (auto vector = dyn_cast<VectorType>(shaped))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value metaop::emitFloatCast(OpBuilder &b, Location loc, Value value, Type to) {
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  Type type = withShapeOf(to, value.getType());
  if (type == value.getType())
    return value;
  if (from < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

Type Reduction::getAccumulatorType() const {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return getStorageType(element);
}

Value Reduction::emitIdentity(OpBuilder &b, Location loc, int64_t lanes) const {
  Type type = getAccumulatorType();
  TypedAttr attr;
  if (isa<FloatType>(type))
    attr = getIdentity(kind, type);
  else
    attr = IntegerAttr::get(
        type, cast<IntegerAttr>(getIdentity(kind, element)).getValue());
  Value scalar = arith::ConstantOp::create(b, loc, attr);
  return broadcastTo(b, loc, scalar, lanes);
}

Value Reduction::emitWiden(OpBuilder &b, Location loc, Value value) const {
  if (!isa<FloatType>(element))
    return value;
  return emitFloatCast(b, loc, value, getAccumulatorType());
}

Value Reduction::emitNarrow(OpBuilder &b, Location loc, Value value) const {
  if (!isa<FloatType>(element))
    return value;
  return emitFloatCast(b, loc, value, element);
}

Value Reduction::emitCombine(OpBuilder &b, Location loc, Value lhs,
                             Value rhs) const {
  return emitCombined(b, loc, kind, element, lhs, rhs);
}

/// Combines lanes with those half a vector away, a quarter of one, and so on,
/// until each holds what all make. Vectors have a power of two of lanes.
static Value emitShuffleTree(OpBuilder &b, Location loc,
                             const Reduction &reduction, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  assert(llvm::isPowerOf2_64(lanes) && "no tree of these lanes");
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    auto others =
        llvm::map_to_vector(llvm::seq<int64_t>(0, lanes),
                            [&](int64_t lane) { return lane ^ distance; });
    Value shuffled = vector::ShuffleOp::create(b, loc, vector, vector, others);
    vector = reduction.emitCombine(b, loc, vector, shuffled);
  }
  return vector::ExtractOp::create(b, loc, vector, 0);
}

Value Reduction::emitAcrossLanes(OpBuilder &b, Location loc,
                                 Value vector) const {
  std::optional<arith::AtomicRMWKind> known = getArithKind(kind, element);
  if (!known)
    return emitShuffleTree(b, loc, *this, vector);
  Value result = vector::getVectorReductionOp(*known, b, loc, vector);
  // As a tree: lane order is part of the schedule, which fixes the result.
  if (isa<FloatType>(element))
    result.getDefiningOp<vector::ReductionOp>().setFastmath(
        arith::FastMathFlags::reassoc);
  return result;
}
