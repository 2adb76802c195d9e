//===- Jit.cpp - Machine code in this process -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object file is made first and linked then, so that objects can be kept.
// Each object is a library of its own in the ORC sense: names do not clash, and
// the only symbols from outside are those of the process (the C library's math
// functions).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/JIT/Jit.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace llvm;

namespace metaops {

Jit::Jit() = default;
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::create() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto jit = std::unique_ptr<Jit>(new Jit());
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder->setRelocationModel(Reloc::PIC_);
  StringMap<bool> features = sys::getHostCPUFeatures();
  jit->vectorBits = features.lookup("avx512f") ? 512
                    : features.lookup("avx2")  ? 256
                                               : 128;
  auto target = builder->createTargetMachine();
  if (!target)
    return target.takeError();
  jit->target = std::move(*target);
  auto linker = orc::LLJITBuilder()
                    .setJITTargetMachineBuilder(std::move(*builder))
                    .create();
  if (!linker)
    return linker.takeError();
  jit->linker = std::move(*linker);
  jit->linker->getExecutionSession().setErrorReporter(
      [jit = jit.get()](Error error) {
        jit->reports += "; " + toString(std::move(error));
      });
  return jit;
}

Expected<std::unique_ptr<MemoryBuffer>> Jit::compile(Module &module) {
  module.setDataLayout(target->createDataLayout());
  module.setTargetTriple(target->getTargetTriple());
  std::string width = std::to_string(vectorBits);
  for (Function &function : module) {
    function.addFnAttr("target-cpu", target->getTargetCPU());
    function.addFnAttr("target-features", target->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", width);
  }

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  // The schedule has chosen the vectors. LLVM's own search takes time that
  // grows exponentially with the arithmetic of a loop's conditions.
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  PassBuilder passes(target.get(), tuning);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  passes.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager codegen;
  if (target->addPassesToEmitFile(codegen, stream, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("the host's target cannot emit object files");
  codegen.run(module);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(object), module.getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

Expected<KernelFunction> Jit::link(std::unique_ptr<MemoryBuffer> object,
                                   StringRef name, StringRef entry) {
  auto library = linker->createJITDylib(name.str());
  if (!library)
    return library.takeError();
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      linker->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library->addGenerator(std::move(*process));
  if (Error error = linker->addObjectFile(*library, std::move(object)))
    return std::move(error);
  reports.clear();
  auto address = linker->lookup(*library, entry);
  if (!address)
    return createStringError(toString(address.takeError()) + reports);
  return address->toPtr<KernelFunction>();
}

} // namespace metaops
