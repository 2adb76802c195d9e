//===- MetaOpAttributes.cpp - Attributes of the metaop dialect ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// A dimension that the schedule may name, and how many of its iterations go
/// together: 1 where it names none.
static LogicalResult verifyChoice(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef dimName, int64_t dim,
                                  StringRef countName, int64_t count,
                                  int64_t numLoops) {
  if (dim < -1 || dim >= numLoops)
    return emitError() << "expects `" << dimName << "` to be -1 or one of the "
                       << numLoops << " loops, given " << dim;
  if (count < 1)
    return emitError() << "expects `" << countName << "` to be positive, given "
                       << count;
  if (dim == -1 && count != 1)
    return emitError() << "expects `" << countName << "` to be 1 without a `"
                       << dimName << "`, given " << count;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> order, int64_t parallel,
                                   int64_t vectorDim, int64_t vectorWidth,
                                   int64_t unrollDim, int64_t unroll,
                                   int64_t shared, int64_t tileDim,
                                   ArrayRef<int64_t> stream) {
  int64_t numLoops = order.size();
  llvm::SmallBitVector seen(numLoops);
  for (int64_t loop : order) {
    if (loop < 0 || loop >= numLoops || seen.test(loop))
      return emitError() << "expects `order` to be a permutation of the numbers"
                            " below "
                         << numLoops << ", given [" << order << "]";
    seen.set(loop);
  }
  if (parallel < 0 || parallel > numLoops)
    return emitError() << "expects `parallel` between 0 and the number of "
                          "loops, "
                       << numLoops << ", given " << parallel;
  if (failed(verifyChoice(emitError, "vector_dim", vectorDim, "vector_width",
                          vectorWidth, numLoops)))
    return failure();
  if (!llvm::isPowerOf2_64(vectorWidth))
    return emitError() << "expects `vector_width` to be a power of two, given "
                       << vectorWidth;
  if (failed(verifyChoice(emitError, "unroll_dim", unrollDim, "unroll", unroll,
                          numLoops)))
    return failure();
  if (shared < 0 || shared > numLoops)
    return emitError() << "expects `shared` between 0 and the number of loops, "
                       << numLoops << ", given " << shared;
  if (tileDim < -1 || tileDim >= numLoops)
    return emitError() << "expects `tile_dim` to be -1 or one of the "
                       << numLoops << " loops, given " << tileDim;
  for (auto [i, result] : llvm::enumerate(stream))
    if (result < 0 || (i > 0 && result <= stream[i - 1]))
      return emitError() << "expects `stream` to be numbers of results in "
                            "order, given ["
                         << stream << "]";
  if (!stream.empty() && vectorWidth == 1)
    return emitError() << "expects vectors where results are in `stream`";
  if (tileDim == -1)
    return success();
  // The copies of a tile are its rows.
  if (vectorWidth == 1 || unroll != 1 || numLoops < 2 ||
      order[numLoops - 1] != vectorDim || order[numLoops - 2] != tileDim)
    return emitError() << "expects `tile_dim` and `vector_dim` as the last two "
                          "loops of `order`, vectors, and no unrolling";
  return success();
}

ScheduleAttr ScheduleAttr::withStream(ArrayRef<int64_t> stream) const {
  return get(getContext(), getOrder(), getParallel(), getVectorDim(),
             getVectorWidth(), getUnrollDim(), getUnroll(), getShared(),
             getTileDim(), stream);
}

ScheduleAttr ScheduleAttr::withShared(int64_t shared) const {
  return get(getContext(), getOrder(), getParallel(), getVectorDim(),
             getVectorWidth(), getUnrollDim(), getUnroll(), shared,
             getTileDim(), getStream());
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
