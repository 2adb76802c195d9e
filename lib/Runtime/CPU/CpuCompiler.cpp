//===- CpuCompiler.cpp - Programs for processors --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside what all compilers do: schedules are tuned, and programs compiled for
// processors that are not here.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "MetaOps/Runtime/Kernels/SliceModule.h"
#include "Tuner.h"

#include <set>

using namespace mlir;

namespace metaops {
namespace {

class CpuCompiler : public ProgramCompiler {
public:
  llvm::Expected<TuningResult> tune(StringRef bytecode,
                                    const CompileOptions &options,
                                    llvm::ArrayRef<double> callSeconds,
                                    double budget, ThreadPool &threads,
                                    StopCheck shouldStop) override;
  llvm::Expected<std::vector<std::string>>
  listNeighbours(StringRef bytecode, const CompileOptions &options) override;
  llvm::Expected<TargetCode> compileFor(StringRef target, StringRef bytecode,
                                        llvm::ArrayRef<std::string> lines,
                                        const CompileOptions &options,
                                        StopCheck shouldStop) override;
  llvm::Expected<std::string> getTargetName() override;

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    return CpuBackend::create();
  }
};

llvm::Expected<TuningResult>
CpuCompiler::tune(StringRef bytecode, const CompileOptions &options,
                  llvm::ArrayRef<double> callSeconds, double budget,
                  ThreadPool &threads, StopCheck shouldStop) {
  int64_t deadline = readClock() + static_cast<int64_t>(budget * 1e9);
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto slice = SliceModule::parse(bytecode);
  if (!slice)
    return slice.takeError();
  return tuneSlice((*slice)->getModule(),
                   toPipelineOptions(options, (*cache)->getBackend()),
                   callSeconds, deadline, threads, shouldStop);
}

llvm::Expected<std::vector<std::string>>
CpuCompiler::listNeighbours(StringRef bytecode, const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto slice = SliceModule::parse(bytecode);
  if (!slice)
    return slice.takeError();
  return metaops::listNeighbours(
      (*slice)->getModule(),
      toPipelineOptions(options, (*cache)->getBackend()));
}

/// The kernels that a program calls, each once, by name.
std::vector<std::string> listKernels(const ProgramData &program) {
  std::set<std::string> names;
  walkSteps(program.steps, [&](const Step &step) {
    if (const auto *call = std::get_if<KernelCall>(&step.action))
      names.insert(call->kernel->name);
  });
  return {names.begin(), names.end()};
}

llvm::Expected<TargetCode>
CpuCompiler::compileFor(StringRef targetName, StringRef bytecode,
                        llvm::ArrayRef<std::string> lines,
                        const CompileOptions &options, StopCheck shouldStop) {
  auto target = CodeTarget::find(targetName);
  if (!target)
    return target.takeError();
  auto backend = CpuBackend::createFor(*target);
  KernelCache cache(backend);
  cache.setDiskStore(getStore());
  auto program = compileSlice(bytecode, {}, options, cache, shouldStop, lines);
  if (!program)
    return program.takeError();
  const ProgramData &data = (*program)->getData();
  std::vector<std::string> names = listKernels(data);
  std::vector<llvm::MemoryBufferRef> objects;
  for (const std::string &name : names)
    objects.push_back(backend->getObject(name)->getMemBufferRef());
  auto image =
      linkImage(objects, names, target->getBuilder().getTargetTriple());
  if (!image)
    return image.takeError();
  return TargetCode{writeProgram(data, (*program)->getInfo()),
                    std::move(*image)};
}

llvm::Expected<std::string> CpuCompiler::getTargetName() {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const std::optional<DiskKey> &key = (*cache)->getTargetKey();
  return key ? toHex(*key) : std::string();
}

} // namespace

std::unique_ptr<Compiler> createCpuCompiler() {
  return std::make_unique<CpuCompiler>();
}

} // namespace metaops
