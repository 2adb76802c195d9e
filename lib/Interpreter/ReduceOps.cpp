//===- ReduceOps.cpp - The meaning of many-to-one ops ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are combined in row-major order of the source. Floats accumulate in
// f64 and are rounded once, when the result is stored.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "AffineAccess.h"
#include "OpTable.h"
#include <cmath>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Expected;

static Scalar leave(Scalar value) { return value; }

namespace {

/// The elements of a reduction's result before they are rounded.
class Accumulators {
public:
  Accumulators(Combiner reduceKind, const Tensor &result)
      : combine(getCombiner(reduceKind)),
        values(result.getNumElements(),
               getIdentity(reduceKind, result.getElementKind())) {}

  void add(int64_t position, Scalar value) {
    values[position] = combine(values[position], value);
  }

  void storeTo(Tensor &result,
               llvm::function_ref<Scalar(Scalar)> finish = leave) const {
    for (auto [position, value] : llvm::enumerate(values))
      result.set(position, finish(value));
  }

private:
  ScalarCombiner combine;
  std::vector<Scalar> values;
};

} // namespace

static Expected<Tensor> evaluateReindexReduce(ReindexReduceOp op,
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

  Accumulators accumulators(op.getReduceKind(), *result);
  SmallVector<int64_t> j;
  forEachIndex(source.getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    if (access->apply(i, j) && result->isInRange(j))
      accumulators.add(result->linearize(j), source.get(position));
  });
  accumulators.storeTo(*result);
  return result;
}

static Expected<Tensor> evaluateScatter(ScatterOp op,
                                        ArrayRef<Tensor> operands) {
  const Tensor &source = operands.front();
  Expected<Tensor> result =
      createResult(op.getResult(), valuesOf(op.getExtents(), operands));
  if (!result)
    return result;
  ArrayRef<Tensor> tables = valuesOf(op.getIndices(), operands);
  Expected<IndirectAccess> access = IndirectAccess::create(op.getMap(), tables);
  if (!access)
    return access.takeError();
  if (tables.front().getShape() != source.getShape())
    return llvm::createStringError(
        "indices have the shape " + formatShape(tables.front().getShape()) +
        " and what they scatter " + formatShape(source.getShape()));

  Accumulators accumulators(op.getReduceKind(), *result);
  SmallVector<int64_t> j;
  forEachIndex(source.getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    access->apply(i, position, j);
    if (result->isInRange(j))
      accumulators.add(result->linearize(j), source.get(position));
  });
  accumulators.storeTo(*result);
  return result;
}

/// Combines what `map` makes of the elements along whole dimensions; `finish`
/// makes the results of that.
template <typename OpT>
static Expected<Tensor> combineOver(OpT op, Combiner kind, const Tensor &source,
                                    llvm::function_ref<Scalar(Scalar)> map,
                                    llvm::function_ref<Scalar(Scalar)> finish) {
  ArrayRef<int64_t> dimensions = op.getDimensions();
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(source.getShape())) {
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (op.getKeepDims())
      shape.push_back(1);
  }
  Expected<Tensor> result = Tensor::create(source.getElementType(), shape);
  if (!result)
    return result;

  Accumulators accumulators(kind, *result);
  forEachIndex(source.getShape(), [&](ArrayRef<int64_t> i, int64_t position) {
    SmallVector<int64_t> j;
    for (auto [dim, index] : llvm::enumerate(i)) {
      if (!llvm::is_contained(dimensions, static_cast<int64_t>(dim)))
        j.push_back(index);
      else if (op.getKeepDims())
        j.push_back(0);
    }
    accumulators.add(result->linearize(j), map(source.get(position)));
  });
  accumulators.storeTo(*result, finish);
  return result;
}

static Expected<Tensor> evaluateReduce(ReduceOp op, ArrayRef<Tensor> operands) {
  return combineOver(op, op.getReduceKind(), operands.front(), leave, leave);
}

static Expected<Tensor> evaluateNorm(NormOp op, ArrayRef<Tensor> operands) {
  double divisor = op.getDivisor().convertToDouble();
  double order = op.getOrder().convertToDouble();
  bool isSigned = op.getSignedPowers();
  return combineOver(
      op, Combiner::Add, operands.front(),
      [&](Scalar element) {
        double x = element.getFloat();
        return Scalar::ofFloat(
            order == 2 ? x * x : std::pow(isSigned ? x : std::fabs(x), order));
      },
      [&](Scalar sum) {
        double total = sum.getFloat() / divisor;
        return Scalar::ofFloat(order == 2 ? std::sqrt(total)
                                          : std::pow(total, 1 / order));
      });
}

void metaop::addReduceOps(OpFunctions &functions) {
  addOp<ReindexReduceOp>(functions, evaluateReindexReduce);
  addOp<ScatterOp>(functions, evaluateScatter);
  addOp<ReduceOp>(functions, evaluateReduce);
  addOp<NormOp>(functions, evaluateNorm);
}
