//===- LiveRanges.cpp - How long the values of a program live -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps are numbered in the order of the text, those of branches and loops in
// place, so the live range of a value is an interval: from the step that makes
// it to the last one that reads it, a view, or a part of it. Both blocks of a
// branch have times of their own, so that what lives inside of one can share
// memory with what lives inside of the other.
//
// A value that is read in a loop and made outside of it is needed until the
// loop is done, for another trip may come. Not so what is made in a trip.
//
// A loop's condition gives the values that its body and its results are other
// names for; the last carries of a scan are the arguments of its block. What
// the loop carries has memory of its own, but its first value is the initial
// one, which so lives as long. All rows that a scan reads live until it is
// done, and those that it makes from its beginning on.
//
// A branch may yield what it does not make: a value of outside, or one that it
// yields twice, be it as what a branch inside has chosen, or a loop of no trips
// ends with. Then the branch's result is chosen: it is where the yielded value
// is, which lives as long as it. If the program returns the result, it is
// copied instead.
//
//===----------------------------------------------------------------------===//

#include "LiveRanges.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "Arena.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isStep(Operation *op) {
  return isa<func::CallOp, PlacementOpInterface, RoutineOpInterface,
             CheckRangeOp>(op);
}

SmallVector<Value> metaop::getMadeValues(Operation *step) {
  SmallVector<Value> values(step->getResults());
  if (auto routine = dyn_cast<RoutineOpInterface>(step))
    llvm::erase_if(values, [&](Value value) {
      return !routine.makes(cast<OpResult>(value));
    });
  return values;
}

bool metaop::isLoop(Operation *op) { return isa<scf::WhileOp, ScanOp>(op); }

Block::BlockArgListType metaop::getCarried(Operation *loop) {
  if (auto scan = dyn_cast<ScanOp>(loop))
    return scan.getRegionIterArgs();
  return cast<scf::WhileOp>(loop).getBeforeArguments();
}

OperandRange metaop::getInitials(Operation *loop) {
  if (auto scan = dyn_cast<ScanOp>(loop))
    return scan.getInits();
  return cast<scf::WhileOp>(loop).getInits();
}

MutableArrayRef<OpOperand> metaop::getNextValues(Operation *loop) {
  return *cast<LoopLikeOpInterface>(loop).getYieldedValuesMutable();
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

Value LiveRanges::getNamed(Value value) const {
  for (auto name = names.find(value); name != names.end();
       name = names.find(value))
    value = getViewed(name->second);
  return value;
}

const PartPlace *LiveRanges::getPart(Value value) const {
  auto part = parts.find(value);
  return part == parts.end() ? nullptr : &part->second;
}

Value LiveRanges::getRoot(Value value) const {
  value = getNamed(getViewed(value));
  while (const PartPlace *part = getPart(value))
    value = getNamed(getViewed(part->owner));
  return value;
}

int64_t LiveRanges::getOffset(Value value) const {
  int64_t offset = 0;
  value = getNamed(getViewed(value));
  while (const PartPlace *part = getPart(value)) {
    offset += part->offset;
    value = getNamed(getViewed(part->owner));
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// What can be planned
//===----------------------------------------------------------------------===//

/// Returns whether the bytes of a tensor's elements are known.
static bool hasNumbers(RankedTensorType type) {
  return type.getElementType().isIntOrFloat() ||
         type.getElementType().isIndex();
}

/// Returns whether the planner can give memory to a value of this type.
static LogicalResult verifyType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  if (!hasNumbers(tensor))
    return op->emitOpError("memory is planned for numbers, given ") << type;
  if (!tensor.hasStaticShape())
    return op->emitOpError("memory is planned for static shapes, given ")
           << type;
  if (countBytes(type) > kMaxArenaBytes)
    return op->emitOpError("needs more memory than can be addressed for ")
           << type;
  return success();
}

/// Returns whether a branch or a loop is decided by a boolean out of a tensor.
static LogicalResult verifyCondition(Operation *op, Value condition) {
  if (condition.getDefiningOp<tensor::ExtractOp>())
    return success();
  return op->emitOpError("is decided by a number that is not out of a tensor");
}

LogicalResult LiveRanges::verifyOp(Operation &op) const {
  for (Type type : op.getResultTypes())
    if (failed(verifyType(&op, type)))
      return failure();
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return verifyCondition(&op, branch.getCondition());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return verifyCondition(&op, loop.getConditionOp().getCondition());
  if (isControlFlow(&op) && !isa<ScanOp>(op))
    return op.emitOpError("is not decided by tensors: programs have scf.if, "
                          "metaop.scan, scf.while, and scf.for from and to "
                          "numbers out of tensors, by a constant step of 1 or "
                          "more");
  // Numbers, such as extents, take no memory.
  bool makesTensors =
      op.getNumResults() == 0 ||
      llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
  if (makesTensors && !isStep(&op) && !isa<ScanOp>(op) &&
      !isa<BarrierOp, ViewOpInterface, func::ReturnOp, scf::YieldOp,
           scf::ConditionOp, ScanYieldOp>(op))
    return op.emitOpError(
        "is neither a call, a view, a placement, a routine, a "
        "check of numbers nor the end of a program");
  return success();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

LogicalResult LiveRanges::numberOp(Operation &op) {
  if (failed(verifyOp(op)))
    return failure();
  bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
  if (!isStep(&op) && !isControlFlow(&op) && !isEnd)
    return success();
  if (isStep(&op) && mayFail(&op))
    lastCheck = numTimes;
  times[&op] = numTimes++;
  for (Region &region : op.getRegions())
    for (Block &block : region)
      if (failed(numberBlock(block)))
        return failure();
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    auto given = loop.getConditionOp().getArgs();
    for (auto [value, argument, result] :
         llvm::zip_equal(given, loop.getAfterArguments(), loop.getResults())) {
      names[argument] = value;
      names[result] = value;
    }
  }
  if (auto loop = dyn_cast<ScanOp>(op))
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getLastCarries()))
      names[result] = argument;
  if (!isControlFlow(&op))
    return success();
  // The last check of a loop is that of its last trip.
  if (isLoop(&op) && lastCheck > getTime(&op))
    lastCheck = numTimes;
  endTimes[&op] = numTimes++;
  return success();
}

LogicalResult LiveRanges::numberBlock(Block &block) {
  for (Operation &op : block)
    if (failed(numberOp(op)))
      return failure();
  return success();
}

LogicalResult LiveRanges::noteReturned() {
  Operation *end = main.getBody().front().getTerminator();
  if (!isa<func::ReturnOp>(end))
    return end->emitOpError("is not the return of a program");
  for (auto [i, operand] : llvm::enumerate(end->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      return end->emitOpError(
                 "memory is planned for ranked tensors, but value ")
             << i << " that the program returns is " << operand.getType();
    returned.insert({getRoot(operand), i});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Chosen results
//===----------------------------------------------------------------------===//

/// Returns whether a step of the block that yields a value makes it, whole and
/// in no memory of others.
bool LiveRanges::isOwn(OpOperand &yielded) const {
  Value root = getRoot(yielded.get());
  Operation *maker = root.getDefiningOp();
  return maker && maker->getBlock() == yielded.getOwner()->getBlock() &&
         isWhole(yielded.get()) && !returned.contains(root) &&
         (isStep(maker) || isa<scf::IfOp>(maker)) && !sources.contains(root);
}

bool LiveRanges::isMadeHere(OpOperand &yielded) const {
  Value root = getRoot(yielded.get());
  Operation *yield = yielded.getOwner();
  // Loops copy what they do not make in its place. Another result of a branch
  // may point there instead, and be read when this one's memory is free.
  bool isOfBranch = isa<scf::IfOp>(yield->getParentOp());
  return isOwn(yielded) &&
         llvm::count_if(yield->getOperands(), [&](Value other) {
           return isa<TensorType>(other.getType()) &&
                  (getRoot(other) == root ||
                   (isOfBranch && mayShareMemory(getRoot(other), root)));
         }) == 1;
}

/// Inner branches before those around them, which may yield what they make.
void LiveRanges::chooseResults() {
  main.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isLoop(op))
      choosePlaces(op);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return;
    for (OpResult result : branch->getResults()) {
      unsigned number = result.getResultNumber();
      OpOperand &onTrue = branch.thenYield()->getOpOperand(number);
      OpOperand &onFalse = branch.elseYield()->getOpOperand(number);
      if (!returned.contains(result) &&
          !(isMadeHere(onTrue) && isMadeHere(onFalse)))
        sources[result] = {getRoot(onTrue.get()), getRoot(onFalse.get())};
    }
  });
}

bool LiveRanges::mayShareMemory(Value root, Value other) const {
  SmallVector<Value> roots = {root};
  llvm::DenseSet<Value> seen;
  while (!roots.empty()) {
    Value each = roots.pop_back_val();
    if (each == other)
      return true;
    if (auto shared = sources.find(each);
        shared != sources.end() && seen.insert(each).second)
      llvm::append_range(roots, shared->second);
  }
  return false;
}

bool LiveRanges::mayBeWrittenOver(BlockArgument argument, int64_t time) const {
  return time > lastCheck &&
         func::FuncOp(main).getArgAttr(
             argument.getArgNumber(),
             MetaOpDialect::DonatableAttrHelper::getNameStr());
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

void LiveRanges::noteRead(Value root, Operation *reader, int64_t time) {
  Region *made = root.getParentRegion();
  for (Operation *op = reader->getParentOp(); op && op != main;
       op = op->getParentOp())
    if (isLoop(op) && !op->isAncestor(made->getParentOp()))
      time = std::max(time, getEndTime(op));
  auto [it, isNew] = lastRead.try_emplace(root, time);
  if (!isNew && it->second >= time)
    return;
  it->second = time;
  auto shared = sources.find(root);
  if (shared == sources.end())
    return;
  // Shared values are needed at the same time, whoever reads.
  for (Value source : SmallVector<Value>(shared->second))
    noteRead(source, reader, time);
}

/// Has all rows live as long as the loop. Those of the block may be copies.
void LiveRanges::noteRows(ScanOp loop) {
  int64_t end = getEndTime(loop);
  for (Value rows : loop.getRows())
    noteRead(getRoot(rows), loop, end);
  for (Value row : loop.getRowArguments())
    noteRead(row, loop, end);
  for (Value made : loop.getStackedRows())
    noteRead(getRoot(made), loop, end);
}

void LiveRanges::noteReads() {
  main.walk([&](Operation *op) {
    auto time = times.find(op);
    if (time == times.end() || isa<func::ReturnOp>(op))
      return;
    for (Value operand : op->getOperands()) {
      // A condition is read out of a tensor where it decides.
      if (auto number = operand.getDefiningOp<tensor::ExtractOp>())
        operand = number.getTensor();
      if (isa<TensorType>(operand.getType()))
        noteRead(getRoot(operand), op, time->second);
    }
    // The blocks of a branch write its results, read or not.
    if (auto branch = dyn_cast<scf::IfOp>(op))
      for (OpResult result : branch->getResults())
        if (!isChosen(result))
          noteRead(result, op, getEndTime(op));
    // The places that a loop carries values in are its own until it is done.
    if (isLoop(op))
      for (Value argument : getCarried(op))
        noteRead(argument, op, getEndTime(op));
    if (auto loop = dyn_cast<ScanOp>(op))
      noteRows(loop);
  });
}

FailureOr<LiveRanges> LiveRanges::find(func::FuncOp main, SymbolTable &symbols,
                                       int64_t partAlignment) {
  if (!llvm::hasSingleElement(main.getBody()))
    return main.emitOpError("expects one block, given ")
           << main.getBody().getBlocks().size();
  // Arguments that are not used may be of any shape.
  for (Type type : main.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && !hasNumbers(tensor))
      if (failed(verifyType(main, type)))
        return failure();
  LiveRanges liveRanges(main, symbols, partAlignment);
  liveRanges.parts = placeParts(main, symbols, partAlignment);
  if (failed(liveRanges.numberBlock(main.getBody().front())) ||
      failed(liveRanges.noteReturned()))
    return failure();
  liveRanges.chooseResults();
  liveRanges.noteReads();
  return liveRanges;
}
