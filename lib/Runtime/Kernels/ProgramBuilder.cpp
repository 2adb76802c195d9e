//===- ProgramBuilder.cpp - Programs from modules -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory plan has written on each op of @main where its results are. What
// is left is to number the entries of the program's table, and to make a step
// of each call, routine, placement, check, branch and loop. Views share the
// slot of what they view, and the values of a loop's body and its results those
// of what its condition gives. What a block yields is copied, or pointed to,
// unless it was made in its place.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Support/Counts.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "RoutineCalls.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>
#include <utility>

using namespace mlir;

namespace metaops {
namespace {

/// Programs take and make buffers of sizes that are known.
llvm::Error verifyTypes(func::FuncOp main) {
  auto verify = [](TypeRange types, StringRef what) -> llvm::Error {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && tensor.hasStaticShape())
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return llvm::createStringError(
          "programs are compiled for tensors of static shape, but " + what +
          " " + llvm::Twine(i) + " is " + text);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = verify(main.getArgumentTypes(), "argument"))
    return error;
  return verify(main.getResultTypes(), "result");
}

/// Picoseconds of a byte of a call's operands and results: a guess, as nobody
/// has looked into the code.
constexpr int64_t kWorkOfByte = 1000;

/// Returns the call of code of a user's. It is told of all extents, and of how
/// many leading dimensions there are, if it takes any.
KernelCall makeExternCall(metaop::ExternOp op,
                          std::shared_ptr<const Kernel> code) {
  KernelCall call;
  call.kernel = std::move(code);
  int64_t bytes = 0;
  for (TypeRange types :
       {TypeRange(op.getInputs()), TypeRange(op.getOutputs())})
    for (Type type : types) {
      llvm::append_range(call.scalars, cast<RankedTensorType>(type).getShape());
      bytes = metaops::addCounts(bytes, metaop::countBytes(type));
    }
  if (std::optional<uint64_t> leading = op.getLeading())
    call.scalars.push_back(*leading);
  auto first = cast<RankedTensorType>(op.getOutputs().front().getType());
  call.parallelRange =
      metaops::getNumElements(first.getShape().take_front(op.getParallel()));
  call.workPerStep = metaops::multiplyCounts(bytes, kWorkOfByte) /
                     std::max<int64_t>(call.parallelRange, 1);
  return call;
}

/// The window of a placement as what a copy does; the numbers that move it are
/// inputs of the step from `firstNumber` on.
Copy makeCopy(metaop::PlacementOpInterface op,
              const metaop::Placement &placement, int64_t source,
              int64_t firstNumber) {
  auto part =
      cast<RankedTensorType>(op->getOperand(placement.operand).getType());
  auto whole = cast<RankedTensorType>(op->getResult(0).getType());
  Copy copy{source, metaop::getElementBytes(part), {}};
  for (int64_t dim = 0; dim < part.getRank(); ++dim)
    copy.dims.push_back({part.getDimSize(dim), whole.getDimSize(dim),
                         placement.starts[dim],
                         placement.symbols.empty() ? -1 : firstNumber + dim});
  return copy;
}

/// Returns where a part is that lies in its window already.
std::optional<Slot> getWindow(metaop::PlacementOpInterface op,
                              const metaop::Placement &placement, Slot result) {
  if (!placement.symbols.empty())
    return std::nullopt;
  auto whole = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t position = 0;
  for (auto [start, room] : llvm::zip_equal(placement.starts, whole.getShape()))
    position = position * room + start;
  result.offset += position * metaop::getElementBytes(whole);
  return result;
}

/// The user's line that a check is of; empty where it is not known.
std::string getPlace(Location location, llvm::ArrayRef<std::string> lines) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  if (std::optional<unsigned> node = getNode(file))
    return *node < lines.size() ? lines[*node] : "";
  std::string place = file.getFilename().str();
  for (unsigned number : {file.getLine(), file.getColumn()})
    if (number > 0)
      place += ":" + std::to_string(number);
  return place;
}

/// The notes of memory planning on a program.
using Notes = metaop::MetaOpDialect;

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp main,
                 std::vector<std::shared_ptr<const KernelCall>> kernels,
                 const KernelCache &cache, llvm::ArrayRef<std::string> lines)
      : main(main), kernels(std::move(kernels)), cache(cache), lines(lines),
        slotsOf(main.getContext()), carriesOf(main.getContext()),
        rowsOf(main.getContext()), scratchOf(main.getContext()),
        firstTripOf(main.getContext()), blocksOf(main.getContext()),
        mayKeepOf(main.getContext()) {}

  llvm::Error build();

  ProgramData data;
  /// Of each step.
  std::vector<Operation *> ops;

private:
  void describeTable();
  void addPointer(metaop::SlotAttr slot, Type type);
  Slot makeSlot(metaop::SlotAttr attr, Type type) const {
    return makeSlot(attr, metaop::countBytes(type));
  }
  Slot makeSlot(metaop::SlotAttr attr, int64_t bytes) const;
  Slot readCondition(Value condition) const;
  llvm::Error buildBlock(Block &block, StepList &list);
  llvm::Error addOp(Operation &op);
  llvm::Error addIf(scf::IfOp op);
  llvm::Error addWhile(scf::WhileOp op);
  llvm::Error addFor(metaop::ScanOp op);
  std::vector<Carry> takeCarries(Operation *op, ValueRange arguments,
                                 ValueRange inits);
  std::vector<LoopRows> takeRows(metaop::ScanOp op);
  void readRows(metaop::ScanOp op, llvm::ArrayRef<LoopRows> rows);
  void yieldCarries(Operation *yield, ValueRange next,
                    llvm::ArrayRef<Carry> carries);
  void addYield(Operation *yield, Slot from, Slot to);
  void addKernel(llvm::ArrayRef<Slot> inputs, llvm::ArrayRef<Slot> outputs);
  llvm::Error addRoutine(metaop::RoutineOpInterface op,
                         llvm::ArrayRef<Slot> inputs,
                         llvm::ArrayRef<Slot> outputs);
  void addCopies(metaop::PlacementOpInterface op, llvm::ArrayRef<Slot> inputs,
                 Slot result);
  Step &addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                llvm::ArrayRef<Slot> outputs);

  func::FuncOp main;
  /// Of the calls, in their order.
  std::vector<std::shared_ptr<const KernelCall>> kernels;
  unsigned nextKernel = 0;
  /// Has the code of users.
  const KernelCache &cache;
  llvm::ArrayRef<std::string> lines;
  Notes::SlotsAttrHelper slotsOf;
  Notes::CarriesAttrHelper carriesOf;
  Notes::RowsAttrHelper rowsOf;
  Notes::ScratchAttrHelper scratchOf;
  Notes::FirstTripAttrHelper firstTripOf;
  Notes::BlocksAttrHelper blocksOf;
  Notes::MayKeepAttrHelper mayKeepOf;
  /// Where steps are added.
  StepList *steps = &data.steps;
  int64_t nextPacked = 0;
  llvm::DenseMap<Value, Slot> slots;
  /// Pointers to where loops expect their next values, which are written. Other
  /// pointers are set to what is there.
  llvm::DenseSet<int64_t> carried;
};

/// Arguments, results and the arena, and how many results may be kept: their
/// entries have to be known before the first slot is made.
void ProgramBuilder::describeTable() {
  for (BlockArgument argument : main.getArguments()) {
    int64_t bytes = metaop::countBytes(argument.getType());
    slots[argument] = {argument.getArgNumber(), 0, bytes};
    data.arguments.push_back(bytes);
  }
  MLIRContext *context = main.getContext();
  data.arenaBytes = Notes::ArenaBytesAttrHelper(context).getAttr(main).getInt();
  data.results.resize(main.getNumResults());
  main.walk([&](Operation *op) {
    if (isa<scf::IfOp>(op))
      for (auto [attr, type] :
           llvm::zip_equal(slotsOf.getAttr(op), op->getResultTypes()))
        addPointer(cast<metaop::SlotAttr>(attr), type);
    auto addPointers = [&](Attribute attrs, Type type) {
      for (Attribute attr : cast<ArrayAttr>(attrs))
        addPointer(cast<metaop::SlotAttr>(attr), type);
    };
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (auto [attrs, init] :
           llvm::zip_equal(carriesOf.getAttr(op), loop.getInits()))
        addPointers(attrs, init.getType());
    if (auto loop = dyn_cast<metaop::ScanOp>(op)) {
      for (auto [attrs, init] :
           llvm::zip_equal(carriesOf.getAttr(op), loop.getInits()))
        addPointers(attrs, init.getType());
      // The place of all rows is a pointer of a loop around this one, if any.
      SmallVector<Type> types(TypeRange(loop.getRowArguments()));
      llvm::append_range(types, loop.getYieldedRows().getTypes());
      for (auto [attrs, type] : llvm::zip_equal(rowsOf.getAttr(op), types))
        addPointer(cast<metaop::SlotAttr>(cast<ArrayAttr>(attrs)[0]), type);
    }
  });
  for (auto [attr, type, place] :
       llvm::zip_equal(Notes::ResultsAttrHelper(context).getAttr(main),
                       main.getResultTypes(), data.results)) {
    Slot slot = makeSlot(cast<metaop::SlotAttr>(attr), type);
    place = {slot.entry, slot.bytes};
  }
  for (Operation &op : main.getBody().front())
    if (mayKeepOf.isAttrPresent(&op)) {
      auto slot =
          cast<metaop::SlotAttr>(slotsOf.getAttr(&op).getValue().back());
      data.packed.push_back(
          {slot.getIndex() + slot.getOffset(),
           metaop::countBytes(metaop::getMadeValues(&op).back().getType())});
    }
}

/// Notes how much a pointer points to. Other slots are nothing of the table's.
void ProgramBuilder::addPointer(metaop::SlotAttr slot, Type type) {
  if (slot.getKind() != metaop::SlotKind::Pointer)
    return;
  if (static_cast<int64_t>(data.pointers.size()) <= slot.getIndex())
    data.pointers.resize(slot.getIndex() + 1);
  data.pointers[slot.getIndex()] = metaop::countBytes(type);
}

Slot ProgramBuilder::makeSlot(metaop::SlotAttr attr, int64_t bytes) const {
  Slot slot;
  slot.offset = attr.getOffset();
  slot.bytes = bytes;
  slot.row = attr.getRow();
  slot.pitch = attr.getPitch();
  if (slot.pitch != 0)
    slot.bytes = (slot.bytes / slot.row - 1) * slot.pitch + slot.row;
  switch (attr.getKind()) {
  case metaop::SlotKind::Argument:
    slot.entry = attr.getIndex();
    return slot;
  case metaop::SlotKind::Result:
    slot.entry = data.getResult(attr.getIndex());
    return slot;
  case metaop::SlotKind::Arena:
    slot.entry = data.getArena();
    slot.offset += attr.getIndex();
    return slot;
  case metaop::SlotKind::Pointer:
    slot.entry = data.getPointer(attr.getIndex());
    return slot;
  }
  llvm_unreachable("all kinds are handled");
}

Step &ProgramBuilder::addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                              llvm::ArrayRef<Slot> outputs) {
  Step &step = steps->emplace_back();
  step.action = std::move(action);
  step.buffers.assign(inputs.begin(), inputs.end());
  step.buffers.insert(step.buffers.end(), outputs.begin(), outputs.end());
  step.numInputs = inputs.size();
  return step;
}

/// Returns where the boolean is that decides.
Slot ProgramBuilder::readCondition(Value condition) const {
  return slots.find(condition.getDefiningOp<tensor::ExtractOp>().getTensor())
      ->second;
}

void ProgramBuilder::addKernel(llvm::ArrayRef<Slot> inputs,
                               llvm::ArrayRef<Slot> outputs) {
  addStep(*kernels[nextKernel++], inputs, outputs);
}

llvm::Error ProgramBuilder::addRoutine(metaop::RoutineOpInterface op,
                                       llvm::ArrayRef<Slot> inputs,
                                       llvm::ArrayRef<Slot> outputs) {
  if (outputs.empty()) // nobody reads them
    return llvm::Error::success();
  auto call = makeRoutineCall(op, cache.getBackend().getRoutines());
  if (!call)
    return call.takeError();
  llvm::SmallVector<Slot> written(outputs);
  if (metaop::SlotAttr attr = scratchOf.getAttr(op)) {
    Slot scratch = makeSlot(attr, /*bytes=*/call->getEstimate().scratchBytes);
    written.push_back(scratch);
  }
  addStep(std::move(*call), inputs, written);
  return llvm::Error::success();
}

/// Copies what is not in its window. What is put on top of something is copied
/// after it.
void ProgramBuilder::addCopies(metaop::PlacementOpInterface op,
                               llvm::ArrayRef<Slot> inputs, Slot result) {
  Step *step = nullptr;
  for (const metaop::Placement &placement : op.getPlacements()) {
    Slot source = inputs[placement.operand];
    std::optional<Slot> window = getWindow(op, placement, result);
    if (source.bytes == 0 || (window && window->entry == source.entry &&
                              window->offset == source.offset))
      continue;
    if (!step || !placement.symbols.empty())
      step = &addStep(Copies(), {}, result);
    // The result stands last.
    auto add = [&](Slot slot) {
      step->buffers.insert(std::prev(step->buffers.end()), slot);
      return step->numInputs++;
    };
    int64_t number = add(source);
    std::get<Copies>(step->action)
        .push_back(makeCopy(op, placement, number, number + 1));
    for (Value symbol : placement.symbols) {
      auto operand = llvm::find(op->getOperands(), symbol);
      add(inputs[std::distance(op->operand_begin(), operand)]);
    }
  }
}

llvm::Error ProgramBuilder::addOp(Operation &op) {
  size_t before = steps->size();
  auto call = dyn_cast<metaop::ExternOp>(op);
  std::shared_ptr<const Kernel> code;
  if (call && !(code = cache.findExtern(call.getFunction())))
    return llvm::createStringError(
        "'" + call.getFunction() +
        "' is called, which is no code that this process has been given");
  llvm::SmallVector<Slot> inputs, outputs;
  for (Value operand : op.getOperands()) {
    auto slot = slots.find(operand);
    if (slot == slots.end())
      return llvm::createStringError(
          "a kernel takes a number as argument; programs are compiled for "
          "tensors of static shape");
    inputs.push_back(slot->second);
  }
  llvm::SmallVector<Value> made = metaop::getMadeValues(&op);
  for (auto [result, attr] : llvm::zip_equal(made, slotsOf.getAttr(&op)))
    outputs.push_back(makeSlot(cast<metaop::SlotAttr>(attr), result.getType()));
  if (mayKeepOf.isAttrPresent(&op))
    outputs.back() = {data.getPacked(nextPacked++), 0, outputs.back().bytes};
  for (auto [result, slot] : llvm::zip_equal(made, outputs))
    slots[result] = slot;
  if (auto placement = dyn_cast<metaop::PlacementOpInterface>(op))
    addCopies(placement, inputs, outputs.front());
  else if (call)
    addStep(makeExternCall(call, std::move(code)), inputs, outputs);
  else if (auto routine = dyn_cast<metaop::RoutineOpInterface>(op)) {
    if (llvm::Error error = addRoutine(routine, inputs, outputs))
      return error;
  } else if (auto check = dyn_cast<metaop::CheckRangeOp>(op))
    addStep(Check{check.getRange(), getPlace(op.getLoc(), lines)}, inputs, {});
  else
    addKernel(inputs, outputs);
  // Copies may be several steps, or none.
  ops.resize(ops.size() + steps->size() - before, &op);
  return llvm::Error::success();
}

/// Has what a block yields where it is expected.
void ProgramBuilder::addYield(Operation *yield, Slot from, Slot to) {
  if (from.entry == to.entry && from.offset == to.offset)
    return;
  ops.push_back(yield);
  Copy copy{0, 1, {{from.bytes, from.bytes, 0, -1}}};
  addStep(Copies{std::move(copy)}, from, to);
}

llvm::Error ProgramBuilder::addIf(scf::IfOp op) {
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
std::vector<Carry> ProgramBuilder::takeCarries(Operation *op,
                                               ValueRange arguments,
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
void ProgramBuilder::yieldCarries(Operation *yield, ValueRange next,
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

llvm::Error ProgramBuilder::addWhile(scf::WhileOp op) {
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
std::vector<LoopRows> ProgramBuilder::takeRows(metaop::ScanOp op) {
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
void ProgramBuilder::readRows(metaop::ScanOp op,
                              llvm::ArrayRef<LoopRows> rows) {
  for (auto [argument, each] : llvm::zip(op.getRowArguments(), rows)) {
    Slot place = slots.find(argument)->second;
    addYield(op, {each.entry, 0, place.bytes}, place);
  }
}

llvm::Error ProgramBuilder::addFor(metaop::ScanOp op) {
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

llvm::Error ProgramBuilder::build() {
  describeTable();
  return buildBlock(main.getBody().front(), data.steps);
}

llvm::Error ProgramBuilder::buildBlock(Block &block, StepList &list) {
  StepList *outer = std::exchange(steps, &list);
  for (Operation &op : block) {
    if (isa<metaop::ViewOpInterface>(op)) {
      // By value: the insertion may move the map's memory.
      Slot viewed = slots.find(op.getOperand(0))->second;
      slots[op.getResult(0)] = viewed;
    }
    if (isa<func::CallOp, metaop::PlacementOpInterface,
            metaop::RoutineOpInterface, metaop::CheckRangeOp>(op))
      if (llvm::Error error = addOp(op))
        return error;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      if (llvm::Error error = addIf(branch))
        return error;
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      if (llvm::Error error = addWhile(loop))
        return error;
    if (auto loop = dyn_cast<metaop::ScanOp>(op))
      if (llvm::Error error = addFor(loop))
        return error;
  }
  steps = outer;
  return llvm::Error::success();
}

} // namespace

std::optional<unsigned> getNode(FileLineColLoc location) {
  return location.getFilename() == "node" ? std::optional(location.getLine())
                                          : std::nullopt;
}

llvm::Expected<BuiltProgram> buildProgram(ModuleOp module, KernelCache &kernels,
                                          StopCheck shouldStop,
                                          llvm::ArrayRef<std::string> lines) {
  SymbolTable symbols(module);
  auto main = symbols.lookup<func::FuncOp>("main");
  if (llvm::Error error = verifyTypes(main))
    return std::move(error);
  llvm::SmallVector<func::FuncOp> callees;
  main.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    callees.push_back(symbols.lookup<func::FuncOp>(call.getCallee()));
  });
  ProgramInfo info;
  auto calls = kernels.getAll(callees, info.compiledKernels, shouldStop);
  if (!calls)
    return calls.takeError();
  ProgramBuilder builder(main, std::move(*calls), kernels, lines);
  if (llvm::Error error = builder.build())
    return std::move(error);
  auto program =
      CompiledProgram::create(std::move(builder.data), std::move(info));
  if (!program)
    return program.takeError();
  return BuiltProgram{std::move(*program), std::move(builder.ops)};
}

} // namespace metaops
