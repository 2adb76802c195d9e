//===- PrefixDerivatives.cpp - Derivatives of prefixes --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With h[k] = a[k] h[k-1] + b[k], a cotangent s[k] of h[k] reaches h[k-1] times
// a[k]: s is a linear prefix of the cotangents, with the same factors, in the
// opposite direction. Every combiner has such factors: the derivatives of h[k]
// by h[k-1]; and slopes, those by x[k]. The table of combiners says which.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/CombinerDerivatives.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value PrefixSteps::make(bool exclusive) {
  return emit.create<PrefixOp>(op.getType(), op.getKind(), op.getSource(),
                               op.getFactors(), op.getDim(), op.getReverse(),
                               exclusive, op.getSerial());
}

Value PrefixSteps::getBefore() {
  if (!before)
    before = op.getExclusive() ? op.getResult() : make(/*exclusive=*/true);
  return before;
}

Value PrefixSteps::getAfter() {
  return op.getExclusive() ? make(/*exclusive=*/false) : op.getResult();
}

Value PrefixSteps::isFirst() {
  RankedTensorType type = op.getType();
  if (op.getReverse() && type.isDynamicDim(op.getDim()))
    return nullptr;
  Value number =
      emit.create<IotaOp>(type.clone(IntegerType::get(op.getContext(), 64)),
                          op.getDim(), emit.extents(op.getSource()));
  if (!op.getReverse())
    return emit.compare(ComparePredicate::Eq, number, 0.0);
  return emit.compare(ComparePredicate::Eq, number,
                      static_cast<double>(type.getDimSize(op.getDim()) - 1));
}

//===----------------------------------------------------------------------===//
// Slopes
//===----------------------------------------------------------------------===//

static Value leave(TensorEmitter &, Value value) { return value; }

PrefixSlopes metaop::detail::getSlopesOfSum(PrefixSteps &) {
  return {Value(), leave};
}

PrefixSlopes metaop::detail::getSlopesOfLinear(PrefixSteps &steps) {
  return {steps.op.getFactors(), leave};
}

PrefixSlopes metaop::detail::getSlopesOfProduct(PrefixSteps &steps) {
  Value last = steps.getBefore();
  return {steps.op.getSource(), [=](TensorEmitter &emit, Value value) {
            return emit.mul(value, last);
          }};
}

/// An element is taken, or what came before it stays. Of equal ones, the first
/// is taken.
PrefixSlopes metaop::detail::getSlopesOfExtreme(PrefixSteps &steps) {
  TensorEmitter &emit = steps.emit;
  Value last = steps.getBefore(), now = steps.getAfter();
  auto predicate = steps.op.getKind() == Combiner::Max ? ComparePredicate::Gt
                                                       : ComparePredicate::Lt;
  Value isTaken = emit.compare(predicate, now, last);
  Value isFirstNaN =
      emit.create<AndOp>(emit.compare(ComparePredicate::Ne, now, now),
                         emit.compare(ComparePredicate::Eq, last, last));
  isTaken = emit.create<OrOp>(isTaken, isFirstNaN);
  if (Value first = steps.isFirst())
    isTaken = emit.create<OrOp>(isTaken, first);
  Value zero = emit.splat(now, 0.0);
  Value factors = emit.select(isTaken, zero, emit.splat(now, 1.0));
  return {factors, [=](TensorEmitter &emit, Value value) {
            return emit.select(isTaken, value, zero);
          }};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
class PrefixDerivative {
public:
  PrefixDerivative(OpBuilder &builder, PrefixOp op)
      : steps(builder, op), emit(steps.emit), op(op),
        slopes(getCombinerInfo(op.getKind()).getSlopes(steps)) {}

  /// Returns the cotangents of all h: own ones, and those of later elements.
  Value gatherBack(Value cotangent) {
    if (op.getExclusive())
      return makePrefix(cotangent, !op.getReverse(), /*exclusive=*/true);
    // Cotangents from behind, of s[k] = c[k] + a[k+1] s[k+1].
    if (!slopes.factors)
      return makePrefix(cotangent, !op.getReverse(), /*exclusive=*/false);
    Value passed =
        makePrefix(emit.mul(slopes.factors, cotangent), !op.getReverse(),
                   /*exclusive=*/true);
    return emit.add(cotangent, passed);
  }
  /// Returns the tangents of all h, of which each adds its own.
  Value carryOn(Value tangent) {
    return makePrefix(tangent, op.getReverse(), op.getExclusive());
  }
  Value applySlope(Value value) { return slopes.applySlope(emit, value); }
  Value getBefore() { return steps.getBefore(); }

private:
  Value makePrefix(Value source, bool reverse, bool exclusive) {
    Combiner kind = slopes.factors ? Combiner::Linear : Combiner::Add;
    return emit.create<PrefixOp>(source.getType(), kind, source, slopes.factors,
                                 op.getDim(), reverse, exclusive,
                                 op.getSerial());
  }

  PrefixSteps steps;
  TensorEmitter &emit;
  PrefixOp op;
  PrefixSlopes slopes;
};
} // namespace

Products PrefixOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products result(getNumOperands());
  if (!isFloatTensor(getResult()))
    return result;
  PrefixDerivative derivative(builder, *this);
  Value ofState = derivative.gatherBack(cotangents[0]);
  result[0] = derivative.applySlope(ofState);
  if (getFactors())
    result[1] =
        TensorEmitter(builder, getLoc()).mul(ofState, derivative.getBefore());
  return result;
}

Products PrefixOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  PrefixDerivative derivative(builder, *this);
  TensorEmitter emit(builder, getLoc());
  Value moved = tangents[0] ? derivative.applySlope(tangents[0]) : Value();
  if (getFactors() && tangents[1]) {
    Value byFactor = emit.mul(tangents[1], derivative.getBefore());
    moved = moved ? emit.add(moved, byFactor) : byFactor;
  }
  return {derivative.carryOn(moved)};
}
