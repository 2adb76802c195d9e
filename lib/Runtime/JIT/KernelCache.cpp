//===- KernelCache.cpp - Compiled kernels by what they compute ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/JIT/KernelCache.h"
#include "MetaOps/Conversion/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace metaops {

llvm::Expected<std::unique_ptr<KernelCache>> KernelCache::create() {
  auto jit = Jit::create();
  if (!jit)
    return jit.takeError();
  return std::unique_ptr<KernelCache>(new KernelCache(std::move(*jit)));
}

/// The kernel's text and the arguments that it takes in order: equal for
/// kernels that compute the same.
static std::string getKey(func::FuncOp function) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  Operation &kernel = function.getBody().front().front();
  OpPrintingFlags flags;
  flags.useLocalScope().enableDebugInfo(false);
  kernel.print(stream, flags);
  // The text does not name values from outside of the kernel.
  for (Value operand : kernel.getOperands())
    if (auto argument = dyn_cast<BlockArgument>(operand))
      stream << ' ' << argument.getArgNumber();
  stream << ' ' << function.getFunctionType();
  return key;
}

static int64_t getNumber(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

llvm::Expected<Kernel> KernelCache::compile(func::FuncOp function) {
  MLIRContext *ctx = function.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto copy = cast<func::FuncOp>(function->clone());
  copy.setName("kernel");
  module->push_back(copy);

  PassManager toLoops(ctx), toLLVM(ctx);
  toLoops.addPass(metaop::createConvertMetaOpToVectorPass());
  if (failed(toLoops.run(*module)))
    return llvm::createStringError("a kernel could not be lowered to loops");
  Operation *loops = SymbolTable::lookupSymbolIn(*module, "kernel");
  Kernel kernel;
  kernel.parallelRange = getNumber(loops, "metaop.parallel_range", -1);
  if (kernel.parallelRange < 0)
    return llvm::createStringError(
        "a kernel's parallel range is not known before it runs");
  kernel.workPerStep = getNumber(loops, "metaop.work_per_step", 0);

  metaop::buildVectorToLLVMPipeline(toLLVM);
  if (failed(toLLVM.run(*module)))
    return llvm::createStringError("a kernel could not be lowered to LLVM");
  registerBuiltinDialectTranslation(*ctx);
  registerLLVMDialectTranslation(*ctx);
  llvm::LLVMContext llvmContext;
  auto llvmModule = translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return llvm::createStringError("a kernel could not be translated to LLVM");
  auto object = jit->compile(*llvmModule);
  if (!object)
    return object.takeError();
  auto entry =
      jit->link(std::move(*object), "kernel." + std::to_string(numLinked++),
                "kernel_entry");
  if (!entry)
    return entry.takeError();
  kernel.function = *entry;
  return kernel;
}

llvm::Expected<std::shared_ptr<const Kernel>>
KernelCache::get(func::FuncOp function, unsigned &compiled) {
  auto [it, isNew] = kernels.try_emplace(getKey(function));
  if (!isNew)
    return it->second;
  auto kernel = compile(function);
  if (!kernel) {
    kernels.erase(it);
    return kernel.takeError();
  }
  ++compiled;
  it->second = std::make_shared<const Kernel>(*kernel);
  return it->second;
}

} // namespace metaops
