//===- Size.cpp - Estimates of the size of tensors ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/Size.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

/// a * b for non-negative numbers, at most the largest int64_t.
static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  if (llvm::MulOverflow(a, b, product))
    return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t mlir::metaop::estimateElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements = multiply(elements, ShapedType::isDynamic(extent) ? kNominalExtent
                                                                : extent);
  return elements;
}

int64_t mlir::metaop::estimateBytes(RankedTensorType type) {
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  return multiply(estimateElements(type.getShape()), (bits + 7) / 8);
}

int64_t mlir::metaop::addEstimates(int64_t a, int64_t b) {
  int64_t sum;
  if (llvm::AddOverflow(a, b, sum))
    return std::numeric_limits<int64_t>::max();
  return sum;
}
