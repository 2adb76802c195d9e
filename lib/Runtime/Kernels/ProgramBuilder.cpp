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
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
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

/// What a routine's op says, as numbers.
Routine makeRoutine(metaop::RoutineOpInterface op) {
  auto sort = cast<metaop::SortOp>(*op);
  RankedTensorType type = sort.getSource().getType();
  Routine routine;
  routine.kind = Routine::Kind::Sort;
  routine.dtype = *fromElementType(type.getElementType());
  ArrayRef<int64_t> shape = type.getShape();
  routine.outer = metaops::countElements(shape.take_front(op.getDim()));
  routine.extent = shape[op.getDim()];
  routine.inner = metaops::countElements(shape.drop_front(op.getDim() + 1));
  routine.hasBegin = sort.getBegin() != nullptr;
  routine.count = sort.getValues().getType().getDimSize(op.getDim());
  routine.isReverse = sort.getDescending();
  routine.givesValues = !sort.getValues().use_empty();
  routine.givesIndices = !sort.getIndices().use_empty();
  return routine;
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

/// Where a part is that lies in its window already.
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

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp main,
                 std::vector<std::shared_ptr<const KernelCall>> kernels,
                 llvm::ArrayRef<std::string> lines)
      : main(main), kernels(std::move(kernels)), lines(lines) {}

  llvm::Error build();

  ProgramData data;
  /// Of each step.
  std::vector<Operation *> ops;

private:
  void describeTable();
  void addPointer(metaop::SlotAttr slot, Type type);
  Slot makeSlot(metaop::SlotAttr attr, Type type) const;
  Slot readCondition(Value condition) const;
  llvm::Error buildBlock(Block &block, StepList &list);
  llvm::Error addOp(Operation &op);
  llvm::Error addIf(scf::IfOp op);
  llvm::Error addWhile(scf::WhileOp op);
  void addYield(Operation *yield, Slot from, Slot to);
  void addKernel(llvm::ArrayRef<Slot> inputs, llvm::ArrayRef<Slot> outputs);
  void addRoutine(metaop::RoutineOpInterface op, llvm::ArrayRef<Slot> inputs,
                  llvm::ArrayRef<Slot> outputs);
  void addCopies(metaop::PlacementOpInterface op, llvm::ArrayRef<Slot> inputs,
                 Slot result);
  Step &addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                llvm::ArrayRef<Slot> outputs);

  func::FuncOp main;
  /// Of the calls, in their order.
  std::vector<std::shared_ptr<const KernelCall>> kernels;
  unsigned nextKernel = 0;
  llvm::ArrayRef<std::string> lines;
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
  data.arenaBytes =
      main->getAttrOfType<IntegerAttr>("metaop.arena_bytes").getInt();
  data.results.resize(main.getNumResults());
  main.walk([&](Operation *op) {
    if (isa<scf::IfOp>(op))
      for (auto [attr, type] :
           llvm::zip_equal(op->getAttrOfType<ArrayAttr>("metaop.slots"),
                           op->getResultTypes()))
        addPointer(cast<metaop::SlotAttr>(attr), type);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (auto [attrs, init] : llvm::zip_equal(
               op->getAttrOfType<ArrayAttr>("metaop.carries"), loop.getInits()))
        for (Attribute attr : cast<ArrayAttr>(attrs))
          addPointer(cast<metaop::SlotAttr>(attr), init.getType());
  });
  for (auto [attr, type, place] :
       llvm::zip_equal(main->getAttrOfType<ArrayAttr>("metaop.results"),
                       main.getResultTypes(), data.results)) {
    Slot slot = makeSlot(cast<metaop::SlotAttr>(attr), type);
    place = {slot.entry, slot.bytes};
  }
  for (Operation &op : main.getBody().front())
    if (op.hasAttr(metaop::kMayKeepAttr)) {
      auto slot = cast<metaop::SlotAttr>(
          op.getAttrOfType<ArrayAttr>("metaop.slots").getValue().back());
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

Slot ProgramBuilder::makeSlot(metaop::SlotAttr attr, Type type) const {
  Slot slot;
  slot.offset = attr.getOffset();
  slot.bytes = metaop::countBytes(type);
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

/// Where the boolean is that decides.
Slot ProgramBuilder::readCondition(Value condition) const {
  return slots.find(condition.getDefiningOp<tensor::ExtractOp>().getTensor())
      ->second;
}

void ProgramBuilder::addKernel(llvm::ArrayRef<Slot> inputs,
                               llvm::ArrayRef<Slot> outputs) {
  addStep(*kernels[nextKernel++], inputs, outputs);
}

void ProgramBuilder::addRoutine(metaop::RoutineOpInterface op,
                                llvm::ArrayRef<Slot> inputs,
                                llvm::ArrayRef<Slot> outputs) {
  if (!outputs.empty()) // somebody reads them
    addStep(makeRoutine(op), inputs, outputs);
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
  for (auto [result, attr] :
       llvm::zip_equal(made, op.getAttrOfType<ArrayAttr>("metaop.slots")))
    outputs.push_back(makeSlot(cast<metaop::SlotAttr>(attr), result.getType()));
  if (op.hasAttr(metaop::kMayKeepAttr))
    outputs.back() = {data.getPacked(nextPacked++), 0, outputs.back().bytes};
  for (auto [result, slot] : llvm::zip_equal(made, outputs))
    slots[result] = slot;
  if (auto placement = dyn_cast<metaop::PlacementOpInterface>(op))
    addCopies(placement, inputs, outputs.front());
  else if (auto routine = dyn_cast<metaop::RoutineOpInterface>(op))
    addRoutine(routine, inputs, outputs);
  else if (auto check = dyn_cast<metaop::CheckRangeOp>(op))
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
  for (auto [result, attr] : llvm::zip_equal(
           op.getResults(), op->getAttrOfType<ArrayAttr>("metaop.slots")))
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

llvm::Error ProgramBuilder::addWhile(scf::WhileOp op) {
  ops.push_back(op);
  While loop;
  for (auto [argument, init, attrs] :
       llvm::zip_equal(op.getBeforeArguments(), op.getInits(),
                       op->getAttrOfType<ArrayAttr>("metaop.carries"))) {
    auto places = cast<ArrayAttr>(attrs);
    auto slotOf = [&, type = argument.getType()](unsigned number) {
      return makeSlot(cast<metaop::SlotAttr>(places[number]), type);
    };
    Carry &carry = loop.carries.emplace_back();
    carry.current = slotOf(0).entry;
    carry.next = slotOf(1).entry;
    carried.insert(carry.next);
    carry.initial = slots.find(init)->second;
    carry.even = slotOf(2);
    carry.odd = slotOf(3);
    carry.settles = data.isResult(carry.even.entry);
    slots[argument] = slotOf(0);
  }
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
  for (auto [operand, carry] :
       llvm::zip_equal(yield.getOperands(), loop.carries)) {
    Slot next = {carry.next, 0, carry.even.bytes};
    addYield(yield, slots.find(operand)->second, next);
  }
  steps = outer;
  addStep(std::move(loop), readCondition(end.getCondition()), {});
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
  ProgramBuilder builder(main, std::move(*calls), lines);
  if (llvm::Error error = builder.build())
    return std::move(error);
  auto program =
      CompiledProgram::create(std::move(builder.data), std::move(info));
  if (!program)
    return program.takeError();
  return BuiltProgram{std::move(*program), std::move(builder.ops)};
}

} // namespace metaops
