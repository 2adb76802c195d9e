//===- PrefixOps.cpp - Running sums and their kin -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/Prefix.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

MetaOpClass PrefixOp::getMetaOpClass() { return MetaOpClass::Prefix; }

TypedValue<RankedTensorType> PrefixOp::getIterationValue() {
  return getResult();
}

std::optional<int64_t> PrefixOp::getBlock() {
  // The product of a block may overflow where that of a line does not.
  bool isProduct =
      getKind() == PrefixKind::Mul || getKind() == PrefixKind::Linear;
  if (getSerial() || isProduct)
    return std::nullopt;
  return kPrefixBlock;
}

LogicalResult PrefixOp::verify() {
  // (C2)
  if ((getKind() == PrefixKind::Linear) != bool(getFactors()))
    return emitOpError("expects factors if and only if it is `linear`");
  // (C3)
  if (getKind() == PrefixKind::LogAddExp && !isFloatTensor(getResult()))
    return emitOpError("expects floats for `logaddexp`, given ")
           << getElementTypeOrSelf(getResult());
  // (C1)
  return verifyDimension(*this, getDim());
}

/// One element is all that comes up to it.
OpFoldResult PrefixOp::fold(FoldAdaptor adaptor) {
  // In a graph region an op may read itself.
  if (getType().getDimSize(getDim()) == 1 && !getExclusive() &&
      getSource() != getResult())
    return getSource();
  return {};
}

//===----------------------------------------------------------------------===//
// Derivatives of prefixes
//===----------------------------------------------------------------------===//
//
// With h[k] = a[k] h[k-1] + b[k], a cotangent s[k] of h[k] reaches h[k-1] times
// a[k]: s is a linear prefix of the cotangents, with the same factors, in the
// opposite direction. Every kind has such factors: the derivatives of h[k] by
// h[k-1]; and slopes, those by x[k].

namespace {
struct PrefixSlopes {
  /// d h[k] / d h[k-1]; null where it is 1.
  Value factors;
  /// Multiplies by d h[k] / d x[k].
  std::function<Value(TensorEmitter &, Value)> applySlope;
};

class PrefixDerivative {
public:
  PrefixDerivative(OpBuilder &builder, PrefixOp op)
      : emit(builder, op.getLoc()), op(op), slopes(getSlopes()) {}

  /// The cotangents of all h: own ones, and those of later elements.
  Value gatherBack(Value cotangent) {
    if (op.getExclusive())
      return makePrefix(cotangent, !op.getReverse(), /*exclusive=*/true);
    // What comes from behind, of s[k] = c[k] + a[k+1] s[k+1].
    if (!slopes.factors)
      return makePrefix(cotangent, !op.getReverse(), /*exclusive=*/false);
    Value passed =
        makePrefix(emit.mul(slopes.factors, cotangent), !op.getReverse(),
                   /*exclusive=*/true);
    return emit.add(cotangent, passed);
  }
  /// The tangents of all h, of which each adds its own.
  Value carryOn(Value tangent) {
    return makePrefix(tangent, op.getReverse(), op.getExclusive());
  }
  Value applySlope(Value value) { return slopes.applySlope(emit, value); }
  /// h[k-1], the identity first.
  Value getBefore() {
    if (!before)
      before = op.getExclusive() ? op.getResult() : make(/*exclusive=*/true);
    return before;
  }

private:
  Value makePrefix(Value source, bool reverse, bool exclusive) {
    PrefixKind kind = slopes.factors ? PrefixKind::Linear : PrefixKind::Add;
    return emit.create<PrefixOp>(source.getType(), kind, source, slopes.factors,
                                 op.getDim(), reverse, exclusive,
                                 op.getSerial());
  }
  Value make(bool exclusive) {
    return emit.create<PrefixOp>(op.getType(), op.getKind(), op.getSource(),
                                 op.getFactors(), op.getDim(), op.getReverse(),
                                 exclusive, op.getSerial());
  }
  /// h[k].
  Value getAfter() {
    return op.getExclusive() ? make(/*exclusive=*/false) : op.getResult();
  }
  Value isFirst();
  PrefixSlopes getSlopes();
  PrefixSlopes getChoice();
  PrefixSlopes getShares();

  TensorEmitter emit;
  PrefixOp op;
  Value before;
  PrefixSlopes slopes;
};
} // namespace

/// Whether an element is the first of its line, which is taken even if it is
/// the identity; null where the number of that is not known.
Value PrefixDerivative::isFirst() {
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

/// Of max and min: an element is taken, or what came before it stays. Of equal
/// ones, the first is taken.
PrefixSlopes PrefixDerivative::getChoice() {
  Value last = getBefore(), now = getAfter();
  auto predicate = op.getKind() == PrefixKind::Max ? ComparePredicate::Gt
                                                   : ComparePredicate::Lt;
  Value isTaken = emit.compare(predicate, now, last);
  Value isFirstNaN =
      emit.create<AndOp>(emit.compare(ComparePredicate::Ne, now, now),
                         emit.compare(ComparePredicate::Eq, last, last));
  isTaken = emit.create<OrOp>(isTaken, isFirstNaN);
  if (Value first = isFirst())
    isTaken = emit.create<OrOp>(isTaken, first);
  Value zero = emit.splat(now, 0.0);
  Value factors = emit.select(isTaken, zero, emit.splat(now, 1.0));
  return {factors, [=](TensorEmitter &emit, Value value) {
            return emit.select(isTaken, value, zero);
          }};
}

/// Of log(e^h + e^x): the shares of both in the sum. Where that is -inf, both
/// are: the element has it all.
PrefixSlopes PrefixDerivative::getShares() {
  Value last = getBefore(), now = getAfter(), x = op.getSource();
  Value isNothing = emit.compare(ComparePredicate::Eq, now,
                                 -std::numeric_limits<double>::infinity());
  Value safe = emit.select(isNothing, emit.splat(now, 0.0), now);
  Value one = emit.splat(now, 1.0);
  auto share = [&](Value part, Value ofNothing) {
    return emit.select(isNothing, ofNothing,
                       emit.create<ExpOp>(emit.sub(part, safe)));
  };
  Value ofX = share(x, one);
  return {
      share(last, emit.splat(now, 0.0)),
      [=](TensorEmitter &emit, Value value) { return emit.mul(value, ofX); }};
}

PrefixSlopes PrefixDerivative::getSlopes() {
  auto asItIs = [](TensorEmitter &, Value value) { return value; };
  switch (op.getKind()) {
  case PrefixKind::Add:
    return {Value(), asItIs};
  case PrefixKind::Linear:
    return {op.getFactors(), asItIs};
  case PrefixKind::Mul: {
    Value last = getBefore();
    return {op.getSource(), [=](TensorEmitter &emit, Value value) {
              return emit.mul(value, last);
            }};
  }
  case PrefixKind::Max:
  case PrefixKind::Min:
    return getChoice();
  case PrefixKind::LogAddExp:
    return getShares();
  }
  llvm_unreachable("all kinds are handled");
}

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
