//===- AffineEmitter.cpp - Affine expressions of scalars and vectors ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

std::optional<int64_t> metaop::findMagnitude(
    AffineExpr expr, llvm::function_ref<std::optional<int64_t>(unsigned)> ofDim,
    llvm::function_ref<std::optional<int64_t>(unsigned)> ofSymbol) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(std::max(constant.getValue(), -kMaxCount));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return ofDim(dim.getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return ofSymbol(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = findMagnitude(binary.getLHS(), ofDim, ofSymbol),
                         rhs = findMagnitude(binary.getRHS(), ofDim, ofSymbol);
  if (!lhs || !rhs)
    return std::nullopt;
  // A division that rounds adds the divisor at most.
  return expr.getKind() == AffineExprKind::Mul ? multiplyCounts(*lhs, *rhs)
                                               : addCounts(*lhs, *rhs);
}

Value metaop::broadcastTo(OpBuilder &b, Location loc, Value value,
                          int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get(lanes, value.getType()), value);
}

static Value emitConstantLike(OpBuilder &b, Location loc, Value like,
                              int64_t number) {
  TypedAttr attr = b.getIndexAttr(number);
  if (auto type = dyn_cast<VectorType>(like.getType()))
    attr = DenseElementsAttr::get(type, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value metaop::emitIndexAdd(OpBuilder &b, Location loc, Value value,
                           int64_t number) {
  if (number == 0)
    return value;
  return arith::AddIOp::create(b, loc, value,
                               emitConstantLike(b, loc, value, number));
}

Value metaop::emitIndexOf(OpBuilder &b, Location loc, Value number,
                          int64_t limit) {
  Type type = number.getType();
  auto vector = dyn_cast<VectorType>(type);
  Type index = vector ? Type(vector.clone(b.getIndexType())) : b.getIndexType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (limit != 0 && llvm::isIntN(width, limit)) {
    // As other extents, it may become an argument.
    auto emitBound = [&](int64_t bound) -> Value {
      Value constant = arith::ConstantIndexOp::create(b, loc, bound);
      Value scalar = arith::IndexCastOp::create(
          b, loc, getElementTypeOrSelf(type), constant);
      return vector ? broadcastTo(b, loc, scalar, vector.getNumElements())
                    : scalar;
    };
    number = arith::MinSIOp::create(b, loc, number, emitBound(limit));
    number = arith::MaxSIOp::create(b, loc, number, emitBound(-limit));
  }
  return arith::IndexCastOp::create(b, loc, index, number);
}

/// The remainder with the sign of the divisor, which is positive.
static Value emitMod(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  Value zero = emitConstantLike(b, loc, lhs, 0);
  Value rest = arith::RemSIOp::create(b, loc, lhs, rhs);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest, zero);
  Value shifted = arith::AddIOp::create(b, loc, rest, rhs);
  return arith::SelectOp::create(b, loc, isNegative, shifted, rest);
}

Value metaop::emitAffine(OpBuilder &b, Location loc, AffineExpr expr,
                         ArrayRef<Value> dims, ArrayRef<Value> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());

  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emitAffine(b, loc, binary.getLHS(), dims, symbols);
  Value rhs = emitAffine(b, loc, binary.getRHS(), dims, symbols);
  if (auto type = dyn_cast<VectorType>(lhs.getType()))
    rhs = broadcastTo(b, loc, rhs, type.getNumElements());
  else if (auto type = dyn_cast<VectorType>(rhs.getType()))
    lhs = broadcastTo(b, loc, lhs, type.getNumElements());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return emitMod(b, loc, lhs, rhs);
  default:
    llvm_unreachable("leaves are handled above");
  }
}
