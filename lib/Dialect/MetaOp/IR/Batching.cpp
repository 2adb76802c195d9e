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
// If the numbers of an access are batched, such as the starts of a window, each
// row has its own map: a reindex becomes a gather, a reduction a scatter.
// Random numbers of several keys or counters are drawn row by row, in a scan.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
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
using mlir::metaop::detail::TensorEmitter;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns whether each element of a result is made of those at the same place
/// in the operands. What a check fails of is any of them.
static bool isByElement(Operation *op) {
  return isa<CheckOp, ElementwiseOpInterface, StopGradOp, StopFuseOp>(op);
}

//===----------------------------------------------------------------------===//
// Operations that can be batched
//===----------------------------------------------------------------------===//

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// Returns whether conditions of an access depend on numbers that are batched.
static bool hasBatchedConditions(IndexAccess access, Operation *op,
                                 const llvm::SmallBitVector &isBatched) {
  return access.conditions &&
         llvm::any_of(llvm::drop_begin(op->getOpOperands()),
                      [&](OpOperand &operand) {
                        return isBatched.test(operand.getOperandNumber());
                      });
}

bool metaop::canBatch(Operation *op, const llvm::SmallBitVector &isBatched) {
  if (isBatched.none() || op->getNumRegions() > 0 ||
      !llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return false;
  if (auto code = dyn_cast<ExternOp>(op))
    return code.getLeading().has_value();
  if (auto routine = dyn_cast<RoutineOp>(op))
    return routine.getBatched();
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return !hasBatchedConditions(reindex.getIndexAccess(), op, isBatched);
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return !hasBatchedConditions(reduce.getIndexAccess(), op, isBatched);
  return isByElement(op) ||
         isa<ConcatOp, FftOp, GatherOp, InsertOp, NormOp, PrefixOp, RandomOp,
             ReshapeOp, ScatterOp, SortOp>(op);
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
  RankedTensorType batch(Type type) const {
    return getStackedType(cast<RankedTensorType>(type), extent);
  }
  Value replace(Value operand) const;
  IndexAccess replaceSymbols(IndexAccess access) const;
  IndexAccess batch(IndexAccess access, bool isTensorBatched) const;
  SmallVector<Value> readIndices(const IndexAccess &access,
                                 RankedTensorType type);
  Value read(Value source, bool isSourceBatched, IndexAccess access,
             RankedTensorType type);
  Value repeat(unsigned number);
  SmallVector<Value> repeatAll();
  SmallVector<int64_t> shift(ArrayRef<int64_t> dims) const;
  SmallVector<Value> emitLike(ValueRange operands);

  Value emitReduce(ReindexReduceOpInterface reduce);
  Value emitGather(GatherOp gather);
  Value emitScatter(ScatterOp scatter);
  Value emitInsert(InsertOp insert);
  Value emitWindows(InsertOp insert);
  Value emitNorm(NormOp norm);
  Value emitRandom(RandomOp random);
  SmallVector<Value> emitSort(SortOp sort);
  SmallVector<Value> emitPlaces(SortOp sort);

  OpBuilder &builder;
  Operation *op;
  ValueRange operands;
  int64_t extent;
};
} // namespace

/// Returns what stands for an operand of the operation.
Value Batcher::replace(Value operand) const {
  return operands[std::distance(op->operand_begin(),
                                llvm::find(op->getOperands(), operand))];
}

IndexAccess Batcher::replaceSymbols(IndexAccess access) const {
  for (Value &symbol : access.symbols)
    symbol = replace(symbol);
  return access;
}

/// Returns the access of one more dimension in front. It is the first index
/// where the tensor that is accessed is batched.
IndexAccess Batcher::batch(IndexAccess access, bool isTensorBatched) const {
  access = addLeadingDim(access);
  if (isTensorBatched)
    access.map = access.map.insertResult(builder.getAffineDimExpr(0), 0);
  return access;
}

static bool hasBatchedSymbols(const IndexAccess &access) {
  return llvm::any_of(access.symbols, [](Value symbol) {
    return typeOf(symbol).getRank() > 0;
  });
}

/// Returns the symbols of an access as tensors of indices, of the shape of
/// `type`, which is batched.
SmallVector<Value> Batcher::readIndices(const IndexAccess &access,
                                        RankedTensorType type) {
  return llvm::map_to_vector(access.symbols, [&](Value symbol) -> Value {
    SmallVector<int64_t> dims;
    if (typeOf(symbol).getRank() > 0)
      dims.push_back(0);
    return BroadcastOp::create(builder, op->getLoc(),
                               type.clone(typeOf(symbol).getElementType()),
                               symbol, /*extents=*/ValueRange(), dims);
  });
}

/// Emits the batched reindex of a result of this type. The symbols of the
/// access have been replaced; the fill is zero where it has none.
Value Batcher::read(Value source, bool isSourceBatched, IndexAccess access,
                    RankedTensorType type) {
  Location loc = op->getLoc();
  if (!access.fill)
    access.fill = getNumberAttr(type.getElementType(), 0.0);
  IndexAccess batched = batch(access, isSourceBatched);
  if (!hasBatchedSymbols(access))
    return ReindexOp::create(builder, loc, batch(type), source, batched);
  return GatherOp::create(builder, loc, batch(type), source,
                          readIndices(access, batch(type)), batched.map,
                          access.fill);
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

/// Returns the places of dimensions behind the leading one.
SmallVector<int64_t> Batcher::shift(ArrayRef<int64_t> dims) const {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

/// Emits the same operation, with other operands and batched results.
SmallVector<Value> Batcher::emitLike(ValueRange given) {
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(batch(result.getType()));
  Operation *made =
      Operation::create(op->getLoc(), op->getName(), types, given,
                        op->getDiscardableAttrDictionary(),
                        op->getPropertiesStorage(), {}, /*numRegions=*/0);
  return builder.insert(made)->getResults();
}

Value Batcher::emitReduce(ReindexReduceOpInterface reduce) {
  Location loc = op->getLoc();
  RankedTensorType type = batch(op->getResult(0).getType());
  IndexAccess access = replaceSymbols(reduce.getIndexAccess());
  IndexAccess batched = batch(access, /*isTensorBatched=*/true);
  Value source = repeat(0);
  if (!hasBatchedSymbols(access))
    return ReindexReduceOp::create(builder, loc, type, reduce.getReduceKind(),
                                   source, batched);
  return ScatterOp::create(builder, loc, type, reduce.getReduceKind(), source,
                           readIndices(access, typeOf(source)),
                           /*extents=*/ValueRange(), batched.map);
}

Value Batcher::emitGather(GatherOp gather) {
  SmallVector<Value> indices;
  for (unsigned number = 1; number < operands.size(); ++number)
    indices.push_back(repeat(number));
  IndexAccess access = batch(gather.getIndexAccess(), isBatched(0));
  return GatherOp::create(builder, op->getLoc(), batch(gather.getType()),
                          operands.front(), indices, access.map,
                          gather.getFillAttr());
}

Value Batcher::emitScatter(ScatterOp scatter) {
  SmallVector<Value> repeated = repeatAll();
  IndexAccess access =
      batch(scatter.getIndexAccess(), /*isTensorBatched=*/true);
  return ScatterOp::create(builder, op->getLoc(), batch(scatter.getType()),
                           scatter.getReduceKind(), repeated.front(),
                           ArrayRef(repeated).drop_front(),
                           /*extents=*/ValueRange(), access.map);
}

Value Batcher::emitInsert(InsertOp insert) {
  if (llvm::any_of(llvm::seq<unsigned>(2, operands.size()),
                   [&](unsigned number) { return isBatched(number); }))
    return emitWindows(insert);
  Value part = repeat(0), dest = repeat(1);
  auto index = RankedTensorType::get({}, builder.getI64Type());
  Value zero = ConstantOp::create(builder, op->getLoc(), index,
                                  DenseElementsAttr::get(index, int64_t(0)));
  SmallVector<Value> starts = {zero};
  llvm::append_range(starts, operands.drop_front(2));
  return InsertOp::create(builder, op->getLoc(), insert.getKind(), part, dest,
                          starts);
}

/// Emits an insert of which each row has a window of its own: each element in
/// the window reads that of the part at its distance from the start.
Value Batcher::emitWindows(InsertOp insert) {
  Location loc = op->getLoc();
  RankedTensorType type = insert.getType(), part = typeOf(insert.getPart());
  IndexAccess access;
  SmallVector<AffineExpr> places;
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    places.push_back(builder.getAffineDimExpr(dim) -
                     builder.getAffineSymbolExpr(dim));
  access.map = AffineMap::get(places.size(), places.size(), places,
                              builder.getContext());
  llvm::append_range(access.symbols, operands.drop_front(2));
  auto flags = part.clone(builder.getI1Type());
  Value all = ConstantOp::create(builder, loc, flags,
                                 DenseElementsAttr::get(flags, true));
  Value inside = read(all, /*isSourceBatched=*/false, access,
                      type.clone(builder.getI1Type()));
  Value placed = read(operands.front(), isBatched(0), access, type);
  Value dest = repeat(1);
  TensorEmitter emit(builder, loc);
  if (insert.getKind() != Combiner::None)
    placed = getCombinerInfo(insert.getKind()).emitTensors(emit, dest, placed);
  return emit.select(inside, placed, dest);
}

/// Emits a loop over the keys and counters that are batched.
Value Batcher::emitRandom(RandomOp random) {
  SmallVector<Value> rows;
  for (unsigned number : {0, 1})
    if (isBatched(number))
      rows.push_back(operands[number]);
  auto scan = ScanOp::create(
      builder, op->getLoc(), ScanTrips(extent), /*reverse=*/false,
      /*inits=*/ValueRange(), rows,
      [&](OpBuilder &inside, Location loc, ValueRange, ValueRange row) {
        auto next = row.begin();
        Value key = isBatched(0) ? *next++ : operands[0];
        Value counter = isBatched(1) ? *next++ : operands[1];
        Value drawn =
            RandomOp::create(inside, loc, random.getType(), key, counter,
                             /*extents=*/ValueRange());
        ScanYieldOp::create(inside, loc, drawn);
      });
  return scan.getResult(0);
}

Value Batcher::emitNorm(NormOp norm) {
  auto made = cast<NormOp>(emitLike(operands).front().getDefiningOp());
  made.setDimensions(shift(norm.getDimensions()));
  return made.getResult();
}

SmallVector<Value> Batcher::emitSort(SortOp sort) {
  if (sort.getBegin() && isBatched(1))
    return emitPlaces(sort);
  SmallVector<Value> given(operands);
  given.front() = repeat(0);
  auto made = cast<SortOp>(emitLike(given).front().getDefiningOp());
  made.setDim(sort.getDim() + 1);
  return made->getResults();
}

/// Emits a sort of which each row begins at a place of its own: all places are
/// computed, and those wanted are read.
SmallVector<Value> Batcher::emitPlaces(SortOp sort) {
  Location loc = op->getLoc();
  unsigned dim = sort.getDim();
  auto source = typeOf(sort.getSource()), wanted = typeOf(sort.getValues());
  bool isSourceBatched = isBatched(0);
  auto all = isSourceBatched ? batch(source) : source;
  auto sorted = SortOp::create(
      builder, loc, all, all.clone(builder.getI64Type()), operands.front(),
      dim + isSourceBatched, sort.getDescending(), /*begin=*/Value());
  TensorEmitter emit(builder, loc);
  Value begin = operands[1];
  int64_t last = source.getDimSize(dim) - wanted.getDimSize(dim);
  begin = emit.create<MaxOp>(begin, emit.splat(begin, 0.0));
  begin = emit.create<MinOp>(begin, emit.splat(begin, last));
  IndexAccess access;
  access.map = builder.getMultiDimIdentityMap(source.getRank());
  SmallVector<AffineExpr> places(access.map.getResults());
  places[dim] = places[dim] + builder.getAffineSymbolExpr(0);
  access.map = AffineMap::get(places.size(), 1, places, builder.getContext());
  access.symbols.push_back(begin);
  return llvm::map_to_vector(sorted.getResults(), [&](Value result) {
    return read(result, isSourceBatched, access,
                wanted.clone(typeOf(result).getElementType()));
  });
}

SmallVector<Value> Batcher::emit() {
  if (isByElement(op))
    return emitLike(repeatAll());
  if (isa<ReshapeOp>(op))
    return emitLike(operands);
  if (isa<RoutineOp>(op))
    return emitLike(repeatAll());
  if (auto code = dyn_cast<ExternOp>(op)) {
    auto made = cast<ExternOp>(emitLike(repeatAll()).front().getDefiningOp());
    made.setLeading(*code.getLeading() + 1);
    return made->getResults();
  }
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
  if (auto fft = dyn_cast<FftOp>(op)) {
    auto made = cast<FftOp>(emitLike(repeatAll()).front().getDefiningOp());
    made.setDims(shift(fft.getDims()));
    return made->getResults();
  }
  if (auto reindex = dyn_cast<ReindexOpInterface>(op))
    return {read(operands.front(), isBatched(0),
                 replaceSymbols(reindex.getIndexAccess()),
                 typeOf(op->getResult(0)))};
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return {emitReduce(reduce)};
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](GatherOp gather) { return SmallVector{emitGather(gather)}; })
      .Case(
          [&](ScatterOp scatter) { return SmallVector{emitScatter(scatter)}; })
      .Case([&](InsertOp insert) { return SmallVector{emitInsert(insert)}; })
      .Case([&](NormOp norm) { return SmallVector{emitNorm(norm)}; })
      .Case([&](RandomOp random) { return SmallVector{emitRandom(random)}; })
      .Case([&](SortOp sort) { return emitSort(sort); });
}

SmallVector<Value> metaop::emitBatched(OpBuilder &builder, Operation *op,
                                       ValueRange operands, int64_t extent) {
  return Batcher(builder, op, operands, extent).emit();
}
