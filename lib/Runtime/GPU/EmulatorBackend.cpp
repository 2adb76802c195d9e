//===- EmulatorBackend.cpp - Kernels of GPUs on the emulator --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU that is emulated has the phase nvvm as its code, which an emulated
// driver loads. It is loaded at once, on as many threads as compile: what the
// emulator does not know is no code.
//
//===----------------------------------------------------------------------===//

#include "EmulatedGpu.h"
#include "Gpu.h"
#include "GpuBackend.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "MetaOps/Runtime/Emulator/GuardedMemory.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace metaops {

llvm::Expected<const GpuRunner *> EmulatedGpu::getRunner() {
  std::lock_guard lock(mutex);
  if (runner)
    return runner.get();
  auto table = driver->open();
  if (!table)
    return table.takeError();
  auto created = GpuRunner::create(*table, static_cast<int>(ordinal));
  if (!created)
    return created.takeError();
  if (chip)
    if (llvm::Error error = checkChip(**created, ordinal, *chip))
      return std::move(error);
  runner = std::move(*created);
  return runner.get();
}

llvm::Expected<std::unique_ptr<GpuModule>>
EmulatedGpu::load(StringRef code, llvm::ArrayRef<GpuLaunch> functions) {
  auto opened = getRunner();
  if (!opened)
    return opened.takeError();
  return (*opened)->load(EmulatedDriver::makeImage(code), functions);
}

namespace {

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
  EmulatorBackend(const metaop::Chip &chip, std::shared_ptr<EmulatedGpu> gpu,
                  std::vector<std::shared_ptr<Gpu>> assembledFor,
                  std::string kernelLog)
      : GpuBackend(chip), gpu(std::move(gpu)),
        assembledFor(std::move(assembledFor)), kernelLog(std::move(kernelLog)) {
  }

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
  const std::shared_ptr<EmulatedGpu> gpu;
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
  auto launcher = std::make_shared<GpuLauncher>(gpu, code->getBuffer().str(),
                                                std::move(*plan));
  if (auto loaded = launcher->load(); !loaded)
    return loaded.takeError();
  return Kernel{nullptr, name.str(), std::move(launcher)};
}

class EmulatorCompiler : public ProgramCompiler {
public:
  EmulatorCompiler(const metaop::Chip &chip, std::shared_ptr<EmulatedGpu> gpu,
                   EmulatedDeviceOptions options)
      : chip(chip), gpu(std::move(gpu)), options(std::move(options)) {}

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
      auto assembler = Gpu::create(assembled, nullptr);
      if (!assembler)
        return assembler.takeError();
      gpus.push_back(std::move(*assembler));
    }
    return std::make_shared<EmulatorBackend>(chip, gpu, std::move(gpus),
                                             options.kernelLog);
  }

  const metaop::Chip &chip;
  const std::shared_ptr<EmulatedGpu> gpu;
  const EmulatedDeviceOptions options;
};

} // namespace

std::unique_ptr<Compiler>
createEmulatedCompiler(const metaop::Chip &chip,
                       std::shared_ptr<EmulatedGpu> gpu,
                       EmulatedDeviceOptions options) {
  return std::make_unique<EmulatorCompiler>(chip, std::move(gpu),
                                            std::move(options));
}

std::unique_ptr<Compiler>
createEmulatorCompiler(const metaop::Chip &chip,
                       EmulatedDeviceOptions options) {
  EmulatedDriverOptions machine;
  machine.chip = &chip;
  // The host's memory is the limit.
  machine.memory = uint64_t(1) << 48;
  // It stands for a chip, and for no GPU of the machine.
  machine.mayBeHidden = false;
  auto gpu = std::make_shared<EmulatedGpu>(
      std::make_shared<EmulatedDriver>(machine), /*ordinal=*/0, &chip);
  return createEmulatedCompiler(chip, std::move(gpu), std::move(options));
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
