//===- ControlFlowSteps.cpp - Steps of branches and loops -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a loop's body and its results share the slots of what its
// condition gives. What a block yields is copied, or pointed to, unless it was
// made in its place.
//
//===----------------------------------------------------------------------===//

#include "StepBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <utility>

using namespace mlir;

namespace metaops {

/// Returns where the boolean is that decides.
Slot StepBuilder::readCondition(Value condition) const {
  return slots.find(condition.getDefiningOp<tensor::ExtractOp>().getTensor())
      ->second;
}

/// Has what a block yields where it is expected.
void StepBuilder::addYield(Operation *yield, Slot from, Slot to) {
  if (from.entry == to.entry && from.offset == to.offset)
    return;
  ops.push_back(yield);
  Copy copy{0, 1, {{from.bytes, from.bytes, 0, -1}}};
  addStep(Copies{std::move(copy)}, from, to);
}

llvm::Error StepBuilder::addIf(scf::IfOp op) {
  ops.push_back(op);
  Slot condition = readCondition(op.getCondition());
  llvm::SmallVector<Slot> results;
  for (auto [result, attr] :
       llvm::zip_equal(op.getResults(), slotsOf.getAttr(op)))
    results.push_back(makeSlot(cast<metaop::SlotAttr>(attr), result.getType()));
  If branches;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    bool isThen = &region == &op.getThenRegion();
    StepList &list = isThen ? branches.onTrue : branches.onFalse;
    if (llvm::Error error = buildBlock(region.front(), list))
      return error;
    Operation *yield = region.front().getTerminator();
    StepList *outer = std::exchange(steps, &list);
    for (auto [operand, result] :
         llvm::zip_equal(yield->getOperands(), results)) {
      Slot from = slots.find(operand)->second;
      if (!data.isPointer(result.entry) || carried.contains(result.entry)) {
        addYield(yield, from, result);
        continue;
      }
      ops.push_back(yield);
      addStep(View{result.entry}, from, {});
    }
    steps = outer;
  }
  for (auto [result, slot] : llvm::zip_equal(op.getResults(), results))
    slots[result] = slot;
  addStep(std::move(branches), condition, {});
  return llvm::Error::success();
}

/// Returns how a loop hands on what is in two places in turn; what has one
/// place is put there.
std::vector<Carry> StepBuilder::takeCarries(Operation *op, ValueRange arguments,
                                            ValueRange inits) {
  std::vector<Carry> carries;
  for (auto [argument, init, attrs] :
       llvm::zip_equal(arguments, inits, carriesOf.getAttr(op))) {
    auto places = cast<ArrayAttr>(attrs);
    auto slotOf = [&, type = argument.getType()](unsigned number) {
      return makeSlot(cast<metaop::SlotAttr>(places[number]), type);
    };
    slots[argument] = slotOf(0);
    if (places.size() == 1) {
      addYield(op, slots.find(init)->second, slotOf(0));
      continue;
    }
    Carry &carry = carries.emplace_back();
    carry.current = slotOf(0).entry;
    carry.next = slotOf(1).entry;
    carried.insert(carry.next);
    carry.initial = slots.find(init)->second;
    carry.isRow = places.size() < 4;
    if (places.size() > 2)
      carry.even = slotOf(2);
    if (places.size() > 3)
      carry.odd = slotOf(3);
    carry.settles = places.size() > 2 && data.isResult(carry.even.entry);
  }
  return carries;
}

/// Has the next trip find its carries.
void StepBuilder::yieldCarries(Operation *yield, ValueRange next,
                               llvm::ArrayRef<Carry> carries) {
  ArrayAttr attrs = carriesOf.getAttr(yield->getParentOp());
  for (auto [operand, places] : llvm::zip_equal(next, attrs)) {
    if (cast<ArrayAttr>(places).size() == 1)
      continue;
    addYield(yield, slots.find(operand)->second,
             {carries.front().next, 0, carries.front().initial.bytes});
    carries = carries.drop_front();
  }
}

llvm::Error StepBuilder::addWhile(scf::WhileOp op) {
  While loop;
  loop.carries = takeCarries(op, op.getBeforeArguments(), op.getInits());
  ops.push_back(op);
  if (llvm::Error error = buildBlock(*op.getBeforeBody(), loop.condition))
    return error;
  scf::ConditionOp end = op.getConditionOp();
  for (auto [given, argument, result] : llvm::zip_equal(
           end.getArgs(), op.getAfterArguments(), op.getResults())) {
    Slot slot = slots.find(given)->second;
    slots[argument] = slot;
    slots[result] = slot;
  }
  if (llvm::Error error = buildBlock(*op.getAfterBody(), loop.body))
    return error;
  scf::YieldOp yield = op.getYieldOp();
  StepList *outer = std::exchange(steps, &loop.body);
  yieldCarries(yield, yield.getOperands(), loop.carries);
  steps = outer;
  addStep(std::move(loop), readCondition(end.getCondition()), {});
  return llvm::Error::success();
}

/// Returns how the rows are reached, those that the block makes last.
std::vector<LoopRows> StepBuilder::takeRows(metaop::ScanOp op) {
  std::vector<LoopRows> rows;
  ArrayAttr attrs = rowsOf.getAttr(op);
  auto slotOf = [&](unsigned number, unsigned which, Type type) {
    auto places = cast<ArrayAttr>(attrs[number]);
    return makeSlot(cast<metaop::SlotAttr>(places[which]), type);
  };
  for (auto [value, argument] :
       llvm::zip_equal(op.getRows(), op.getRowArguments())) {
    unsigned number = rows.size();
    Type type = argument.getType();
    rows.push_back({slotOf(number, 0, type).entry, slots.find(value)->second,
                    /*areMade=*/false});
    slots[argument] = slotOf(number, 1, type);
  }
  for (OpResult result : op.getStackedRows()) {
    unsigned number = rows.size();
    Slot whole = slotOf(number, 1, result.getType());
    int64_t pointer = slotOf(number, 0, result.getType()).entry;
    rows.push_back({pointer, whole, /*areMade=*/true});
    slots[result] = whole;
    carried.insert(pointer);
  }
  return rows;
}

/// Copies the rows that a block does not read where they are.
void StepBuilder::readRows(metaop::ScanOp op, llvm::ArrayRef<LoopRows> rows) {
  for (auto [argument, each] : llvm::zip(op.getRowArguments(), rows)) {
    Slot place = slots.find(argument)->second;
    addYield(op, {each.entry, 0, place.bytes}, place);
  }
}

llvm::Error StepBuilder::addFor(metaop::ScanOp op) {
  llvm::SmallVector<Slot> inputs;
  if (Value count = op.getCount())
    inputs.push_back(slots.find(count)->second);
  For loop;
  loop.trips = op.getTrips();
  loop.isReverse = op.getReverse();
  if (IntegerAttr first = firstTripOf.getAttr(op))
    loop.firstTrip = first.getInt();
  if (blocksOf.isAttrPresent(op))
    for (auto block : op.getBody().getOps<metaop::ScanOp>())
      loop.blockTrips = block.getTrips().value_or(0);
  loop.rows = takeRows(op);
  loop.carries = takeCarries(op, op.getRegionIterArgs(), op.getInits());
  ops.push_back(op);
  StepList *outer = std::exchange(steps, &loop.body);
  readRows(op, loop.rows);
  if (llvm::Error error = buildBlock(op.getBody().front(), loop.body))
    return error;
  metaop::ScanYieldOp yield = op.getYield();
  yieldCarries(yield, op.getNextCarries(), loop.carries);
  auto made = llvm::ArrayRef(loop.rows).drop_front(op.getRows().size());
  for (auto [operand, rows] : llvm::zip_equal(op.getYieldedRows(), made)) {
    Slot from = slots.find(operand)->second;
    addYield(yield, from, {rows.entry, 0, from.bytes});
  }
  steps = outer;
  for (auto [argument, result] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getLastCarries())) {
    Slot last = slots.find(argument)->second;
    slots[result] = last;
  }
  addStep(std::move(loop), inputs, {});
  return llvm::Error::success();
}

} // namespace metaops
