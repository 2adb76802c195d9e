//===- AffineEmitter.cpp - Affine expressions of scalars and vectors ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::metaop;

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

Value metaop::emitLinearMask(OpBuilder &b, Location loc, Value first,
                             int64_t factor, int64_t lanes) {
  // first + factor * lane >= 0 bounds the lane number from below (factor > 0)
  // or from above (factor < 0).
  bool isLower = factor > 0;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value bound =
      isLower ? arith::SubIOp::create(b, loc, zero, first).getResult() : first;
  if (std::abs(factor) != 1) {
    Value divisor = arith::ConstantIndexOp::create(b, loc, std::abs(factor));
    bound =
        isLower
            ? arith::CeilDivSIOp::create(b, loc, bound, divisor).getResult()
            : arith::FloorDivSIOp::create(b, loc, bound, divisor).getResult();
  }
  // Lane numbers are compared in 32 bits: clamp first.
  Value low = arith::ConstantIndexOp::create(b, loc, isLower ? 0 : -1);
  Value high = arith::ConstantIndexOp::create(b, loc, lanes);
  bound = arith::MaxSIOp::create(b, loc, bound, low);
  bound = arith::MinSIOp::create(b, loc, bound, high);
  bound = arith::IndexCastOp::create(b, loc, b.getI32Type(), bound);
  SmallVector<int32_t> numbers(lanes);
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers[lane] = lane;
  auto type = VectorType::get(lanes, b.getI32Type());
  Value lane = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(numbers)));
  Value bounds = vector::BroadcastOp::create(b, loc, type, bound);
  return arith::CmpIOp::create(
      b, loc, isLower ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
      lane, bounds);
}
