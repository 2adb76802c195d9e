//===- PlanMemory.cpp - Memory of a program's values ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @main is a straight line of steps, calls and placement ops, so the live range
// of a value is an interval: from the step that makes it to the last one that
// reads it or a view of it. What is made in its window of another value is part
// of that value (see PlaceParts.cpp). Steps are visited in order. Each result
// first tries to take over the memory of an operand whose live range ends at
// that step (see InPlace.cpp). Failing that, a returned value gets a buffer of
// its own, and any other memory of the arena. What takes over memory prolongs
// it. When all live ranges are known, places in the arena are chosen (see
// Arena.cpp), and results that were to be stored past the caches, but are
// written in place, are so no longer.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "Arena.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "PlaceParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::metaop {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp main, SymbolTable &symbols, bool reuse)
      : main(main), symbols(symbols), reuse(reuse) {}

  LogicalResult plan();
  int64_t getLeastBytes() const { return getMostLiveBytes(stored); }

private:
  /// The value whose memory holds this one: what it is a view or a part of.
  Value getRoot(Value value) const;
  /// Whether the value is all of its root.
  bool isWhole(Value value) const { return getViewed(value) == getRoot(value); }
  /// Where a value is; the index of one in the arena is that in `stored`.
  struct Place {
    SlotKind kind;
    int64_t index;
    /// In bytes, of a part.
    int64_t offset = 0;
  };

  LogicalResult findLives();
  LogicalResult verifyRows(func::CallOp call, KernelOp kernel);
  LogicalResult planCall(func::CallOp call, int64_t time);
  LogicalResult planPlacement(PlacementOpInterface op, int64_t time);
  LogicalResult planRoutine(Operation *op, int64_t time);
  std::optional<Place> tryInPlace(func::CallOp call, KernelOp kernel,
                                  OpResult result, int64_t time);
  std::optional<Place> tryInPlace(PlacementOpInterface op, int64_t time);
  std::optional<Place> takeOver(Value root, Value result, int64_t time);
  void makePlace(Value root, int64_t time);
  Place getPlace(Value value) const;
  bool mayOverwrite(Value root, int64_t time);
  int64_t getEnd(Value value, int64_t time) const;
  void keepInCaches();
  void writePlan(const ArenaPlan &plan);

  func::FuncOp main;
  SymbolTable &symbols;
  bool reuse;
  int64_t numSteps = 0;
  llvm::DenseMap<Value, PartPlace> parts;
  SmallVector<ArenaValue> stored;
  /// Of roots.
  llvm::DenseMap<Value, Place> places;
  /// The number of the last step that reads a root.
  llvm::DenseMap<Value, int64_t> lastRead;
  /// Roots that are returned, and the first result that each is.
  llvm::MapVector<Value, unsigned> returned;
  /// Roots whose memory another value has taken over.
  llvm::DenseSet<Value> takenOver;
  /// Values that kernels yield, and whether each call that is planned has them
  /// written in place, and whether any has them begin inside of a cache line.
  struct Stores {
    bool areInPlace = true;
    bool areUnaligned = false;
  };
  llvm::MapVector<Value, Stores> storesOf;
};

} // namespace

Value MemoryPlanner::getRoot(Value value) const {
  value = getViewed(value);
  for (auto part = parts.find(value); part != parts.end();
       part = parts.find(value))
    value = getViewed(part->second.owner);
  return value;
}

MemoryPlanner::Place MemoryPlanner::getPlace(Value value) const {
  int64_t offset = 0;
  value = getViewed(value);
  for (auto part = parts.find(value); part != parts.end();
       part = parts.find(value)) {
    offset += part->second.offset;
    value = getViewed(part->second.owner);
  }
  Place place = places.find(value)->second;
  place.offset += offset;
  return place;
}

/// Whether the bytes of a tensor's elements are known.
static bool hasNumbers(RankedTensorType type) {
  return type.getElementType().isIntOrFloat() ||
         type.getElementType().isIndex();
}

/// Whether the planner can give memory to a value of this type.
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

/// What is done when a program runs, one step after another.
static bool isStep(Operation &op) {
  return isa<func::CallOp, PlacementOpInterface, RoutineOpInterface>(op);
}

SmallVector<Value> metaop::getMadeValues(Operation *step) {
  SmallVector<Value> values(step->getResults());
  if (isa<RoutineOpInterface>(step))
    llvm::erase_if(values, [](Value value) { return value.use_empty(); });
  return values;
}

LogicalResult MemoryPlanner::findLives() {
  if (!llvm::hasSingleElement(main.getBody()))
    return main.emitOpError("expects one block, given ")
           << main.getBody().getBlocks().size();
  // What is not used may be of any shape.
  for (Type type : main.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && !hasNumbers(tensor))
      return verifyType(main, type);
  for (Operation &op : main.getBody().front()) {
    for (Type type : op.getResultTypes())
      if (failed(verifyType(&op, type)))
        return failure();
    if (isStep(op)) {
      for (Value operand : op.getOperands())
        lastRead[getRoot(operand)] = numSteps;
      ++numSteps;
    } else if (!isa<ViewOpInterface, func::ReturnOp>(op) &&
               (op.getNumResults() == 0 ||
                llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>))) {
      // Numbers, such as extents, take no memory.
      return op.emitOpError(
          "is neither a call, a view, a placement, a routine nor "
          "the end of a program");
    }
  }
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

/// Whether nothing reads the memory of `root` after the step at `time`.
bool MemoryPlanner::mayOverwrite(Value root, int64_t time) {
  if (!reuse || takenOver.contains(root) || returned.contains(root) ||
      lastRead.lookup(root) != time)
    return false;
  auto argument = dyn_cast<BlockArgument>(root);
  return !argument || main.getArgAttr(argument.getArgNumber(),
                                      "metaop.donatable") != nullptr;
}

/// The last step that needs the memory of a value made at `time`.
int64_t MemoryPlanner::getEnd(Value value, int64_t time) const {
  auto read = lastRead.find(value);
  return read == lastRead.end() ? time : read->second;
}

/// Gives a root memory of its own at the step that first writes to it.
void MemoryPlanner::makePlace(Value root, int64_t time) {
  if (places.contains(root))
    return;
  if (auto *it = returned.find(root); it != returned.end()) {
    places[root] = {SlotKind::Result, it->second};
    return;
  }
  places[root] = {SlotKind::Arena, int64_t(stored.size())};
  int64_t bytes = countBytes(root.getType());
  stored.push_back(reuse ? ArenaValue{bytes, time, getEnd(root, time)}
                         : ArenaValue{bytes, 0, numSteps});
}

/// Gives `result` the memory of a root that dies at `time`.
std::optional<MemoryPlanner::Place>
MemoryPlanner::takeOver(Value root, Value result, int64_t time) {
  Place place = places.find(root)->second;
  // A returned value must not stay in the arena.
  if (returned.contains(result) && place.kind == SlotKind::Arena)
    return std::nullopt;
  takenOver.insert(root);
  if (place.kind == SlotKind::Arena)
    stored[place.index].end = getEnd(result, time);
  return place;
}

std::optional<MemoryPlanner::Place> MemoryPlanner::tryInPlace(func::CallOp call,
                                                              KernelOp kernel,
                                                              OpResult result,
                                                              int64_t time) {
  auto type = cast<RankedTensorType>(result.getType());
  for (Value operand : call.getOperands()) {
    Value root = getRoot(operand);
    auto rootType = dyn_cast<RankedTensorType>(root.getType());
    if (!rootType || !mayOverwrite(root, time) ||
        countBytes(rootType) != countBytes(type))
      continue;
    SmallVector<unsigned> inputs;
    bool areWhole = true;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      unsigned number = cast<BlockArgument>(input).getArgNumber();
      if (getRoot(call.getOperand(number)) != root)
        continue;
      inputs.push_back(i);
      areWhole &= isWhole(call.getOperand(number));
    }
    if (!areWhole || !canWriteInPlace(kernel, inputs, result.getResultNumber()))
      continue;
    if (auto place = takeOver(root, result, time))
      return place;
  }
  return std::nullopt;
}

/// An operand that covers the result is written over, unless it is put into
/// itself.
std::optional<MemoryPlanner::Place>
MemoryPlanner::tryInPlace(PlacementOpInterface op, int64_t time) {
  unsigned covering = op.getPlacements().front().operand;
  Value operand = op->getOperand(covering);
  Value root = getRoot(operand);
  if (operand.getType() != op->getResult(0).getType() || !isWhole(operand) ||
      !mayOverwrite(root, time))
    return std::nullopt;
  for (OpOperand &other : op->getOpOperands())
    if (other.getOperandNumber() != covering && getRoot(other.get()) == root)
      return std::nullopt;
  return takeOver(root, op->getResult(0), time);
}

/// Whether the kernel finds what it reads in the rows that it expects, and what
/// it writes in rows lies in another value.
LogicalResult MemoryPlanner::verifyRows(func::CallOp call, KernelOp kernel) {
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    unsigned number = cast<BlockArgument>(input).getArgNumber();
    if (kernel.getRowsOfInput(i) != getRows(call.getOperand(number), symbols))
      return call.emitOpError("reads operand ")
             << number << " in other rows than those in which it is made";
  }
  for (OpResult result : call->getResults())
    if (getRows(result, symbols) && !parts.contains(result))
      return call.emitOpError("makes result ")
             << result.getResultNumber()
             << " in rows, but it is no part that lies in them";
  return success();
}

LogicalResult MemoryPlanner::planCall(func::CallOp call, int64_t time) {
  KernelOp kernel = getKernel(symbols.lookup<func::FuncOp>(call.getCallee()));
  if (!kernel)
    return call.emitOpError("does not call a kernel");
  if (failed(verifyRows(call, kernel)))
    return failure();
  for (OpResult result : call->getResults()) {
    std::optional<Place> place;
    if (!parts.contains(result))
      place = tryInPlace(call, kernel, result, time);
    if (place)
      places[result] = *place;
    else
      makePlace(getRoot(result), time);
    Value yielded = kernel.getYield().getOperand(result.getResultNumber());
    Stores &stores = storesOf[yielded];
    stores.areInPlace &= place.has_value();
    stores.areUnaligned |= getPlace(result).offset % kBufferAlignment != 0;
  }
  return success();
}

LogicalResult MemoryPlanner::planPlacement(PlacementOpInterface op,
                                           int64_t time) {
  Value result = op->getResult(0);
  // Copies are made of elements that follow each other.
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Value made = getViewed(operand);
    if (getRows(made, symbols) &&
        (parts.lookup(made).owner != result || !isReadOnce(op, made)))
      return op->emitOpError("reads operand ")
             << i << ", which is made in rows, but not in its place";
  }
  if (!parts.contains(result))
    if (std::optional<Place> place = tryInPlace(op, time)) {
      places[result] = *place;
      return success();
    }
  makePlace(getRoot(result), time);
  return success();
}

/// A routine reads dense tensors, and writes over none of them.
LogicalResult MemoryPlanner::planRoutine(Operation *op, int64_t time) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (getRows(getViewed(operand), symbols))
      return op->emitOpError("reads operand ") << i << ", which is in rows";
  for (Value result : getMadeValues(op))
    makePlace(getRoot(result), time);
  return success();
}

/// What is written in place has just been read: it is in the first cache, and
/// to store it past the caches saves nothing. A file's schedule stays. Stores
/// past the caches have to be aligned.
void MemoryPlanner::keepInCaches() {
  for (auto [value, stores] : storesOf) {
    auto stage = value.getDefiningOp<FusedOp>();
    ScheduleAttr schedule = stage ? stage.getScheduleAttr() : ScheduleAttr();
    if (!(stores.areInPlace || stores.areUnaligned) || !schedule ||
        getOverrideLine(stage.getLoc()))
      continue;
    auto streamed = llvm::to_vector(schedule.getStream());
    llvm::erase(streamed, cast<OpResult>(value).getResultNumber());
    stage.setScheduleAttr(schedule.withStream(streamed));
  }
}

void MemoryPlanner::writePlan(const ArenaPlan &plan) {
  MLIRContext *ctx = main.getContext();
  auto toSlots = [&](ValueRange values) {
    SmallVector<Attribute> slots;
    for (Value value : values) {
      Place place = getPlace(value);
      // The arena's slots are numbered by bytes.
      bool isInArena = place.kind == SlotKind::Arena;
      int64_t index =
          isInArena ? plan.offsets[place.index] + place.offset : place.index;
      RowsAttr rows = parts.lookup(getViewed(value)).rows;
      int64_t bytes = getElementBytes(value.getType());
      slots.push_back(SlotAttr::get(ctx, place.kind, index,
                                    isInArena ? 0 : place.offset,
                                    rows ? rows.getRow() * bytes : 0,
                                    rows ? rows.getPitch() * bytes : 0));
    }
    return ArrayAttr::get(ctx, slots);
  };
  Block &body = main.getBody().front();
  for (Operation &op : body)
    if (isStep(op))
      op.setAttr("metaop.slots", toSlots(getMadeValues(&op)));
  main->setAttr("metaop.results", toSlots(body.getTerminator()->getOperands()));
  main->setAttr("metaop.arena_bytes",
                Builder(ctx).getI64IntegerAttr(plan.bytes));
}

LogicalResult MemoryPlanner::plan() {
  if (failed(verifyIsStraight(main)))
    return failure();
  if (llvm::hasSingleElement(main.getBody()))
    parts = placeParts(main, symbols);
  if (failed(findLives()))
    return failure();
  for (BlockArgument argument : main.getArguments())
    places[argument] = {SlotKind::Argument, argument.getArgNumber()};
  int64_t time = 0;
  for (Operation &op : main.getBody().front()) {
    if (auto placement = dyn_cast<PlacementOpInterface>(op)) {
      if (failed(planPlacement(placement, time++)))
        return failure();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (failed(planCall(call, time++)))
        return failure();
    } else if (isa<RoutineOpInterface>(op)) {
      if (failed(planRoutine(&op, time++)))
        return failure();
    }
  }
  std::optional<ArenaPlan> plan = packArena(stored);
  if (!plan)
    return main.emitOpError("needs more memory than can be addressed");
  keepInCaches();
  writePlan(*plan);
  return success();
}

namespace {
struct PlanMemoryPass : metaop::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expects a function @main");
      return signalPassFailure();
    }
    MemoryPlanner planner(main, symbols, reuse);
    if (failed(planner.plan()))
      return signalPassFailure();
    if (report)
      emitRemark(main.getLoc())
          << "memory: an arena of "
          << main->getAttrOfType<IntegerAttr>("metaop.arena_bytes").getInt()
          << " bytes, of which at most " << planner.getLeastBytes()
          << " live at a time";
  }
};
} // namespace
