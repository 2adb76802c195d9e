//===- CpuProgram.cpp - A program for the CPU -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuProgram.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <atomic>

using namespace mlir;

namespace metaops {

/// Work below this is done before another thread has started.
static constexpr int64_t kWorkPerThread = 1 << 16;

static Slot toSlot(Attribute attr) {
  auto slot = cast<metaop::SlotAttr>(attr);
  switch (slot.getKind()) {
  case metaop::SlotKind::Argument:
    return {Slot::Kind::Argument, slot.getIndex()};
  case metaop::SlotKind::Result:
    return {Slot::Kind::Result, slot.getIndex()};
  case metaop::SlotKind::Arena:
    return {Slot::Kind::Arena, slot.getIndex()};
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
  for (Attribute attr : main->getAttrOfType<ArrayAttr>("metaop.results"))
    program->results.push_back(toSlot(attr));
  for (auto [slot, type] :
       llvm::zip_equal(program->results, main.getResultTypes()))
    program->resultBytes.push_back(
        slot.kind == Slot::Kind::Result
            ? metaop::getTensorBytes(cast<RankedTensorType>(type))
            : 0);

  // Views share the slot of what they view.
  llvm::DenseMap<Value, Slot> slots;
  for (BlockArgument argument : main.getArguments())
    slots[argument] = {Slot::Kind::Argument, argument.getArgNumber()};
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
    auto kernel = kernels.get(symbols.lookup<func::FuncOp>(callOp.getCallee()),
                              program->info.compiledKernels);
    if (!kernel)
      return kernel.takeError();
    call.kernel = *kernel;
    for (Value operand : callOp.getOperands()) {
      auto slot = slots.find(operand);
      if (slot == slots.end())
        return llvm::createStringError(
            "a kernel takes a number as argument; programs are compiled for "
            "tensors of static shape");
      call.buffers.push_back(slot->second);
    }
    auto resultSlots = callOp->getAttrOfType<ArrayAttr>("metaop.slots");
    for (auto [result, attr] :
         llvm::zip_equal(callOp.getResults(), resultSlots)) {
      slots[result] = toSlot(attr);
      call.buffers.push_back(toSlot(attr));
    }
    call.grain = llvm::divideCeil(
        kWorkPerThread, std::max<int64_t>(call.kernel->workPerStep, 1));
    program->calls.push_back(std::move(call));
  }
  return program;
}

llvm::Error CpuProgram::run(llvm::ArrayRef<BufferRef> arguments,
                            llvm::SmallVectorImpl<BufferRef> &out,
                            Allocator &memory, ThreadPool &threads) {
  if (arguments.size() != numArguments)
    return llvm::createStringError("the program takes %u arguments, given %zu",
                                   numArguments, arguments.size());
  BufferRef arena = memory.allocate(arenaBytes);
  llvm::SmallVector<BufferRef> fresh;
  for (auto [slot, bytes] : llvm::zip_equal(results, resultBytes)) {
    // Only the first of equal results owns the buffer.
    bool isOwner = slot.kind == Slot::Kind::Result &&
                   slot.index == static_cast<int64_t>(fresh.size());
    fresh.push_back(isOwner ? memory.allocate(bytes) : BufferRef());
  }
  auto address = [&](Slot slot) -> void * {
    switch (slot.kind) {
    case Slot::Kind::Argument:
      return arguments[slot.index]->data();
    case Slot::Kind::Result:
      return fresh[slot.index]->data();
    case Slot::Kind::Arena:
      return static_cast<char *>(arena->data()) + slot.index;
    }
    llvm_unreachable("all kinds are handled");
  };

  llvm::SmallVector<void *, 16> buffers;
  for (const Call &call : calls) {
    buffers.clear();
    for (Slot slot : call.buffers)
      buffers.push_back(address(slot));
    std::atomic<int32_t> failure = 0;
    threads.parallelFor(call.kernel->parallelRange, call.grain,
                        [&](int64_t begin, int64_t end) {
                          KernelStatus status;
                          if (int32_t code = call.kernel->function(
                                  buffers.data(), nullptr, begin, end, &status))
                            failure = code;
                        });
    if (failure)
      return llvm::createStringError("a kernel failed with code %d",
                                     failure.load());
  }
  for (Slot slot : results)
    out.push_back(slot.kind == Slot::Kind::Argument ? arguments[slot.index]
                                                    : fresh[slot.index]);
  return llvm::Error::success();
}

} // namespace metaops
