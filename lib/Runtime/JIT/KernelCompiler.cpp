//===- KernelCompiler.cpp - Object files of kernels -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are independent, so they are compiled side by side. Threads share
// nothing but the list of kernels: each has an MLIR context, LLVM contexts and
// a target machine of its own, and gets a kernel as bytecode. The threads live
// as long as the list; beside the tens of milliseconds that one kernel takes,
// starting them costs nothing, and a forked child finds none missing.
//
//===----------------------------------------------------------------------===//

#include "KernelCompiler.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Runtime/Cache/DiskKey.h"
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

#include <atomic>
#include <system_error>
#include <thread>

using namespace mlir;

namespace metaops {

std::string getKernelName(StringRef key) {
  // Names stand for keys, also with those of other processes.
  return "kernel_" + toHex(DiskKeyBuilder().add(key).finish());
}

std::string getKernelEntry(StringRef key) {
  // As metaop-kernel-entry names it.
  return getKernelName(key) + "_entry";
}

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
class Worker {
public:
  explicit Worker(const CodeTarget &target)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context,
                [this](Diagnostic &diagnostic) {
                  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                    messages += ": " + diagnostic.str();
                  return success();
                }),
        passes(&context), emitter(ObjectEmitter::create(target)) {
    metaop::buildVectorToLLVMPipeline(passes);
    passes.enableVerifier(false);
  }
  ~Worker() {
    if (!emitter)
      llvm::consumeError(emitter.takeError());
  }

  CompiledObject compile(const BoundKernel &kernel, StopCheck shouldStop) {
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
Worker::emit(const BoundKernel &kernel, StopCheck shouldStop) {
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

std::vector<CompiledObject> compileKernels(llvm::ArrayRef<BoundKernel> kernels,
                                           const CodeTarget &target,
                                           unsigned threads,
                                           StopCheck shouldStop,
                                           std::atomic<bool> &isStopped) {
  std::vector<CompiledObject> objects(kernels.size());
  std::atomic<size_t> next = 0;
  auto workUntil = [&](StopCheck stops) {
    std::unique_ptr<Worker> worker;
    for (size_t i = next++; i < kernels.size() && !stops(); i = next++) {
      if (!worker)
        worker = std::make_unique<Worker>(target);
      objects[i] = worker->compile(kernels[i], stops);
    }
  };
  auto work = [&] { workUntil([&] { return isStopped.load(); }); };
  std::vector<std::thread> others;
  try {
    for (size_t i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
      others.emplace_back(work);
  } catch (const std::system_error &) {
    // The process may have no more threads; those there are do all the work.
  }
  workUntil([&] {
    if (!isStopped && shouldStop && shouldStop())
      isStopped = true;
    return isStopped.load();
  });
  for (std::thread &thread : others)
    thread.join();
  return objects;
}

} // namespace metaops
