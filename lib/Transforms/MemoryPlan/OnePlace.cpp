//===- OnePlace.cpp - Values that loops make over each other --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop has a carry in one place if its body makes the next value where that
// of the trip is, one value over another:
//
// * an insert puts its part on top of a value;
// * a kernel computes a value from another one element by element;
// * a loop inside has what it carries in one place;
// * both blocks of a branch make their values so, or one leaves what it is
//   given as it is.
//
// Nothing may read a value that is written over later in the trip: neither by
// its name, nor as what a branch or a loop may have in the same memory.
//
//===----------------------------------------------------------------------===//

#include "LiveRanges.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Values that are written over
//===----------------------------------------------------------------------===//

/// Returns the operation around the block that has the value.
static Operation *getOwner(Value value) {
  return value.getParentRegion()->getParentOp();
}

int64_t LiveRanges::countRoots(Operation *op, Value root) const {
  return llvm::count_if(op->getOperands(), [&](Value operand) {
    return isa<TensorType>(operand.getType()) && getRoot(operand) == root;
  });
}

Value LiveRanges::getCovered(PlacementOpInterface op) const {
  Value operand = op->getOperand(op.getPlacements().front().operand);
  Value root = getRoot(operand);
  bool isOnTop = operand.getType() == op->getResult(0).getType() &&
                 isWhole(operand) &&
                 llvm::count_if(op->getOperands(), [&](Value other) {
                   return mayShareMemory(getRoot(other), root);
                 }) == 1;
  return isOnTop ? root : Value();
}

bool LiveRanges::mayComputeOver(OpResult result, Value root) const {
  auto call = cast<func::CallOp>(result.getOwner());
  KernelOp kernel = getKernel(symbols.lookup<func::FuncOp>(call.getCallee()));
  if (!kernel || countBytes(root.getType()) != countBytes(result.getType()))
    return false;
  SmallVector<unsigned> inputs;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    Value operand = call.getOperand(cast<BlockArgument>(input).getArgNumber());
    if (!isa<TensorType>(operand.getType()))
      continue;
    Value other = getRoot(operand);
    if (other == root ? !isWhole(operand) : mayShareMemory(other, root))
      return false;
    if (other == root)
      inputs.push_back(i);
  }
  return canWriteInPlace(kernel, inputs, result.getResultNumber(), models);
}

/// Returns the root that a kernel may compute a result over: what the loop
/// carries, if that is one, or else rather what is no kernel's.
Value LiveRanges::getComputedOver(OpResult result,
                                  BlockArgument argument) const {
  Operation *loop = getOwner(argument);
  Value chosen;
  for (Value operand : result.getOwner()->getOperands()) {
    if (!isa<TensorType>(operand.getType()))
      continue;
    Value root = getRoot(operand);
    bool mayBeInPlace =
        root == argument || (loop->isAncestor(getOwner(root)) &&
                             (getCarryAround(root) || isa<OpResult>(root)));
    bool isBetter =
        !chosen || root == argument ||
        (chosen != argument && chosen.getDefiningOp<func::CallOp>());
    if (mayBeInPlace && isBetter && mayComputeOver(result, root))
      chosen = root;
  }
  return chosen;
}

BlockArgument LiveRanges::getCarryAround(Value root) const {
  while (Value around = placeOf.lookup(root))
    root = around;
  return inOnePlace.contains(root) ? cast<BlockArgument>(root)
                                   : BlockArgument();
}

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

/// Adds the values that the blocks of a branch yield, if one of them makes its
/// own.
bool LiveRanges::addBranch(OpResult result, OnePlace &place,
                           SmallVectorImpl<Value> &values) const {
  auto branch = cast<scf::IfOp>(result.getOwner());
  bool isMade = false;
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    Value yielded = yield.getOperand(result.getResultNumber());
    Value root = getRoot(yielded);
    bool stays = !branch->isAncestor(getOwner(root));
    if (!isWhole(yielded) || (!stays && countRoots(yield, root) != 1))
      return false;
    isMade |= !stays;
    place.savesCopies |= stays;
    values.push_back(root);
  }
  return isMade;
}

/// Finds what makes the next value of a carry over that of the trip.
bool LiveRanges::findMakers(BlockArgument argument, Value next,
                            OnePlace &place) const {
  Operation *loop = getOwner(argument);
  SmallVector<Value> values = {next};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    // A value that a loop inside has in one place is where its carry is.
    if (BlockArgument around = getCarryAround(value))
      value = around;
    if (value == argument || !place.values.insert(value))
      continue;
    if (!loop->isAncestor(getOwner(value)) || returned.contains(value))
      return false;
    Value over;
    Operation *maker = value.getDefiningOp();
    if (auto carried = dyn_cast<BlockArgument>(value)) {
      maker = getOwner(carried);
      if (maker == loop || !isInOnePlace(carried))
        return false;
      Value initial = getInitials(maker)[carried.getArgNumber()];
      if (isWhole(initial) && countRoots(maker, getRoot(initial)) == 1)
        over = getRoot(initial);
      place.savesCopies = true;
    } else if (isa<scf::IfOp>(maker)) {
      if (!addBranch(cast<OpResult>(value), place, values))
        return false;
      continue;
    } else if (auto insert = dyn_cast<PlacementOpInterface>(maker)) {
      over = getCovered(insert);
      place.savesCopies = true;
    } else if (isa<func::CallOp>(maker)) {
      over = getComputedOver(cast<OpResult>(value), argument);
    }
    if (!over)
      return false;
    place.makers.push_back({maker, over});
    values.push_back(over);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Returns whether what an operation reads comes before another one writes in
/// the same trip, or is never reached together with that.
static bool comesBefore(Operation *reader, Operation *maker, Operation *loop) {
  if (maker->isProperAncestor(reader))
    return false;
  for (Operation *op = maker; op != loop; op = op->getParentOp())
    if (Operation *step = op->getBlock()->findAncestorOpInBlock(*reader))
      return step == op || step->isBeforeInBlock(op);
  // One of them is in the loop's condition, the other in its body.
  Region &condition = loop->getRegion(0);
  return condition.isAncestor(reader->getParentRegion());
}

/// Returns the values that may be in the same memory as one because of a use.
/// Carries that have one place are copies.
static SmallVector<Value, 2> getNames(OpOperand &use, Operation *loop,
                                      const LiveRanges &liveRanges) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<ViewOpInterface, tensor::ExtractOp>(user))
    return {user->getResult(0)};
  if (auto yield = dyn_cast<scf::YieldOp>(user))
    if (auto branch = dyn_cast<scf::IfOp>(yield->getParentOp()))
      return {branch.getResult(number)};
  if (auto end = dyn_cast<scf::ConditionOp>(user); end && number > 0) {
    auto around = cast<scf::WhileOp>(end->getParentOp());
    SmallVector<Value, 2> names = {around.getAfterArguments()[number - 1]};
    if (around != loop)
      names.push_back(around.getResult(number - 1));
    return names;
  }
  if (!isLoop(user))
    return {};
  unsigned first = getInitials(user).getBeginOperandIndex();
  if (number < first || number - first >= getCarried(user).size())
    return {};
  BlockArgument carried = getCarried(user)[number - first];
  if (liveRanges.isInOnePlace(carried))
    return {};
  if (auto scan = dyn_cast<ScanOp>(user))
    return {carried, scan.getLastCarries()[number - first]};
  return {carried};
}

bool LiveRanges::isReadBefore(Value value, const OnePlace &place,
                              const OnePlace::Maker &maker, Operation *loop,
                              llvm::DenseSet<Value> &seen) const {
  if (!seen.insert(value).second)
    return true;
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    for (Value name : getNames(use, loop, *this))
      if (!place.values.contains(name) &&
          !isReadBefore(name, place, maker, loop, seen))
        return false;
    if (isa<ViewOpInterface, tensor::ExtractOp>(user))
      return true;
    // The maker may read what it writes over, but by that name alone.
    return user == maker.op ? getRoot(value) == maker.over
                            : comesBefore(user, maker.op, loop);
  });
}

/// Returns whether nothing reads what may be where a maker writes, from then
/// on.
bool LiveRanges::isLastToRead(const OnePlace &place,
                              const OnePlace::Maker &maker,
                              Operation *loop) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> values = {maker.over};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!isReadBefore(value, place, maker, loop, seen))
      return false;
    // Values that it is another name for, but those of around the branch, which
    // the makers in there are asked for.
    if (auto branch = value.getDefiningOp<scf::IfOp>())
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
        Value root =
            getRoot(yield.getOperand(cast<OpResult>(value).getResultNumber()));
        if (branch->isAncestor(getOwner(root)))
          values.push_back(root);
      }
    if (auto carried = dyn_cast<BlockArgument>(value))
      if (auto scan = dyn_cast<ScanOp>(getOwner(carried)); scan && scan != loop)
        values.push_back(scan.getLastCarries()[carried.getArgNumber()]);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

/// Returns whether a loop's first value may be made, or is, where the loop has
/// all others: nothing else needs that memory.
bool LiveRanges::isForThis(BlockArgument argument, Value initial) const {
  Operation *loop = getOwner(argument);
  if (!initial.hasOneUse() || getRoot(initial) != initial ||
      returned.contains(initial) ||
      initial.getParentBlock() != loop->getBlock())
    return false;
  auto given = dyn_cast<BlockArgument>(initial);
  if (!given)
    return isStep(initial.getDefiningOp());
  Operation *around = getOwner(given);
  if (around == main)
    return mayBeWrittenOver(given, getTime(loop));
  // A loop around this one goes on with the value.
  return isLoop(around) && given.getArgNumber() < getCarried(around).size() &&
         getRoot(getNextValues(around)[given.getArgNumber()].get()) == argument;
}

std::optional<LiveRanges::OnePlace>
LiveRanges::findOnePlace(BlockArgument argument, OpOperand &yielded,
                         Value initial) const {
  OnePlace place;
  Value next = getRoot(yielded.get());
  if (!isWhole(yielded.get()) || countRoots(yielded.getOwner(), next) != 1 ||
      !findMakers(argument, next, place))
    return std::nullopt;
  // Two places take no copies where each trip computes all of the value.
  if (!place.savesCopies && !isForThis(argument, initial))
    return std::nullopt;
  bool areLast = llvm::all_of(place.makers, [&](const OnePlace::Maker &maker) {
    return isLastToRead(place, maker, getOwner(argument));
  });
  return areLast ? std::optional(std::move(place)) : std::nullopt;
}
