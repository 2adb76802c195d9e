//===- PlacementOps.cpp - The meaning of concat and insert ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "OpTable.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

static Expected<Tensor> evaluateConcat(ConcatOp op, ArrayRef<Tensor> parts) {
  int64_t dim = op.getDim();
  SmallVector<int64_t> shape(parts.front().getShape());
  for (const Tensor &part : parts.drop_front())
    shape[dim] += part.getShape()[dim];
  Expected<Tensor> result =
      Tensor::create(parts.front().getElementType(), shape);
  if (!result)
    return result;
  int64_t begin = 0;
  for (const Tensor &part : parts) {
    for (int64_t k = 0; k < part.getRank(); ++k)
      if (k != dim && part.getShape()[k] != shape[k])
        return llvm::createStringError("cannot join the shapes " +
                                       formatShape(parts.front().getShape()) +
                                       " and " + formatShape(part.getShape()));
    SmallVector<int64_t> j(part.getRank());
    forEachIndex(part.getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
      llvm::copy(i, j.begin());
      j[dim] += begin;
      result->set(result->linearize(j), part.get(position));
    });
    begin += part.getShape()[dim];
  }
  return result;
}

static Expected<Tensor> evaluateInsert(InsertOp op, ArrayRef<Tensor> operands) {
  const Tensor &part = operands[0];
  Tensor result = operands[1];
  SmallVector<int64_t> starts = getIntegers(valuesOf(op.getStarts(), operands));
  ScalarCombiner combine = getCombiner(op.getKind());
  SmallVector<int64_t> j(part.getRank());
  forEachIndex(part.getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    // Unsigned, since starts come from the user and the sum may wrap.
    for (int64_t k = 0; k < part.getRank(); ++k)
      j[k] = uint64_t(starts[k]) + uint64_t(i[k]);
    if (!result.isInRange(j))
      return;
    int64_t place = result.linearize(j);
    Scalar value = part.get(position);
    result.set(place, combine ? combine(result.get(place), value) : value);
  });
  return result;
}

void metaop::addPlacementOps(OpFunctions &functions) {
  addOp<ConcatOp>(functions, evaluateConcat);
  addOp<InsertOp>(functions, evaluateInsert);
}
