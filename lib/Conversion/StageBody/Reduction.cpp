//===- Reduction.cpp - How values are combined ----------------------------===//
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
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    llvm::APFloat value = llvm::APFloat::getZero(semantics);
    if (kind == ReduceKind::Mul)
      value = llvm::APFloat::getOne(semantics);
    else if (kind == ReduceKind::Max || kind == ReduceKind::Min)
      value = llvm::APFloat::getInf(semantics, kind == ReduceKind::Max);
    attr = FloatAttr::get(type, value);
  } else {
    unsigned width = type.getIntOrFloatBitWidth();
    bool isUnsigned = element.isUnsignedInteger() || width == 1;
    llvm::APInt value = llvm::APInt::getZero(width);
    if (kind == ReduceKind::Mul)
      value = llvm::APInt(width, 1);
    else if (kind == ReduceKind::And)
      value = llvm::APInt::getAllOnes(width);
    else if (kind == ReduceKind::Max)
      value = isUnsigned ? llvm::APInt::getMinValue(width)
                         : llvm::APInt::getSignedMinValue(width);
    else if (kind == ReduceKind::Min)
      value = isUnsigned ? llvm::APInt::getMaxValue(width)
                         : llvm::APInt::getSignedMaxValue(width);
    attr = IntegerAttr::get(type, value);
  }
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
  bool isFloat = isa<FloatType>(element);
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  switch (kind) {
  case ReduceKind::Add:
    if (isFloat)
      return arith::AddFOp::create(b, loc, lhs, rhs);
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Mul:
    if (isFloat)
      return arith::MulFOp::create(b, loc, lhs, rhs);
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, lhs, rhs);
    if (isUnsigned)
      return arith::MaxUIOp::create(b, loc, lhs, rhs);
    return arith::MaxSIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, lhs, rhs);
    if (isUnsigned)
      return arith::MinUIOp::create(b, loc, lhs, rhs);
    return arith::MinSIOp::create(b, loc, lhs, rhs);
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  case ReduceKind::Xor:
    return arith::XOrIOp::create(b, loc, lhs, rhs);
  }
  llvm_unreachable("all kinds are handled");
}

Value Reduction::emitAcrossLanes(OpBuilder &b, Location loc,
                                 Value vector) const {
  bool isFloat = isa<FloatType>(element);
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  auto combining = [&] {
    switch (kind) {
    case ReduceKind::Add:
      return vector::CombiningKind::ADD;
    case ReduceKind::Mul:
      return vector::CombiningKind::MUL;
    case ReduceKind::Max:
      return isFloat      ? vector::CombiningKind::MAXIMUMF
             : isUnsigned ? vector::CombiningKind::MAXUI
                          : vector::CombiningKind::MAXSI;
    case ReduceKind::Min:
      return isFloat      ? vector::CombiningKind::MINIMUMF
             : isUnsigned ? vector::CombiningKind::MINUI
                          : vector::CombiningKind::MINSI;
    case ReduceKind::And:
      return vector::CombiningKind::AND;
    case ReduceKind::Or:
      return vector::CombiningKind::OR;
    case ReduceKind::Xor:
      return vector::CombiningKind::XOR;
    }
    llvm_unreachable("all kinds are handled");
  }();
  // As a tree: lane order is part of the schedule, which fixes the result.
  return vector::ReductionOp::create(b, loc, combining, vector,
                                     isFloat ? arith::FastMathFlags::reassoc
                                             : arith::FastMathFlags::none);
}
