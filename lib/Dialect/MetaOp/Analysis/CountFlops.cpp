//===- CountFlops.cpp - How much arithmetic an operation is ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/CountFlops.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether one point of the operation's space is one operation on
/// floats.
static bool isFloatArithmetic(MetaOpInterface op) {
  if (!isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return false;
  switch (op.getMetaOpClass()) {
  case MetaOpClass::Reindex:
  case MetaOpClass::Generator:
    return false;
  case MetaOpClass::ReindexReduce:
  case MetaOpClass::Prefix:
    return true;
  case MetaOpClass::Elementwise:
    // A comparison's result is no float.
    return !isa<CastOp, SelectOp>(op);
  }
  llvm_unreachable("all classes are handled");
}

std::optional<int64_t> metaop::countFlops(Operation *op) {
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  uint64_t total = 0;
  WalkResult result = op->walk([&](MetaOpInterface inner) {
    if (!isFloatArithmetic(inner))
      return WalkResult::advance();
    uint64_t points = 1;
    for (int64_t extent : inner.getIterationValue().getType().getShape()) {
      if (ShapedType::isDynamic(extent))
        return WalkResult::interrupt();
      points = llvm::SaturatingMultiply(points, uint64_t(extent));
    }
    total = llvm::SaturatingAdd(total, points);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return std::min(total, most);
}
