//===- Batching.cpp - Operations with a leading dimension -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interfaces of the operations say enough:
//
// * element by element, operands that are not batched are repeated;
// * the map of a reindex or a reduction gets a dimension in front, which the
//   batched side has as its first index;
// * what goes along a dimension goes along the one behind it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns whether each element of a result is made of those at the same place
/// in the operands.
static bool isByElement(Operation *op) {
  return isa<ElementwiseOpInterface, StopGradOp, StopFuseOp>(op);
}

//===----------------------------------------------------------------------===//
// Operations that can be batched
//===----------------------------------------------------------------------===//

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

bool metaop::canBatch(Operation *op, const llvm::SmallBitVector &isBatched) {
  if (isBatched.none() || op->getNumRegions() > 0 ||
      !llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return false;
  if (isByElement(op) ||
      isa<ConcatOp, GatherOp, NormOp, PrefixOp, ReshapeOp, ScatterOp>(op))
    return true;
  // Their other operands are numbers.
  if (isa<ReindexOpInterface, ReindexReduceOpInterface, SortOp>(op))
    return isBatched.count() == 1 && isBatched.test(0);
  return isa<InsertOp>(op) && isBatched.find_last() < 2;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

IndexAccess metaop::addLeadingDim(IndexAccess access) {
  access.map = access.map.shiftDims(1);
  if (!access.conditions)
    return access;
  unsigned numDims = access.conditions.getNumDims();
  auto shifted = llvm::map_to_vector(
      access.conditions.getConstraints(),
      [&](AffineExpr expr) { return expr.shiftDims(numDims, 1); });
  access.conditions =
      IntegerSet::get(numDims + 1, access.conditions.getNumSymbols(), shifted,
                      access.conditions.getEqFlags());
  return access;
}

Value metaop::repeatAlong(OpBuilder &builder, Location loc, Value value,
                          int64_t extent) {
  auto dims = llvm::seq<int64_t>(1, typeOf(value).getRank() + 1);
  return BroadcastOp::create(builder, loc,
                             getStackedType(typeOf(value), extent), value,
                             /*extents=*/ValueRange(), llvm::to_vector(dims));
}

namespace {
/// Emits one operation.
class Batcher {
public:
  Batcher(OpBuilder &builder, Operation *op, ValueRange operands,
          int64_t extent)
      : builder(builder), op(op), operands(operands), extent(extent) {}

  SmallVector<Value> emit();

private:
  bool isBatched(unsigned number) const {
    return operands[number].getType() != op->getOperand(number).getType();
  }
  RankedTensorType batch(Value value) const {
    return getStackedType(typeOf(value), extent);
  }
  IndexAccess batch(IndexAccess access, bool isTensorBatched) const;
  Value repeat(unsigned number);
  SmallVector<Value> repeatAll();
  Value makeZero();
  SmallVector<int64_t> shift(ArrayRef<int64_t> dims) const;
  SmallVector<Value> emitLike(ValueRange operands);

  Value emitGather(GatherOp gather);
  Value emitScatter(ScatterOp scatter);
  Value emitInsert(InsertOp insert);
  Value emitNorm(NormOp norm);
  SmallVector<Value> emitSort(SortOp sort);

  OpBuilder &builder;
  Operation *op;
  ValueRange operands;
  int64_t extent;
};
} // namespace

/// Returns the access of one more dimension in front. It is the first index
/// where the tensor that is accessed is batched.
IndexAccess Batcher::batch(IndexAccess access, bool isTensorBatched) const {
  for (Value &symbol : access.symbols)
    symbol = operands[std::distance(op->operand_begin(),
                                    llvm::find(op->getOperands(), symbol))];
  access = addLeadingDim(access);
  if (isTensorBatched)
    access.map = access.map.insertResult(builder.getAffineDimExpr(0), 0);
  return access;
}

/// Returns an operand with the leading dimension.
Value Batcher::repeat(unsigned number) {
  Value operand = operands[number];
  return isBatched(number)
             ? operand
             : repeatAlong(builder, op->getLoc(), operand, extent);
}

SmallVector<Value> Batcher::repeatAll() {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, operands.size()),
                             [&](unsigned number) { return repeat(number); });
}

Value Batcher::makeZero() {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return ConstantOp::create(builder, op->getLoc(), type,
                            DenseElementsAttr::get(type, int64_t(0)));
}

/// Returns the places of dimensions behind the leading one.
SmallVector<int64_t> Batcher::shift(ArrayRef<int64_t> dims) const {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

/// Emits the same operation, with other operands and batched results.
SmallVector<Value> Batcher::emitLike(ValueRange given) {
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(batch(result));
  Operation *made =
      Operation::create(op->getLoc(), op->getName(), types, given,
                        op->getDiscardableAttrDictionary(),
                        op->getPropertiesStorage(), {}, /*numRegions=*/0);
  return builder.insert(made)->getResults();
}

Value Batcher::emitGather(GatherOp gather) {
  SmallVector<Value> indices;
  for (unsigned number = 1; number < operands.size(); ++number)
    indices.push_back(repeat(number));
  IndexAccess access = batch(gather.getIndexAccess(), isBatched(0));
  return GatherOp::create(builder, op->getLoc(), batch(gather.getResult()),
                          operands.front(), indices, access.map,
                          gather.getFillAttr());
}

Value Batcher::emitScatter(ScatterOp scatter) {
  SmallVector<Value> repeated = repeatAll();
  IndexAccess access =
      batch(scatter.getIndexAccess(), /*isTensorBatched=*/true);
  return ScatterOp::create(builder, op->getLoc(), batch(scatter.getResult()),
                           scatter.getReduceKind(), repeated.front(),
                           ArrayRef(repeated).drop_front(),
                           /*extents=*/ValueRange(), access.map);
}

Value Batcher::emitInsert(InsertOp insert) {
  Value part = repeat(0), dest = repeat(1);
  SmallVector<Value> starts = {makeZero()};
  llvm::append_range(starts, operands.drop_front(2));
  return InsertOp::create(builder, op->getLoc(), insert.getKind(), part, dest,
                          starts);
}

Value Batcher::emitNorm(NormOp norm) {
  auto made = cast<NormOp>(emitLike(operands).front().getDefiningOp());
  made.setDimensions(shift(norm.getDimensions()));
  return made.getResult();
}

SmallVector<Value> Batcher::emitSort(SortOp sort) {
  auto made = cast<SortOp>(emitLike(operands).front().getDefiningOp());
  made.setDim(sort.getDim() + 1);
  return made->getResults();
}

SmallVector<Value> Batcher::emit() {
  Location loc = op->getLoc();
  if (isByElement(op))
    return emitLike(repeatAll());
  if (isa<ReshapeOp>(op))
    return emitLike(operands);
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    auto made = cast<ConcatOp>(emitLike(repeatAll()).front().getDefiningOp());
    made.setDim(concat.getDim() + 1);
    return made->getResults();
  }
  if (auto prefix = dyn_cast<PrefixOp>(op)) {
    auto made = cast<PrefixOp>(emitLike(repeatAll()).front().getDefiningOp());
    made.setDim(prefix.getDim() + 1);
    return made->getResults();
  }
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return {ReindexOp::create(
        builder, loc, batch(op->getResult(0)), operands.front(),
        batch(reindex.getIndexAccess(), /*isTensorBatched=*/true))};
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return {ReindexReduceOp::create(
        builder, loc, batch(op->getResult(0)), reduce.getReduceKind(),
        operands.front(),
        batch(reduce.getIndexAccess(), /*isTensorBatched=*/true))};
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](GatherOp gather) { return SmallVector{emitGather(gather)}; })
      .Case(
          [&](ScatterOp scatter) { return SmallVector{emitScatter(scatter)}; })
      .Case([&](InsertOp insert) { return SmallVector{emitInsert(insert)}; })
      .Case([&](NormOp norm) { return SmallVector{emitNorm(norm)}; })
      .Case([&](SortOp sort) { return emitSort(sort); });
}

SmallVector<Value> metaop::emitBatched(OpBuilder &builder, Operation *op,
                                       ValueRange operands, int64_t extent) {
  return Batcher(builder, op, operands, extent).emit();
}
