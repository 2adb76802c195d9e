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

#include "Gpu.h"
#include "GpuBackend.h"
#include "LaunchPlan.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Runtime/Emulator/GuardedMemory.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <deque>

using namespace mlir;

namespace metaops {
namespace {

/// The memory of a call, as the emulator sees it.
class CallMemory {
public:
  CallMemory(llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs);

  /// Adds so many words of the call's own, of which none is written.
  void *addWords(int64_t count);
  llvm::ArrayRef<Allocation> getAllocations() const { return allocations; }

private:
  std::vector<Allocation> allocations;
  std::deque<WrittenBytes> written;
  std::vector<std::vector<int64_t>> words;
};

CallMemory::CallMemory(llvm::ArrayRef<KernelBuffer> buffers,
                       unsigned numInputs) {
  auto getName = [&](unsigned buffer) {
    return buffer < numInputs ? "input " + std::to_string(buffer)
                              : "result " + std::to_string(buffer - numInputs);
  };
  auto isInput = [&](unsigned buffer) { return buffer < numInputs; };
  for (const SharedBuffers &piece : findShared(buffers)) {
    Allocation &made = allocations.emplace_back();
    made.name = llvm::join(llvm::map_range(piece.buffers, getName), ", ");
    made.begin = piece.memory.data();
    made.bytes = piece.memory.size();
    made.isReadOnly = llvm::all_of(piece.buffers, isInput);
    if (llvm::none_of(piece.buffers, isInput))
      made.written = &written.emplace_back(made.bytes);
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

class EmulatorLauncher : public KernelLauncher {
public:
  explicit EmulatorLauncher(LaunchPlan plan) : plan(std::move(plan)) {}

  /// Compiles all functions of a module.
  llvm::Error compile(ModuleOp module);

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &, LaunchMeasures *measures) const override;

private:
  LaunchPlan plan;
  /// Of each function.
  std::vector<std::unique_ptr<EmulatedKernel>> kernels;
};

llvm::Error EmulatorLauncher::compile(ModuleOp module) {
  for (const LaunchedFunction &function : plan.getFunctions()) {
    auto kernel = EmulatedKernel::compile(module, function.name);
    if (!kernel)
      return kernel.takeError();
    kernels.push_back(std::move(*kernel));
  }
  return llvm::Error::success();
}

llvm::Error EmulatorLauncher::launch(const KernelCall &call,
                                     llvm::ArrayRef<KernelBuffer> buffers,
                                     unsigned numInputs, ThreadPool &,
                                     LaunchMeasures *measures) const {
  auto grids = plan.getGrids(call);
  if (!grids)
    return grids.takeError();
  CallMemory memory(buffers, numInputs);
  std::vector<KernelArgument> arguments;
  for (KernelBuffer buffer : buffers)
    arguments.emplace_back(buffer.data());
  for (int64_t count : plan.getScratch())
    arguments.emplace_back(memory.addWords(count));
  for (int64_t number : call.scalars)
    arguments.emplace_back(number);
  EmulatorOptions options;
  options.countsAccesses = measures != nullptr;
  LaunchCounts counts;
  for (auto [i, function] : llvm::enumerate(plan.getFunctions())) {
    LaunchShape shape;
    shape.grid.x = (*grids)[i];
    shape.threads.x = function.threads;
    shape.cluster.x = function.cluster;
    shape.dynamicSharedBytes = function.sharedBytes;
    if (shape.grid.x == 0)
      continue;
    auto report =
        kernels[i]->launch(shape, arguments, memory.getAllocations(), options);
    if (!report)
      return report.takeError();
    if (!report->isSound())
      return llvm::createStringError(report->str());
    counts.add(std::move(report->counts));
  }
  if (measures)
    measures->counts = std::make_shared<const LaunchCounts>(std::move(counts));
  return llvm::Error::success();
}

/// Has kernels assembled, too.
class AssemblingEmitter : public GpuEmitter {
public:
  explicit AssemblingEmitter(llvm::ArrayRef<std::shared_ptr<Gpu>> gpus)
      : gpus(gpus) {}

protected:
  llvm::Error finish(ModuleOp module) override;

private:
  llvm::ArrayRef<std::shared_ptr<Gpu>> gpus;
};

llvm::Error AssemblingEmitter::finish(ModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUModuleOp>()) {
    auto plan = LaunchPlan::read(metaop::describeKernels(kernel));
    if (!plan)
      return plan.takeError();
    for (const std::shared_ptr<Gpu> &gpu : gpus) {
      const metaop::PtxOptions &options = gpu->getPtxOptions();
      // No schedule for that chip has larger clusters.
      if (llvm::any_of(plan->getFunctions(), [&](const auto &function) {
            return function.cluster > options.chip->maxCluster;
          }))
        continue;
      if (auto code = makeCode(kernel, options, gpu->getCubins()); !code)
        return llvm::createStringError("for " + options.chip->name + ", " +
                                       toString(code.takeError()));
    }
  }
  return llvm::Error::success();
}

class EmulatorBackend : public GpuBackend {
public:
  EmulatorBackend(const metaop::Chip &chip,
                  std::vector<std::shared_ptr<Gpu>> assembledFor,
                  std::string kernelLog)
      : GpuBackend(chip), assembledFor(std::move(assembledFor)),
        kernelLog(std::move(kernelLog)) {}

  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override {
    return std::make_unique<AssemblingEmitter>(assembledFor);
  }
  std::string getDescription() const override {
    std::string description = "emulated " + GpuBackend::getDescription();
    for (const std::shared_ptr<Gpu> &gpu : assembledFor)
      description += " assembled for " + gpu->getPtxOptions().chip->name.str();
    return description;
  }
  bool notesCalls() const override { return !kernelLog.empty(); }
  void noteCall(llvm::ArrayRef<uint64_t> features) const override;
  llvm::Expected<Kernel>
  load(StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) override;

private:
  const std::vector<std::shared_ptr<Gpu>> assembledFor;
  const std::string kernelLog;
};

void EmulatorBackend::noteCall(llvm::ArrayRef<uint64_t> features) const {
  if (!notesCalls())
    return;
  std::string line;
  for (uint64_t feature : features)
    line += llvm::utohexstr(feature, /*LowerCase=*/true, /*Width=*/16) + " ";
  line.back() = '\n';
  // A line is written at once, so those of several processes do not mix.
  std::error_code error;
  llvm::raw_fd_ostream log(kernelLog, error, llvm::sys::fs::OF_Append);
  if (!error)
    log << line;
}

llvm::Expected<Kernel>
EmulatorBackend::load(StringRef name,
                      std::unique_ptr<llvm::MemoryBuffer> code) {
  auto parsed = GpuCode::parse(*code, getContexts());
  if (!parsed)
    return parsed.takeError();
  SmallVector<gpu::GPUModuleOp> modules(
      (*parsed)->getModule().getOps<gpu::GPUModuleOp>());
  if (modules.size() != 1)
    return llvm::createStringError("a kernel's code is not one module");
  auto plan = LaunchPlan::read(metaop::describeKernels(modules.front()));
  if (!plan)
    return plan.takeError();
  auto launcher = std::make_shared<EmulatorLauncher>(std::move(*plan));
  if (llvm::Error error = launcher->compile((*parsed)->getModule()))
    return std::move(error);
  return Kernel{nullptr, name.str(), std::move(launcher)};
}

class EmulatorCompiler : public ProgramCompiler {
public:
  EmulatorCompiler(const metaop::Chip &chip, EmulatedDeviceOptions options)
      : chip(chip), options(std::move(options)) {}

  llvm::Expected<TuningResult> tune(StringRef slice,
                                    const CompileOptions &options,
                                    llvm::ArrayRef<double> callSeconds,
                                    double budget, ThreadPool &threads,
                                    StopCheck shouldStop) override {
    return llvm::createStringError(
        "the emulator does not tell how fast kernels are on a GPU, so there is "
        "nothing to tune by");
  }

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    std::vector<std::shared_ptr<Gpu>> gpus;
    for (const CudaOptions &assembled : options.assembledFor) {
      // Cubins have no entries of the session's store: a kernel's own entry
      // says that it was assembled, and the options may name a folder.
      auto gpu = Gpu::create(assembled, nullptr);
      if (!gpu)
        return gpu.takeError();
      gpus.push_back(std::move(*gpu));
    }
    return std::make_shared<EmulatorBackend>(chip, std::move(gpus),
                                             options.kernelLog);
  }

  const metaop::Chip &chip;
  const EmulatedDeviceOptions options;
};

} // namespace

std::unique_ptr<Compiler>
createEmulatorCompiler(const metaop::Chip &chip,
                       EmulatedDeviceOptions options) {
  return std::make_unique<EmulatorCompiler>(chip, std::move(options));
}

std::vector<DeviceKind>
listEmulatedDevices(const EmulatedDeviceOptions &options) {
  std::vector<DeviceKind> kinds;
  for (const metaop::Chip &chip : metaop::Chip::getAll())
    kinds.push_back({"emulator:" + chip.name.str(), 0,
                     createEmulatorCompiler(chip, options),
                     createGuardedMemory});
  return kinds;
}

} // namespace metaops
