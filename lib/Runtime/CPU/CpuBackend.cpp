//===- CpuBackend.cpp - Code of kernels for processors --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels become loops and vectors over buffers, then LLVM IR, then object
// code. A worker has an MLIR context, LLVM contexts and a target machine of its
// own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Support/Assertions.h"
#include "MetaOps/Transforms/Schedule/CPU/Neighbours.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace metaops {

namespace {

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}

/// What one thread needs to compile kernels, one after another.
class CpuWorker : public KernelWorker {
public:
  explicit CpuWorker(const CodeTarget &target)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context,
                [this](Diagnostic &diagnostic) {
                  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                    messages += ": " + diagnostic.str();
                  return success();
                }),
        passes(&context), emitter(ObjectEmitter::create(target)) {
    metaop::buildVectorToLLVMPipeline(passes);
    passes.enableVerifier(kHasAssertions);
  }
  ~CpuWorker() override {
    if (!emitter)
      llvm::consumeError(emitter.takeError());
  }

  CompiledCode compile(const BoundKernel &kernel,
                       StopCheck shouldStop) override {
    messages.clear();
    auto object = emit(kernel, shouldStop);
    if (!object)
      return {nullptr, toString(object.takeError()) + messages};
    return {std::move(*object), ""};
  }

private:
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emit(const BoundKernel &kernel, StopCheck shouldStop);

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  PassManager passes;
  llvm::Expected<std::unique_ptr<ObjectEmitter>> emitter;
};

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
CpuWorker::emit(const BoundKernel &kernel, StopCheck shouldStop) {
  if (!emitter)
    return llvm::createStringError("there is no code generator for this "
                                   "processor");
  auto module =
      parseSourceString<ModuleOp>(kernel.bytecode, ParserConfig(&context));
  if (!module)
    return llvm::createStringError("a kernel could not be read");
  if (failed(passes.run(*module)))
    return llvm::createStringError("a kernel could not be lowered to LLVM");
  llvm::LLVMContext llvmContext;
  auto llvmModule = translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return llvm::createStringError("a kernel could not be translated to LLVM");
  return (*emitter)->compile(*llvmModule, shouldStop);
}

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

const llvm::MemoryBuffer *CpuBackend::getObject(StringRef name) const {
  auto it = objects.find(name);
  return it == objects.end() ? nullptr : it->second.get();
}

std::string CpuBackend::getDescription() const {
  return target.getDescription() + " " + target.getProcessor().str();
}

void CpuBackend::setTarget(metaop::PipelineOptions &options) const {
  options.processor = target.getProcessor();
}

FailureOr<metaop::KernelDescription>
CpuBackend::describe(metaop::KernelOp kernel) const {
  return metaop::describeKernel(kernel, target.getProcessor());
}

llvm::SmallVector<metaop::KernelSchedules>
CpuBackend::listNeighbours(llvm::ArrayRef<metaop::Stage> stages) const {
  return metaop::getNeighbours(stages);
}

void CpuBackend::addLowering(OpPassManager &passes) const {
  passes.addPass(metaop::createConvertMetaOpToVectorPass());
  // Before the numbers are known: the same for all kernels of a family.
  metaop::FormFmaPassOptions fma;
  fma.hasFma = target.hasFma();
  passes.addPass(metaop::createFormFmaPass(fma));
}

std::unique_ptr<KernelWorker> CpuBackend::createWorker() const {
  return std::make_unique<CpuWorker>(target);
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
