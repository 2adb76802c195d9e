//===- CudaBackend.cpp - Kernels on NVIDIA's GPUs -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's code is its PTX, in a module in the phase ptx, which says how it
// is launched, too. Who compiles a kernel also has it assembled, so that this
// is done on as many threads; a cubin is fetched again when the kernel is first
// called. So code that is kept does not depend on who assembles it, and needs
// no GPU to be made.
//
// Values are in the host's memory, where checks, sorts and copies of a program
// are done; each call of a kernel copies them (GpuLauncher.cpp).
//
//===----------------------------------------------------------------------===//

#include "EmulatedGpu.h"
#include "Gpu.h"
#include "GpuBackend.h"
#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"

using namespace mlir;

namespace metaops {
namespace {

/// Goes on from NVVM to PTX, which it also has assembled.
class CudaEmitter : public GpuEmitter {
public:
  explicit CudaEmitter(std::shared_ptr<Gpu> gpu) : gpu(std::move(gpu)) {}

protected:
  llvm::Error finish(ModuleOp module) override {
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
      auto code = makeCode(kernel, gpu->getPtxOptions(), gpu->getCubins());
      if (!code)
        return code.takeError();
      metaop::replaceByPtx(kernel, code->ptx, gpu->getPtxOptions());
    }
    return llvm::Error::success();
  }

private:
  std::shared_ptr<Gpu> gpu;
};

class CudaBackend : public GpuBackend {
public:
  explicit CudaBackend(std::shared_ptr<Gpu> gpu)
      : GpuBackend(*gpu->getPtxOptions().chip), gpu(std::move(gpu)) {}

  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override {
    return std::make_unique<CudaEmitter>(gpu);
  }
  llvm::Expected<Kernel>
  load(StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) override;

private:
  std::shared_ptr<Gpu> gpu;
};

llvm::Expected<Kernel>
CudaBackend::load(StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) {
  auto parsed = GpuCode::parse(*code, getContexts());
  if (!parsed)
    return parsed.takeError();
  SmallVector<gpu::BinaryOp> binaries(
      (*parsed)->getModule().getOps<gpu::BinaryOp>());
  if (binaries.size() != 1)
    return llvm::createStringError("a kernel's code is not one binary");
  gpu::BinaryOp binary = binaries.front();
  ArrayAttr kernels =
      metaop::MetaOpDialect::KernelsAttrHelper(binary.getContext())
          .getAttr(binary);
  auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  if (!kernels || !object)
    return llvm::createStringError("a kernel's code is not PTX");
  auto plan = LaunchPlan::read(kernels);
  if (!plan)
    return plan.takeError();
  return Kernel{nullptr, name.str(),
                std::make_shared<GpuLauncher>(gpu, object.getObject().str(),
                                              std::move(*plan))};
}

class CudaCompiler : public ProgramCompiler {
public:
  explicit CudaCompiler(CudaOptions options) : options(std::move(options)) {}

  void setCacheDirectory(StringRef folder) override {
    ProgramCompiler::setCacheDirectory(folder);
    if (gpu)
      gpu->setStore(getStore());
  }

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    if (!gpu) {
      auto created = Gpu::create(options, getStore());
      if (!created)
        return created.takeError();
      gpu = std::move(*created);
    }
    return std::make_shared<CudaBackend>(gpu);
  }

  const CudaOptions options;
  std::shared_ptr<Gpu> gpu;
};

} // namespace

std::unique_ptr<Compiler> createCudaCompiler(CudaOptions options) {
  if (std::shared_ptr<EmulatedDriver> driver = options.emulated) {
    const metaop::Chip *chip = options.chip;
    return createEmulatedCompiler(
        chip ? *chip : *driver->getOptions().chip,
        std::make_shared<EmulatedGpu>(driver, options.ordinal, chip), {});
  }
  return std::make_unique<CudaCompiler>(std::move(options));
}

llvm::Error checkGpu(const CudaOptions &options, unsigned ordinal) {
  auto driver = options.emulated ? options.emulated->open()
                                 : Driver::open(options.search().driver);
  if (!driver)
    return driver.takeError();
  int device = 0;
  return (*driver)->check((*driver)->getDevice(&device, ordinal),
                          "using GPU " + std::to_string(ordinal));
}

std::vector<DeviceKind> listCudaDevices(const CudaOptions &options) {
  std::vector<DeviceKind> kinds;
  kinds.push_back({"cuda", 1, createCudaCompiler(options)});
  // NVIDIA's driver is not asked before there is something to do.
  unsigned count =
      options.emulated ? options.emulated->getOptions().devices : 1;
  for (unsigned ordinal = 1; ordinal < count; ++ordinal) {
    CudaOptions further = options;
    further.ordinal = ordinal;
    kinds.push_back(
        {"cuda:" + std::to_string(ordinal), 0, createCudaCompiler(further)});
  }
  for (const metaop::Chip &chip : metaop::Chip::getAll()) {
    CudaOptions named = options;
    named.chip = &chip;
    kinds.push_back({"cuda:" + chip.name.str(), 0, createCudaCompiler(named)});
  }
  return kinds;
}

} // namespace metaops
