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
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <chrono>

using namespace mlir;

namespace metaops {

/// A thread is worth its start, of about 3 us, if it has so much to do: 8 us,
/// in picoseconds as the cost model predicts them.
static constexpr int64_t kWorkPerThread = 8'000'000;

static Slot toSlot(Attribute attr, Type type) {
  auto slot = cast<metaop::SlotAttr>(attr);
  int64_t bytes = metaop::countBytes(type);
  switch (slot.getKind()) {
  case metaop::SlotKind::Argument:
    return {Slot::Kind::Argument, slot.getIndex(), bytes};
  case metaop::SlotKind::Result:
    return {Slot::Kind::Result, slot.getIndex(), bytes};
  case metaop::SlotKind::Arena:
    return {Slot::Kind::Arena, slot.getIndex(), bytes};
  }
  llvm_unreachable("all kinds are handled");
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

llvm::Expected<std::shared_ptr<CpuProgram>>
CpuProgram::create(ModuleOp module, KernelCache &kernels) {
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
  auto kernelCalls = kernels.getAll(callees, program->info.compiledKernels);
  if (!kernelCalls)
    return kernelCalls.takeError();

  // Views share the slot of what they view.
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
    auto callOp = dyn_cast<func::CallOp>(op);
    if (!callOp)
      continue;
    Call call;
    call.kernel = (*kernelCalls)[program->calls.size()];
    for (Value operand : callOp.getOperands()) {
      auto slot = slots.find(operand);
      if (slot == slots.end())
        return llvm::createStringError(
            "a kernel takes a number as argument; programs are compiled for "
            "tensors of static shape");
      call.buffers.push_back(slot->second);
    }
    call.numInputs = call.buffers.size();
    auto resultSlots = callOp->getAttrOfType<ArrayAttr>("metaop.slots");
    for (auto [result, attr] :
         llvm::zip_equal(callOp.getResults(), resultSlots)) {
      slots[result] = toSlot(attr, result.getType());
      call.buffers.push_back(slots[result]);
    }
    call.grain = llvm::divideCeil(
        kWorkPerThread, std::max<int64_t>(call.kernel->workPerStep, 1));
    program->calls.push_back(std::move(call));
  }
  program->planSteps();
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
  if (arenaBytes > 0) {
    if (!scratch || scratch->bytes() < static_cast<size_t>(arenaBytes))
      scratch = memory.allocate(arenaBytes, MemoryUse::Scratch);
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
  return run;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void CpuProgram::planSteps() {
  auto toRange = [&](Slot slot) -> MemoryRange {
    int64_t numResults = results.size();
    switch (slot.kind) {
    case Slot::Kind::Arena:
      return {0, slot.index, slot.index + slot.bytes};
    case Slot::Kind::Result:
      return {1 + slot.index, 0, slot.bytes};
    case Slot::Kind::Argument:
      return {1 + numResults + slot.index, 0, slot.bytes};
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
    fact.work = call.kernel->parallelRange * call.kernel->workPerStep;
    fact.isSplit = call.kernel->parallelRange > call.grain;
  }
  steps = metaops::planSteps(facts);
}

static int64_t readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {
/// Where the memory of a run is.
struct RunMemory {
  explicit RunMemory(const ProgramRun &run)
      : run(run), scratch(run.scratch ? static_cast<char *>(run.scratch->data())
                                      : nullptr) {}

  void *getAddress(Slot slot) const {
    switch (slot.kind) {
    case Slot::Kind::Argument:
      return run.arguments[slot.index]->data();
    case Slot::Kind::Result:
      return run.results[slot.index]->data();
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
                                std::vector<CallTime> *times) {
  RunMemory memory(run);
  if (times)
    times->resize(calls.size());
  /// Does a call with its loop done by `parallelFor`.
  auto runCall = [&](unsigned index, auto parallelFor) {
    const Call &call = calls[index];
    llvm::SmallVector<void *, 16> buffers;
    for (Slot slot : call.buffers)
      buffers.push_back(memory.getAddress(slot));
    int64_t start = times ? readClock() : 0;
    parallelFor(call.kernel->parallelRange, call.grain,
                [&](int64_t begin, int64_t end) {
                  call.kernel->run(buffers.data(), begin, end);
                });
    if (times)
      (*times)[index] = {index, start, readClock()};
  };

  for (const CallStep &step : steps) {
    if (step.size() == 1)
      runCall(step.front(),
              [&](int64_t n, int64_t grain, ThreadPool::Body body) {
                threads.parallelFor(n, grain, body);
              });
    else
      threads.parallelFor(step.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          runCall(step[i], [](int64_t n, int64_t, ThreadPool::Body body) {
            body(0, n);
          });
      });
  }
  return llvm::Error::success();
}

} // namespace metaops
