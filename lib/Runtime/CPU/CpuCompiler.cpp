//===- CpuCompiler.cpp - Programs for processors --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside what all compilers do: programs are compiled for processors that are
// not here.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuCompiler.h"
#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"

#include <set>

using namespace mlir;

namespace metaops {
namespace {

class CpuCompiler : public ProgramCompiler {
public:
  llvm::Expected<TargetCode> compileFor(StringRef target,
                                        llvm::ArrayRef<ExportedSlice> slices,
                                        const CompileOptions &options,
                                        StopCheck shouldStop) override;
  KernelSharing getSharing() const override { return KernelSharing::Varying; }
  llvm::Error addExtern(std::shared_ptr<const Kernel> kernel) override;

private:
  llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() override {
    return CpuBackend::create();
  }
};

llvm::Error CpuCompiler::addExtern(std::shared_ptr<const Kernel> kernel) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  (*cache)->addExtern(std::move(kernel));
  return llvm::Error::success();
}

/// Adds the kernels that a program calls, by name.
void addKernels(const ProgramData &program, std::set<std::string> &names) {
  walkSteps(program.steps, [&](const Step &step) {
    if (const auto *call = std::get_if<KernelCall>(&step.action))
      names.insert(call->kernel->name);
  });
}

llvm::Expected<TargetCode>
CpuCompiler::compileFor(StringRef targetName,
                        llvm::ArrayRef<ExportedSlice> slices,
                        const CompileOptions &options, StopCheck shouldStop) {
  auto target = CodeTarget::find(targetName);
  if (!target)
    return target.takeError();
  auto backend = CpuBackend::createFor(*target);
  KernelCache cache(backend);
  cache.setDiskStore(getStore());
  TargetCode code;
  std::set<std::string> kernels;
  for (const ExportedSlice &slice : slices) {
    auto program = compileSlice(slice.bytecode, {}, options, cache, shouldStop,
                                slice.lines);
    if (!program)
      return program.takeError();
    const ProgramData &data = (*program)->getData();
    addKernels(data, kernels);
    code.programs.push_back(writeProgram(data, (*program)->getInfo()));
  }
  // Programs of sorts, copies and views have no kernels.
  if (kernels.empty())
    return code;
  std::vector<std::string> names(kernels.begin(), kernels.end());
  std::vector<llvm::MemoryBufferRef> objects;
  for (const std::string &name : names)
    objects.push_back(backend->getObject(name)->getMemBufferRef());
  auto image =
      linkImage(objects, names, target->getBuilder().getTargetTriple());
  if (!image)
    return image.takeError();
  code.image = std::move(*image);
  return code;
}

} // namespace

std::unique_ptr<Compiler> createCpuCompiler() {
  return std::make_unique<CpuCompiler>();
}

} // namespace metaops
