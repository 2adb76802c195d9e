//===- Jit.cpp - Machine code in this process -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object file is made first and linked then, so that objects can be kept and
// made on several threads. All objects are linked into one library in the ORC
// sense, which costs less than one library each; the only symbols from outside
// are those of the process (the C library's math functions), of the C library's
// functions of vectors, and of the compiler's support library.
//
// The schedule has chosen vectors, tiles and what is unrolled, so the pipeline
// is no compiler's for programs at large: LLVM's search for vectors takes time
// that grows exponentially with the arithmetic of a loop's conditions, its
// unrolling of long loops fills what it takes for the processor's buffers, and
// its inliner simplifies a kernel before and after it is a part of its entry.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/JIT/Jit.h"
#include "MetaOps/Runtime/Export/KernelImports.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Support/BFloat16.h"
#include "SingleLaneStores.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
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
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/InferFunctionAttrs.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

#include <unistd.h>

using namespace llvm;

namespace metaops {

//===----------------------------------------------------------------------===//
// CodeTarget
//===----------------------------------------------------------------------===//

/// Takes the sizes of a core's own caches from the system, where it tells them.
/// Those that cores share say little: others use them, too.
static void readCaches(mlir::metaop::Processor &processor) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  if (long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
    processor.firstCacheBytes = bytes;
  if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    processor.secondCacheBytes = bytes;
#endif
}

Expected<CodeTarget> CodeTarget::detect() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder->setRelocationModel(Reloc::PIC_);
  StringMap<bool> features = sys::getHostCPUFeatures();
  bool isAArch64 = builder->getTargetTriple().isAArch64();
  // Their instructions for bf16 are of no use: they flush subnormal numbers.
  if (builder->getTargetTriple().isX86())
    for (StringRef feature : {"avx512bf16", "avxneconvert"})
      builder->getFeatures().AddFeature(feature, /*Enable=*/false);
  auto processor =
      mlir::metaop::Processor::find(features.lookup("avx512f") ? "avx512"
                                    : features.lookup("avx2")  ? "avx2"
                                    : isAArch64                ? "neon"
                                                               : "sse");
  if (!processor)
    return processor.takeError();
  readCaches(*processor);
  processor->hasFma = features.lookup("fma") || isAArch64;
  // The first release had a few functions, that of 2.35 all.
  processor->hasVectorMath = findVectorFunction("_ZGVbN2v_cbrt") != nullptr;
  return CodeTarget(std::move(*builder), *processor);
}

namespace {
/// A usual kind of processors, by the names of LLVM and of our schedules.
struct TargetKind {
  StringLiteral name, triple, cpu, processor;
};
} // namespace

static constexpr TargetKind targetKinds[] = {
    {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "avx2"},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "avx512"},
    {"aarch64", "aarch64-unknown-linux-gnu", "generic", "neon"},
};

Expected<CodeTarget> CodeTarget::find(StringRef name) {
  const auto *kind = llvm::find_if(
      targetKinds, [&](const TargetKind &kind) { return kind.name == name; });
  if (kind == std::end(targetKinds)) {
    auto names = map_range(targetKinds,
                           [](const TargetKind &kind) { return kind.name; });
    return createStringError("there is no target '" + name +
                             "'; there are: " + join(names, ", "));
  }
  // No others: a program that LLVM is a part of has no more than these.
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  orc::JITTargetMachineBuilder builder{Triple(kind->triple)};
  builder.setCPU(kind->cpu.str());
  builder.setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder.setRelocationModel(Reloc::PIC_);
  builder.setCodeModel(CodeModel::Small);
  auto processor = mlir::metaop::Processor::find(kind->processor);
  if (!processor)
    return processor.takeError();
  return CodeTarget(std::move(builder), *processor);
}

std::string CodeTarget::getDescription() const {
  return "LLVM " LLVM_VERSION_STRING " " + builder.getTargetTriple().str() +
         " " + builder.getCPU() + " " + builder.getFeatures().getString();
}

//===----------------------------------------------------------------------===//
// ObjectEmitter
//===----------------------------------------------------------------------===//

ObjectEmitter::ObjectEmitter(std::unique_ptr<TargetMachine> machine,
                             unsigned vectorBits, CodeForm form)
    : machine(std::move(machine)), vectorBits(vectorBits), form(form) {}
ObjectEmitter::~ObjectEmitter() = default;

Expected<std::unique_ptr<ObjectEmitter>>
ObjectEmitter::create(const CodeTarget &target) {
  orc::JITTargetMachineBuilder builder = target.getBuilder();
  auto machine = builder.createTargetMachine();
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<ObjectEmitter>(new ObjectEmitter(
      std::move(*machine), target.getProcessor().vectorBits, target.getForm()));
}

/// LLVM's simplification of functions, once, for each entry with its kernel in
/// it; then what, of LLVM's work for a target, is of use to such code.
static ModulePassManager buildKernelPipeline(PassBuilder &passes) {
  // With the threshold of -O3, short rows have no loops.
  FunctionPassManager functions = passes.buildFunctionSimplificationPipeline(
      OptimizationLevel::O3, ThinOrFullLTOPhase::None);
  functions.addPass(VectorCombinePass());
  functions.addPass(InstCombinePass());
  functions.addPass(SROAPass(SROAOptions::PreserveCFG));
  functions.addPass(InstCombinePass());
  functions.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                    /*UseMemorySSA=*/true));
  functions.addPass(DivRemPairsPass());
  functions.addPass(SimplifyCFGPass(
      SimplifyCFGOptions().needCanonicalLoops(false).sinkCommonInsts(true)));
  functions.addPass(StoreSingleLanesPass());
  ModulePassManager modules;
  modules.addPass(InferFunctionAttrsPass());
  modules.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  modules.addPass(GlobalDCEPass());
  modules.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  return modules;
}

/// The same for a few large functions that are coroutines: simplified as a
/// whole, split, and simplified in their parts.
static ModulePassManager buildCoroutinePipeline(PassBuilder &passes) {
  ModulePassManager modules;
  modules.addPass(InferFunctionAttrsPass());
  modules.addPass(CoroEarlyPass());
  modules.addPass(createModuleToFunctionPassAdaptor(
      passes.buildFunctionSimplificationPipeline(OptimizationLevel::O1,
                                                 ThinOrFullLTOPhase::None)));
  modules.addPass(createModuleToPostOrderCGSCCPassAdaptor(
      CoroSplitPass(/*OptimizeFrame=*/true)));
  modules.addPass(CoroCleanupPass());
  FunctionPassManager functions;
  functions.addPass(SROAPass(SROAOptions::ModifyCFG));
  functions.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(InstCombinePass());
  functions.addPass(SimplifyCFGPass());
  modules.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  modules.addPass(GlobalDCEPass());
  return modules;
}

void ObjectEmitter::setTarget(Module &module) const {
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  std::string width = std::to_string(vectorBits);
  for (Function &function : module) {
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", width);
  }
}

Error ObjectEmitter::optimise(
    Module &module, function_ref<ModulePassManager(PassBuilder &)> build,
    StopCheck shouldStop) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  // The optional passes are nearly all of the optimiser.
  PassInstrumentationCallbacks callbacks;
  bool isStopped = false;
  callbacks.registerShouldRunOptionalPassCallback([&](StringRef, Any) {
    isStopped = isStopped || (shouldStop && shouldStop());
    return !isStopped;
  });
  PassBuilder passes(machine.get(), PipelineTuningOptions(), std::nullopt,
                     &callbacks);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  build(passes).run(module, modules);
  if (isStopped)
    return make_error<metaops::Interrupted>();
  return Error::success();
}

static std::unique_ptr<MemoryBuffer> keep(SmallVector<char, 0> bytes,
                                          const Module &module) {
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), module.getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

Expected<std::unique_ptr<MemoryBuffer>>
ObjectEmitter::emitObject(Module &module) {
  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   CodeGenFileType::ObjectFile))
    return createStringError("the host's target cannot emit object files");
  codegen.run(module);
  return keep(std::move(object), module);
}

Expected<std::unique_ptr<MemoryBuffer>>
ObjectEmitter::compile(Module &module, StopCheck shouldStop) {
  setTarget(module);
  if (Error error = optimise(module, buildKernelPipeline, shouldStop))
    return std::move(error);
  if (form == CodeForm::Object)
    return emitObject(module);
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  return keep(std::move(bitcode), module);
}

Expected<std::unique_ptr<MemoryBuffer>>
ObjectEmitter::compileCoroutines(Module &module) {
  setTarget(module);
  // Most of a kernel's time is the engine's, and a kernel runs once or twice.
  machine->setOptLevel(CodeGenOptLevel::None);
  if (Error error = optimise(module, buildCoroutinePipeline, nullptr))
    return std::move(error);
  return emitObject(module);
}

//===----------------------------------------------------------------------===//
// Jit
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
// Functions that LLVM calls for conversions of f16 that the processor has no
// instruction for: f64 to f16, and all of them without F16C. Python hides the
// library that has them from the process.
extern "C" {
void truncateDoubleToHalf() asm("__truncdfhf2");
void truncateSingleToHalf() asm("__truncsfhf2");
void extendHalfToSingle() asm("__extendhfsf2");
}
#endif

static Error defineConversions(orc::LLJIT &linker) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[linker.mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(function),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  define("__truncsfbf2", truncateToBFloat16);
#ifdef __x86_64__
  define("__truncdfhf2", truncateDoubleToHalf);
  define("__truncsfhf2", truncateSingleToHalf);
  define("__extendhfsf2", extendHalfToSingle);
#endif
  return linker.getMainJITDylib().define(orc::absoluteSymbols(symbols));
}

Jit::Jit() = default;
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::create(const CodeTarget &target) {
  auto jit = std::unique_ptr<Jit>(new Jit());
  auto linker = orc::LLJITBuilder()
                    .setJITTargetMachineBuilder(target.getBuilder())
                    .create();
  if (!linker)
    return linker.takeError();
  jit->linker = std::move(*linker);
  jit->linker->getExecutionSession().setErrorReporter(
      [jit = jit.get()](Error error) {
        jit->reports += "; " + toString(std::move(error));
      });
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->linker->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  jit->linker->getMainJITDylib().addGenerator(std::move(*process));
  auto isVectorFunction = [](const orc::SymbolStringPtr &name) {
    return (*name).starts_with("_ZGV");
  };
  auto vectorMath = orc::DynamicLibrarySearchGenerator::Load(
      kVectorMathLibrary, jit->linker->getDataLayout().getGlobalPrefix(),
      isVectorFunction);
  if (vectorMath)
    jit->linker->getMainJITDylib().addGenerator(std::move(*vectorMath));
  else // Then no processor has such functions.
    consumeError(vectorMath.takeError());
  if (Error error = defineConversions(*jit->linker))
    return std::move(error);
  return jit;
}

Error Jit::define(StringRef symbol, void *address) {
  orc::SymbolMap symbols;
  symbols[linker->mangleAndIntern(symbol)] = {
      orc::ExecutorAddr::fromPtr(address),
      JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return linker->getMainJITDylib().define(orc::absoluteSymbols(symbols));
}

Expected<KernelFunction> Jit::link(std::unique_ptr<MemoryBuffer> object,
                                   StringRef entry) {
  reports.clear();
  orc::ResourceTrackerSP tracker =
      linker->getMainJITDylib().createResourceTracker();
  auto fail = [&](Error error) -> Error {
    std::string text = toString(std::move(error));
    if (Error removal = tracker->remove())
      text += "; " + toString(std::move(removal));
    return createStringError(text + reports);
  };
  if (Error error = linker->addObjectFile(tracker, std::move(object)))
    return fail(std::move(error));
  auto address = linker->lookup(entry);
  if (!address)
    return fail(address.takeError());
  return address->toPtr<KernelFunction>();
}

} // namespace metaops
