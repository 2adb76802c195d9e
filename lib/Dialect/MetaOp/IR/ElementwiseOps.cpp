//===- ElementwiseOps.cpp - One-to-one ops --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work of an element, by its type, and the folds of ops whose operands and
// result differ in type. ElementwiseFolds.cpp has the other folds.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "SplatFolding.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

ElementWork metaop::getElementWork(Value result, ElementWork inVectors) {
  Type element = getElementTypeOrSelf(result);
  switch (inVectors) {
  case ElementWork::Arithmetic:
  case ElementWork::Call:
    return inVectors;
  case ElementWork::Division:
    return isa<FloatType>(element) ? inVectors : ElementWork::Call;
  case ElementWork::Exponential:
  case ElementWork::Logarithm:
  case ElementWork::Tanh:
  case ElementWork::Erf:
    // The polynomials have the digits of an f32.
    return element.isF64() ? ElementWork::Call : inVectors;
  }
  llvm_unreachable("all kinds of work are handled");
}

LogicalResult
CmpOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                        ValueRange operands, DictionaryAttr, OpaqueProperties,
                        RegionRange,
                        SmallVectorImpl<Type> &inferredReturnTypes) {
  auto operand = dyn_cast<RankedTensorType>(operands.front().getType());
  if (!operand)
    return emitOptionalError(location, "expects ranked tensors, given ",
                             operands.front().getType());
  inferredReturnTypes.push_back(operand.clone(IntegerType::get(context, 1)));
  return success();
}

//===----------------------------------------------------------------------===//
// Cmp and select
//===----------------------------------------------------------------------===//

/// Returns whether `predicate` holds between values that are less, equal or
/// greater.
static bool holds(ComparePredicate predicate, bool less, bool equal) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return equal;
  case ComparePredicate::Ne:
    return !equal;
  case ComparePredicate::Lt:
    return less;
  case ComparePredicate::Le:
    return less || equal;
  case ComparePredicate::Gt:
    return !less && !equal;
  case ComparePredicate::Ge:
    return !less;
  }
  llvm_unreachable("unknown predicate");
}

OpFoldResult CmpOp::fold(FoldAdaptor adaptor) {
  Type type = getLhs().getType();
  ComparePredicate predicate = getPredicate();
  auto fold = [&](bool value) {
    return makeSplat(getType(), static_cast<int64_t>(value));
  };
  if (isFloat(getLhs())) {
    auto x = splatOf<APFloat>(adaptor.getLhs(), type);
    auto y = splatOf<APFloat>(adaptor.getRhs(), type);
    if (!x || !y)
      return {};
    APFloat::cmpResult result = x->compare(*y);
    if (result == APFloat::cmpUnordered)
      return fold(predicate == ComparePredicate::Ne);
    return fold(holds(predicate, result == APFloat::cmpLessThan,
                      result == APFloat::cmpEqual));
  }
  if (getLhs() == getRhs())
    return fold(holds(predicate, /*less=*/false, /*equal=*/true));
  auto x = splatOf<APInt>(adaptor.getLhs(), type);
  auto y = splatOf<APInt>(adaptor.getRhs(), type);
  if (!x || !y)
    return {};
  bool less = isUnsigned(getLhs()) ? x->ult(*y) : x->slt(*y);
  return fold(holds(predicate, less, *x == *y));
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return replaceBy(*this, getOnTrue());
  if (isSplat(adaptor.getCondition(), -1.0))
    return replaceBy(*this, getOnTrue());
  if (isSplat(adaptor.getCondition(), 0.0))
    return replaceBy(*this, getOnFalse());
  if (getElementTypeOrSelf(getType()).isInteger(1) &&
      isSplat(adaptor.getOnTrue(), -1.0) && isSplat(adaptor.getOnFalse(), 0.0))
    return replaceBy(*this, getCondition());
  return {};
}

//===----------------------------------------------------------------------===//
// Cast
//===----------------------------------------------------------------------===//

/// Returns whether every number of `from` is a number of `to`.
static bool isExactCast(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat)
    return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(),
                                      toFloat.getFloatSemantics());
  if (fromFloat)
    return false;
  unsigned width = from.getIntOrFloatBitWidth();
  unsigned digits = isUnsigned(from) ? width : width - 1;
  if (toFloat) {
    // The lowest signed integer is a power of two, one above the digits.
    APFloat largest = APFloat::getLargest(toFloat.getFloatSemantics());
    return digits <= toFloat.getFPMantissaWidth() &&
           static_cast<int>(width) <= ilogb(largest);
  }
  if (to.isInteger(1))
    return from.isInteger(1);
  unsigned toWidth = to.getIntOrFloatBitWidth();
  if (isUnsigned(to))
    return isUnsigned(from) && digits <= toWidth;
  return digits <= toWidth - 1;
}

/// Returns whether casting through `middle` gives what casting at once does.
static bool isSkippable(Type from, Type middle, Type to) {
  bool allIntegers = isa<IntegerType>(from) && isa<IntegerType>(middle) &&
                     isa<IntegerType>(to);
  // Bits that survive the last cast survive the first.
  if (allIntegers && !middle.isInteger(1) && !to.isInteger(1) &&
      middle.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
    return true;
  if (!isExactCast(from, middle))
    return false;
  // An integer that does not fit would saturate at the end of the chain, but
  // wrap in one step.
  if (isa<IntegerType>(from) && isa<FloatType>(middle) && isa<IntegerType>(to))
    return to.isInteger(1) || isExactCast(from, to);
  return true;
}

/// A float converted as `metaop.cast` says: towards zero, saturating, NaN to 0.
static APInt toInteger(const APFloat &value, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return APInt(1, !value.isZero());
  llvm::APSInt result(width, isUnsigned(element));
  bool isExact;
  value.convertToInteger(result, APFloat::rmTowardZero, &isExact);
  return std::move(result);
}

static Attribute foldCastedSplat(Attribute operand, Type from, Type to) {
  Type fromElement = getElementTypeOrSelf(from);
  Type toElement = getElementTypeOrSelf(to);
  if (isa<FloatType>(fromElement)) {
    auto x = splatOf<APFloat>(operand, from);
    if (!x)
      return {};
    if (isa<FloatType>(toElement))
      return makeSplat(to, toSemantics(*x, toElement));
    return makeSplat(to, toInteger(*x, toElement));
  }
  auto x = splatOf<APInt>(operand, from);
  if (!x)
    return {};
  bool isSignedInt = !isUnsigned(fromElement);
  if (auto toFloat = dyn_cast<FloatType>(toElement)) {
    APFloat result(toFloat.getFloatSemantics());
    result.convertFromAPInt(*x, isSignedInt, APFloat::rmNearestTiesToEven);
    return makeSplat(to, result);
  }
  if (toElement.isInteger(1))
    return makeSplat(to, APInt(1, !x->isZero()));
  unsigned width = toElement.getIntOrFloatBitWidth();
  return makeSplat(to,
                   isSignedInt ? x->sextOrTrunc(width) : x->zextOrTrunc(width));
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  Type type = getType();
  if (getOperand().getType() == type)
    return getOperand();
  if (cast<RankedTensorType>(type).hasStaticShape())
    if (Attribute folded =
            foldCastedSplat(adaptor.getOperand(), getOperand().getType(), type))
      return folded;

  auto inner = getOperand().getDefiningOp<CastOp>();
  if (!inner)
    return {};
  Value source = inner.getOperand();
  if (!isSkippable(getElementTypeOrSelf(source),
                   getElementTypeOrSelf(inner.getType()),
                   getElementTypeOrSelf(type)))
    return {};
  if (source.getType() == type)
    return source;
  getOperandMutable().assign(source);
  return getResult();
}

//===----------------------------------------------------------------------===//
// Bitcast
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getOperand());
  Type to = getElementTypeOrSelf(getResult());
  // (C1)
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return success();
  return emitOpError("expects numbers of one width, given ")
         << from << " and " << to;
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<BitcastOp>();
  if (!inner)
    return {};
  if (inner.getOperand().getType() == getType())
    return inner.getOperand();
  getOperandMutable().assign(inner.getOperand());
  return getResult();
}

//===----------------------------------------------------------------------===//
// Barrier
//===----------------------------------------------------------------------===//

void BarrierOp::build(OpBuilder &builder, OperationState &state,
                      ValueRange operands) {
  build(builder, state, operands.getTypes(), operands);
}

LogicalResult BarrierOp::verify() {
  // (C1)
  if (getOperandTypes() != getResultTypes())
    return emitOpError("expects results of the types of its operands, given ")
           << getResultTypes() << " for " << getOperandTypes();
  return success();
}

/// Returns whether a value is there whenever the operation is reached: it is a
/// constant, or from outside of the loop whose body has the operation.
static bool isAlwaysThere(Value value, Operation *op) {
  auto loop = dyn_cast_if_present<LoopLikeOpInterface>(op->getParentOp());
  return matchPattern(value, m_Constant()) ||
         (loop && loop.isDefinedOutsideOfLoop(value));
}

/// Values that are always there do not wait, and one that is given twice waits
/// once. One that is always there itself stays as it is.
LogicalResult BarrierOp::canonicalize(BarrierOp op, PatternRewriter &rewriter) {
  SmallVector<Value> left, results;
  llvm::SmallDenseMap<Value, unsigned> places;
  for (Value operand : op.getOperands())
    if (!isAlwaysThere(operand, op) &&
        places.try_emplace(operand, left.size()).second)
      left.push_back(operand);
  bool areConstants = llvm::all_of(op.getOperands(), [](Value operand) {
    return matchPattern(operand, m_Constant());
  });
  if (left.size() == op.getNumOperands() || (left.empty() && !areConstants))
    return failure();
  if (left.empty()) {
    rewriter.replaceOp(op, op.getOperands());
    return success();
  }
  auto smaller = BarrierOp::create(rewriter, op.getLoc(), left);
  for (Value operand : op.getOperands()) {
    auto place = places.find(operand);
    results.push_back(place == places.end() ? operand
                                            : smaller.getResult(place->second));
  }
  rewriter.replaceOp(op, results);
  return success();
}
