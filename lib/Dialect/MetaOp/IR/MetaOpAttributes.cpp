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

/// Verifies that `value` is between `low` and `high`.
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

LogicalResult EntryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t buffers, std::optional<int64_t> range,
                                int64_t workPerStep, ArrayRef<int64_t> scratch,
                                bool flushesDenormals) {
  constexpr int64_t maxBuffers = INT32_MAX;
  if (failed(verifyBetween(emitError, "buffers", buffers, 0, maxBuffers)) ||
      failed(
          verifyBetween(emitError, "range", range.value_or(0), 0, INT64_MAX)) ||
      failed(
          verifyBetween(emitError, "work_per_step", workPerStep, 0, INT64_MAX)))
    return failure();
  if (static_cast<int64_t>(scratch.size()) > buffers)
    return emitError() << "expects `scratch` for some of " << buffers
                       << " buffers, given " << scratch.size();
  for (int64_t words : scratch)
    if (failed(verifyBetween(emitError, "scratch", words, 0, INT64_MAX / 8)))
      return failure();
  return success();
}

LogicalResult SlotAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               SlotKind kind, int64_t index, int64_t offset,
                               int64_t row, int64_t pitch) {
  if (failed(verifyBetween(emitError, "index", index, 0, INT64_MAX)) ||
      failed(verifyBetween(emitError, "offset", offset, 0, INT64_MAX)))
    return failure();
  bool isInRows = row != 0 || pitch != 0;
  if (isInRows && (row < 1 || pitch <= row))
    return emitError() << "expects rows of one byte or more that begin farther "
                          "apart, given "
                       << row << " bytes and a pitch of " << pitch;
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
