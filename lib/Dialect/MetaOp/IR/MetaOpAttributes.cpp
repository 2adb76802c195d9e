//===- MetaOpAttributes.cpp - Attributes of the metaop dialect ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Whether `value` is between `low` and `high`; says so if it is not.
static LogicalResult verifyBetween(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef name, int64_t value, int64_t low,
                                   int64_t high) {
  if (value < low || value > high)
    return emitError() << "expects `" << name << "` between " << low << " and "
                       << high << ", given " << value;
  return success();
}

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t threads, int64_t cluster,
                                 int64_t minBlocks, int64_t indexBits) {
  constexpr int64_t maxThreads = 1024, maxCluster = 16, maxMinBlocks = 32;
  if (failed(verifyBetween(emitError, "threads", threads, 1, maxThreads)) ||
      failed(verifyBetween(emitError, "cluster", cluster, 1, maxCluster)) ||
      failed(
          verifyBetween(emitError, "min_blocks", minBlocks, 1, maxMinBlocks)))
    return failure();
  if (indexBits != 32 && indexBits != 64)
    return emitError() << "expects `index_bits` to be 32 or 64, given "
                       << indexBits;
  return success();
}

LogicalResult RowsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t row, int64_t pitch) {
  if (row < 1 || pitch <= row)
    return emitError() << "expects rows of one element or more that begin "
                          "farther apart, given "
                       << row << " elements and a pitch of " << pitch;
  return success();
}

std::optional<SmallVector<int64_t>>
RowsAttr::getStrides(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> strides(shape.size());
  // Elements between neighbours along a dimension, if all followed each other.
  int64_t inside = 1, stride = 1;
  bool isOutside = false;
  for (unsigned dim = shape.size(); dim-- > 0;) {
    if (inside == getRow() && !isOutside) {
      isOutside = true;
      stride = getPitch();
    }
    strides[dim] = stride;
    if (llvm::MulOverflow(inside, shape[dim], inside) ||
        llvm::MulOverflow(stride, shape[dim], stride))
      return std::nullopt;
  }
  if (!isOutside && inside != getRow())
    return std::nullopt;
  return strides;
}

int64_t RowsAttr::getSpan(int64_t count) const {
  return (count / getRow() - 1) * getPitch() + getRow();
}
