//===- RoundToBFloat16.cpp - From f32 to bf16 -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bf16 is the upper half of f32. With x the bits of a number,
//
//   (x + 0x7fff + ((x >> 16) & 1)) >> 16
//
// is that number rounded to nearest even: the sum carries into the upper half
// if the lower one is more than a half of a unit, or is a half and the upper
// one is odd. The exponent may take up the carry, up to infinity. A NaN whose
// lower half is not zero has to be told apart, as its carry could make it
// infinity, or zero.
//
// Most roundings need less, for bf16 is computed in f32 operation by operation:
//
//   * of what has bits in its upper half only, such as the larger of two
//     numbers of bf16, the upper half is taken;
//   * the NaN that arithmetic gives is one of its operands, made quiet, or the
//     default one. Where no operand's NaN has bits in the lower half, neither
//     has the result's, and nothing carries.
//
// If the result goes into f32 again, LLVM makes one mask of all shifts.
//
// (AVX512-BF16 has an instruction, but that takes denormal numbers for zero.)
//
//===----------------------------------------------------------------------===//

#include "RoundToBFloat16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {
/// Knowledge of the lower halves of numbers in f32, in rising order.
enum class LowerHalf {
  Any,
  /// Zero in a NaN.
  ZeroInNaN,
  /// Zero: the number is one of bf16.
  Zero,
};

class LowerHalves {
public:
  LowerHalf get(Value value);

private:
  LowerHalf compute(Value value);
  LowerHalf getLeast(ValueRange values);

  llvm::DenseMap<Value, LowerHalf> known;
};
} // namespace

static LowerHalf getOfConstant(const APFloat &number) {
  bool isBFloat = (number.bitcastToAPInt() & 0xffff).isZero();
  if (isBFloat)
    return LowerHalf::Zero;
  return number.isNaN() ? LowerHalf::Any : LowerHalf::ZeroInNaN;
}

LowerHalf LowerHalves::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  LowerHalf result = compute(value);
  known[value] = result;
  return result;
}

LowerHalf LowerHalves::getLeast(ValueRange values) {
  LowerHalf least = LowerHalf::Zero;
  for (Value value : values)
    least = std::min(least, get(value));
  return least;
}

LowerHalf LowerHalves::compute(Value value) {
  Operation *op = value.getDefiningOp();
  APFloat number(0.0f);
  if (!op || !getElementTypeOrSelf(value).isF32())
    return LowerHalf::Any;
  if (matchPattern(value, m_ConstantFloat(&number)))
    return getOfConstant(number);
  return llvm::TypeSwitch<Operation *, LowerHalf>(op)
      .Case([](arith::ExtFOp extend) {
        Type from = getElementTypeOrSelf(extend.getIn());
        return from.isBF16() ? LowerHalf::Zero : LowerHalf::Any;
      })
      // Integers of eight bits and less, or of the number's own.
      .Case<math::FloorOp, math::CeilOp, math::RoundEvenOp>(
          [&](Operation *op) { return getLeast(op->getOperands()); })
      // Some operand, but for its sign.
      .Case<arith::NegFOp, math::AbsFOp, arith::MaximumFOp, arith::MinimumFOp,
            vector::BroadcastOp>(
          [&](Operation *op) { return getLeast(op->getOperands()); })
      .Case([&](arith::SelectOp select) {
        return getLeast({select.getTrueValue(), select.getFalseValue()});
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>(
          [](Operation *) { return LowerHalf::ZeroInNaN; })
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            math::FmaOp, math::SqrtOp, math::ExpOp, math::LogOp, math::TanhOp,
            math::ErfOp>([&](Operation *op) {
        return std::min(getLeast(op->getOperands()), LowerHalf::ZeroInNaN);
      })
      .Default([](Operation *) { return LowerHalf::Any; });
}

static Value createConstant(OpBuilder &b, Location loc, Type type,
                            int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// `type` with another element.
static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

static Value emitRounding(arith::TruncFOp op, LowerHalf lower) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type to = op.getType();
  Type bitsType = withElement(to, b.getI32Type());
  Type halfType = withElement(to, b.getI16Type());
  auto constant = [&](int64_t value) {
    return createConstant(b, loc, bitsType, value);
  };
  Value bits = arith::BitcastOp::create(b, loc, bitsType, op.getIn());
  Value width = constant(16), result = bits;
  if (lower != LowerHalf::Zero) {
    Value upper = arith::ShRUIOp::create(b, loc, bits, width);
    Value isOdd = arith::AndIOp::create(b, loc, upper, constant(1));
    Value bias = arith::AddIOp::create(b, loc, isOdd, constant(0x7fff));
    result = arith::AddIOp::create(b, loc, bits, bias);
  }
  if (lower == LowerHalf::Any) {
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                        op.getIn(), op.getIn());
    result =
        arith::SelectOp::create(b, loc, isNaN, constant(0x7fc00000), result);
  }
  result = arith::ShRUIOp::create(b, loc, result, width);
  result = arith::TruncIOp::create(b, loc, halfType, result);
  return arith::BitcastOp::create(b, loc, to, result);
}

void metaop::expandRoundingToBFloat16(Operation *root) {
  SmallVector<arith::TruncFOp> roundings;
  root->walk([&](arith::TruncFOp op) {
    if (getElementTypeOrSelf(op.getType()).isBF16() &&
        getElementTypeOrSelf(op.getIn()).isF32())
      roundings.push_back(op);
  });
  // All is known before anything is replaced.
  LowerHalves halves;
  SmallVector<LowerHalf> lower;
  for (arith::TruncFOp op : roundings)
    lower.push_back(halves.get(op.getIn()));
  for (auto [op, half] : llvm::zip_equal(roundings, lower)) {
    op.replaceAllUsesWith(emitRounding(op, half));
    op.erase();
  }
}
