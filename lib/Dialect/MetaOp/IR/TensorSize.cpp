//===- TensorSize.cpp - How large tensors are -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

int64_t metaop::countElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements = multiplyCounts(
        elements, ShapedType::isDynamic(extent) ? kNominalExtent : extent);
  return elements;
}

int64_t metaop::getElementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  // index, and what only surrounds kernels.
  if (!element.isIntOrFloat())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t metaop::countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  return multiplyCounts(countElements(tensor.getShape()),
                        getElementBytes(tensor));
}

bool metaop::isPartOf(Type part, Type whole) {
  auto few = dyn_cast<RankedTensorType>(part);
  auto many = dyn_cast<RankedTensorType>(whole);
  return few && many && few.hasStaticShape() && many.hasStaticShape() &&
         2 * few.getNumElements() <= many.getNumElements();
}
