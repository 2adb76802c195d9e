//===- Checkpoints.cpp - What is computed again for a gradient ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a checkpoint has the operations of its block again, behind a
// barrier by inputs and cotangents: so nothing takes them for the first ones,
// whose values would have to be kept, and they come when the gradient is due.
//
// A result that somebody holds is in memory, and is read. It is what
// derivatives by it, or derivatives of this gradient by it, are by.
//
// Indices that a checkpoint is given have been checked by the first run, and
// are in memory as long as whoever gave them holds them: a check of them is the
// same check. Else nothing could be written over before the last gradient.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "ActiveOps.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Transforms/Autodiff/SiblingResults.h"
#include "RegionDerivatives.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

SmallVector<OpResult> metaop::findRead(Operation *op,
                                       llvm::function_ref<bool(Value)> isTarget,
                                       const DerivativeOptions &options) {
  SmallVector<OpResult> read;
  if (!isCheckpoint(op))
    return read;
  int64_t numOthers = op->getNumResults() - getNumKept(op);
  for (OpResult result : op->getResults())
    if (getValueInside(result) &&
        (result.getResultNumber() >= numOthers ||
         (isFloatTensor(result) &&
          (isTarget(result) || (options.isHeld && options.isHeld(result))))))
      read.push_back(result);
  return read;
}

BarrierOp metaop::emitBarrier(OpBuilder &builder,
                              scf::ExecuteRegionOp checkpoint,
                              ArrayRef<Value> cotangents,
                              ArrayRef<OpResult> read, IRMapping &mapping) {
  llvm::SmallSetVector<Value, 16> given;
  for (Value value : findCaptures(checkpoint))
    if (isa<RankedTensorType>(value.getType()))
      given.insert(value);
  given.insert(read.begin(), read.end());
  given.insert(cotangents.begin(), cotangents.end());
  auto barrier = BarrierOp::create(builder, checkpoint.getLoc(),
                                   ValueRange(given.getArrayRef()));
  mapping.map(given.getArrayRef(), barrier.getResults());
  return barrier;
}

/// Has checks of what is given be checks of the values before the barrier.
static void shareChecks(BarrierOp barrier, scf::ExecuteRegionOp gradient) {
  gradient.walk([&](CheckOp check) {
    auto given = dyn_cast<OpResult>(check.getIndices());
    if (given && given.getOwner() == barrier)
      check.getIndicesMutable().assign(
          barrier.getOperand(given.getResultNumber()));
  });
}

void metaop::tightenBarrier(OpBuilder &builder, BarrierOp barrier,
                            ArrayRef<Value> cotangents,
                            scf::ExecuteRegionOp gradient) {
  shareChecks(barrier, gradient);
  bool readsInputs = false;
  SmallVector<Value> left;
  for (auto [operand, result] :
       llvm::zip_equal(barrier.getOperands(), barrier.getResults())) {
    bool isCotangent = llvm::is_contained(cotangents, operand);
    readsInputs |= !isCotangent && !result.use_empty();
    if ((isCotangent || !result.use_empty()) &&
        !matchPattern(operand, m_Constant()))
      left.push_back(operand);
  }
  IRMapping mapping;
  if (readsInputs) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(gradient);
    auto made = BarrierOp::create(builder, barrier.getLoc(), left);
    mapping.map(left, made.getResults());
  }
  for (auto [operand, result] :
       llvm::zip_equal(barrier.getOperands(), barrier.getResults()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(operand));
  if (auto *listener =
          dyn_cast_if_present<RewriterBase::Listener>(builder.getListener()))
    listener->notifyOperationErased(barrier);
  barrier.erase();
}

StandIns::StandIns(OpBuilder &builder, IRMapping &mapping,
                   ArrayRef<OpResult> read)
    : builder(builder), mapping(mapping), read(read) {
  for (OpResult result : read)
    copies.try_emplace(getValueInside(result));
}

SmallVector<Value> StandIns::cloneBody(Block &block) {
  for (Operation &op : block.without_terminator()) {
    builder.clone(op, mapping);
    for (Value made : op.getResults())
      if (auto *found = copies.find(made); found != copies.end()) {
        found->second = mapping.lookup(made);
        // Results of one in there are made of each other in there.
        if (isCheckpoint(&op))
          continue;
        auto copy = BarrierOp::create(builder, op.getLoc(), found->second);
        found->second = copy.getResult(0);
        mapping.map(made, found->second);
      }
  }
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

Value StandIns::operator[](Value value) const {
  if (llvm::is_contained(read, value))
    return copies.lookup(getValueInside(cast<OpResult>(value)));
  return mapping.lookupOrDefault(value);
}

void StandIns::replace(MutableArrayRef<Value> values) {
  for (OpResult result : read) {
    Value by = mapping.lookupOrDefault(result);
    auto replaceBy = [&](Value made) {
      llvm::replace(values, made, by);
      made.replaceAllUsesWith(by);
    };
    Value copy = copies.lookup(getValueInside(result));
    auto barrier = copy.getDefiningOp<BarrierOp>();
    replaceBy(copy);
    // A derivative may read what its operation has made.
    if (barrier)
      replaceBy(barrier.getOperand(0));
  }
}
