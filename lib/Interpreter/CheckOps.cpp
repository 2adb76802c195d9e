//===- CheckOps.cpp - The meaning of checks of indices --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error tells of the ends alone, as compiled programs do, which know no
// more.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "OpTable.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Error;
using llvm::Expected;

char IndicesOutOfRange::ID = 0;

static Error checkRange(Operation *op, const metaops::IndexRange &range,
                        int64_t lowest, int64_t highest) {
  auto problem = describeOutOfRange(range, lowest, highest);
  if (!problem)
    return Error::success();
  return llvm::make_error<IndicesOutOfRange>(describePlace(op),
                                             std::move(*problem));
}

/// An index that is ignored counts as 0.
static Expected<Tensor> evaluateCheck(CheckOp op, ArrayRef<Tensor> operands) {
  const Tensor &indices = operands[0];
  metaops::IndexRange range = op.getRange();
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = std::numeric_limits<int64_t>::min();
  for (int64_t i = 0; i < indices.getNumElements(); ++i) {
    int64_t index = indices.get(i).getSigned();
    if (index == range.ignored)
      index = 0;
    lowest = std::min(lowest, index);
    highest = std::max(highest, index);
  }
  if (Error error = checkRange(op, range, lowest, highest))
    return std::move(error);
  return indices;
}

void metaop::addCheckOps(OpFunctions &functions) {
  addOp<CheckOp>(functions, evaluateCheck);
  functions[CheckRangeOp::getOperationName()] =
      [](Operation *op, ArrayRef<Tensor> operands) -> Expected<Tensors> {
    if (Error error = checkRange(op, cast<CheckRangeOp>(op).getRange(),
                                 operands[0].get(0).getSigned(),
                                 operands[1].get(0).getSigned()))
      return std::move(error);
    return Tensors();
  };
}
