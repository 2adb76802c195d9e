//===- IndirectOps.cpp - Ops that read tensors of indices -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gather is a reindex and scatter a reindex-reduce, but neither has the
// interface of those: what is done to an affine access (composed, inverted,
// proven in range) is not done to one that depends on data. The indices are
// operands on the iteration space, read in place like those of an element-wise
// op.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Derivatives/CombinerDerivatives.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;
using TensorValue = TypedValue<RankedTensorType>;

/// Verifies the indices of both ops.
static LogicalResult verifyIndices(IndirectOpInterface op, AffineMap map,
                                   TensorValue iteration,
                                   StringRef iterationName) {
  // (C3)
  if (op.getIndices().empty())
    return op->emitOpError("expects at least one tensor of indices");
  // (C4)
  for (Value indices : op.getIndices()) {
    auto type = cast<RankedTensorType>(indices.getType());
    if (failed(verifyCompatibleShape(type.getShape(),
                                     iteration.getType().getShape())))
      return op->emitOpError()
             << "expects indices of the shape of the " << iterationName << ", "
             << iteration.getType() << ", given " << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

MetaOpClass GatherOp::getMetaOpClass() { return MetaOpClass::Reindex; }
TensorValue GatherOp::getIterationValue() { return getResult(); }

IndexAccess GatherOp::getIndexAccess() {
  return {getMap(), llvm::to_vector(getIndices()), IntegerSet(), getFill()};
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1), (C2), (C3), (C7)
  if (failed(verifyAccess(*this, getMap(), IntegerSet(), getIndices(), result,
                          "result", source, "source")))
    return failure();
  // (C3), (C4)
  if (failed(verifyIndices(*this, getMap(), getResult(), "result")))
    return failure();
  // (C6)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C5)
  return verifyFill(*this, getFill(), source.getElementType());
}

/// A splat that is filled up with its own value.
OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  TypedAttr splat = getSplatValue(adaptor.getSource());
  if (splat && splat == getFill())
    return getSplat(getResult().getType(), splat);
  return {};
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

MetaOpClass ScatterOp::getMetaOpClass() { return MetaOpClass::ReindexReduce; }
TensorValue ScatterOp::getIterationValue() { return getSource(); }

IndexAccess ScatterOp::getIndexAccess() {
  return {getMap(), llvm::to_vector(getIndices()), IntegerSet(), TypedAttr()};
}

LogicalResult ScatterOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType result = getResult().getType();
  // (C1), (C2), (C3), (C8)
  if (failed(verifyAccess(*this, getMap(), IntegerSet(), getIndices(), source,
                          "source", result, "result")))
    return failure();
  // (C3), (C4)
  if (failed(verifyIndices(*this, getMap(), getSource(), "source")))
    return failure();
  // (C6)
  if (failed(verifySameElementType(*this, source, result)))
    return failure();
  // (C5)
  if (failed(verifyCombiner(*this, CombinerUse::Reduction, getReduceKind(),
                            source.getElementType())))
    return failure();
  // (C7)
  return verifyExtents(*this, result, getExtents());
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// `source` at the indices of `op`, in the shape of `like`.
static Value emitGather(TensorEmitter &emit, IndirectOpInterface op,
                        Value source, Value like, double fill) {
  Type element = getElementTypeOrSelf(source);
  auto type = cast<RankedTensorType>(like.getType()).clone(element);
  return emit.create<GatherOp>(type, source, op.getIndices(),
                               op.getIndexAccess().map,
                               getNumberAttr(element, fill));
}

/// `source` combined by the indices of `op`, in the shape of `like`.
static Value emitScatter(TensorEmitter &emit, IndirectOpInterface op,
                         Combiner kind, Value source, Value like) {
  auto type = cast<RankedTensorType>(like.getType())
                  .clone(getElementTypeOrSelf(source));
  return emit.create<ScatterOp>(type, kind, source, op.getIndices(),
                                emit.extents(like), op.getIndexAccess().map);
}
/// Indices get no gradient.
Products GatherOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products result(getNumOperands());
  if (!isFloatTensor(getSource()))
    return result;
  TensorEmitter emit(builder, getLoc());
  result[0] =
      emitScatter(emit, *this, Combiner::Add, cotangents[0], getSource());
  return result;
}

Products GatherOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  return {applyToSource(*this, builder, tangents[0])};
}

namespace {
/// The elements of a scatter.
class ScatteredElements : public CombinedElements {
public:
  ScatteredElements(TensorEmitter &emit, ScatterOp op)
      : CombinedElements(emit, op.getSource(), op.getResult()), op(op) {}

  Value read(Value ofResult, double fill) override {
    return emitGather(emit, op, ofResult, source, fill);
  }
  Value combine(Combiner combiner, Value ofSource) override {
    return emitScatter(emit, op, combiner, ofSource, result);
  }

private:
  ScatterOp op;
};
} // namespace

Products ScatterOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products products(getNumOperands());
  TensorEmitter emit(builder, getLoc());
  ScatteredElements elements(emit, *this);
  products[0] = applyVjp(getReduceKind(), elements, cotangents[0]);
  return products;
}

Products ScatterOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  ScatteredElements elements(emit, *this);
  return {applyJvp(getReduceKind(), elements, tangents[0])};
}
