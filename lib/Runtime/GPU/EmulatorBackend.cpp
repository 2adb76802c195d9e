//===- EmulatorBackend.cpp - Kernels of GPUs on the emulator --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a kernel is a launch of each of its functions. The emulator is told
// of the call's buffers as allocations of their own, so that an access behind
// one is a fault even where another follows. What is read and written by the
// same call, in place, is one allocation. What a kernel asks for of its own
// lies behind the buffers and lives as long as the call.
//
//===----------------------------------------------------------------------===//

#include "GpuBackend.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <deque>

using namespace mlir;

namespace metaops {
namespace {

/// One function of a kernel.
struct EmulatedFunction {
  std::unique_ptr<EmulatedKernel> kernel;
  /// All but its grid.
  LaunchShape shape;
};

/// The memory of a call, as the emulator sees it.
class CallMemory {
public:
  CallMemory(llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs);

  /// Adds so many words of the call's own, of which none is written.
  void *addWords(int64_t count);
  llvm::ArrayRef<Allocation> getAllocations() const { return allocations; }

private:
  void add(KernelBuffer buffer, std::string name, bool isInput);

  std::vector<Allocation> allocations;
  std::deque<WrittenBytes> written;
  std::vector<std::vector<int64_t>> words;
};

CallMemory::CallMemory(llvm::ArrayRef<KernelBuffer> buffers,
                       unsigned numInputs) {
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    bool isInput = i < numInputs;
    add(buffer,
        isInput ? "input " + std::to_string(i)
                : "result " + std::to_string(i - numInputs),
        isInput);
  }
}

void *CallMemory::addWords(int64_t count) {
  std::vector<int64_t> &made = words.emplace_back(count);
  uint64_t bytes = made.size() * sizeof(int64_t);
  Allocation &allocation = allocations.emplace_back();
  allocation.name = "scratch";
  allocation.begin = made.data();
  allocation.bytes = bytes;
  allocation.written = &written.emplace_back(bytes);
  return made.data();
}

void CallMemory::add(KernelBuffer buffer, std::string name, bool isInput) {
  if (buffer.empty())
    return;
  auto *begin = buffer.data(), *end = begin + buffer.size();
  for (Allocation &other : allocations) {
    auto *otherBegin = static_cast<char *>(other.begin);
    auto *otherEnd = otherBegin + other.bytes;
    if (begin >= otherEnd || otherBegin >= end)
      continue;
    other.name += ", " + name;
    other.isReadOnly &= isInput;
    other.begin = std::min(begin, otherBegin);
    other.bytes = std::max(end, otherEnd) - static_cast<char *>(other.begin);
    return;
  }
  Allocation &made = allocations.emplace_back();
  made.name = std::move(name);
  made.begin = begin;
  made.bytes = buffer.size();
  made.isReadOnly = isInput;
  if (!isInput)
    made.written = &written.emplace_back(buffer.size());
}

class EmulatorLauncher : public KernelLauncher {
public:
  EmulatorLauncher(std::vector<EmulatedFunction> functions,
                   std::vector<int64_t> scratch)
      : functions(std::move(functions)), scratch(std::move(scratch)) {}

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers,
                     unsigned numInputs) const override;

private:
  std::vector<EmulatedFunction> functions;
  /// Words of the memory that each call lends, in the order of the arguments.
  std::vector<int64_t> scratch;
};

llvm::Error EmulatorLauncher::launch(const KernelCall &call,
                                     llvm::ArrayRef<KernelBuffer> buffers,
                                     unsigned numInputs) const {
  CallMemory memory(buffers, numInputs);
  // The grids of all functions but the first stand behind the numbers.
  size_t numNumbers = call.scalars.size() - (functions.size() - 1);
  std::vector<KernelArgument> arguments;
  for (KernelBuffer buffer : buffers)
    arguments.emplace_back(buffer.data());
  for (int64_t count : scratch)
    arguments.emplace_back(memory.addWords(count));
  for (int64_t number : llvm::ArrayRef(call.scalars).take_front(numNumbers))
    arguments.emplace_back(number);
  for (auto [i, function] : llvm::enumerate(functions)) {
    LaunchShape shape = function.shape;
    shape.grid.x =
        i == 0 ? call.parallelRange : call.scalars[numNumbers + i - 1];
    if (shape.grid.x == 0)
      continue;
    auto report =
        function.kernel->launch(shape, arguments, memory.getAllocations());
    if (!report)
      return report.takeError();
    if (!report->isSound())
      return llvm::createStringError(report->str());
  }
  return llvm::Error::success();
}

/// The number of threads, or of blocks, that an attribute states.
uint32_t readCount(Operation *op, StringRef name) {
  if (auto array = op->getAttrOfType<DenseI32ArrayAttr>(name))
    return array.empty() ? 1 : array[0];
  return 1;
}

class EmulatorBackend : public GpuBackend {
public:
  using GpuBackend::GpuBackend;

  std::string getDescription() const override {
    return "emulated " + GpuBackend::getDescription();
  }
  llvm::Expected<Kernel>
  load(StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) override;
};

llvm::Expected<Kernel>
EmulatorBackend::load(StringRef name,
                      std::unique_ptr<llvm::MemoryBuffer> code) {
  DialectRegistry registry;
  registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  metaop::MetaOpDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module =
      parseSourceString<ModuleOp>(code->getBuffer(), ParserConfig(&context));
  if (!module)
    return llvm::createStringError("a kernel's code could not be read");
  std::vector<EmulatedFunction> functions;
  std::vector<int64_t> scratch;
  for (auto gpuModule : module->getOps<gpu::GPUModuleOp>())
    for (auto function : gpuModule.getOps<LLVM::LLVMFuncOp>()) {
      if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        continue;
      auto kernel =
          EmulatedKernel::compile(code->getBuffer(), function.getName());
      if (!kernel)
        return kernel.takeError();
      LaunchShape shape;
      shape.threads.x = readCount(function, "nvvm.reqntid");
      shape.cluster.x = readCount(function, "nvvm.cluster_dim");
      if (auto bytes = function->getAttrOfType<IntegerAttr>(
              "metaop.dynamic_shared_bytes"))
        shape.dynamicSharedBytes = bytes.getInt();
      // All functions of a kernel have the same arguments.
      if (auto words =
              function->getAttrOfType<DenseI64ArrayAttr>("metaop.scratch"))
        scratch = words.asArrayRef().vec();
      functions.push_back({std::move(*kernel), shape});
    }
  if (functions.empty())
    return llvm::createStringError("a kernel's code has no function");
  return Kernel{nullptr, name.str(),
                std::make_shared<EmulatorLauncher>(std::move(functions),
                                                   std::move(scratch))};
}

class EmulatorCompiler : public ProgramCompiler {
public:
  explicit EmulatorCompiler(const metaop::Chip &chip) : chip(chip) {}

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    return std::make_shared<EmulatorBackend>(chip);
  }

  const metaop::Chip &chip;
};

} // namespace

std::unique_ptr<Compiler> createEmulatorCompiler(const metaop::Chip &chip) {
  return std::make_unique<EmulatorCompiler>(chip);
}

std::vector<DeviceKind> listEmulatedDevices() {
  std::vector<DeviceKind> kinds;
  for (const metaop::Chip &chip : metaop::Chip::getAll())
    kinds.push_back({"emulator:" + chip.name.str(), 0,
                     createEmulatorCompiler(chip), createGuardedMemory});
  return kinds;
}

} // namespace metaops
