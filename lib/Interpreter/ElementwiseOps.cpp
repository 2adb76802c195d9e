//===- ElementwiseOps.cpp - The meaning of one-to-one ops -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands have the shape of the result, and each element of the result is a
// function of the elements at the same place.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "OpTable.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

/// `result[i] = function(operands[0][i], operands[1][i], ...)`.
static Expected<Tensor>
mapElements(Operation *op, ArrayRef<Tensor> operands,
            llvm::function_ref<Scalar(ArrayRef<Scalar>)> function) {
  ArrayRef<int64_t> shape = operands.front().getShape();
  for (const Tensor &operand : operands)
    if (operand.getShape() != shape)
      return llvm::createStringError("takes operands of one shape, given " +
                                     formatShape(shape) + " and " +
                                     formatShape(operand.getShape()));
  Expected<Tensor> result =
      Tensor::create(getElementTypeOrSelf(op->getResult(0)), shape);
  if (!result)
    return result;
  SmallVector<Scalar> elements(operands.size());
  for (int64_t i = 0; i < result->getNumElements(); ++i) {
    for (auto [element, operand] : llvm::zip_equal(elements, operands))
      element = operand.get(i);
    result->set(i, function(elements));
  }
  return result;
}

template <typename OpTy>
static void addUnary(OpFunctions &functions, Scalar (*function)(Scalar)) {
  addOp<OpTy>(functions, [function](OpTy op, ArrayRef<Tensor> operands) {
    return mapElements(op, operands,
                       [&](ArrayRef<Scalar> x) { return function(x[0]); });
  });
}

template <typename OpTy>
static void addBinary(OpFunctions &functions,
                      Scalar (*function)(Scalar, Scalar)) {
  addOp<OpTy>(functions, [function](OpTy op, ArrayRef<Tensor> operands) {
    return mapElements(
        op, operands, [&](ArrayRef<Scalar> x) { return function(x[0], x[1]); });
  });
}

namespace {
/// The value of an op of so many doubles, if its entry in the .td has it.
template <typename OpTy> using EvaluatedOfOne = decltype(OpTy::evaluate(0.0));
template <typename OpTy>
using EvaluatedOfTwo = decltype(OpTy::evaluate(0.0, 0.0));
} // namespace

template <typename OpTy>
static void addIfFunctionOfDoubles(OpFunctions &functions) {
  if constexpr (llvm::is_detected<EvaluatedOfOne, OpTy>::value)
    addUnary<OpTy>(functions, [](Scalar x) {
      return Scalar::ofFloat(OpTy::evaluate(x.getFloat()));
    });
  if constexpr (llvm::is_detected<EvaluatedOfTwo, OpTy>::value)
    addBinary<OpTy>(functions, [](Scalar x, Scalar y) {
      return Scalar::ofFloat(OpTy::evaluate(x.getFloat(), y.getFloat()));
    });
}

template <typename... OpTys>
static void addFunctionsOfDoubles(OpFunctions &functions) {
  (addIfFunctionOfDoubles<OpTys>(functions), ...);
}

/// The floor of a rounded quotient, less 1 where what is left of x shows that
/// the quotient was rounded up.
template <typename T> static T floorDivide(T x, T y) {
  if (std::isinf(x) && y != 0)
    return std::numeric_limits<T>::quiet_NaN();
  T floor = std::floor(x / y);
  T rest = floor == 0 ? x : std::fma(-floor, y, x);
  bool isTooHigh = y < 0 ? rest > 0 : rest < 0;
  return isTooHigh ? floor - 1 : floor;
}

/// Floats are divided in f64, or in f32, in which f16 and bf16 are computed as
/// well: digits of a quotient that the type has not are lost as in a kernel.
static Expected<Tensor> evaluateFloorDiv(FloorDivOp op,
                                         ArrayRef<Tensor> operands) {
  bool isDouble = operands.front().getElementKind() == ElementKind::F64;
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    if (!x[0].isFloat())
      return scalar::floorDiv(x[0], x[1]);
    double a = x[0].getFloat(), b = x[1].getFloat();
    return Scalar::ofFloat(
        isDouble ? floorDivide(a, b)
                 : floorDivide(static_cast<float>(a), static_cast<float>(b)));
  });
}

static bool holds(ComparePredicate predicate, Scalar x, Scalar y) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return scalar::equal(x, y);
  case ComparePredicate::Ne:
    return !scalar::equal(x, y);
  case ComparePredicate::Lt:
    return scalar::less(x, y);
  case ComparePredicate::Le:
    return scalar::less(x, y) || scalar::equal(x, y);
  case ComparePredicate::Gt:
    return scalar::less(y, x);
  case ComparePredicate::Ge:
    return scalar::less(y, x) || scalar::equal(x, y);
  }
  llvm_unreachable("all predicates are handled");
}

static Expected<Tensor> evaluateCmp(CmpOp op, ArrayRef<Tensor> operands) {
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    return Scalar::ofBool(holds(op.getPredicate(), x[0], x[1]));
  });
}

static Expected<Tensor> evaluateSelect(SelectOp op, ArrayRef<Tensor> operands) {
  return mapElements(op, operands, [](ArrayRef<Scalar> x) {
    return x[0].isNonZero() ? x[1] : x[2];
  });
}

static Expected<Tensor> evaluateCast(CastOp op, ArrayRef<Tensor> operands) {
  ElementKind to = *getElementKind(op.getResult().getType().getElementType());
  return mapElements(op, operands,
                     [&](ArrayRef<Scalar> x) { return convert(to, x[0]); });
}

/// stop_grad and stop_fuse have a meaning for passes only, transfer for memory.
template <typename OpTy>
static Expected<Tensor> evaluateIdentity(OpTy op, ArrayRef<Tensor> operands) {
  return operands.front();
}

/// f16 and bf16 are computed in f32, to which `fma` rounds once; then they are
/// rounded once more.
static Expected<Tensor> evaluateFma(FmaOp op, ArrayRef<Tensor> operands) {
  bool isDouble = operands.front().getElementKind() == ElementKind::F64;
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    double a = x[0].getFloat(), b = x[1].getFloat(), c = x[2].getFloat();
    return Scalar::ofFloat(isDouble ? std::fma(a, b, c)
                                    : std::fma(static_cast<float>(a),
                                               static_cast<float>(b),
                                               static_cast<float>(c)));
  });
}

static Expected<Tensor> evaluatePopcount(PopcountOp op,
                                         ArrayRef<Tensor> operands) {
  Type element = op.getResult().getType().getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    return scalar::popcount(x[0], width);
  });
}

/// Evaluates a shift. The last bit of a number depends on its type.
template <typename OpTy, Scalar (*shift)(Scalar, Scalar, unsigned)>
static Expected<Tensor> evaluateShift(OpTy op, ArrayRef<Tensor> operands) {
  Type element = op.getResult().getType().getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    return shift(x[0], x[1], width);
  });
}

/// The neighbours of a number depend on its type.
static Expected<Tensor> evaluateNextafter(NextafterOp op,
                                          ArrayRef<Tensor> operands) {
  ElementKind kind = operands.front().getElementKind();
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    return scalar::nextafter(kind, x[0], x[1]);
  });
}

static Expected<Tensor> evaluateBitcast(BitcastOp op,
                                        ArrayRef<Tensor> operands) {
  ElementKind from = operands.front().getElementKind();
  ElementKind to = *getElementKind(op.getResult().getType().getElementType());
  return mapElements(op, operands, [&](ArrayRef<Scalar> x) {
    char memory[8];
    storeElement(from, memory, x[0]);
    return loadElement(to, memory);
  });
}

void metaop::addElementwiseOps(OpFunctions &functions) {
  addFunctionsOfDoubles<
#define GET_OP_LIST
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.cpp.inc"
      >(functions);

  addUnary<NegOp>(functions, scalar::neg);
  addUnary<AbsOp>(functions, scalar::abs);
  addUnary<SignOp>(functions, scalar::sign);
  addUnary<NotOp>(functions, scalar::bitNot);
  addUnary<FloorOp>(functions, scalar::floor);
  addUnary<CeilOp>(functions, scalar::ceil);
  addUnary<RoundOp>(functions, scalar::round);
  addUnary<TruncOp>(functions, scalar::trunc);
  addOp<PopcountOp>(functions, evaluatePopcount);

  addBinary<AddOp>(functions, scalar::add);
  addBinary<SubOp>(functions, scalar::sub);
  addBinary<MulOp>(functions, scalar::mul);
  addBinary<DivOp>(functions, scalar::div);
  addOp<FloorDivOp>(functions, evaluateFloorDiv);
  addBinary<ModOp>(functions, scalar::mod);
  addBinary<FmodOp>(functions, scalar::fmod);
  addBinary<GcdOp>(functions, scalar::gcd);
  addBinary<PowOp>(functions, scalar::pow);
  addBinary<MaxOp>(functions, scalar::max);
  addBinary<MinOp>(functions, scalar::min);
  addBinary<AndOp>(functions, scalar::bitAnd);
  addBinary<OrOp>(functions, scalar::bitOr);
  addBinary<XorOp>(functions, scalar::bitXor);
  addOp<ShlOp>(functions, evaluateShift<ShlOp, scalar::shiftLeft>);
  addOp<ShrOp>(functions, evaluateShift<ShrOp, scalar::shiftRight>);
  addOp<NextafterOp>(functions, evaluateNextafter);
  addOp<FmaOp>(functions, evaluateFma);

  addOp<CmpOp>(functions, evaluateCmp);
  addOp<SelectOp>(functions, evaluateSelect);
  addOp<CastOp>(functions, evaluateCast);
  addOp<BitcastOp>(functions, evaluateBitcast);
  addOp<StopGradOp>(functions, evaluateIdentity<StopGradOp>);
  addOp<StopFuseOp>(functions, evaluateIdentity<StopFuseOp>);
  addOp<TransferOp>(functions, evaluateIdentity<TransferOp>);
  functions[BarrierOp::getOperationName()] =
      [](Operation *, ArrayRef<Tensor> operands) -> Expected<Tensors> {
    return Tensors(operands);
  };
  functions[CustomDerivativeOp::getOperationName()] =
      [](Operation *op, ArrayRef<Tensor> operands) -> Expected<Tensors> {
    return Tensors(
        valuesOf(cast<CustomDerivativeOp>(op).getValues(), operands));
  };
}
