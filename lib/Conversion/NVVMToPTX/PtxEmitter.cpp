//===- PtxEmitter.cpp - PTX of kernels ------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that LLVM has no intrinsic for become inline PTX, the module
// becomes LLVM IR, takes from libdevice the functions that it calls, and goes
// through LLVM's own pipeline for the target. Products and sums are fused where
// metaop-form-fma has decided it and nowhere else: the code generator says
// `.rn` of all others, which forbids the assembler to.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/PtxEmitter.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace mlir::metaop;

void metaop::registerPtxDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
class PtxEmitter {
public:
  explicit PtxEmitter(const PtxOptions &options) : options(options) {
    context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo *info, void *emitter) {
          static_cast<PtxEmitter *>(emitter)->report(*info);
        },
        this);
  }

  llvm::Expected<std::string> emit(gpu::GPUModuleOp kernel);

private:
  void report(const llvm::DiagnosticInfo &info);
  llvm::Error createMachine();
  llvm::Error translate(gpu::GPUModuleOp kernel);
  llvm::Error linkLibdevice();
  void optimise();
  llvm::Expected<std::string> write();

  const PtxOptions &options;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  /// Errors of LLVM.
  std::string errors;
};
} // namespace

void PtxEmitter::report(const llvm::DiagnosticInfo &info) {
  if (info.getSeverity() != llvm::DS_Error)
    return;
  llvm::raw_string_ostream stream(errors);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  stream << (errors.empty() ? "" : "; ");
  info.print(printer);
}

/// LLVM has its targets in a list of the process.
static void initialiseTarget() {
  [[maybe_unused]] static const bool isDone = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
}

llvm::Error PtxEmitter::createMachine() {
  initialiseTarget();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string reason;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return llvm::createStringError("LLVM has no target for PTX: " + reason);
  llvm::TargetOptions machineOptions;
  machineOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // The code generator's further work at the highest level, global value
  // numbering twice, finds next to nothing behind the pipeline.
  machine.reset(target->createTargetMachine(
      triple, options.chip->name,
      "+ptx" + std::to_string(options.chip->ptxVersion), machineOptions,
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  return llvm::Error::success();
}

/// Of the operations of NVVM, those without an intrinsic are inline PTX.
static LogicalResult expandIntoPtx(gpu::GPUModuleOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  ConversionTarget target(*kernel.getContext());
  target.addLegalDialect<LLVM::LLVMDialect>();
  return applyPartialConversion(kernel, target, std::move(patterns));
}

llvm::Error PtxEmitter::translate(gpu::GPUModuleOp kernel) {
  OwningOpRef<gpu::GPUModuleOp> copy(kernel.clone());
  if (failed(expandIntoPtx(*copy)))
    return llvm::createStringError("the kernel could not be expanded into PTX");
  module = translateModuleToLLVMIR(*copy, context, kernel.getName());
  if (!module)
    return llvm::createStringError("the kernel could not be made LLVM IR");
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple());
  return llvm::Error::success();
}

/// A function that nothing but libdevice defines; null for none.
static const llvm::Function *findMissing(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        function.getName().starts_with("__nv_"))
      return &function;
  return nullptr;
}

llvm::Error PtxEmitter::linkLibdevice() {
  const llvm::Function *missing = findMissing(*module);
  if (!missing)
    return llvm::Error::success();
  std::string name = missing->getName().str();
  if (options.libdevice.empty())
    return llvm::createStringError("the kernel calls " + name +
                                   ", a function of libdevice, and there is no "
                                   "libdevice" +
                                   options.whyNoLibdevice);
  auto file = llvm::MemoryBuffer::getFile(options.libdevice);
  if (!file)
    return llvm::createStringError("libdevice could not be read from '" +
                                   options.libdevice +
                                   "': " + file.getError().message());
  auto library = llvm::getOwningLazyBitcodeModule(std::move(*file), context);
  if (!library)
    return llvm::createStringError("libdevice could not be read from '" +
                                   options.libdevice +
                                   "': " + toString(library.takeError()));
  (*library)->setDataLayout(module->getDataLayout());
  (*library)->setTargetTriple(module->getTargetTriple());
  if (llvm::Linker::linkModules(
          *module, std::move(*library), llvm::Linker::LinkOnlyNeeded,
          [](llvm::Module &linked, const llvm::StringSet<> &symbols) {
            llvm::internalizeModule(
                linked, [&](const llvm::GlobalValue &value) {
                  return !value.hasName() || !symbols.contains(value.getName());
                });
          }))
    return llvm::createStringError("libdevice could not be linked" +
                                   (errors.empty() ? "" : ": " + errors));
  if (const llvm::Function *still = findMissing(*module))
    return llvm::createStringError("the kernel calls " + still->getName() +
                                   ", which the libdevice in '" +
                                   options.libdevice + "' lacks");
  return llvm::Error::success();
}

void PtxEmitter::optimise() {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(machine.get());
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(*module, modules);
}

llvm::Expected<std::string> PtxEmitter::write() {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM's target for PTX writes no text");
  codegen.run(*module);
  if (!errors.empty())
    return llvm::createStringError("there is no PTX for the kernel: " + errors);
  return text.str().str();
}

llvm::Expected<std::string> PtxEmitter::emit(gpu::GPUModuleOp kernel) {
  if (llvm::Error error = createMachine())
    return std::move(error);
  if (llvm::Error error = translate(kernel))
    return std::move(error);
  if (llvm::Error error = linkLibdevice())
    return std::move(error);
  optimise();
  return write();
}

llvm::Expected<std::string> metaop::emitPtx(gpu::GPUModuleOp module,
                                            const PtxOptions &options) {
  return PtxEmitter(options).emit(module);
}
