//===- RoutineOps.cpp - Routines ------------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

LogicalResult SortOp::verify() {
  RankedTensorType source = getSource().getType();
  RankedTensorType values = getValues().getType();
  // (C1)
  if (failed(verifyDimension(*this, getDim())))
    return failure();
  // (C2)
  if (source.getElementType() != values.getElementType())
    return emitOpError("expects values of the source's elements, given ")
           << values << " for " << source;
  SmallVector<int64_t> shape(source.getShape());
  if (values.getRank() == source.getRank())
    shape[getDim()] = values.getDimSize(getDim());
  if (failed(verifyCompatibleShape(values.getShape(), shape)))
    return emitOpError("expects values of the source's shape but along "
                       "dimension ")
           << getDim() << ", given " << values << " for " << source;
  // (C3)
  int64_t extent = source.getDimSize(getDim());
  int64_t count = shape[getDim()];
  if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(count) &&
      count > extent)
    return emitOpError("expects places of ")
           << extent << " elements, given " << values;
  return success();
}

StringRef SortOp::getRoutineName() { return "sort"; }

SmallVector<NamedAttribute> SortOp::getRoutineAttributes() {
  Builder builder(getContext());
  return {builder.getNamedAttr("dim", getDimAttr()),
          builder.getNamedAttr("descending",
                               builder.getI64IntegerAttr(getDescending()))};
}

StringRef SortOp::getOperandRole(unsigned number) {
  return number == 0 ? "source" : "begin";
}
StringRef SortOp::getResultRole(unsigned number) {
  return number == 0 ? "values" : "indices";
}

//===----------------------------------------------------------------------===//
// Routines by name
//===----------------------------------------------------------------------===//

/// Returns true if an attribute is an integer, a float or a string, or an array
/// of one of these kinds.
static bool isParameter(Attribute attr) {
  auto isNumber = [](Attribute each) {
    auto number = dyn_cast<IntegerAttr>(each);
    return number && number.getType().isSignlessInteger(64);
  };
  auto isFloat = [](Attribute each) {
    auto number = dyn_cast<FloatAttr>(each);
    return number && number.getType().isF64();
  };
  if (isNumber(attr) || isFloat(attr) ||
      isa<StringAttr, DenseI64ArrayAttr, DenseF64ArrayAttr>(attr))
    return true;
  auto array = dyn_cast<ArrayAttr>(attr);
  return array &&
         (llvm::all_of(array, isNumber) || llvm::all_of(array, isFloat) ||
          llvm::all_of(array, llvm::IsaPred<StringAttr>));
}

LogicalResult RoutineOp::verify() {
  // (C1)
  if (getOutputs().empty())
    return emitOpError("expects an output");
  // (C2)
  for (NamedAttribute each : getRoutineAttributes())
    if (!isParameter(each.getValue()))
      return emitOpError("expects parameters that are integers of i64, floats "
                         "of f64, strings, or arrays of one of these, given ")
             << each.getName() << " = " << each.getValue();
  // (C3)
  size_t numTensors = getInputs().size() + getOutputs().size();
  if (getRoles() && getRoles()->size() != numTensors)
    return emitOpError("expects ")
           << numTensors << " roles, given " << getRoles()->size();
  // (C4)
  if (!getOver())
    return success();
  if (getOver()->size() != getOutputs().size())
    return emitOpError("expects `over` for ")
           << getOutputs().size() << " outputs, given " << getOver()->size();
  llvm::SmallBitVector isOver(getInputs().size());
  for (auto [output, number] : llvm::zip_equal(getOutputs(), *getOver())) {
    if (number == -1)
      continue;
    if (number < 0 || number >= static_cast<int64_t>(getInputs().size()) ||
        getInputs()[number].getType() != output.getType() ||
        isOver.test(number))
      return emitOpError("expects an output over an input of its type that no "
                         "other is over, given input ")
             << number << " for " << output.getType();
    isOver.set(number);
  }
  return success();
}

bool RoutineOp::makes(OpResult) { return true; }

StringRef RoutineOp::getRoutineName() { return getRoutine(); }

SmallVector<NamedAttribute> RoutineOp::getRoutineAttributes() {
  return llvm::to_vector(getParameters() ? getParameters()->getValue()
                                         : ArrayRef<NamedAttribute>());
}

StringRef RoutineOp::getOperandRole(unsigned number) {
  return getRoles() ? cast<StringAttr>((*getRoles())[number]).getValue() : "";
}
StringRef RoutineOp::getResultRole(unsigned number) {
  return getOperandRole(getInputs().size() + number);
}

std::optional<unsigned> RoutineOp::getOverwritten(unsigned number) {
  if (!getOver() || (*getOver())[number] == -1)
    return std::nullopt;
  return (*getOver())[number];
}

bool RoutineOp::mayFail() { return !getTotal(); }

//===----------------------------------------------------------------------===//
// Derivatives of sorts
//===----------------------------------------------------------------------===//

/// The map by which the indices of a sort read its source.
static AffineMap getOriginMap(SortOp op) {
  int64_t rank = op.getSource().getType().getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim)
    indices.push_back(static_cast<uint64_t>(dim) == op.getDim()
                          ? getAffineSymbolExpr(0, op.getContext())
                          : getAffineDimExpr(dim, op.getContext()));
  return AffineMap::get(rank, 1, indices, op.getContext());
}

Products SortOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products products(getNumOperands());
  if (!cotangents[0])
    return products;
  TensorEmitter emit(builder, getLoc());
  products[0] = emit.create<ScatterOp>(
      getSource().getType(), Combiner::Add, cotangents[0],
      ValueRange(getIndices()), emit.extents(getSource()), getOriginMap(*this));
  return products;
}

Products SortOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  Value moved = emit.create<GatherOp>(
      getValues().getType(), tangents[0], ValueRange(getIndices()),
      getOriginMap(*this),
      getNumberAttr(getElementTypeOrSelf(getValues()), 0.0));
  return {moved, Value()};
}
