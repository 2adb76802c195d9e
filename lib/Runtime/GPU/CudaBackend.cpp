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
// are done. A call takes memory of the GPU for its buffers, copies them there,
// launches its functions, and copies back what it has written. A buffer that is
// written may have bytes in it that the call leaves as they are, as where rows
// lie apart, so all are copied to the GPU. Times are of the kernels alone.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "GpuBackend.h"
#include "LaunchPlan.h"
#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"

using namespace mlir;

namespace metaops {
namespace {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The memory of a call on the GPU.
class StagedCall {
public:
  StagedCall(const GpuRunner &runner, llvm::ArrayRef<KernelBuffer> buffers)
      : runner(runner), buffers(buffers), pieces(findShared(buffers)),
        addresses(buffers.size()) {}

  /// Takes the memory, and copies the buffers there.
  llvm::Error upload();
  /// Takes memory of the call's own.
  llvm::Error addWords(int64_t count);
  /// Copies back what has results in it.
  llvm::Error download(unsigned numInputs);

  /// Of the buffers, then of what was added.
  llvm::ArrayRef<DevicePointer> getAddresses() const { return addresses; }

private:
  const GpuRunner &runner;
  llvm::ArrayRef<KernelBuffer> buffers;
  std::vector<SharedBuffers> pieces;
  /// Of the pieces, then of what was added.
  std::vector<GpuMemory> memory;
  /// Addresses of the buffers; null for one of no bytes.
  std::vector<DevicePointer> addresses;
};

llvm::Error StagedCall::upload() {
  for (const SharedBuffers &piece : pieces) {
    auto taken = runner.allocate(piece.memory.size());
    if (!taken)
      return taken.takeError();
    if (llvm::Error error =
            runner.write(*taken, piece.memory.data(), piece.memory.size()))
      return error;
    for (unsigned buffer : piece.buffers)
      addresses[buffer] =
          taken->getAddress() + (buffers[buffer].data() - piece.memory.data());
    memory.push_back(std::move(*taken));
  }
  return llvm::Error::success();
}

llvm::Error StagedCall::addWords(int64_t count) {
  auto taken = runner.allocate(count * sizeof(int64_t));
  if (!taken)
    return taken.takeError();
  addresses.push_back(taken->getAddress());
  memory.push_back(std::move(*taken));
  return llvm::Error::success();
}

llvm::Error StagedCall::download(unsigned numInputs) {
  for (auto [piece, taken] : llvm::zip_first(pieces, memory)) {
    // Results are behind inputs.
    if (piece.buffers.back() < numInputs)
      continue;
    if (llvm::Error error =
            runner.read(piece.memory.data(), taken, piece.memory.size()))
      return error;
  }
  return llvm::Error::success();
}

class CudaLauncher : public KernelLauncher {
public:
  CudaLauncher(std::shared_ptr<Gpu> gpu, std::string ptx, LaunchPlan plan)
      : gpu(std::move(gpu)), ptx(std::move(ptx)), plan(std::move(plan)) {}

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &, LaunchMeasures *measures) const override;

private:
  llvm::Expected<const GpuModule *> getModule() const;
  llvm::Expected<float> runFunctions(const GpuRunner &runner,
                                     const GpuModule &module,
                                     llvm::ArrayRef<int64_t> grids,
                                     llvm::ArrayRef<uint64_t> arguments) const;

  std::shared_ptr<Gpu> gpu;
  std::string ptx;
  LaunchPlan plan;
  mutable std::mutex mutex;
  /// Loaded when it is first called.
  mutable std::unique_ptr<GpuModule> module;
};

llvm::Expected<const GpuModule *> CudaLauncher::getModule() const {
  std::lock_guard lock(mutex);
  if (!module) {
    std::vector<GpuLaunch> functions;
    for (const LaunchedFunction &function : plan.getFunctions())
      functions.push_back({function.name, function.threads, function.cluster,
                           function.sharedBytes});
    auto loaded = gpu->load(ptx, functions);
    if (!loaded)
      return loaded.takeError();
    module = std::move(*loaded);
  }
  return module.get();
}

/// Returns the milliseconds of all.
llvm::Expected<float>
CudaLauncher::runFunctions(const GpuRunner &runner, const GpuModule &module,
                           llvm::ArrayRef<int64_t> grids,
                           llvm::ArrayRef<uint64_t> arguments) const {
  float milliseconds = 0;
  for (auto [i, numBlocks] : llvm::enumerate(grids)) {
    if (numBlocks == 0)
      continue;
    auto time = runner.run(module, i, numBlocks, arguments);
    if (!time)
      return time.takeError();
    milliseconds += *time;
  }
  return milliseconds;
}

llvm::Error CudaLauncher::launch(const KernelCall &call,
                                 llvm::ArrayRef<KernelBuffer> buffers,
                                 unsigned numInputs, ThreadPool &,
                                 LaunchMeasures *measures) const {
  auto grids = plan.getGrids(call);
  if (!grids)
    return grids.takeError();
  auto runner = gpu->getRunner();
  if (!runner)
    return runner.takeError();
  auto module = getModule();
  if (!module)
    return module.takeError();
  StagedCall staged(**runner, buffers);
  if (llvm::Error error = staged.upload())
    return error;
  for (int64_t count : plan.getScratch())
    if (llvm::Error error = staged.addWords(count))
      return error;
  std::vector<uint64_t> arguments(staged.getAddresses());
  llvm::append_range(arguments, call.scalars);
  auto milliseconds = runFunctions(**runner, **module, *grids, arguments);
  if (!milliseconds)
    return milliseconds.takeError();
  if (llvm::Error error = staged.download(numInputs))
    return error;
  if (measures)
    measures->nanoseconds = int64_t(double(*milliseconds) * 1e6);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

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
                std::make_shared<CudaLauncher>(gpu, object.getObject().str(),
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
  return std::make_unique<CudaCompiler>(std::move(options));
}

std::vector<DeviceKind> listCudaDevices(const CudaOptions &options) {
  std::vector<DeviceKind> kinds;
  kinds.push_back({"cuda", 1, createCudaCompiler(options)});
  for (const metaop::Chip &chip : metaop::Chip::getAll()) {
    CudaOptions named = options;
    named.chip = &chip;
    kinds.push_back({"cuda:" + chip.name.str(), 0, createCudaCompiler(named)});
  }
  return kinds;
}

} // namespace metaops
