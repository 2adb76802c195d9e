//===- RoutineOps.cpp - The meaning of sorts ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements along one dimension are a line; a sort is the stable one of the
// standard library.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "Lines.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "OpTable.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

/// NaN is the largest, and both zeros are equal.
static bool isBefore(Scalar x, Scalar y) {
  if (x.isFloat() && (std::isnan(x.getFloat()) || std::isnan(y.getFloat())))
    return !std::isnan(x.getFloat());
  return scalar::less(x, y);
}

/// The numbers of a line's elements, in order; stable in both directions.
static std::vector<int64_t>
sortLine(const Tensor &source, ArrayRef<int64_t> places, bool descending) {
  std::vector<int64_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    Scalar x = source.get(places[i]), y = source.get(places[j]);
    if (descending)
      std::swap(x, y);
    return isBefore(x, y) || (!isBefore(y, x) && i < j);
  });
  return order;
}

/// Of the values: the source's shape, with the places that are wanted along the
/// dimension.
static Expected<SmallVector<int64_t>> getResultShape(SortOp op,
                                                     const Tensor &source) {
  SmallVector<int64_t> shape(source.getShape());
  int64_t extent = shape[op.getDim()];
  int64_t count = op.getValues().getType().getDimSize(op.getDim());
  shape[op.getDim()] = ShapedType::isDynamic(count) ? extent : count;
  if (shape[op.getDim()] > extent)
    return llvm::createStringError(
        "the order of %lld elements lacks places that are wanted",
        static_cast<long long>(extent));
  return shape;
}

static Expected<Tensors> evaluateSort(SortOp op, ArrayRef<Tensor> operands) {
  const Tensor &source = operands[0];
  auto shape = getResultShape(op, source);
  if (!shape)
    return shape.takeError();
  Expected<Tensor> values =
      Tensor::create(op.getValues().getType().getElementType(), *shape);
  if (!values)
    return values.takeError();
  Expected<Tensor> indices =
      Tensor::create(IntegerType::get(op.getContext(), 64), *shape);
  if (!indices)
    return indices.takeError();
  int64_t extent = source.getShape()[op.getDim()];
  int64_t begin = op.getBegin() ? operands[1].get(0).getSigned() : 0;
  begin = std::clamp<int64_t>(begin, 0, extent - (*shape)[op.getDim()]);
  std::vector<std::vector<int64_t>> targets;
  forEachLine(*shape, op.getDim(), [&](ArrayRef<int64_t> places) {
    targets.emplace_back(places.begin(), places.end());
  });
  auto target = targets.begin();
  forEachLine(source.getShape(), op.getDim(), [&](ArrayRef<int64_t> places) {
    auto order = sortLine(source, places, op.getDescending());
    for (auto [k, place] : llvm::enumerate(*target++)) {
      int64_t number = order[begin + k];
      values->set(place, source.get(places[number]));
      indices->set(place, Scalar::ofSigned(number));
    }
  });
  Tensors results;
  results.push_back(std::move(*values));
  results.push_back(std::move(*indices));
  return results;
}

void metaop::addRoutineOps(OpFunctions &functions) {
  functions[SortOp::getOperationName()] = [](Operation *op,
                                             ArrayRef<Tensor> operands) {
    return evaluateSort(cast<SortOp>(op), operands);
  };
  functions[RoutineOp::getOperationName()] = [](Operation *op,
                                                ArrayRef<Tensor> operands) {
    return evaluateRoutine(cast<RoutineOp>(op), operands);
  };
  functions[ExternOp::getOperationName()] =
      [](Operation *, ArrayRef<Tensor>) -> Expected<Tensors> {
    return llvm::createStringError(
        "is code of a process, which the interpreter does not run");
  };
}
