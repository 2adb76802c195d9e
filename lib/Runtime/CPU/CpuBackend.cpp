//===- CpuBackend.cpp - Code of kernels for processors --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels in the LLVM dialect become LLVM IR, then object code. An emitter has
// LLVM contexts and a target machine of its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "MetaOps/Target/CPU/CpuTarget.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace metaops {

namespace {
class CpuEmitter : public CodeEmitter {
public:
  explicit CpuEmitter(std::unique_ptr<ObjectEmitter> emitter)
      : emitter(std::move(emitter)) {}

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emit(ModuleOp module, StopCheck shouldStop) override {
    llvm::LLVMContext context;
    auto translated = translateModuleToLLVMIR(module, context);
    if (!translated)
      return llvm::createStringError(
          "a kernel could not be translated to LLVM");
    return emitter->compile(*translated, shouldStop);
  }

private:
  std::unique_ptr<ObjectEmitter> emitter;
};
} // namespace

llvm::Expected<std::shared_ptr<CpuBackend>> CpuBackend::create() {
  auto target = CodeTarget::detect();
  if (!target)
    return target.takeError();
  auto jit = Jit::create(*target);
  if (!jit)
    return jit.takeError();
  return std::shared_ptr<CpuBackend>(
      new CpuBackend(std::move(*target), std::move(*jit)));
}

std::shared_ptr<CpuBackend> CpuBackend::createFor(CodeTarget target) {
  return std::shared_ptr<CpuBackend>(
      new CpuBackend(std::move(target), nullptr));
}

CpuBackend::CpuBackend(CodeTarget target, std::unique_ptr<Jit> jit)
    : KernelBackend(std::make_shared<metaop::CpuTarget>(target.getProcessor())),
      target(std::move(target)), jit(std::move(jit)) {}

const llvm::MemoryBuffer *CpuBackend::getObject(StringRef name) const {
  auto it = objects.find(name);
  return it == objects.end() ? nullptr : it->second.get();
}

std::string CpuBackend::getDescription() const {
  return target.getDescription() + " " + getTarget().str();
}

llvm::Expected<std::unique_ptr<CodeEmitter>> CpuBackend::createEmitter() const {
  auto emitter = ObjectEmitter::create(target);
  if (!emitter)
    return emitter.takeError();
  return std::make_unique<CpuEmitter>(std::move(*emitter));
}

llvm::Expected<Kernel>
CpuBackend::load(StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) {
  KernelFunction function = nullptr;
  if (jit) {
    auto linked = jit->link(std::move(code), name);
    if (!linked)
      return linked.takeError();
    function = *linked;
  } else {
    objects[name] = std::move(code);
  }
  return Kernel{function, name.str()};
}

} // namespace metaops
