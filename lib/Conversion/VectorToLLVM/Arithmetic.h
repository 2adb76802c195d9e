//===- Arithmetic.h - Arithmetic on floats and their bits ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_ARITHMETIC_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::metaop {

/// Arithmetic on f32 or f64 values of one shape, and on integers of their
/// width.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc, Type floats)
      : builder(builder), loc(loc), floats(floats),
        integers(withElement(builder.getIntegerType(getWidth()))) {}

  /// The floats of f64 in the same shape.
  Arithmetic getWide() const {
    return Arithmetic(builder, loc, withElement(builder.getF64Type()));
  }
  Value widen(Value x) { return create<arith::ExtFOp>(floats, x); }
  Value narrow(Value x, Type type) { return create<arith::TruncFOp>(type, x); }

  Value constant(double value) {
    return constant(floats,
                    FloatAttr::get(getElementTypeOrSelf(floats), value));
  }
  Value bits(int64_t value) {
    return constant(
        integers,
        IntegerAttr::get(getElementTypeOrSelf(integers),
                         llvm::APInt(getWidth(), value, /*isSigned=*/true,
                                     /*implicitTrunc=*/true)));
  }

  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return create<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return create<math::FmaOp>(a, b, c); }
  Value negate(Value a) { return create<arith::NegFOp>(a); }

  Value sqrt(Value a) { return create<math::SqrtOp>(a); }
  Value floor(Value a) { return create<math::FloorOp>(a); }
  Value round(Value a) { return create<math::RoundEvenOp>(a); }

  Value less(Value a, Value b) {
    return create<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, b);
  }
  Value equal(Value a, Value b) {
    return create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b);
  }
  Value less(Value a, double b) { return less(a, constant(b)); }
  Value equal(Value a, double b) { return equal(a, constant(b)); }
  Value both(Value a, Value b) { return create<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return create<arith::OrIOp>(a, b); }
  Value negation(Value a) {
    Type type = a.getType();
    return create<arith::XOrIOp>(a, constant(type, builder.getBoolAttr(true)));
  }
  Value select(Value condition, Value a, Value b) {
    return create<arith::SelectOp>(condition, a, b);
  }
  /// `others`, or where the condition holds what `emit` makes in a branch,
  /// which is taken if that is so in any lane.
  SmallVector<Value> selectSeldom(Value condition,
                                  llvm::function_ref<SmallVector<Value>()> emit,
                                  ArrayRef<Value> others) {
    Value any = condition;
    if (isa<VectorType>(condition.getType()))
      any = create<vector::ReductionOp>(vector::CombiningKind::OR, condition);
    auto branch = scf::IfOp::create(builder, loc, TypeRange(others), any,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, others);
    builder.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> chosen = emit();
    for (auto [value, other] : llvm::zip_equal(chosen, others))
      value = select(condition, value, other);
    scf::YieldOp::create(builder, loc, chosen);
    return llvm::to_vector_of<Value>(branch.getResults());
  }
  /// `x`, but not above (below) `bound`; NaN stays.
  Value atMost(Value x, double bound) {
    Value limit = constant(bound);
    return select(less(limit, x), limit, x);
  }
  Value atLeast(Value x, double bound) {
    Value limit = constant(bound);
    return select(less(x, limit), limit, x);
  }

  Value toBits(Value x) { return create<arith::BitcastOp>(integers, x); }
  Value fromBits(Value x) { return create<arith::BitcastOp>(floats, x); }
  Value toFloat(Value x) { return create<arith::SIToFPOp>(floats, x); }
  Value toInteger(Value x) { return create<arith::FPToSIOp>(integers, x); }
  Value addBits(Value a, Value b) { return create<arith::AddIOp>(a, b); }
  Value subBits(Value a, Value b) { return create<arith::SubIOp>(a, b); }
  Value maskBits(Value a, int64_t mask) {
    return create<arith::AndIOp>(a, bits(mask));
  }
  /// Returns whether a bit of the mask is set.
  Value isSet(Value x, int64_t mask) {
    return create<arith::CmpIOp>(arith::CmpIPredicate::ne, maskBits(x, mask),
                                 bits(0));
  }
  /// Places the exponent, or takes it out with its sign.
  Value toExponent(Value x) {
    return create<arith::ShLIOp>(x, bits(getMantissaBits()));
  }
  Value fromExponent(Value x) {
    return create<arith::ShRSIOp>(x, bits(getMantissaBits()));
  }

  Value abs(Value x) { return create<math::AbsFOp>(x); }
  Value copySign(Value magnitude, Value sign) {
    return create<math::CopySignOp>(magnitude, sign);
  }

  /// The polynomial with these coefficients, by Horner's rule.
  template <typename FloatT, size_t count>
  Value polynomial(Value x, const FloatT (&coefficients)[count]) {
    Value sum = constant(coefficients[0]);
    for (FloatT coefficient : llvm::drop_begin(coefficients))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

private:
  template <typename OpT, typename... ArgTs> Value create(ArgTs &&...args) {
    return OpT::create(builder, loc, std::forward<ArgTs>(args)...);
  }
  unsigned getWidth() const {
    return getElementTypeOrSelf(floats).getIntOrFloatBitWidth();
  }
  /// The bits of a float that are its exponent come after so many others.
  int64_t getMantissaBits() const { return getWidth() == 32 ? 23 : 52; }
  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(floats))
      return vector.clone(element);
    return element;
  }
  Value constant(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return create<arith::ConstantOp>(
          DenseElementsAttr::get(vector, Attribute(element)));
    return create<arith::ConstantOp>(element);
  }

  OpBuilder &builder;
  Location loc;
  Type floats, integers;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_ARITHMETIC_H
