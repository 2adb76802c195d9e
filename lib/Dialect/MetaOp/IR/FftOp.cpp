//===- FftOp.cpp - Discrete Fourier transforms ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

/// Returns the type of a side that has all elements along the dimensions.
static RankedTensorType getFullType(FftOp op) {
  Value full = op.isToReal() ? op.getOutputs().front() : op.getInputs().front();
  return cast<RankedTensorType>(full.getType());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Verifies the numbers of tensors (C1) and their elements (C2).
static LogicalResult verifyTensors(FftOp op) {
  size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
  if (inputs < 1 || inputs > 2 || outputs < 1 || outputs > 2 ||
      inputs + outputs == 2)
    return op.emitOpError("expects one or two inputs and outputs, of one of "
                          "which two, given ")
           << inputs << " and " << outputs;
  if (op.isFromReal() && op.getInverse())
    return op.emitOpError("expects no `inverse` of real inputs");
  if (op.isToReal() && !op.getInverse())
    return op.emitOpError("expects `inverse` of real outputs");
  Type element = getElementTypeOrSelf(op.getInputs().front());
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (getElementTypeOrSelf(type) != element ||
        !(element.isF32() || element.isF64()))
      return op.emitOpError("expects elements of one type, f32 or f64, given ")
             << type << " beside " << op.getInputs().front().getType();
  return success();
}

/// Verifies the dimensions (C3).
static LogicalResult verifyDims(FftOp op) {
  RankedTensorType full = getFullType(op);
  llvm::SmallSet<int64_t, 4> seen;
  if (op.getDims().empty())
    return op.emitOpError("expects a dimension");
  for (int64_t dim : op.getDims()) {
    if (dim < 0 || dim >= full.getRank())
      return op.emitOpError("expects dimensions below ")
             << full.getRank() << ", given " << dim;
    if (!seen.insert(dim).second)
      return op.emitOpError("expects different dimensions, given ")
             << dim << " twice";
    if (full.isDynamicDim(dim) || full.getDimSize(dim) == 0)
      return op.emitOpError("expects a static extent above 0 along dimension ")
             << dim << ", given " << full;
  }
  return success();
}

LogicalResult FftOp::verify() {
  if (failed(verifyTensors(*this)) || failed(verifyDims(*this)))
    return failure();
  // (C4)
  RankedTensorType full = getFullType(*this);
  SmallVector<int64_t> half(full.getShape());
  half[getDims().back()] = getLength() / 2 + 1;
  auto verifyShapes = [&](TypeRange types, bool isReal) -> LogicalResult {
    bool isHalf = !isReal && (isFromReal() || isToReal());
    ArrayRef<int64_t> shape = isHalf ? half : full.getShape();
    for (Type type : types)
      if (cast<RankedTensorType>(type).getRank() != full.getRank() ||
          failed(verifyCompatibleShape(cast<RankedTensorType>(type).getShape(),
                                       shape)))
        return emitOpError("expects the shape of ")
               << RankedTensorType::get(shape, full.getElementType())
               << ", given " << type;
    return success();
  };
  if (failed(verifyShapes(getInputs().getTypes(), isFromReal())))
    return failure();
  return verifyShapes(getOutputs().getTypes(), isToReal());
}

//===----------------------------------------------------------------------===//
// As a routine
//===----------------------------------------------------------------------===//

bool FftOp::makes(OpResult) { return true; }

StringRef FftOp::getRoutineName() { return "fft"; }

SmallVector<NamedAttribute> FftOp::getRoutineAttributes() {
  Builder builder(getContext());
  return {
      builder.getNamedAttr("dims", getDimsAttr()),
      builder.getNamedAttr("inverse", builder.getI64IntegerAttr(getInverse())),
      builder.getNamedAttr("scale", getScaleAttr())};
}

StringRef FftOp::getOperandRole(unsigned number) {
  return number == 0 ? "real" : "imag";
}
StringRef FftOp::getResultRole(unsigned number) {
  return number == 0 ? "real" : "imag";
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Multiplies what stands for two results of a transform of real numbers.
static Value weighDoubled(TensorEmitter &emit, FftOp op, Value half,
                          double weight) {
  auto type = cast<RankedTensorType>(half.getType());
  int64_t dim = op.getDims().back(), length = op.getLength();
  auto indices = type.clone(IntegerType::get(op.getContext(), 64));
  Value place = emit.create<IotaOp>(indices, dim, emit.extents(half));
  Value isSingle = emit.compare(ComparePredicate::Eq, place, 0);
  Value weighted = emit.mul(half, weight);
  weighted = emit.select(isSingle, half, weighted);
  if (length % 2 != 0)
    return weighted;
  Value isMiddle =
      emit.compare(ComparePredicate::Eq, place, double(length / 2));
  return emit.select(isMiddle, half, weighted);
}

/// Returns values of which those that are null are zeros, in the types of
/// others.
static SmallVector<Value> fillZeros(TensorEmitter &emit, ValueRange given,
                                    ValueRange like) {
  SmallVector<Value> values(given);
  for (auto [value, other] : llvm::zip_equal(values, like))
    if (!value)
      value = emit.splat(other, 0.0);
  return values;
}

/// Of real numbers x and their results X, x is the sum of all X, of which each
/// but the first and, where the length is even, the middle one stands for two.
SmallVector<Value> FftOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  TensorEmitter emit(builder, getLoc());
  SmallVector<Value> given = fillZeros(emit, cotangents, getOutputs());
  if (isFromReal())
    for (Value &value : given)
      value = weighDoubled(emit, *this, value, 0.5);
  auto adjoint = FftOp::create(
      builder, getLoc(), getInputs().getTypes(), getDimsAttr(),
      getInverse() ? UnitAttr() : builder.getUnitAttr(), getScaleAttr(), given);
  SmallVector<Value> products(adjoint.getOutputs());
  if (isToReal())
    for (Value &value : products)
      value = weighDoubled(emit, *this, value, 2.0);
  return products;
}

SmallVector<Value> FftOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  SmallVector<Value> given = fillZeros(emit, tangents, getInputs());
  auto moved =
      FftOp::create(builder, getLoc(), getOutputs().getTypes(), getDimsAttr(),
                    getInverseAttr(), getScaleAttr(), given);
  return SmallVector<Value>(moved.getOutputs());
}
