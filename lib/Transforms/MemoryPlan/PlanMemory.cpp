//===- PlanMemory.cpp - Memory of a program's values ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a tree of steps, whose values live from one step to another
// (LiveRanges.cpp). What is made in its window of another value is part of that
// value (PlaceParts.cpp). Steps are visited in order. Each result first tries
// to take over the memory of an operand whose live range ends at that step
// (InPlace.cpp). Failing that, a returned value gets a buffer of its own, and
// any other memory of the arena. What takes over memory prolongs it. When all
// live ranges are known, places in the arena are chosen (Arena.cpp).
//
// A program that fails a check has overwritten nothing: an argument's memory is
// taken over behind the last check only. What a loop without checks carries in
// one place may be there; no trip of another one overwrites an argument, as
// later ones check again.
//
// A branch's result has a place of its own, where both blocks make it; or it is
// chosen, and a pointer points to whichever value is yielded. What a loop
// carries is reached by two pointers: to this trip's value, and to where the
// body makes the next one. Two places serve in turn, the first of which is the
// result's, if the program returns it. Or it has one place (Carries.cpp).
//
// The rows of a scan are reached by pointers as well, which go along what has
// all of them: a block reads its rows where they are, and makes them where they
// are to be. Where kernels count on the alignment of their buffers, and rows do
// not have it, a block reads copies, and what it makes is copied.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "Arena.h"
#include "LiveRanges.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp main, SymbolTable &symbols, LiveRanges liveRanges,
                bool reuse, const RoutineScratch &scratchOf)
      : main(main), symbols(symbols), liveRanges(std::move(liveRanges)),
        reuse(reuse), scratchOf(scratchOf) {}

  LogicalResult plan();
  int64_t getLeastBytes() const { return getMostLiveBytes(stored); }

private:
  /// Place of a value; the index of one in the arena is that in `stored`.
  struct Place {
    SlotKind kind;
    int64_t index;
    /// In bytes, of a part.
    int64_t offset = 0;
  };
  /// Places by which a loop hands on one value; see ProgramData.h. Of what
  /// becomes a row, the pointers, and the place where it is to lie in the end,
  /// if any. Of what has one place, that.
  using CarryPlaces = SmallVector<Place, 4>;
  /// Places by which a scan reaches rows: its pointer to one of them, and where
  /// the block has that, or, if it makes them, where all of them are.
  struct RowPlaces {
    Place pointer, place;
  };

  LogicalResult planBlock(Block &block);
  LogicalResult planOp(Operation &op);
  LogicalResult verifyRows(func::CallOp call, KernelOp kernel);
  LogicalResult planCall(func::CallOp call, int64_t time);
  LogicalResult planPlacement(PlacementOpInterface op, int64_t time);
  LogicalResult planRoutine(RoutineOpInterface op, int64_t time);
  LogicalResult planBranch(scf::IfOp op, int64_t time);
  LogicalResult planLoop(Operation *op, int64_t time);
  void planRows(ScanOp op, int64_t time);
  CarryPlaces makeCarry(BlockArgument argument, Value initial, int64_t time);
  std::optional<Place> tryInPlace(OpResult result, int64_t time);
  std::optional<Place> tryInPlace(PlacementOpInterface op, int64_t time);
  std::optional<Place> tryInPlace(RoutineOpInterface op, OpResult result,
                                  int64_t time);
  std::optional<Place> takeOver(Value root, Value result, int64_t time);
  void makePlace(Value root, int64_t time);
  Place store(Value root, int64_t begin);
  Place store(int64_t bytes, int64_t begin, int64_t end);
  Place makePointer() { return {SlotKind::Pointer, numPointers++}; }
  Place getPlace(Value value) const;
  bool mayOverwrite(Value root, int64_t time);
  int64_t getEnd(Value value, int64_t time) const;
  SlotAttr toSlot(Value value, Place place, const ArenaPlan &plan) const;
  ArrayAttr toSlots(ValueRange values, const ArenaPlan &plan);
  ArrayAttr toSlots(Value value, ArrayRef<Place> places, const ArenaPlan &plan);
  ArrayAttr toCarries(Operation *loop, const ArenaPlan &plan);
  ArrayAttr toRows(ScanOp loop, const ArenaPlan &plan);
  void writePlan(const ArenaPlan &plan);

  func::FuncOp main;
  SymbolTable &symbols;
  LiveRanges liveRanges;
  bool reuse;
  /// Null where routines take no scratch memory.
  const RoutineScratch &scratchOf;
  SmallVector<ArenaValue> stored;
  int64_t numPointers = 0;
  /// Of roots.
  llvm::DenseMap<Value, Place> places;
  /// Of what loops carry, by the arguments of their first blocks.
  llvm::DenseMap<Value, CarryPlaces> carries;
  /// By the arguments of scans, and the results, that are rows.
  llvm::DenseMap<Value, RowPlaces> rows;
  /// Of routines that take scratch memory.
  llvm::DenseMap<Operation *, Place> scratch;
  /// Roots whose memory another value has taken over.
  llvm::DenseSet<Value> takenOver;
};

} // namespace

MemoryPlanner::Place MemoryPlanner::getPlace(Value value) const {
  Place place = places.find(liveRanges.getRoot(value))->second;
  place.offset += liveRanges.getOffset(value);
  return place;
}

/// Returns whether nothing reads the memory of `root` after the step at `time`.
bool MemoryPlanner::mayOverwrite(Value root, int64_t time) {
  if (!reuse || takenOver.contains(root) || liveRanges.getReturned(root) ||
      liveRanges.getLastRead(root) != time)
    return false;
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || argument.getOwner() != &main.getBody().front())
    return true;
  return liveRanges.mayBeWrittenOver(argument, time);
}

/// The last step that needs the memory of a value made at `time`.
int64_t MemoryPlanner::getEnd(Value value, int64_t time) const {
  return std::max(liveRanges.getLastRead(value), time);
}

/// Memory of the arena for a root that is written from `begin` on.
MemoryPlanner::Place MemoryPlanner::store(Value root, int64_t begin) {
  return store(countBytes(root.getType()), begin, getEnd(root, begin));
}

MemoryPlanner::Place MemoryPlanner::store(int64_t bytes, int64_t begin,
                                          int64_t end) {
  stored.push_back(reuse ? ArenaValue{bytes, begin, end}
                         : ArenaValue{bytes, 0, liveRanges.getNumTimes()});
  return {SlotKind::Arena, int64_t(stored.size()) - 1};
}

/// Gives a root memory of its own at the step that first writes to it.
void MemoryPlanner::makePlace(Value root, int64_t time) {
  if (places.contains(root))
    return;
  if (auto result = liveRanges.getReturned(root))
    places[root] = {SlotKind::Result, *result};
  else
    places[root] = store(root, time);
}

/// Gives `result` the memory of a root that dies at `time`.
std::optional<MemoryPlanner::Place>
MemoryPlanner::takeOver(Value root, Value result, int64_t time) {
  Place place = places.find(root)->second;
  // A pointer may point to something that lives on.
  if (place.kind == SlotKind::Pointer)
    return std::nullopt;
  // A returned value must not stay in the arena.
  if (liveRanges.getReturned(result) && place.kind == SlotKind::Arena)
    return std::nullopt;
  takenOver.insert(root);
  if (place.kind == SlotKind::Arena)
    stored[place.index].end = getEnd(result, time);
  return place;
}

std::optional<MemoryPlanner::Place> MemoryPlanner::tryInPlace(OpResult result,
                                                              int64_t time) {
  for (Value operand : result.getOwner()->getOperands()) {
    Value root = liveRanges.getRoot(operand);
    if (!isa<TensorType>(root.getType()) || !mayOverwrite(root, time) ||
        !liveRanges.mayComputeOver(result, root))
      continue;
    if (auto place = takeOver(root, result, time))
      return place;
  }
  return std::nullopt;
}

std::optional<MemoryPlanner::Place>
MemoryPlanner::tryInPlace(PlacementOpInterface op, int64_t time) {
  Value covered = liveRanges.getCovered(op);
  if (!covered || !mayOverwrite(covered, time))
    return std::nullopt;
  return takeOver(covered, op->getResult(0), time);
}

/// Has a routine write over an operand, if it may: one that is read once.
std::optional<MemoryPlanner::Place>
MemoryPlanner::tryInPlace(RoutineOpInterface op, OpResult result,
                          int64_t time) {
  std::optional<unsigned> number = op.getOverwritten(result.getResultNumber());
  if (!number)
    return std::nullopt;
  Value operand = op->getOperand(*number), root = liveRanges.getRoot(operand);
  bool isReadOnce = llvm::count_if(op->getOperands(), [&](Value each) {
                      return liveRanges.getRoot(each) == root;
                    }) == 1;
  if (!isReadOnce || !liveRanges.isWhole(operand) || !mayOverwrite(root, time))
    return std::nullopt;
  return takeOver(root, result, time);
}

/// Verifies that the kernel finds what it reads in the rows that it expects,
/// and what it writes in rows lies in another value.
LogicalResult MemoryPlanner::verifyRows(func::CallOp call, KernelOp kernel) {
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    unsigned number = cast<BlockArgument>(input).getArgNumber();
    if (kernel.getRowsOfInput(i) != getRows(call.getOperand(number), symbols))
      return call.emitOpError("reads operand ")
             << number << " in other rows than those in which it is made";
  }
  for (OpResult result : call->getResults())
    if (getRows(result, symbols) && !liveRanges.getPart(result))
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
    if (!liveRanges.getPart(result) && !places.contains(result))
      place = tryInPlace(result, time);
    if (place)
      places[result] = *place;
    else
      makePlace(liveRanges.getRoot(result), time);
  }
  return success();
}

LogicalResult MemoryPlanner::planPlacement(PlacementOpInterface op,
                                           int64_t time) {
  Value result = op->getResult(0);
  // Copies are made of elements that follow each other.
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Value made = getViewed(operand);
    const PartPlace *part = liveRanges.getPart(made);
    if (getRows(made, symbols) &&
        (!part || part->owner != result || !isReadOnce(op, made)))
      return op->emitOpError("reads operand ")
             << i << ", which is made in rows, but not in its place";
  }
  if (!liveRanges.getPart(result) && !places.contains(result))
    if (std::optional<Place> place = tryInPlace(op, time)) {
      places[result] = *place;
      return success();
    }
  makePlace(liveRanges.getRoot(result), time);
  return success();
}

/// Plans a routine, which reads dense tensors. Its scratch memory lives as long
/// as the step.
LogicalResult MemoryPlanner::planRoutine(RoutineOpInterface op, int64_t time) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (getRows(getViewed(operand), symbols))
      return op->emitOpError("reads operand ") << i << ", which is in rows";
  for (Value value : getMadeValues(op)) {
    auto result = cast<OpResult>(value);
    std::optional<Place> place;
    if (!liveRanges.getPart(result) && !places.contains(result))
      place = tryInPlace(op, result, time);
    if (place)
      places[result] = *place;
    else
      makePlace(liveRanges.getRoot(result), time);
  }
  if (!scratchOf || getMadeValues(op).empty())
    return success();
  FailureOr<int64_t> bytes = scratchOf(op);
  if (failed(bytes))
    return failure();
  if (*bytes > 0)
    scratch[op] = store(*bytes, time, time);
  return success();
}

/// Blocks make what they yield where the branch has its results. Pointers to
/// what they have anyway come behind those inside, to which they may point.
LogicalResult MemoryPlanner::planBranch(scf::IfOp op, int64_t time) {
  for (OpResult result : op->getResults()) {
    if (liveRanges.isChosen(result))
      continue;
    makePlace(result, time);
    for (Region &region : op->getRegions()) {
      OpOperand &yielded = region.front().getTerminator()->getOpOperand(
          result.getResultNumber());
      if (liveRanges.isMadeHere(yielded))
        places[liveRanges.getRoot(yielded.get())] = places.lookup(result);
    }
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(planBlock(block)))
        return failure();
  for (OpResult result : op->getResults())
    if (liveRanges.isChosen(result))
      places[result] = makePointer();
  return success();
}

/// A body makes what it yields where the next trip expects it.
LogicalResult MemoryPlanner::planLoop(Operation *op, int64_t time) {
  if (auto scan = dyn_cast<ScanOp>(op))
    planRows(scan, time);
  for (auto [argument, initial, yielded] :
       llvm::zip_equal(getCarried(op), getInitials(op), getNextValues(op))) {
    CarryPlaces carry = makeCarry(argument, initial, time);
    places[argument] = carry[0];
    if (liveRanges.isInOnePlace(argument))
      for (Value made : liveRanges.getMadeOver(argument)) {
        places[made] = carry[0];
        takenOver.insert(made);
      }
    else if (liveRanges.isMadeHere(yielded))
      places[liveRanges.getRoot(yielded.get())] = carry[1];
    carries[argument] = std::move(carry);
  }
  for (Region &region : op->getRegions())
    if (failed(planBlock(region.front())))
      return failure();
  return success();
}

MemoryPlanner::CarryPlaces
MemoryPlanner::makeCarry(BlockArgument argument, Value initial, int64_t time) {
  auto returned = liveRanges.getReturned(argument);
  if (liveRanges.isInOnePlace(argument)) {
    // A loop around this one may have it in one place, too.
    if (auto place = places.find(argument); place != places.end())
      return {place->second};
    Value root = liveRanges.getRoot(initial);
    if (liveRanges.isWhole(initial) && mayOverwrite(root, time))
      if (std::optional<Place> place = takeOver(root, argument, time))
        return {*place};
    return {returned ? Place{SlotKind::Result, *returned}
                     : store(argument, time)};
  }
  CarryPlaces carry = {makePointer()};
  if (Value stacked = liveRanges.getCarriedRows(argument)) {
    carry.push_back(rows.find(stacked)->second.pointer);
    if (returned)
      carry.push_back({SlotKind::Result, *returned});
    return carry;
  }
  carry.push_back(makePointer());
  carry.push_back(returned ? Place{SlotKind::Result, *returned}
                           : store(argument, time));
  carry.push_back(store(argument, time));
  return carry;
}

void MemoryPlanner::planRows(ScanOp op, int64_t time) {
  for (Value argument : op.getRowArguments()) {
    Place pointer = makePointer();
    places[argument] =
        liveRanges.mayBeRow(argument) ? pointer : store(argument, time);
    rows[argument] = {pointer, places[argument]};
  }
  for (auto [result, yielded] : llvm::zip_equal(
           op.getStackedRows(),
           op.getYield()->getOpOperands().drop_front(op.getNumCarries()))) {
    makePlace(result, time);
    Place pointer = makePointer();
    rows[result] = {pointer, places.lookup(result)};
    if (liveRanges.isMadeInRow(yielded))
      places[liveRanges.getRoot(yielded.get())] = pointer;
  }
}

SlotAttr MemoryPlanner::toSlot(Value value, Place place,
                               const ArenaPlan &plan) const {
  // The arena's slots are numbered by bytes.
  bool isInArena = place.kind == SlotKind::Arena;
  int64_t index =
      isInArena ? plan.offsets[place.index] + place.offset : place.index;
  const PartPlace *part = liveRanges.getPart(getViewed(value));
  RowsAttr rows = part ? part->rows : RowsAttr();
  int64_t bytes = getElementBytes(value.getType());
  return SlotAttr::get(
      value.getContext(), place.kind, index, isInArena ? 0 : place.offset,
      rows ? rows.getRow() * bytes : 0, rows ? rows.getPitch() * bytes : 0);
}

/// The slots of several places of one value.
ArrayAttr MemoryPlanner::toSlots(Value value, ArrayRef<Place> places,
                                 const ArenaPlan &plan) {
  return ArrayAttr::get(
      main.getContext(),
      llvm::map_to_vector(places, [&](const Place &place) -> Attribute {
        return toSlot(value, place, plan);
      }));
}

ArrayAttr MemoryPlanner::toSlots(ValueRange values, const ArenaPlan &plan) {
  SmallVector<Attribute> slots;
  for (Value value : values)
    slots.push_back(toSlot(value, getPlace(value), plan));
  return ArrayAttr::get(main.getContext(), slots);
}

ArrayAttr MemoryPlanner::toCarries(Operation *loop, const ArenaPlan &plan) {
  SmallVector<Attribute> handed;
  for (Value argument : getCarried(loop))
    handed.push_back(toSlots(argument, carries.find(argument)->second, plan));
  return ArrayAttr::get(main.getContext(), handed);
}

ArrayAttr MemoryPlanner::toRows(ScanOp loop, const ArenaPlan &plan) {
  SmallVector<Attribute> reached;
  auto add = [&](Value value) {
    const RowPlaces &places = rows.find(value)->second;
    reached.push_back(toSlots(value, {places.pointer, places.place}, plan));
  };
  llvm::for_each(loop.getRowArguments(), add);
  llvm::for_each(loop.getStackedRows(), add);
  return ArrayAttr::get(main.getContext(), reached);
}

void MemoryPlanner::writePlan(const ArenaPlan &plan) {
  MLIRContext *context = main.getContext();
  Builder builder(context);
  MetaOpDialect::SlotsAttrHelper slotsOf(context);
  MetaOpDialect::CarriesAttrHelper carriesOf(context);
  MetaOpDialect::RowsAttrHelper rowsOf(context);
  MetaOpDialect::ScratchAttrHelper scratchAttrOf(context);
  main.walk([&](Operation *op) {
    if (isStep(op))
      slotsOf.setAttr(op, toSlots(getMadeValues(op), plan));
    if (auto place = scratch.find(op); place != scratch.end())
      scratchAttrOf.setAttr(op, SlotAttr::get(context, SlotKind::Arena,
                                              plan.offsets[place->second.index],
                                              0, 0, 0));
    if (isa<scf::IfOp>(op))
      slotsOf.setAttr(op, toSlots(op->getResults(), plan));
    if (isLoop(op))
      carriesOf.setAttr(op, toCarries(op, plan));
    if (auto scan = dyn_cast<ScanOp>(op))
      rowsOf.setAttr(op, toRows(scan, plan));
  });
  // A value that a loop carries to a result lies there in the end.
  SmallVector<Attribute> results;
  for (Value value : main.getBody().front().getTerminator()->getOperands()) {
    Place place = getPlace(value);
    if (place.kind == SlotKind::Pointer)
      place = {SlotKind::Result,
               *liveRanges.getReturned(liveRanges.getRoot(value))};
    results.push_back(toSlot(value, place, plan));
  }
  MetaOpDialect::ResultsAttrHelper(context).setAttr(
      main, builder.getArrayAttr(results));
  MetaOpDialect::ArenaBytesAttrHelper(context).setAttr(
      main, builder.getI64IntegerAttr(plan.bytes));
}

LogicalResult MemoryPlanner::planOp(Operation &op) {
  int64_t time = liveRanges.getTime(&op);
  if (auto placement = dyn_cast<PlacementOpInterface>(op))
    return planPlacement(placement, time);
  if (auto call = dyn_cast<func::CallOp>(op))
    return planCall(call, time);
  if (auto routine = dyn_cast<RoutineOpInterface>(op))
    return planRoutine(routine, time);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return planBranch(branch, time);
  if (isLoop(&op))
    return planLoop(&op, time);
  return success();
}

LogicalResult MemoryPlanner::planBlock(Block &block) {
  for (Operation &op : block)
    if (failed(planOp(op)))
      return failure();
  return success();
}

LogicalResult MemoryPlanner::plan() {
  for (BlockArgument argument : main.getArguments())
    places[argument] = {SlotKind::Argument, argument.getArgNumber()};
  if (failed(planBlock(main.getBody().front())))
    return failure();
  std::optional<ArenaPlan> plan = packArena(stored);
  if (!plan)
    return main.emitOpError("needs more memory than can be addressed");
  writePlan(*plan);
  return success();
}

namespace {
struct PlanMemoryPass : metaop::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;
  PlanMemoryPass(const PlanMemoryPassOptions &options, RoutineScratch scratchOf)
      : PlanMemoryPassBase(options), scratchOf(std::move(scratchOf)) {}

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto main = symbols.lookup<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expects a function @main");
      return signalPassFailure();
    }
    FailureOr<LiveRanges> liveRanges =
        LiveRanges::find(main, symbols, partAlignment);
    if (failed(liveRanges))
      return signalPassFailure();
    MemoryPlanner planner(main, symbols, std::move(*liveRanges), reuse,
                          scratchOf);
    if (failed(planner.plan()))
      return signalPassFailure();
    if (report)
      emitRemark(main.getLoc())
          << "memory: an arena of "
          << MetaOpDialect::ArenaBytesAttrHelper(&getContext())
                 .getAttr(main)
                 .getInt()
          << " bytes, of which at most " << planner.getLeastBytes()
          << " live at a time";
  }

private:
  RoutineScratch scratchOf;
};
} // namespace

std::unique_ptr<Pass>
metaop::createPlanMemoryPass(const PlanMemoryPassOptions &options,
                             RoutineScratch scratchOf) {
  return std::make_unique<PlanMemoryPass>(options, std::move(scratchOf));
}
