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
// of each call, routine and placement. Views share the slot of what they view.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "MetaOps/Dialect/MetaOp/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

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
  routine.begin = sort.getBegin();
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

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp main,
                 std::vector<std::shared_ptr<const KernelCall>> kernels)
      : main(main), kernels(std::move(kernels)) {}

  llvm::Error build();

  ProgramData data;
  /// Of each step.
  std::vector<Operation *> ops;

private:
  void describeTable();
  Slot makeSlot(metaop::SlotAttr attr, Type type) const;
  llvm::Error addOp(Operation &op);
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
  int64_t nextPacked = 0;
  llvm::DenseMap<Value, Slot> slots;
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
  }
  llvm_unreachable("all kinds are handled");
}

Step &ProgramBuilder::addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                              llvm::ArrayRef<Slot> outputs) {
  Step &step = data.steps.emplace_back();
  step.action = std::move(action);
  step.buffers.assign(inputs.begin(), inputs.end());
  step.buffers.insert(step.buffers.end(), outputs.begin(), outputs.end());
  step.numInputs = inputs.size();
  return step;
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
  else
    addKernel(inputs, outputs);
  ops.resize(data.steps.size(), &op);
  return llvm::Error::success();
}

llvm::Error ProgramBuilder::build() {
  describeTable();
  for (Operation &op : main.getBody().front()) {
    if (isa<metaop::ViewOpInterface>(op)) {
      // By value: the insertion may move the map's memory.
      Slot viewed = slots.find(op.getOperand(0))->second;
      slots[op.getResult(0)] = viewed;
    }
    if (isa<func::CallOp, metaop::PlacementOpInterface,
            metaop::RoutineOpInterface>(op))
      if (llvm::Error error = addOp(op))
        return error;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<BuiltProgram> buildProgram(ModuleOp module, KernelCache &kernels,
                                          StopCheck shouldStop) {
  SymbolTable symbols(module);
  auto main = symbols.lookup<func::FuncOp>("main");
  if (llvm::Error error = verifyTypes(main))
    return std::move(error);
  llvm::SmallVector<func::FuncOp> callees;
  for (auto callOp : main.getBody().front().getOps<func::CallOp>())
    callees.push_back(symbols.lookup<func::FuncOp>(callOp.getCallee()));
  ProgramInfo info;
  auto calls = kernels.getAll(callees, info.compiledKernels, shouldStop);
  if (!calls)
    return calls.takeError();
  ProgramBuilder builder(main, std::move(*calls));
  if (llvm::Error error = builder.build())
    return std::move(error);
  auto program =
      CompiledProgram::create(std::move(builder.data), std::move(info));
  if (!program)
    return program.takeError();
  return BuiltProgram{std::move(*program), std::move(builder.ops)};
}

} // namespace metaops
