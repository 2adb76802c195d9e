//===- LeafOps.cpp - Ops without tensor inputs ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"

using namespace mlir;
using namespace mlir::metaop;

using TensorValue = TypedValue<RankedTensorType>;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

MetaOpClass ConstantOp::getMetaOpClass() { return MetaOpClass::Generator; }
TensorValue ConstantOp::getIterationValue() { return getResult(); }

LogicalResult ConstantOp::verify() {
  // (C1)
  if (!getResult().getType().hasStaticShape())
    return emitOpError() << "expects a static shape, given "
                         << getResult().getType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor adaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// IotaOp
//===----------------------------------------------------------------------===//

MetaOpClass IotaOp::getMetaOpClass() { return MetaOpClass::Generator; }
TensorValue IotaOp::getIterationValue() { return getResult(); }

LogicalResult IotaOp::verify() {
  RankedTensorType type = getResult().getType();
  // (C1)
  auto dim = static_cast<int64_t>(getDimension());
  if (dim < 0 || dim >= type.getRank())
    return emitOpError() << "expects `dim` in [0, " << type.getRank()
                         << "), given " << dim;
  // (C2); the result's type constraint verifies (C3).
  return verifyExtents(*this, type, getExtents());
}

//===----------------------------------------------------------------------===//
// RandomOp
//===----------------------------------------------------------------------===//

MetaOpClass RandomOp::getMetaOpClass() { return MetaOpClass::Generator; }
TensorValue RandomOp::getIterationValue() { return getResult(); }

LogicalResult RandomOp::verify() {
  RankedTensorType type = getResult().getType();
  // (C1)
  Type element = type.getElementType();
  if (!isa<FloatType>(element) && !element.isUnsignedInteger(32))
    return emitOpError() << "expects the elements to be floats or ui32, given "
                         << element;
  // (C2)
  return verifyExtents(*this, type, getExtents());
}
