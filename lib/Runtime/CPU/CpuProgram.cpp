//===- CpuProgram.cpp - A program for the CPU -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuProgram.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <utility>

using namespace mlir;

namespace metaops {

/// A thread is worth its start, of about 3 us, if it has so much to do: 8 us,
/// in picoseconds as the cost model predicts them.
static constexpr int64_t kWorkPerThread = 8'000'000;
/// A run asks whether it is to stop after so much work, 10 ms.
static constexpr int64_t kWorkBetweenChecks = 10'000'000'000;
/// A run of more than this, 20 ms, is long.
static constexpr int64_t kLongWork = 20'000'000'000;
/// What a call takes beside its loop: 1 us.
static constexpr int64_t kWorkOfCall = 1'000'000;
/// What a copied byte takes: 10 GB are copied in a second.
static constexpr int64_t kWorkOfByte = 100;

static Slot::Kind toKind(metaop::SlotKind kind) {
  switch (kind) {
  case metaop::SlotKind::Argument:
    return Slot::Kind::Argument;
  case metaop::SlotKind::Result:
    return Slot::Kind::Result;
  case metaop::SlotKind::Arena:
    return Slot::Kind::Arena;
  }
  llvm_unreachable("all kinds are handled");
}

static Slot toSlot(Attribute attr, Type type) {
  auto given = cast<metaop::SlotAttr>(attr);
  Slot slot = {toKind(given.getKind()), given.getIndex(),
               metaop::countBytes(type), given.getOffset()};
  slot.row = given.getRow();
  slot.pitch = given.getPitch();
  if (slot.pitch != 0)
    slot.bytes = (slot.bytes / slot.row - 1) * slot.pitch + slot.row;
  if (slot.kind == Slot::Kind::Arena)
    slot.index += std::exchange(slot.offset, 0);
  return slot;
}

/// Programs take and make buffers of sizes that are known.
static llvm::Error verifyTypes(func::FuncOp main) {
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

void CpuProgram::addCall(std::shared_ptr<const KernelCall> kernel,
                         llvm::ArrayRef<Slot> inputs,
                         llvm::ArrayRef<Slot> results) {
  Call &call = calls.emplace_back();
  call.grain = llvm::divideCeil(kWorkPerThread,
                                std::max<int64_t>(kernel->workPerStep, 1));
  call.kernel = std::move(kernel);
  call.buffers.assign(inputs.begin(), inputs.end());
  call.buffers.append(results.begin(), results.end());
  call.numInputs = inputs.size();
}

void CpuProgram::addRoutine(metaop::RoutineOpInterface op,
                            llvm::ArrayRef<Slot> inputs,
                            llvm::ArrayRef<Slot> results) {
  if (results.empty())
    return; // nobody reads them
  Call &call = calls.emplace_back();
  call.routine = Routine::of(op);
  call.buffers.assign(inputs.begin(), inputs.end());
  call.buffers.append(results.begin(), results.end());
  call.numInputs = inputs.size();
}

/// The window of a placement as what a copy does; the numbers that move it are
/// inputs of the call from `firstNumber` on.
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

/// Where a part is that lies in its window already.
static std::optional<Slot> getWindow(metaop::PlacementOpInterface op,
                                     const metaop::Placement &placement,
                                     Slot result) {
  if (!placement.symbols.empty())
    return std::nullopt;
  auto whole = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t position = 0;
  for (auto [start, room] : llvm::zip_equal(placement.starts, whole.getShape()))
    position = position * room + start;
  int64_t bytes = position * metaop::getElementBytes(whole);
  (result.kind == Slot::Kind::Arena ? result.index : result.offset) += bytes;
  return result;
}

/// Copies what is not in its window. What is put on top of something is copied
/// after it.
void CpuProgram::addCopies(metaop::PlacementOpInterface op,
                           llvm::ArrayRef<Slot> inputs, Slot result) {
  bool isOpen = false;
  for (const metaop::Placement &placement : op.getPlacements()) {
    Slot source = inputs[placement.operand];
    std::optional<Slot> window = getWindow(op, placement, result);
    if (source.bytes == 0 ||
        (window && window->kind == source.kind &&
         window->index == source.index && window->offset == source.offset))
      continue;
    if (!isOpen || !placement.symbols.empty()) {
      isOpen = true;
      calls.emplace_back().buffers.push_back(result);
    }
    // The result stands last.
    Call &call = calls.back();
    int64_t number = call.buffers.size() - 1;
    call.copies.push_back(makeCopy(op, placement, number, number + 1));
    auto add = [&](Slot slot) {
      call.buffers.insert(std::prev(call.buffers.end()), slot);
      ++call.numInputs;
    };
    add(source);
    for (Value symbol : placement.symbols) {
      auto operand = llvm::find(op->getOperands(), symbol);
      add(inputs[std::distance(op->operand_begin(), operand)]);
    }
  }
}

llvm::Expected<std::shared_ptr<CpuProgram>>
CpuProgram::create(ModuleOp module, KernelCache &kernels,
                   std::vector<Operation *> &callOps, StopCheck shouldStop) {
  auto program = std::make_shared<CpuProgram>();
  SymbolTable symbols(module);
  auto main = symbols.lookup<func::FuncOp>("main");
  if (llvm::Error error = verifyTypes(main))
    return std::move(error);
  program->numArguments = main.getNumArguments();
  program->arenaBytes =
      main->getAttrOfType<IntegerAttr>("metaop.arena_bytes").getInt();
  for (auto [attr, type] :
       llvm::zip_equal(main->getAttrOfType<ArrayAttr>("metaop.results"),
                       main.getResultTypes()))
    program->results.push_back(toSlot(attr, type));

  llvm::SmallVector<func::FuncOp> callees;
  for (auto callOp : main.getBody().front().getOps<func::CallOp>())
    callees.push_back(symbols.lookup<func::FuncOp>(callOp.getCallee()));
  auto kernelCalls =
      kernels.getAll(callees, program->info.compiledKernels, shouldStop);
  if (!kernelCalls)
    return kernelCalls.takeError();

  // Views share the slot of what they view.
  unsigned nextKernel = 0;
  int64_t nextPacked = 0;
  llvm::DenseMap<Value, Slot> slots;
  for (BlockArgument argument : main.getArguments())
    slots[argument] = {Slot::Kind::Argument, argument.getArgNumber(),
                       metaop::countBytes(argument.getType())};
  for (Operation &op : main.getBody().front()) {
    if (isa<metaop::ViewOpInterface>(op)) {
      // By value: the insertion may move the map's memory.
      Slot viewed = slots.find(op.getOperand(0))->second;
      slots[op.getResult(0)] = viewed;
    }
    if (!isa<func::CallOp, metaop::PlacementOpInterface,
             metaop::RoutineOpInterface>(op))
      continue;
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
      outputs.push_back(toSlot(attr, result.getType()));
    if (op.hasAttr(metaop::kMayKeepAttr))
      outputs.back().packed = nextPacked++;
    for (auto [result, slot] : llvm::zip_equal(made, outputs))
      slots[result] = slot;
    if (auto placement = dyn_cast<metaop::PlacementOpInterface>(op))
      program->addCopies(placement, inputs, outputs.front());
    else if (auto routine = dyn_cast<metaop::RoutineOpInterface>(op))
      program->addRoutine(routine, inputs, outputs);
    else
      program->addCall(std::move((*kernelCalls)[nextKernel++]), inputs,
                       outputs);
    callOps.resize(program->calls.size(), &op);
  }
  program->planSteps();
  program->noteResults();
  return program;
}

llvm::Expected<ProgramRun>
CpuProgram::prepare(llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
                    BufferRef &scratch) {
  if (arguments.size() != numArguments)
    return llvm::createStringError("the program takes %u arguments, given %zu",
                                   numArguments, arguments.size());
  ProgramRun run;
  run.arguments.assign(arguments.begin(), arguments.end());
  if (int64_t bytes = getScratchBytes(); bytes > 0) {
    if (!scratch || scratch->bytes() < static_cast<size_t>(bytes))
      scratch = memory.allocate(bytes, MemoryUse::Scratch);
    run.scratch = scratch;
  }
  for (auto [i, slot] : llvm::enumerate(results)) {
    if (slot.kind == Slot::Kind::Argument)
      run.results.push_back(arguments[slot.index]);
    else if (slot.index == static_cast<int64_t>(i))
      run.results.push_back(memory.allocate(slot.bytes));
    else // Only the first of equal results owns the buffer.
      run.results.push_back(BufferRef(run.results[slot.index].get()));
  }
  for (unsigned argument : overwritten)
    memory.renewContents(*arguments[argument]);
  return run;
}

int64_t CpuProgram::getScratchBytes() const {
  return routineBytes > 0 ? getRoutineBegin() + routineBytes : arenaBytes;
}

int64_t CpuProgram::getMaxThreads(size_t index) const {
  const Call &call = calls[index];
  if (call.routine.kind != Routine::Kind::None)
    return call.routine.getMaxThreads();
  if (!call.kernel)
    return getMaxCopyThreads(getCopiedBytes(index));
  return std::max<int64_t>(call.kernel->parallelRange / call.grain, 1);
}

int64_t CpuProgram::getLoopOps(size_t index) const {
  const Call &call = calls[index];
  return call.kernel ? call.kernel->loopOps : 0;
}

int64_t CpuProgram::getCopiedBytes(size_t index) const {
  int64_t bytes = 0;
  for (const Copy &copy : calls[index].copies)
    bytes += calls[index].buffers[copy.source].bytes;
  return bytes;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int64_t CpuProgram::Call::getWork() const {
  int64_t work = 0;
  if (kernel)
    work = metaop::multiplyCounts(kernel->parallelRange, kernel->workPerStep);
  else if (routine.kind != Routine::Kind::None)
    work = routine.getWork();
  else
    work = metaop::multiplyCounts(buffers.back().bytes, kWorkOfByte);
  return metaop::addCounts(work, kWorkOfCall);
}

bool CpuProgram::overwritesArgument(unsigned call) const {
  auto results =
      llvm::ArrayRef(calls[call].buffers).drop_front(calls[call].numInputs);
  return llvm::any_of(
      results, [](Slot slot) { return slot.kind == Slot::Kind::Argument; });
}

void CpuProgram::noteResults() {
  for (const Call &call : calls) {
    for (Slot slot : llvm::ArrayRef(call.buffers).drop_front(call.numInputs))
      if (slot.kind == Slot::Kind::Argument &&
          !llvm::is_contained(overwritten, slot.index))
        overwritten.push_back(slot.index);
    if (call.getPacked() < 0)
      continue;
    llvm::SmallVector<unsigned, 2> arguments;
    for (Slot slot : llvm::ArrayRef(call.buffers).take_front(call.numInputs))
      arguments.push_back(slot.index);
    packed.add(arguments, call.buffers.back().bytes);
  }
}

bool CpuProgram::isLong(unsigned threads) const {
  return serialWork + sharedWork / std::max(threads, 1u) > kLongWork;
}

void CpuProgram::planSteps() {
  auto toRange = [&](Slot slot) -> MemoryRange {
    int64_t numResults = results.size();
    switch (slot.kind) {
    case Slot::Kind::Arena:
      return {0, slot.index, slot.index + slot.bytes, slot.row, slot.pitch};
    case Slot::Kind::Result:
      return {1 + slot.index, slot.offset, slot.offset + slot.bytes, slot.row,
              slot.pitch};
    case Slot::Kind::Argument:
      return {1 + numResults + slot.index, slot.offset,
              slot.offset + slot.bytes, slot.row, slot.pitch};
    }
    llvm_unreachable("all kinds are handled");
  };
  std::vector<CallFacts> facts;
  for (const Call &call : calls) {
    CallFacts &fact = facts.emplace_back();
    for (auto [i, slot] : llvm::enumerate(call.buffers))
      if (i < call.numInputs)
        fact.reads.push_back(toRange(slot));
      else
        fact.writes.push_back(toRange(slot));
    // Copies and routines share themselves among threads, so that no two
    // routines run at once.
    routineBytes = std::max(routineBytes, call.routine.getScratchBytes());
    fact.isSplit = !call.kernel || call.kernel->parallelRange > call.grain;
    if (call.kernel)
      fact.work = metaop::multiplyCounts(call.kernel->parallelRange,
                                         call.kernel->workPerStep);
    int64_t &work = fact.isSplit ? sharedWork : serialWork;
    // Half of what there is, so that the sum of both does not overflow.
    work = std::min(metaop::addCounts(work, call.getWork()),
                    metaop::kMaxCount / 2);
  }
  steps = metaops::planSteps(facts);
  while (firstOverwriting < steps.size() &&
         llvm::none_of(
             steps[firstOverwriting],
             [&](unsigned call) { return overwritesArgument(call); }))
    ++firstOverwriting;
}

namespace {
/// Where the memory of a run is.
struct RunMemory {
  explicit RunMemory(const ProgramRun &run)
      : run(run), scratch(run.scratch ? static_cast<char *>(run.scratch->data())
                                      : nullptr) {}

  /// The copy that is kept of a result; null where it is in the arena.
  const PackedUse *getPacked(int64_t number) const {
    if (number < 0 || run.packed.empty() || !run.packed[number].copy)
      return nullptr;
    return &run.packed[number];
  }

  void *getAddress(Slot slot) const {
    if (const PackedUse *packed = getPacked(slot.packed))
      return packed->memory->data();
    switch (slot.kind) {
    case Slot::Kind::Argument:
      return static_cast<char *>(run.arguments[slot.index]->data()) +
             slot.offset;
    case Slot::Kind::Result:
      return static_cast<char *>(run.results[slot.index]->data()) + slot.offset;
    case Slot::Kind::Arena:
      return scratch + slot.index;
    }
    llvm_unreachable("all kinds are handled");
  }

  const ProgramRun &run;
  /// Null where all intermediate values are empty.
  char *scratch;
};
} // namespace

llvm::Error CpuProgram::execute(const ProgramRun &run, ThreadPool &threads,
                                StopCheck shouldStop,
                                std::vector<CallTime> *times) {
  RunMemory memory(run);
  if (times)
    times->resize(calls.size());
  /// Does a call with its loop done by `runLoop`.
  auto runCall = [&](unsigned index,
                     llvm::function_ref<void(ThreadPool::Body)> runLoop) {
    const Call &call = calls[index];
    llvm::SmallVector<void *, 16> buffers;
    for (Slot slot : call.buffers)
      buffers.push_back(memory.getAddress(slot));
    int64_t start = times ? readClock() : 0;
    if (call.routine.kind != Routine::Kind::None)
      call.routine.run(ArrayRef(buffers).take_front(call.numInputs),
                       ArrayRef(buffers).drop_front(call.numInputs),
                       memory.scratch + getRoutineBegin(), threads);
    else if (!call.kernel)
      runCopies(call.copies, ArrayRef(buffers).drop_back(), buffers.back(),
                threads);
    else
      runLoop([&](int64_t begin, int64_t end) {
        call.kernel->run(buffers.data(), begin, end);
      });
    if (times)
      (*times)[index] = {index, start, readClock()};
  };

  /// Whether an earlier run has packed what the call makes.
  auto isThere = [&](unsigned call) {
    const PackedUse *use = memory.getPacked(calls[call].getPacked());
    return use && use->copy->isFilled;
  };

  int64_t unchecked = 0;
  for (size_t number = 0; number < steps.size(); ++number) {
    const CallStep &step = steps[number];
    if (llvm::all_of(step, isThere))
      continue;
    ThreadPool::Stop stop;
    if (number < firstOverwriting)
      stop.check = shouldStop;
    bool isDone = true;
    if (step.size() == 1) {
      const Call &call = calls[step.front()];
      runCall(step.front(), [&](ThreadPool::Body body) {
        stop.range =
            kWorkBetweenChecks / std::max<int64_t>(call.kernel->workPerStep, 1);
        isDone = threads.parallelFor(call.kernel->parallelRange, call.grain,
                                     body, stop);
      });
    } else {
      threads.parallelFor(step.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          if (!isThere(step[i]))
            runCall(step[i], [&](ThreadPool::Body body) {
              body(0, calls[step[i]].kernel->parallelRange);
            });
      });
    }
    for (unsigned call : step)
      unchecked = metaop::addCounts(unchecked, calls[call].getWork());
    if (isDone && stop.check && unchecked > kWorkBetweenChecks) {
      isDone = !stop.check();
      unchecked = 0;
    }
    if (!isDone)
      return llvm::make_error<Interrupted>();
    for (unsigned call : step)
      if (const PackedUse *packed = memory.getPacked(calls[call].getPacked()))
        packed->copy->isFilled = true;
  }
  return llvm::Error::success();
}

} // namespace metaops
