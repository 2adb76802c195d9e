//===- StepBuilder.cpp - Steps of programs --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory plan has written on each op of @main where its results are. What
// is left is to number the entries of the program's table, and to make a step
// of each call, routine, placement, check, branch and loop (the latter in
// ControlFlowSteps.cpp). Views share the slot of what they view.
//
//===----------------------------------------------------------------------===//

#include "StepBuilder.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Support/Counts.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "RoutineCalls.h"

#include <optional>

using namespace mlir;

namespace metaops {

/// Picoseconds of a byte of a call's operands and results: a guess, as nobody
/// has looked into the code.
static constexpr int64_t kWorkOfByte = 1000;

/// Returns the call of code of a user's. It is told of all extents, and of how
/// many leading dimensions there are, if it takes any.
static KernelCall makeExternCall(metaop::ExternOp op,
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
static Copy makeCopy(metaop::PlacementOpInterface op,
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
static std::optional<Slot> getWindow(metaop::PlacementOpInterface op,
                                     const metaop::Placement &placement,
                                     Slot result) {
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
static std::string getPlace(Location location,
                            llvm::ArrayRef<std::string> lines) {
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
/// Arguments, results and the arena, and how many results may be kept: their
/// entries have to be known before the first slot is made.
void StepBuilder::describeTable() {
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
void StepBuilder::addPointer(metaop::SlotAttr slot, Type type) {
  if (slot.getKind() != metaop::SlotKind::Pointer)
    return;
  if (static_cast<int64_t>(data.pointers.size()) <= slot.getIndex())
    data.pointers.resize(slot.getIndex() + 1);
  data.pointers[slot.getIndex()] = metaop::countBytes(type);
}

Slot StepBuilder::makeSlot(metaop::SlotAttr attr, int64_t bytes) const {
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

Step &StepBuilder::addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                           llvm::ArrayRef<Slot> outputs) {
  Step &step = steps->emplace_back();
  step.action = std::move(action);
  step.buffers.assign(inputs.begin(), inputs.end());
  step.buffers.insert(step.buffers.end(), outputs.begin(), outputs.end());
  step.numInputs = inputs.size();
  return step;
}

void StepBuilder::addKernel(llvm::ArrayRef<Slot> inputs,
                            llvm::ArrayRef<Slot> outputs) {
  addStep(*kernels[nextKernel++], inputs, outputs);
}

llvm::Error StepBuilder::addRoutine(metaop::RoutineOpInterface op,
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
void StepBuilder::addCopies(metaop::PlacementOpInterface op,
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

llvm::Error StepBuilder::addOp(Operation &op) {
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

llvm::Error StepBuilder::build() {
  describeTable();
  return buildBlock(main.getBody().front(), data.steps);
}

llvm::Error StepBuilder::buildBlock(Block &block, StepList &list) {
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

} // namespace metaops
