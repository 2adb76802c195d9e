//===- ScalarEmitter.h - Shape-aware arith building blocks ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_EMISSION_SCALAREMITTER_H
#define METAOPS_DIALECT_METAOP_EMISSION_SCALAREMITTER_H

#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {

inline Type elementOf(Value tensor) { return getElementTypeOrSelf(tensor); }

/// Emits operations on values of one shape: all are scalars, or all are vectors
/// of one length. A "type" below is such a shape with its element type.
class ScalarEmitter {
public:
  ScalarEmitter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  template <typename OpT, typename... ArgTs> Value create(ArgTs &&...args) {
    return OpT::create(builder, loc, std::forward<ArgTs>(args)...);
  }

  /// `element`, in the shape of `shape`.
  static Type withElement(Type shape, Type element) {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }

  Value constant(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return create<arith::ConstantOp>(
          DenseElementsAttr::get(vector, Attribute(element)));
    return create<arith::ConstantOp>(element);
  }
  Value constant(Type type, double value) {
    return constant(type, FloatAttr::get(getElementTypeOrSelf(type), value));
  }
  Value constant(Type type, const APInt &value) {
    return constant(type, IntegerAttr::get(getElementTypeOrSelf(type), value));
  }
  /// An integer, of which as many low bits are taken as the type has.
  Value constant(Type type, int64_t value) {
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    return constant(type, APInt(width, value, /*isSigned=*/true,
                                /*implicitTrunc=*/true));
  }
  Value constant(Type type, int value) {
    return constant(type, static_cast<int64_t>(value));
  }

  /// f16 and bf16 are computed with in f32: `widen` operands, `narrow` the
  /// result. Other types are left alone. A quotient or a function that is
  /// narrowed is marked `afn`: few of its digits are asked for.
  Value widen(Value value) {
    Type element = getElementTypeOrSelf(value);
    if (!element.isF16() && !element.isBF16())
      return value;
    return create<arith::ExtFOp>(
        withElement(value.getType(), builder.getF32Type()), value);
  }
  Value narrow(Value value, Type type);

  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return create<arith::CmpFOp>(predicate, lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return create<arith::CmpIOp>(predicate, lhs, rhs);
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return create<arith::SelectOp>(condition, onTrue, onFalse);
  }

  /// The absolute value of a signed integer; the lowest wraps to itself.
  Value absInteger(Value value) {
    Value negated = create<arith::SubIOp>(constant(value.getType(), 0), value);
    return create<arith::MaxSIOp>(value, negated);
  }

  /// Values that a loop carries from round to round.
  using LoopBody =
      llvm::function_ref<SmallVector<Value>(ScalarEmitter &, ValueRange)>;
  /// Repeats `body` while any lane of the carried value number `counter`, an
  /// integer, is not zero.
  SmallVector<Value> loopWhileNonZero(ValueRange start, unsigned counter,
                                      LoopBody body);

private:
  OpBuilder &builder;
  Location loc;
};

/// (x^2 + y^2)^(1/2) of f32 or f64, without overflow or underflow in between.
Value emitHypot(ScalarEmitter &emit, Value x, Value y);

/// The y for which erf y = x, of an f32 or f64.
Value emitErfinv(ScalarEmitter &emit, Value x);

/// The logarithm of the gamma function's magnitude, its derivative, and the
/// derivatives of that, of f32 or f64 (GammaEmission.cpp).
Value emitLgamma(ScalarEmitter &emit, Value x);
Value emitDigamma(ScalarEmitter &emit, Value x);
Value emitPolygamma(ScalarEmitter &emit, Value order, Value x);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_EMISSION_SCALAREMITTER_H
