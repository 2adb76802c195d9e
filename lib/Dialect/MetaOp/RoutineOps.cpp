//===- RoutineOps.cpp - Prefixes and sorts --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "TensorEmitter.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

static LogicalResult verifyDim(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("expects a dimension below ")
         << rank << ", given " << dim;
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
  return verifyDim(*this, getDim());
}

/// What a sort and an argsort have in common.
template <typename OpT> static LogicalResult verifyOrder(OpT op) {
  // (C1)
  if (failed(verifyDim(op, op.getDim())))
    return failure();
  // (C2)
  RankedTensorType source = op.getSource().getType();
  RankedTensorType result = op.getResult().getType();
  SmallVector<int64_t> shape(source.getShape());
  if (result.getRank() == source.getRank())
    shape[op.getDim()] = result.getDimSize(op.getDim());
  if (failed(verifyCompatibleShape(result.getShape(), shape)))
    return op.emitOpError("expects a result of the source's shape but along "
                          "dimension ")
           << op.getDim() << ", given " << result << " for " << source;
  // (C3)
  int64_t extent = source.getDimSize(op.getDim());
  int64_t count = shape[op.getDim()];
  int64_t begin = op.getBegin();
  if (begin < 0 || (!ShapedType::isDynamic(extent) &&
                    (begin > extent || (!ShapedType::isDynamic(count) &&
                                        count > extent - begin))))
    return op.emitOpError("expects places of ")
           << extent << " elements, given those from " << begin << " on for "
           << result;
  return success();
}

LogicalResult SortOp::verify() {
  if (getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()))
    return emitOpError("expects a result of the source's elements, given ")
           << getResult().getType() << " for " << getSource().getType();
  return verifyOrder(*this);
}

LogicalResult ArgsortOp::verify() { return verifyOrder(*this); }

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
                                 op.getDim(), reverse, exclusive);
  }
  Value make(bool exclusive) {
    return emit.create<PrefixOp>(op.getType(), op.getKind(), op.getSource(),
                                 op.getFactors(), op.getDim(), op.getReverse(),
                                 exclusive);
  }
  /// h[k].
  Value getAfter() {
    return op.getExclusive() ? make(/*exclusive=*/false) : op.getResult();
  }
  PrefixSlopes getSlopes();
  PrefixSlopes getChoice();
  PrefixSlopes getShares();

  TensorEmitter emit;
  PrefixOp op;
  Value before;
  PrefixSlopes slopes;
};
} // namespace

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

//===----------------------------------------------------------------------===//
// Derivatives of sorts
//===----------------------------------------------------------------------===//

/// Where the elements of a sorted tensor come from, and the map that reads
/// them.
static std::pair<Value, AffineMap> getOrigins(TensorEmitter &emit, SortOp op) {
  auto type = op.getType();
  MLIRContext *context = op.getContext();
  Value places = emit.create<ArgsortOp>(
      type.clone(IntegerType::get(context, 64)), op.getSource(), op.getDim(),
      op.getDescending(), op.getBegin());
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(static_cast<uint64_t>(dim) == op.getDim()
                          ? getAffineSymbolExpr(0, context)
                          : getAffineDimExpr(dim, context));
  return {places, AffineMap::get(type.getRank(), 1, indices, context)};
}

Products SortOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloatTensor(getResult()))
    return {Value()};
  TensorEmitter emit(builder, getLoc());
  auto [places, map] = getOrigins(emit, *this);
  return {emit.create<ScatterOp>(getSource().getType(), ReduceKind::Add,
                                 cotangents[0], ValueRange(places),
                                 emit.extents(getSource()), map)};
}

Products SortOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  auto [places, map] = getOrigins(emit, *this);
  return {emit.create<GatherOp>(
      getType(), tangents[0], ValueRange(places), map,
      getNumberAttr(getElementTypeOrSelf(getResult()), 0.0))};
}
