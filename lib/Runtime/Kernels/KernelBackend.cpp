//===- KernelBackend.cpp - Code of kernels --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker takes kernels whose numbers are bound to what its target emits code
// from, and has them written by the backend's emitter.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Support/Assertions.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace metaops {

namespace {
class TargetWorker : public KernelWorker {
public:
  TargetWorker(const metaop::Target &target, ContextPool &contexts,
               llvm::Expected<std::unique_ptr<CodeEmitter>> emitter);
  ~TargetWorker() override {
    if (!emitter)
      llvm::consumeError(emitter.takeError());
  }

  CompiledCode compile(const BoundKernel &kernel,
                       StopCheck shouldStop) override;

private:
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emit(const BoundKernel &kernel, StopCheck shouldStop);

  PooledContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  PassManager passes;
  StringRef targetName;
  llvm::Expected<std::unique_ptr<CodeEmitter>> emitter;
};
} // namespace

TargetWorker::TargetWorker(const metaop::Target &target, ContextPool &contexts,
                           llvm::Expected<std::unique_ptr<CodeEmitter>> emitter)
    : context(contexts),
      handler(context.get(),
              [this](Diagnostic &diagnostic) {
                if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                  messages += ": " + diagnostic.str();
                return success();
              }),
      passes(context.get()), targetName(target.getName()),
      emitter(std::move(emitter)) {
  target.addCode(passes);
  passes.enableVerifier(kHasAssertions);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
TargetWorker::emit(const BoundKernel &kernel, StopCheck shouldStop) {
  if (!emitter)
    return llvm::createStringError("there is no code generator for target '" +
                                   targetName + "'");
  context.countKernels();
  auto module =
      parseSourceString<ModuleOp>(kernel.bytecode, ParserConfig(context.get()));
  if (!module)
    return llvm::createStringError("a kernel could not be read");
  if (failed(passes.run(*module)))
    return llvm::createStringError(
        "a kernel could not be lowered for target '" + targetName + "'");
  return (*emitter)->emit(*module, shouldStop);
}

CompiledCode TargetWorker::compile(const BoundKernel &kernel,
                                   StopCheck shouldStop) {
  messages.clear();
  auto code = emit(kernel, shouldStop);
  if (!code)
    return {nullptr, toString(code.takeError()) + messages};
  return {std::move(*code), ""};
}

static std::unique_ptr<ContextPool> makeContexts(const metaop::Target &target,
                                                 DialectRegistry registry) {
  target.insertDialects(registry);
  return std::make_unique<ContextPool>(std::move(registry));
}

KernelBackend::KernelBackend(std::shared_ptr<const metaop::Target> target,
                             DialectRegistry more)
    : target(std::move(target)),
      contexts(makeContexts(*this->target, std::move(more))) {}

std::unique_ptr<KernelWorker> KernelBackend::createWorker() const {
  return std::make_unique<TargetWorker>(*target, *contexts, createEmitter());
}

} // namespace metaops
