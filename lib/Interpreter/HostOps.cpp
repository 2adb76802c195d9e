//===- HostOps.cpp - The arithmetic of extents ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents of dynamic tensors are computed with `index` numbers: the ops of
// arith and tensor that do so, on 0-d values.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Expected;

static Expected<Tensor> evaluateConstant(arith::ConstantOp op,
                                         ArrayRef<Tensor>) {
  if (auto elements = dyn_cast<ElementsAttr>(op.getValue()))
    return Tensor::fromElements(elements);
  if (!isa<IntegerAttr, FloatAttr>(op.getValue()))
    return createStringError("has a value of an unknown kind");
  return Tensor::fromScalar(op.getType(), Scalar::ofAttribute(op.getValue()));
}

/// An op on two numbers of one integer type.
template <typename OpTy>
static void addInteger(OpFunctions &functions,
                       Scalar (*function)(Scalar, Scalar)) {
  addOp<OpTy>(
      functions, [function](OpTy op, ArrayRef<Tensor> x) -> Expected<Tensor> {
        if (x[0].getRank() != 0 || !getElementKind(op.getType()))
          return createStringError("is understood on single numbers only");
        return Tensor::fromScalar(op.getType(),
                                  function(x[0].get(0), x[1].get(0)));
      });
}

/// A division, which by zero has no result.
template <typename OpTy>
static void addDivision(OpFunctions &functions,
                        Scalar (*function)(Scalar, Scalar)) {
  addInteger<OpTy>(functions, function);
  StringRef name = OpTy::getOperationName();
  functions[name] =
      [divide = functions[name]](Operation *op,
                                 ArrayRef<Tensor> x) -> Expected<Tensors> {
    if (x[1].getNumElements() == 1 && !x[1].get(0).isNonZero())
      return createStringError("divides by zero");
    return divide(op, x);
  };
}

/// Rounds towards zero: up where the quotient is negative.
static Scalar truncDiv(Scalar x, Scalar y) {
  bool isNegative = (x.getSigned() < 0) != (y.getSigned() < 0);
  return isNegative ? scalar::ceilDiv(x, y) : scalar::floorDiv(x, y);
}

static Scalar truncRem(Scalar x, Scalar y) {
  return scalar::sub(x, scalar::mul(y, truncDiv(x, y)));
}

static Expected<Tensor> evaluateIndexCast(arith::IndexCastOp op,
                                          ArrayRef<Tensor> x) {
  std::optional<ElementKind> kind = getElementKind(op.getType());
  if (!kind)
    return createStringError("is understood on single numbers only");
  return Tensor::fromScalar(op.getType(), roundTo(*kind, x[0].get(0)));
}

static Expected<Tensor> evaluateDim(tensor::DimOp op, ArrayRef<Tensor> x) {
  int64_t dim = x[1].get(0).getSigned();
  if (dim < 0 || dim >= x[0].getRank())
    return createStringError("asks for dimension " + Twine(dim) +
                             " of a tensor of shape " +
                             formatShape(x[0].getShape()));
  return Tensor::fromScalar(op.getType(),
                            Scalar::ofSigned(x[0].getShape()[dim]));
}

static Expected<Tensor> evaluateExtract(tensor::ExtractOp op,
                                        ArrayRef<Tensor> x) {
  SmallVector<int64_t> index = getIntegers(x.drop_front());
  if (!x[0].isInRange(index))
    return createStringError("reads outside of a tensor of shape " +
                             formatShape(x[0].getShape()));
  return Tensor::fromScalar(op.getType(), x[0].get(x[0].linearize(index)));
}

static Expected<Tensor> evaluateFromElements(tensor::FromElementsOp op,
                                             ArrayRef<Tensor> x) {
  Expected<Tensor> result = createResult(op.getResult(), {});
  if (!result)
    return result;
  for (auto [position, element] : llvm::enumerate(x))
    result->set(position, element.get(0));
  return result;
}

void metaop::addHostOps(OpFunctions &functions) {
  addOp<arith::ConstantOp>(functions, evaluateConstant);
  addInteger<arith::AddIOp>(functions, scalar::add);
  addInteger<arith::SubIOp>(functions, scalar::sub);
  addInteger<arith::MulIOp>(functions, scalar::mul);
  addInteger<arith::MaxSIOp>(functions, scalar::max);
  addInteger<arith::MinSIOp>(functions, scalar::min);
  addDivision<arith::DivSIOp>(functions, truncDiv);
  addDivision<arith::RemSIOp>(functions, truncRem);
  addDivision<arith::FloorDivSIOp>(functions, scalar::floorDiv);
  addDivision<arith::CeilDivSIOp>(functions, scalar::ceilDiv);
  addOp<arith::IndexCastOp>(functions, evaluateIndexCast);
  addOp<tensor::DimOp>(functions, evaluateDim);
  addOp<tensor::ExtractOp>(functions, evaluateExtract);
  addOp<tensor::FromElementsOp>(functions, evaluateFromElements);
}
