//===- RegionDerivatives.cpp - Derivatives of control flow ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region's derivative is a region: the operations again, and then theirs.
// Operations that the derivative does not read are erased again.
//
// A branch is decided by the same condition as before. So nothing of the other
// one is computed: neither what it divides by, nor its infinities times zero.
//
// A loop moves on with its values and their tangents at once. One that has
// counted its trips is a scan (BoundedWhile.cpp). Others have no derivatives in
// reverse mode: there is nothing to begin with.
//
//===----------------------------------------------------------------------===//

#include "RegionDerivatives.h"

#include "ActiveOps.h"
#include "BoundedWhile.h"
#include "Checkpoints.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "ScanDerivatives.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::hasDerivatives(Operation *op) {
  // Those of routines that have none are missed.
  return lacksDerivatives(op) ||
         isa<CustomDerivativeOp, DifferentiableOpInterface, ScanOp,
             scf::ExecuteRegionOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op);
}

SmallVector<Value> metaop::getInputs(Operation *op) {
  SmallVector<Value> inputs(op->getOperands());
  if (op->getNumRegions() > 0)
    llvm::append_range(inputs, findCaptures(op));
  return inputs;
}

SmallVector<Value> metaop::cloneBody(OpBuilder &builder, Block &block,
                                     IRMapping &mapping, ValueRange handedOn) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      handedOn, [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Reverse mode
//===----------------------------------------------------------------------===//

/// Emits the gradients of what a block yields, in a block of their own. What is
/// mapped takes the place of what the block reads, and results in `read` that
/// of what it makes.
static void emitGradients(OpBuilder &builder, Location loc, Block &block,
                          ArrayRef<Value> seeds, ArrayRef<Value> inputs,
                          int64_t savedBytes, IRMapping mapping = {},
                          ArrayRef<OpResult> read = {}) {
  Operation *before = getOpBefore(builder);
  StandIns standIns(builder, mapping, read);
  SmallVector<Value> outputs = keepFloats(standIns.cloneBody(block));
  SmallVector<Value> targets =
      llvm::map_to_vector(inputs, [&](Value input) { return standIns[input]; });
  auto isHeld = [&](Value value) { return standIns.contains(value); };
  DerivativeOptions options{savedBytes};
  options.isHeld = isHeld;
  SmallVector<Value> gradients =
      llvm::cantFail(differentiate(builder, outputs, seeds, targets, options));
  standIns.replace(gradients);
  eraseUnused(builder, before, gradients);
  scf::YieldOp::create(builder, loc, gradients);
}

SmallVector<Value>
metaop::differentiateRegions(OpBuilder &builder, Operation *op,
                             ArrayRef<Value> cotangents, ArrayRef<Value> inputs,
                             int64_t savedBytes, ArrayRef<OpResult> read) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return differentiateScan(builder, scan, cotangents, inputs, savedBytes);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return differentiateScan(builder, scanTrips(builder, loop), cotangents,
                             inputs, savedBytes);
  Location loc = op->getLoc();
  SmallVector<Value> seeds;
  for (auto [result, cotangent] : llvm::zip_equal(op->getResults(), cotangents))
    if (isFloatTensor(result))
      seeds.push_back(cotangent ? cotangent
                                : splatLike(builder, loc, result, 0.0));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto emit = [&](Block *block) {
      return [=, &seeds](OpBuilder &inside, Location at) {
        emitGradients(inside, at, *block, seeds, inputs, savedBytes);
      };
    };
    return scf::IfOp::create(builder, loc, branch.getCondition(),
                             emit(branch.thenBlock()), emit(branch.elseBlock()))
        .getResults();
  }
  auto region = cast<scf::ExecuteRegionOp>(op);
  IRMapping mapping;
  BarrierOp barrier;
  if (isCheckpoint(op))
    barrier = emitBarrier(builder, region, seeds, read, mapping);
  auto mapped = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  auto made =
      scf::ExecuteRegionOp::create(builder, loc, TypeRange(ValueRange(inputs)));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&made.getRegion().emplaceBlock());
    emitGradients(builder, loc, region.getRegion().front(), mapped(seeds),
                  inputs, savedBytes, mapping, read);
  }
  if (barrier)
    tightenBarrier(builder, barrier, seeds, made);
  return made.getResults();
}

//===----------------------------------------------------------------------===//
// Forward mode
//===----------------------------------------------------------------------===//

namespace {
/// The tangents of what moves around a region.
struct Moving {
  SmallVector<Value> inputs, tangents;
  DerivativeOptions options;

  Moving(Operation *op, llvm::function_ref<Value(Value)> getTangent,
         int64_t savedBytes, ArrayRef<OpResult> read)
      : options{savedBytes} {
    SmallVector<Value> all = getInputs(op);
    llvm::append_range(all, read);
    for (Value input : all)
      if (Value tangent = getTangent(input);
          tangent && !llvm::is_contained(inputs, input)) {
        inputs.push_back(input);
        tangents.push_back(tangent);
      }
  }
};
} // namespace

/// Puts the tangents of a region's results where these are floats.
static SmallVector<Value> spread(Operation *op, ValueRange tangents) {
  SmallVector<Value> spread;
  auto next = tangents.begin();
  for (Value result : op->getResults())
    spread.push_back(isFloatTensor(result) ? *next++ : nullptr);
  return spread;
}

/// Emits the tangents of what a block yields, in a block of their own.
static void emitTangents(OpBuilder &builder, Location loc, Block &block,
                         const Moving &moving, ArrayRef<OpResult> read = {}) {
  IRMapping mapping;
  Operation *before = getOpBefore(builder);
  StandIns standIns(builder, mapping, read);
  SmallVector<Value> outputs = keepFloats(standIns.cloneBody(block));
  SmallVector<Value> inputs = llvm::map_to_vector(
      moving.inputs, [&](Value input) { return standIns[input]; });
  auto isHeld = [&](Value value) { return standIns.contains(value); };
  DerivativeOptions options = moving.options;
  options.isHeld = isHeld;
  SmallVector<Value> tangents = llvm::cantFail(
      pushForward(builder, outputs, inputs, moving.tangents, options));
  standIns.replace(tangents);
  eraseUnused(builder, before, tangents);
  scf::YieldOp::create(builder, loc, tangents);
}

/// Emits a part of a loop on its values and their tangents, and returns what
/// it hands on of both.
static SmallVector<Value> emitMoving(OpBuilder &builder, Block &part,
                                     ValueRange arguments, ValueRange handedOn,
                                     const Moving &moving, IRMapping &mapping) {
  ValueRange own = arguments.take_front(part.getNumArguments());
  mapping.map(part.getArguments(), own);
  SmallVector<Value> values = cloneBody(builder, part, mapping, handedOn);
  SmallVector<Value> inputs = keepFloats(own);
  llvm::append_range(inputs, moving.inputs);
  SmallVector<Value> directions(arguments.drop_front(own.size()));
  llvm::append_range(directions, moving.tangents);
  SmallVector<Value> tangents = llvm::cantFail(pushForward(
      builder, keepFloats(values), inputs, directions, moving.options));
  llvm::append_range(values, tangents);
  return values;
}

/// Returns first values of a loop, and their tangents.
static SmallVector<Value>
addTangents(OpBuilder &builder, ValueRange inits,
            llvm::function_ref<Value(Value)> tangentOf) {
  SmallVector<Value> all(inits);
  for (Value init : keepFloats(inits)) {
    Value tangent = tangentOf(init);
    all.push_back(tangent ? tangent
                          : splatLike(builder, init.getLoc(), init, 0.0));
  }
  return all;
}

static SmallVector<Value> moveLoop(OpBuilder &builder, scf::WhileOp loop,
                                   const Moving &moving,
                                   llvm::function_ref<Value(Value)> tangentOf) {
  SmallVector<Type> types(loop.getResultTypes());
  llvm::append_range(types,
                     ValueRange(keepFloats(loop.getResults())).getTypes());
  auto before = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    scf::ConditionOp end = loop.getConditionOp();
    IRMapping mapping;
    SmallVector<Value> values =
        emitMoving(inside, *loop.getBeforeBody(), arguments, end.getArgs(),
                   moving, mapping);
    scf::ConditionOp::create(
        inside, loc, mapping.lookupOrDefault(end.getCondition()), values);
  };
  auto after = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    IRMapping mapping;
    scf::YieldOp::create(inside, loc,
                         emitMoving(inside, *loop.getAfterBody(), arguments,
                                    loop.getYieldOp().getOperands(), moving,
                                    mapping));
  };
  auto made = scf::WhileOp::create(
      builder, loop.getLoc(), types,
      addTangents(builder, loop.getInits(), tangentOf), before, after);
  return SmallVector<Value>(made.getResults().drop_front(loop.getNumResults()));
}

static SmallVector<Value> moveLoop(OpBuilder &builder, scf::ForOp loop,
                                   const Moving &moving,
                                   llvm::function_ref<Value(Value)> tangentOf) {
  auto body = [&](OpBuilder &inside, Location loc, Value counter,
                  ValueRange carried) {
    // The counter is the block's first argument.
    SmallVector<Value> arguments = {counter};
    llvm::append_range(arguments, carried);
    IRMapping mapping;
    scf::YieldOp::create(
        inside, loc,
        emitMoving(inside, *loop.getBody(), arguments,
                   loop.getBody()->getTerminator()->getOperands(), moving,
                   mapping));
  };
  auto made = scf::ForOp::create(
      builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
      loop.getStep(), addTangents(builder, loop.getInitArgs(), tangentOf),
      body);
  return SmallVector<Value>(made.getResults().drop_front(loop.getNumResults()));
}

SmallVector<Value>
metaop::pushForwardRegions(OpBuilder &builder, Operation *op,
                           llvm::function_ref<Value(Value)> getTangent,
                           int64_t savedBytes, ArrayRef<OpResult> read) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return spread(op, pushForwardScan(builder, scan, getTangent, savedBytes));
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && getMaxTrips(op))
    return spread(op, pushForwardScan(builder, scanTrips(builder, loop),
                                      getTangent, savedBytes));
  Location loc = op->getLoc();
  Moving moving(op, getTangent, savedBytes, read);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return spread(op, moveLoop(builder, loop, moving, getTangent));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return spread(op, moveLoop(builder, loop, moving, getTangent));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto emit = [&](Block *block) {
      return [=, &moving](OpBuilder &inside, Location at) {
        emitTangents(inside, at, *block, moving);
      };
    };
    auto made =
        scf::IfOp::create(builder, loc, branch.getCondition(),
                          emit(branch.thenBlock()), emit(branch.elseBlock()));
    return spread(op, made.getResults());
  }
  auto region = cast<scf::ExecuteRegionOp>(op);
  auto made = scf::ExecuteRegionOp::create(
      builder, loc, ValueRange(keepFloats(op->getResults())).getTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&made.getRegion().emplaceBlock());
  emitTangents(builder, loc, region.getRegion().front(), moving, read);
  return spread(op, made.getResults());
}
