//===- ExampleEmitter.cpp - Branches and loops of examples ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A branch or a loop that all examples take alike stays one, whose region does
// the work of all. Where they differ:
//
// * of a branch, both sides are taken, each if some example takes it, and the
//   results are selected;
// * a loop goes on until no example does (ExampleLoops.cpp).
//
// Examples that are not in a side or in a trip do what the first one does that
// is: its values are selected for them where they enter. So they fail no check,
// make no trips of their own and divide by nothing that it does not, and no
// gradient flows to theirs, as it would through a select behind alone: zero
// times infinity is no number.
//
//===----------------------------------------------------------------------===//

#include "ExampleEmitter.h"

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace metaops;

/// The dimension of the examples.
static constexpr int64_t kExamples[] = {0};

/// Returns what users call an operation.
static std::string getUserName(Operation *op) {
  if (auto custom = dyn_cast<metaop::CustomDerivativeOp>(op))
    return custom.getFunction().str();
  if (auto code = dyn_cast<metaop::ExternOp>(op))
    return code.getFunction().split('.').first.str();
  if (auto routine = dyn_cast<metaop::RoutineOp>(op))
    return routine.getRoutine().str();
  return formatName(op);
}

void ExampleEmitter::failUnbatched(Operation *op) {
  fail(ErrorKind::Runtime,
       "vmap: " + getUserName(op) + " at " + formatLine(op->getLoc()) +
           " is of values that differ among examples, for which it cannot be "
           "done at once; use mo.map, which takes one after the other");
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Values of examples
//===----------------------------------------------------------------------===//

Type ExampleEmitter::batch(Type type) const {
  return metaop::getStackedType(cast<RankedTensorType>(type), extent);
}

Value ExampleEmitter::getBatched(OpBuilder &builder, Value value) const {
  return isBatched(value)
             ? get(value)
             : metaop::repeatAlong(builder, value.getLoc(), get(value), extent);
}

ExampleEmitter::Values ExampleEmitter::getBatchedAll(OpBuilder &builder,
                                                     ValueRange all) const {
  return llvm::map_to_vector(
      all, [&](Value value) { return getBatched(builder, value); });
}

/// Returns a value where the example is one of those that are meant, and
/// another one where it is not.
Value ExampleEmitter::emitSelect(OpBuilder &builder, Location loc, Value isOwn,
                                 Value own, Value other) const {
  auto flags = typeOf(own).clone(builder.getI1Type());
  if (flags != isOwn.getType())
    isOwn = metaop::BroadcastOp::create(builder, loc, flags, isOwn,
                                        /*extents=*/ValueRange(), kExamples);
  return metaop::SelectOp::create(builder, loc, own.getType(), isOwn, own,
                                  other);
}

/// Returns the flags or numbers of all examples as one.
Value ExampleEmitter::emitReduce(OpBuilder &builder, Location loc,
                                 metaop::Combiner kind, Value all) const {
  return metaop::ReduceOp::create(builder, loc, kind, all, kExamples,
                                  /*keep_dims=*/false);
}

/// Returns the number of the first example whose flag is set.
Value ExampleEmitter::emitFirst(OpBuilder &builder, Location loc,
                                Value flags) const {
  auto type = typeOf(flags).clone(builder.getI64Type());
  Value numbers =
      metaop::IotaOp::create(builder, loc, type, 0, /*extents=*/ValueRange());
  Value last = metaop::splatLike(builder, loc, numbers, extent - 1);
  return emitReduce(builder, loc, metaop::Combiner::Min,
                    emitSelect(builder, loc, flags, numbers, last));
}

/// Returns a batched value in which examples that are not meant have that of
/// the first one that is.
Value ExampleEmitter::likeFirst(OpBuilder &builder, Location loc, Value isOwn,
                                Value first, Value value) const {
  RankedTensorType type = typeOf(value);
  metaop::IndexAccess access;
  SmallVector<AffineExpr> places = {builder.getAffineSymbolExpr(0)};
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    places.push_back(builder.getAffineDimExpr(dim));
  access.map = AffineMap::get(type.getRank(), 1, places, builder.getContext());
  access.symbols.push_back(first);
  access.fill = metaop::getNumberAttr(type.getElementType(), 0.0);
  Value other = metaop::ReindexOp::create(builder, loc, type, value, access);
  if (isa<FloatType>(type.getElementType()))
    other = metaop::StopGradOp::create(builder, loc, type, other);
  return emitSelect(builder, loc, isOwn, value, other);
}

/// Has values be those of the first example that is meant, for those that are
/// not, in a region: what it is given, and what it captures.
void ExampleEmitter::enter(OpBuilder &builder, Location loc, Value isOwn,
                           Region &region) {
  Value first = emitFirst(builder, loc, isOwn);
  llvm::SmallSetVector<Value, 8> entering;
  for (BlockArgument argument : region.getArguments())
    entering.insert(argument);
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      // The block of a graph is in no region.
      Region *owner = operand.getParentRegion();
      if (!owner || !region.isAncestor(owner))
        entering.insert(operand);
    }
  });
  for (Value value : entering)
    if (isBatched(value))
      map(value, likeFirst(builder, loc, isOwn, first, get(value)));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the branch that is all of a region, but for its condition, which is
/// read out of a tensor first; null if there is none.
static scf::IfOp getBranch(scf::ExecuteRegionOp op) {
  Block &block = op.getRegion().front();
  auto extract = dyn_cast<tensor::ExtractOp>(block.front());
  auto branch =
      extract ? dyn_cast<scf::IfOp>(extract->getNextNode()) : scf::IfOp();
  bool isAll =
      branch && branch->getNextNode() == block.getTerminator() &&
      llvm::equal(branch.getResults(), block.getTerminator()->getOperands());
  return isAll ? branch : scf::IfOp();
}

void ExampleEmitter::emit(OpBuilder &builder, Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  llvm::append_range(operands, metaop::findCaptures(op));
  if (llvm::none_of(operands, [&](Value value) { return isBatched(value); })) {
    IRMapping mapping;
    for (Value operand : operands)
      mapping.map(operand, get(operand));
    Operation *made = builder.clone(*op, mapping);
    for (auto [result, standIn] :
         llvm::zip_equal(op->getResults(), made->getResults()))
      map(result, standIn);
    return;
  }
  if (auto scan = dyn_cast<metaop::ScanOp>(op))
    return emitScan(builder, scan);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(builder, loop);
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op)) {
    scf::IfOp branch = getBranch(region);
    return branch ? emitBranch(builder, region, branch)
                  : emitRegion(builder, region);
  }
  if (auto barrier = dyn_cast<metaop::BarrierOp>(op))
    return emitBarrier(builder, barrier);
  if (auto custom = dyn_cast<metaop::CustomDerivativeOp>(op))
    return emitCustom(builder, custom);
  llvm::SmallBitVector areBatched;
  SmallVector<Value> given;
  for (Value operand : operands) {
    areBatched.push_back(isBatched(operand));
    given.push_back(get(operand));
  }
  if (!metaop::canBatch(op, areBatched))
    return isa<metaop::ExternOp, metaop::RoutineOp>(op)
               ? emitInTurn(builder, op)
               : failUnbatched(op);
  for (auto [result, standIn] : llvm::zip_equal(
           op->getResults(), metaop::emitBatched(builder, op, given, extent)))
    map(result, standIn);
}

void ExampleEmitter::emitAll(OpBuilder &builder, Block &block) {
  for (Operation &op : block.without_terminator())
    emit(builder, &op);
}

void ExampleEmitter::mapAll(ValueRange values, ValueRange standIns) {
  for (auto [value, standIn] : llvm::zip_equal(values, standIns))
    map(value, standIn);
}

/// Emits a barrier whose results are batched as its operands are.
void ExampleEmitter::emitBarrier(OpBuilder &builder, metaop::BarrierOp op) {
  auto given = llvm::map_to_vector(op.getOperands(),
                                   [&](Value value) { return get(value); });
  mapAll(op.getResults(),
         metaop::BarrierOp::create(builder, op.getLoc(), ValueRange(given))
             .getResults());
}

/// Emits a checkpoint, or a gradient of one, of what is in it for all examples.
void ExampleEmitter::emitRegion(OpBuilder &builder, scf::ExecuteRegionOp op) {
  Block &block = op.getRegion().front();
  auto made =
      metaop::createRegion(builder, op.getLoc(), [&](OpBuilder &inside) {
        emitAll(inside, block);
        return Values(llvm::map_range(block.getTerminator()->getOperands(),
                                      [&](Value value) { return get(value); }));
      });
  if (metaop::isCheckpoint(op))
    metaop::setCheckpoint(made, metaop::getNumKept(op));
  mapAll(op.getResults(), made.getResults());
}

/// Emits the results of a function with derivatives of its own, whose rules are
/// those of all examples.
void ExampleEmitter::emitCustom(OpBuilder &builder,
                                metaop::CustomDerivativeOp op) {
  Values results = getBatchedAll(builder, op.getValues()),
         arguments = getBatchedAll(builder, op.getArguments());
  auto captures = llvm::map_to_vector(op.getCaptures(),
                                      [&](Value value) { return get(value); });
  auto types = llvm::map_to_vector(op.getResultTypes(),
                                   [&](Type type) { return batch(type); });
  auto made = metaop::CustomDerivativeOp::create(
      builder, op.getLoc(), types, op.getFunction(), results, arguments,
      captures, op.getRules().size());
  for (auto [from, to] : llvm::zip_equal(op.getRules(), made.getRules())) {
    OpBuilder::InsertionGuard guard(builder);
    Block &rule = from.front(), *block = builder.createBlock(&to);
    for (BlockArgument argument : rule.getArguments())
      map(argument,
          block->addArgument(batch(argument.getType()), argument.getLoc()));
    emitAll(builder, rule);
    metaop::CustomYieldOp::create(
        builder, op.getLoc(),
        getBatchedAll(builder, rule.getTerminator()->getOperands()));
  }
  mapAll(op.getResults(), made.getResults());
}

/// Emits an operation that knows no examples, such as code of the user's own,
/// for one after the other.
void ExampleEmitter::emitInTurn(OpBuilder &builder, Operation *op) {
  llvm::SmallSetVector<Value, 4> differing;
  for (Value operand : op->getOperands())
    if (isBatched(operand))
      differing.insert(operand);
  auto rows =
      llvm::map_to_vector(differing, [&](Value value) { return get(value); });
  auto made = metaop::createScan(
      builder, op->getLoc(), extent, /*reverse=*/false,
      /*inits=*/ValueRange(), rows,
      [&](OpBuilder &inside, Location, ValueRange, ValueRange ofExample) {
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, get(operand));
        for (auto [operand, row] : llvm::zip_equal(differing, ofExample))
          mapping.map(operand, row);
        return SmallVector<Value>(inside.clone(*op, mapping)->getResults());
      },
      savedBytes);
  mapAll(op->getResults(),
         made.getStackedRows().take_front(op->getNumResults()));
}

/// Adds the values of a block that differ among examples, or may do so, to
/// those that are known to.
void ExampleEmitter::flow(Block &block, llvm::DenseSet<Value> &batched) const {
  auto differs = [&](Value value) {
    return batched.contains(value) || isBatched(value);
  };
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(), differs) ||
        llvm::any_of(metaop::findCaptures(&op), differs))
      batched.insert(op.result_begin(), op.result_end());
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Emits a branch by a 0-d flag. MLIR's own builders of regions cannot be left
/// by an exception, so these are filled here.
ExampleEmitter::Values ExampleEmitter::emitIf(OpBuilder &builder, Location loc,
                                              Value flag, TypeRange types,
                                              Emit onTrue, Emit onFalse) const {
  auto region = scf::ExecuteRegionOp::create(builder, loc, types);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&region.getRegion().emplaceBlock());
  Value condition =
      tensor::ExtractOp::create(builder, loc, flag, /*indices=*/ValueRange());
  auto branch = scf::IfOp::create(builder, loc, types, condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (auto [block, emit] :
       {std::pair<Block *, Emit>{branch.thenBlock(), onTrue},
        {branch.elseBlock(), onFalse}}) {
    builder.setInsertionPointToStart(block);
    scf::YieldOp::create(builder, loc, emit(builder));
  }
  builder.setInsertionPointAfter(branch);
  scf::YieldOp::create(builder, loc, branch.getResults());
  return Values(region.getResults());
}

/// Emits a side of a branch for the examples that take it, if there are any,
/// and returns what it yields.
ExampleEmitter::Values ExampleEmitter::emitOwn(OpBuilder &builder, Location loc,
                                               Value isOwn, Region &region) {
  Block &block = region.front();
  SmallVector<Type> types;
  for (Value value : block.getTerminator()->getOperands())
    types.push_back(batch(value.getType()));
  auto emitSide = [&](OpBuilder &inside) {
    auto outside = values;
    enter(inside, loc, isOwn, region);
    emitAll(inside, block);
    Values results =
        getBatchedAll(inside, block.getTerminator()->getOperands());
    values = std::move(outside);
    return results;
  };
  auto emitZeros = [&](OpBuilder &inside) {
    return llvm::map_to_vector(types, [&](Type type) -> Value {
      Type element = cast<RankedTensorType>(type).getElementType();
      return metaop::ConstantOp::create(
          inside, loc,
          DenseElementsAttr::get(
              cast<RankedTensorType>(type),
              Attribute(metaop::getNumberAttr(element, 0.0))));
    });
  };
  return emitIf(builder, loc,
                emitReduce(builder, loc, metaop::Combiner::Or, isOwn), types,
                emitSide, emitZeros);
}

void ExampleEmitter::emitBranch(OpBuilder &builder, scf::ExecuteRegionOp op,
                                scf::IfOp branch) {
  Location loc = op.getLoc();
  Value condition =
      branch.getCondition().getDefiningOp<tensor::ExtractOp>().getTensor();
  Values results;
  if (isBatched(condition)) {
    Value isThen = get(condition);
    Value isElse = metaop::NotOp::create(builder, loc, isThen);
    Values onTrue = emitOwn(builder, loc, isThen, branch.getThenRegion());
    Values onFalse = emitOwn(builder, loc, isElse, branch.getElseRegion());
    for (auto [own, other] : llvm::zip_equal(onTrue, onFalse))
      results.push_back(emitSelect(builder, loc, isThen, own, other));
  } else {
    auto types = llvm::map_to_vector(op.getResultTypes(),
                                     [&](Type type) { return batch(type); });
    auto emitSide = [&](Region &region) {
      return [&](OpBuilder &inside) {
        emitAll(inside, region.front());
        return getBatchedAll(inside,
                             region.front().getTerminator()->getOperands());
      };
    };
    results = emitIf(builder, loc, get(condition), types,
                     emitSide(branch.getThenRegion()),
                     emitSide(branch.getElseRegion()));
  }
  for (auto [result, standIn] : llvm::zip_equal(op.getResults(), results))
    map(result, standIn);
}
