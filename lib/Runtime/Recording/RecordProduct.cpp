//===- RecordProduct.cpp - Recording matrix products ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix product is a product of two broadcasts, summed over the inner
// dimension: nothing of the broadcasts' size exists in memory. It is recorded
// here and not in Python since small products are called often.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "RecordingTables.h"

using namespace mlir;
using namespace metaops;

/// The dimensions of an iteration over `rank` dimensions along which an operand
/// of `operandRank` lies, which are the last ones without `absent`.
static llvm::SmallVector<int64_t, 8> alignRight(size_t operandRank, size_t rank,
                                                std::optional<size_t> absent) {
  llvm::SmallVector<int64_t, 8> dims;
  for (size_t dim = rank; dims.size() < operandRank;)
    if (--dim != absent)
      dims.push_back(dim);
  std::reverse(dims.begin(), dims.end());
  return dims;
}

Node *Recorder::matmul(Node *x, Node *y) {
  llvm::ArrayRef<int64_t> xs = x->shape(), ys = y->shape();
  auto shapes = [&] {
    return "matmul of shapes " + formatShape(xs) + " and " + formatShape(ys);
  };
  if (xs.empty() || ys.empty())
    fail(ErrorKind::Value, shapes() + ": expected at least one dimension");
  const bool hasRows = xs.size() > 1, hasColumns = ys.size() > 1;
  const int64_t inner = xs.back(),
                otherInner = ys[hasColumns ? ys.size() - 2 : 0];
  if (inner != otherInner)
    fail(ErrorKind::Value, shapes() + ": the inner extents " +
                               llvm::Twine(inner) + " and " +
                               llvm::Twine(otherInner) + " differ");

  // The points: (batch..., rows, inner, columns).
  llvm::SmallVector<int64_t, 8> points(xs.drop_back(hasRows ? 2 : 1));
  llvm::ArrayRef<int64_t> others = ys.drop_back(hasColumns ? 2 : 1);
  if (!extendShape(points, others))
    fail(ErrorKind::Value, shapes() + ": the leading dimensions do not "
                                      "broadcast together");
  std::optional<size_t> rows, columns;
  if (hasRows) {
    rows = points.size();
    points.push_back(xs[xs.size() - 2]);
  }
  const int64_t innerDim = points.size();
  points.push_back(inner);
  if (hasColumns) {
    columns = points.size();
    points.push_back(ys.back());
  }

  checkShape("matmul", points);

  const ElementwiseInfo &mul = lookUpElementwise("mul", 2);
  DType dtype = elementwiseType(mul, "matmul", promote(x->dtype, y->dtype));
  auto spread = [&](Node *operand, std::optional<size_t> absent) {
    return recordBroadcast(recordCast(operand, dtype), points,
                           alignRight(operand->rank(), points.size(), absent));
  };
  Node *products =
      recordElementwise(mul.name, {spread(x, columns), spread(y, rows)});
  // Integers too keep their type: it is a product, and no count.
  DType accumulator = accumulatorOf(dtype);
  Node *sums =
      recordReduce(metaop::Combiner::Add, recordCast(products, accumulator),
                   innerDim, /*keepDims=*/false);
  return recordCast(sums, dtype);
}
