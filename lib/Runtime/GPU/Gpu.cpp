//===- Gpu.cpp - The GPU of a backend, and code for it --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiling needs an assembler and no GPU; running needs the driver. So each is
// looked for when it is needed, and its absence is the error of who needs it.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

using namespace metaops;
using mlir::metaop::Chip;

llvm::Expected<std::shared_ptr<Gpu>>
Gpu::create(const CudaOptions &options, std::shared_ptr<DiskStore> store) {
  AssemblerSearch search = options.search();
  std::shared_ptr<Gpu> gpu(new Gpu(options.ordinal, store));
  gpu->driverLibrary = search.driver;
  const Chip *chip = options.chip;
  if (!chip) {
    if (llvm::Error error = gpu->open(nullptr))
      return std::move(error);
    auto found = Chip::findFor(gpu->runner->getContext().getCapability());
    if (!found)
      return found.takeError();
    chip = *found;
  }
  gpu->ptxOptions.chip = chip;
  auto libdevice = search.toolkits.findLibdevice();
  if (libdevice)
    gpu->ptxOptions.libdevice = std::move(*libdevice);
  else
    gpu->ptxOptions.whyNoLibdevice = "; " + toString(libdevice.takeError());
  auto assembler = findAssembler(search);
  if (!assembler)
    return assembler.takeError();
  auto keyedBy = CubinCache::KeyedBy::Description;
  std::vector<std::string> others = options.otherAssemblers;
  if (!options.cubinFolder.empty()) {
    // A cubin that is kept says that this very assembler takes the PTX.
    keyedBy = CubinCache::KeyedBy::Build;
    others.clear();
    store = (*assembler)->getBuild().empty()
                ? nullptr
                : std::make_shared<DiskStore>(options.cubinFolder);
  }
  gpu->cubins = std::make_unique<CubinCache>(
      std::move(*assembler), std::move(store), std::move(others), keyedBy);
  return gpu;
}

void Gpu::setStore(std::shared_ptr<DiskStore> newStore) {
  std::lock_guard lock(mutex);
  store = newStore;
  cubins->setStore(newStore);
  if (driversCubins)
    driversCubins->setStore(newStore);
}

llvm::Error metaops::checkChip(const GpuRunner &runner, unsigned ordinal,
                               const Chip &chip) {
  int capability = runner.getContext().getCapability();
  if (chip.runsOn(capability))
    return llvm::Error::success();
  std::string reason = "GPU " + std::to_string(ordinal) + " is an sm_" +
                       std::to_string(capability) +
                       ", which does not run code for " + chip.name.str();
  auto fitting = Chip::findFor(capability);
  if (!fitting)
    llvm::consumeError(fitting.takeError());
  else
    reason += "; expected code for " + (*fitting)->name.str();
  return llvm::createStringError(reason);
}

/// Opens the GPU, for code of a chip if it is not null.
llvm::Error Gpu::open(const Chip *chip) {
  if (runner)
    return llvm::Error::success();
  auto opened = Driver::open(driverLibrary);
  if (!opened)
    return opened.takeError();
  auto created = GpuRunner::create(*opened, static_cast<int>(ordinal));
  if (!created)
    return created.takeError();
  if (chip)
    if (llvm::Error error = checkChip(**created, ordinal, *chip))
      return error;
  driver = std::move(*opened);
  runner = std::move(*created);
  return llvm::Error::success();
}

llvm::Expected<const GpuRunner *> Gpu::getRunner() {
  std::lock_guard lock(mutex);
  if (llvm::Error error = open(ptxOptions.chip))
    return std::move(error);
  return runner.get();
}

llvm::Expected<CubinCache *> Gpu::getDriversCubins() {
  std::lock_guard lock(mutex);
  if (!driversCubins) {
    auto assembler = useDriverAsAssembler(driver);
    if (!assembler)
      return assembler.takeError();
    driversCubins = std::make_unique<CubinCache>(std::move(*assembler), store);
  }
  return driversCubins.get();
}

llvm::Expected<std::unique_ptr<GpuModule>>
Gpu::load(llvm::StringRef ptx, llvm::ArrayRef<GpuLaunch> functions) {
  auto runner = getRunner();
  if (!runner)
    return runner.takeError();
  auto cubin = cubins->get(ptx, *ptxOptions.chip);
  if (!cubin)
    return cubin.takeError();
  auto module = (*runner)->load(cubin->code, functions);
  if (module)
    return module;
  auto drivers = getDriversCubins();
  if (!drivers)
    return llvm::joinErrors(module.takeError(), drivers.takeError());
  auto second = (*drivers)->get(ptx, *ptxOptions.chip);
  if (!second)
    return llvm::joinErrors(module.takeError(), second.takeError());
  if (second->code == cubin->code)
    return module;
  llvm::consumeError(module.takeError());
  return (*runner)->load(second->code, functions);
}
