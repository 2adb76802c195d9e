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
#include "MetaOps/Runtime/Export/KernelImports.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ObjectFile.h"

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
  /// Returns objects of those kernels that are code of users.
  static llvm::Expected<std::vector<std::string>>
  compileSources(const KernelCache &cache, llvm::ArrayRef<std::string> names,
                 StringRef target);
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

/// Fails unless an object of a user's code imports nothing but what code of
/// program files may call.
static llvm::Error checkImports(llvm::MemoryBufferRef object, StringRef place) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (llvm::object::SymbolRef symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    bool isImport = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (isImport && !name->empty() && !findKernelImport(*name))
      return llvm::createStringError(place + " uses '" + llvm::demangle(*name) +
                                     "', which code of program files cannot");
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::string>>
CpuCompiler::compileSources(const KernelCache &cache,
                            llvm::ArrayRef<std::string> names,
                            StringRef target) {
  std::vector<std::string> objects(names.size());
  for (auto [name, object] : llvm::zip_equal(names, objects)) {
    auto code = cache.findExtern(name);
    if (!code)
      continue;
    auto compiled = code->source->compileFor(target);
    if (!compiled)
      return compiled.takeError();
    object = std::move(*compiled);
    if (llvm::Error error =
            checkImports({object, name}, code->source->getPlace()))
      return std::move(error);
  }
  return objects;
}

llvm::Expected<TargetCode>
CpuCompiler::compileFor(StringRef targetName,
                        llvm::ArrayRef<ExportedSlice> slices,
                        const CompileOptions &options, StopCheck shouldStop) {
  auto target = CodeTarget::find(targetName);
  if (!target)
    return target.takeError();
  auto backend = CpuBackend::createFor(*target);
  backend->setRoutines(getRoutines());
  KernelCache cache(backend);
  cache.setDiskStore(getStore());
  auto own = getKernels();
  if (!own)
    return own.takeError();
  cache.addSources(**own);
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
  auto ofUsers = compileSources(cache, names, targetName);
  if (!ofUsers)
    return ofUsers.takeError();
  std::vector<llvm::MemoryBufferRef> objects;
  for (auto [name, object] : llvm::zip_equal(names, *ofUsers)) {
    if (object.empty())
      objects.push_back(backend->getObject(name)->getMemBufferRef());
    else
      objects.emplace_back(object, cache.findExtern(name)->source->getPlace());
  }
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
