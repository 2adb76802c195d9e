//===- SumsBehindScan.cpp - Sums over the trips of a scan -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a weight is a sum over the trips, of a product in each:
//
//   dw = sum_t reduce(broadcast(x_t) * broadcast(g_t))
//
// A loop that adds up so moves all of dw to memory and back in each trip.
// Behind the loop it is one product of the rows of x and g:
//
//   dw = reduce(broadcast(xs) * broadcast(gs)), over the trips as well
//
// 1. Go from the sum's value backwards: through other sums and what is linear
//    (these are of sums then), to a reduction; through element-wise operations
//    and reindexes that repeat elements, to rows (`collect`).
// 2. Where rows have fewer elements than a trip moves for the sum, and fit in
//    the bytes that there are for them, the body yields them (`add`).
// 3. Behind the loop, emit the same operations with a leading dimension, over
//    which the reduction goes, too (`emitSum`).
//
//===----------------------------------------------------------------------===//

#include "SumsBehindScan.h"

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::metaop;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns a reduction of a value that is a sum, and whose place is in its
/// text; null for others.
static ReindexReduceOpInterface getSum(Value value) {
  if (!isa_and_nonnull<ReduceOp, ReindexReduceOp>(value.getDefiningOp()))
    return nullptr;
  auto reduce = value.getDefiningOp<ReindexReduceOpInterface>();
  return reduce.getReduceKind() == Combiner::Add &&
                 reduce.getIndexAccess().symbols.empty()
             ? reduce
             : nullptr;
}

/// Returns the reindex that makes a value, if its places are in its text.
static ReindexOpInterface getReindex(Value value) {
  auto reindex = value.getDefiningOp<ReindexOpInterface>();
  return reindex && reindex.getIndexAccess().symbols.empty() ? reindex
                                                             : nullptr;
}

//===----------------------------------------------------------------------===//
// Parts of a sum
//===----------------------------------------------------------------------===//

/// Of values that a sum is made of, and of operations between two of them.
/// A sum of more stays in the loop.
static constexpr unsigned kMostValues = 64, kMostDepth = 8;

/// Returns whether the value repeats the elements of others.
bool SumsBehindScan::isRepeated(Value value, unsigned depth) {
  if (!isInside(value) || depth == kMostDepth)
    return false;
  if (auto reindex = getReindex(value))
    return typeOf(reindex.getSource()).getNumElements() <
           typeOf(value).getNumElements();
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<ElementwiseOpInterface>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isRepeated(operand, depth + 1);
         });
}

/// Finds the rows that a value is made of; false where it is made of too much.
bool SumsBehindScan::collect(Value value, llvm::SetVector<Value> &found) {
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t next = 0; next < seen.size(); ++next) {
    Value each = seen[next];
    if (seen.size() > kMostValues)
      return false;
    if (!isInside(each))
      continue;
    if (isRepeated(each))
      seen.insert(each.getDefiningOp()->operand_begin(),
                  each.getDefiningOp()->operand_end());
    else if (!isa_and_nonnull<ConstantOp>(each.getDefiningOp()))
      found.insert(each);
  }
  return true;
}

bool SumsBehindScan::collectSum(Value value, llvm::SetVector<Value> &found,
                                unsigned &numValues) {
  if (!isInside(value) || !typeOf(value).hasStaticShape() ||
      ++numValues > kMostValues)
    return false;
  if (auto sum = value.getDefiningOp<AddOp>())
    return collectSum(sum.getOperand(0), found, numValues) &&
           collectSum(sum.getOperand(1), found, numValues);
  ReindexReduceOpInterface sum = getSum(value);
  if (isa_and_nonnull<TransposeOp, ReshapeOp>(value.getDefiningOp()) ||
      (sum && !isRepeated(sum.getSource()))) {
    // The same of the sum of what it is made of.
    llvm::SetVector<Value> ofSource = found;
    llvm::DenseSet<Value> before = linear;
    if (collectSum(value.getDefiningOp()->getOperand(0), ofSource, numValues)) {
      found = std::move(ofSource);
      linear.insert(value);
      return true;
    }
    linear = std::move(before);
  }
  llvm::SetVector<Value> ofSum;
  if (!sum || !collect(sum.getSource(), ofSum))
    return false;
  int64_t moved = 0;
  for (Value row : ofSum)
    moved += rows.contains(row) ? 0 : typeOf(row).getNumElements();
  found.insert(ofSum.begin(), ofSum.end());
  return moved <= 2 * typeOf(value).getNumElements();
}

/// Returns the bytes of the rows that nothing has made yet.
int64_t
SumsBehindScan::countNewBytes(const llvm::SetVector<Value> &found) const {
  int64_t bytes = 0;
  for (Value row : found)
    if (!rows.contains(row) && !isOwnRow(row))
      bytes =
          addCounts(bytes, multiplyCounts(countBytes(row.getType()), trips));
  return bytes;
}

bool SumsBehindScan::add(Value value) {
  llvm::SetVector<Value> found;
  unsigned numValues = 0;
  // Without rows it is the same in all trips.
  if (!collectSum(value, found, numValues) || found.empty())
    return false;
  int64_t bytes = countNewBytes(found);
  if (bytes > bytesLeft)
    return false;
  bytesLeft -= bytes;
  rows.insert(found.begin(), found.end());
  return true;
}

//===----------------------------------------------------------------------===//
// With a leading dimension
//===----------------------------------------------------------------------===//

int64_t
SumsBehindScan::getTrips(llvm::function_ref<Value(Value)> getStacked) const {
  return typeOf(getStacked(rows.front())).getDimSize(0);
}

/// Emits a value for all trips; as it is where it is the same in all.
Value SumsBehindScan::emitStacked(OpBuilder &builder, Value value,
                                  llvm::function_ref<Value(Value)> getStacked) {
  if (!isInside(value))
    return value;
  if (Value made = stacked.lookup(value))
    return made;
  Operation *op = value.getDefiningOp();
  Value result;
  if (isRepeated(value)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(emitStacked(builder, operand, getStacked));
    bool isSame =
        llvm::equal(ValueRange(operands).getTypes(), op->getOperandTypes());
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    result =
        isSame
            ? builder.clone(*op, mapping)->getResult(0)
            : emitBatched(builder, op, operands, getTrips(getStacked)).front();
  } else {
    result = rows.contains(value) ? getStacked(value)
                                  : builder.clone(*op)->getResult(0);
  }
  return stacked[value] = result;
}

Value SumsBehindScan::emitSum(OpBuilder &builder, Value value,
                              llvm::function_ref<Value(Value)> getStacked) {
  Operation *op = value.getDefiningOp();
  auto emit = [&](Value operand) {
    return emitSum(builder, operand, getStacked);
  };
  if (auto sum = dyn_cast<AddOp>(op))
    return AddOp::create(builder, op->getLoc(), emit(sum.getOperand(0)),
                         emit(sum.getOperand(1)));
  if (linear.contains(value)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), emit(op->getOperand(0)));
    return builder.clone(*op, mapping)->getResult(0);
  }
  ReindexReduceOpInterface sum = getSum(value);
  Value source = emitStacked(builder, sum.getSource(), getStacked);
  if (source.getType() == sum.getSource().getType())
    source = repeatAlong(builder, op->getLoc(), source, getTrips(getStacked));
  return ReindexReduceOp::create(builder, op->getLoc(), typeOf(value),
                                 Combiner::Add, source,
                                 addLeadingDim(sum.getIndexAccess()));
}
