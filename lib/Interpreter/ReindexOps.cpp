//===- ReindexOps.cpp - The meaning of one-to-many ops --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function follows the op's own description and not the index map that the
// op gives to passes, so that the one checks the other.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "AffineAccess.h"
#include "OpTable.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Expected;

static Expected<Tensor> evaluateReindex(ReindexOp op,
                                        ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  Expected<AffineAccess> access =
      AffineAccess::create(op.getMap(), op.getWhere(),
                           getIntegers(valuesOf(op.getSymbols(), operands)));
  if (!access)
    return access.takeError();

  Scalar fill = Scalar::ofAttribute(op.getFill());
  SmallVector<int64_t> j;
  forEachIndex(result->getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    bool isInside = access->apply(i, j) && source.isInRange(j);
    result->set(position, isInside ? source.get(source.linearize(j)) : fill);
  });
  return result;
}

static Expected<Tensor> evaluateGather(GatherOp op, ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  ArrayRef<Tensor> tables = valuesOf(op.getIndices(), operands);
  Expected<IndirectAccess> access = IndirectAccess::create(op.getMap(), tables);
  if (!access)
    return access.takeError();
  Expected<Tensor> result =
      Tensor::create(source.getElementType(), tables.front().getShape());
  if (!result)
    return result;

  Scalar fill = Scalar::ofAttribute(op.getFill());
  SmallVector<int64_t> j;
  forEachIndex(result->getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    access->apply(i, position, j);
    result->set(position,
                source.isInRange(j) ? source.get(source.linearize(j)) : fill);
  });
  return result;
}

static Expected<Tensor> evaluateBroadcast(BroadcastOp op,
                                          ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  ArrayRef<int64_t> dimensions = op.getDimensions();
  // A dynamic extent is never repeated, whatever it is.
  ArrayRef<int64_t> staticShape = op.getSource().getType().getShape();
  for (auto [extent, declared, dim] :
       llvm::zip_equal(source.getShape(), staticShape, dimensions))
    if (declared != 1 && extent != result->getShape()[dim])
      return createStringError("cannot broadcast the shape " +
                               formatShape(source.getShape()) + " to " +
                               formatShape(result->getShape()));

  SmallVector<int64_t> j(source.getRank());
  forEachIndex(result->getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    for (int64_t k = 0; k < source.getRank(); ++k)
      j[k] = staticShape[k] == 1 ? 0 : i[dimensions[k]];
    result->set(position, source.get(source.linearize(j)));
  });
  return result;
}

static Expected<Tensor> evaluateTranspose(TransposeOp op,
                                          ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(source.getShape()[dim]);
  Expected<Tensor> result = Tensor::create(source.getElementType(), shape);
  if (!result)
    return result;

  SmallVector<int64_t> j(source.getRank());
  forEachIndex(shape, [&](ArrayRef<int64_t> i, int64_t position) {
    for (int64_t k = 0; k < source.getRank(); ++k)
      j[permutation[k]] = i[k];
    result->set(position, source.get(source.linearize(j)));
  });
  return result;
}

static Expected<Tensor> evaluateSlice(SliceOp op, ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  SmallVector<int64_t> starts = getIntegers(valuesOf(op.getStarts(), operands));
  ArrayRef<int64_t> strides = op.getStrides();

  Scalar zero = Scalar::ofInteger(source.getElementKind(), 0);
  SmallVector<int64_t> j(source.getRank());
  forEachIndex(result->getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    // Unsigned, since starts come from the user and the sum may wrap.
    for (int64_t k = 0; k < source.getRank(); ++k)
      j[k] = uint64_t(starts[k]) + uint64_t(i[k]) * uint64_t(strides[k]);
    result->set(position,
                source.isInRange(j) ? source.get(source.linearize(j)) : zero);
  });
  return result;
}

static Expected<Tensor> evaluatePad(PadOp op, ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  SmallVector<int64_t> shape;
  for (int64_t k = 0; k < source.getRank(); ++k)
    shape.push_back(uint64_t(source.getShape()[k]) + uint64_t(low[k]) +
                    uint64_t(high[k]));
  Expected<Tensor> result = Tensor::create(source.getElementType(), shape);
  if (!result)
    return result;

  Scalar fill = Scalar::ofAttribute(op.getFill());
  SmallVector<int64_t> j(source.getRank());
  forEachIndex(shape, [&](ArrayRef<int64_t> i, int64_t position) {
    for (int64_t k = 0; k < source.getRank(); ++k)
      j[k] = uint64_t(i[k]) - uint64_t(low[k]);
    result->set(position,
                source.isInRange(j) ? source.get(source.linearize(j)) : fill);
  });
  return result;
}

static Expected<Tensor> evaluateReshape(ReshapeOp op,
                                        ArrayRef<Tensor> operands) {
  // Made only for its shape.
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  return operands.front().reshaped(result->getShape());
}

void metaop::addReindexOps(OpFunctions &functions) {
  addOp<ReindexOp>(functions, evaluateReindex);
  addOp<GatherOp>(functions, evaluateGather);
  addOp<BroadcastOp>(functions, evaluateBroadcast);
  addOp<TransposeOp>(functions, evaluateTranspose);
  addOp<SliceOp>(functions, evaluateSlice);
  addOp<PadOp>(functions, evaluatePad);
  addOp<ReshapeOp>(functions, evaluateReshape);
}
