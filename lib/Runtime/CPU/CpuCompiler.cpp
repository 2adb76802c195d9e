//===- CpuCompiler.cpp - From a slice to a program ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each compilation has an MLIR context of its own, without threads: what it
// creates goes away with it, and a forked child finds no lock held. The slice
// comes as bytecode; kernels that the cache knows are not lowered again.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/GrowingExtents.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/CPU/ProgramBuilder.h"
#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "Tuner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <chrono>
#include <map>
#include <set>

using namespace mlir;

namespace metaops {
namespace {

/// A stage whose schedule a user has given is told by the line of that.
std::string describeOverride(const Diagnostic &diagnostic) {
  std::string place = metaop::getOverride(diagnostic.getLocation());
  return place.empty() ? "" : place + ": ";
}

/// A parsed slice in a context of its own, with what was said about it.
struct SliceModule {
  /// Skips passes from when `check` says so on; whatever comes of the module is
  /// of no use then.
  void stopWhen(StopCheck check) {
    if (!check)
      return;
    context.registerActionHandler([this, check](llvm::function_ref<void()> act,
                                                const tracing::Action &action) {
      if (isa<PassExecutionAction>(action) && (isStopped || check()))
        isStopped = true;
      else
        act();
    });
  }

  explicit SliceModule(DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            messages += (messages.empty() ? "" : "\n") +
                        describeOverride(diagnostic) + diagnostic.str();
          if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
            remarks.push_back(diagnostic.str());
          return success();
        }) {}

  llvm::Error fail(const llvm::Twine &what) {
    if (isStopped)
      return llvm::make_error<Interrupted>();
    return llvm::createStringError(messages.empty() ? what
                                                    : what + ": " + messages);
  }

  MLIRContext context;
  std::string messages;
  std::vector<std::string> remarks;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  bool isStopped = false;
};

llvm::Expected<std::unique_ptr<SliceModule>> parseSlice(StringRef bytecode) {
  DialectRegistry registry;
  metaop::registerSliceDialects(registry);
  auto slice = std::make_unique<SliceModule>(registry);
  slice->module =
      parseSourceString<ModuleOp>(bytecode, ParserConfig(&slice->context));
  if (!slice->module)
    return slice->fail("the slice could not be read");
  return slice;
}

void markGrowing(ModuleOp module, llvm::ArrayRef<GrowingDim> growing) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || growing.empty())
    return;
  std::map<unsigned, llvm::SmallVector<int64_t>> dims;
  for (const GrowingDim &dim : growing)
    dims[dim.argument].push_back(dim.dimension);
  for (auto &[argument, list] : dims)
    if (argument < main.getNumArguments())
      main.setArgAttr(argument, metaop::kGrowingAttr,
                      DenseI64ArrayAttr::get(module.getContext(), list));
}

/// All but what a file of schedules says.
metaop::PipelineOptions toPipelineOptions(const CompileOptions &options,
                                          const metaop::Processor &processor) {
  metaop::PipelineOptions pipeline;
  pipeline.rules = options.fuse ? options.rules : "none";
  pipeline.reuseMemory = options.reuseMemory;
  pipeline.processor = processor;
  return pipeline;
}

llvm::Error runTo(SliceModule &slice, metaop::PipelinePhase phase,
                  const CompileOptions &options,
                  const metaop::Processor &processor, bool report = false) {
  markGrowing(*slice.module, options.growing);
  PassManager pm(&slice.context);
  metaop::PipelineOptions pipeline = toPipelineOptions(options, processor);
  // Without contents the pass would read the file.
  if (!options.schedules.empty()) {
    pipeline.schedules = options.schedules;
    pipeline.scheduleFile = options.scheduleFile;
  }
  pipeline.report = report;
  pipeline.from = std::min(metaop::findPipelineStart(*slice.module), phase);
  if (auto error = metaop::buildPipeline(pm, phase, pipeline))
    return error;
  if (failed(pm.run(*slice.module)) || slice.isStopped)
    return slice.fail("the slice could not be compiled");
  return llvm::Error::success();
}

/// Positions in the slice that a location names; see Program.h.
void collectNodes(Location location, llvm::SetVector<unsigned> &nodes) {
  location->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner))
      if (std::optional<unsigned> node = getNode(file))
        nodes.insert(*node);
    return WalkResult::advance();
  });
}

llvm::Expected<metaop::KernelDescription>
describeKernel(func::FuncOp function, const metaop::Processor &processor) {
  auto kernel = cast<metaop::KernelOp>(function.getBody().front().front());
  auto description = metaop::describeKernel(kernel, processor);
  if (failed(description))
    return llvm::createStringError("a kernel could not be described");
  description->name = function.getName().str();
  return std::move(*description);
}

int64_t getTotalBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes = metaop::addCounts(bytes, metaop::countBytes(type));
  return bytes;
}

/// What a kernel call computes.
llvm::Expected<KernelInfo> describeCall(func::CallOp call, SymbolTable &symbols,
                                        const metaop::Processor &processor) {
  KernelInfo info;
  info.name = call.getCallee().str();
  info.bytesRead = getTotalBytes(call.getOperandTypes());
  info.bytesWritten = getTotalBytes(call.getResultTypes());
  auto description =
      describeKernel(symbols.lookup<func::FuncOp>(call.getCallee()), processor);
  if (!description)
    return description.takeError();
  info.flops = description->work.flops;
  info.instructions.assign(description->work.instructions.begin(),
                           description->work.instructions.end());
  for (const metaop::StageDescription &stage : description->stages)
    if (stage.overrideLine)
      info.scheduleLines.push_back(stage.overrideLine);
  return info;
}

/// What a step is called that is neither a kernel nor a routine.
StringRef nameOf(const Step &step) {
  if (std::holds_alternative<If>(step.action))
    return "if";
  if (std::holds_alternative<While>(step.action))
    return "while";
  if (std::holds_alternative<Check>(step.action))
    return "check";
  return std::holds_alternative<View>(step.action) ? "view" : "copy";
}

/// What each call does, for reports.
llvm::Expected<std::vector<KernelInfo>>
describeCalls(const BuiltProgram &built, ModuleOp module,
              const metaop::Processor &processor,
              const llvm::DenseMap<unsigned, StringRef> &operators) {
  std::vector<KernelInfo> calls;
  SymbolTable symbols(module);
  // Thousands of calls may be of one kernel.
  llvm::StringMap<KernelInfo> byKernel;
  std::vector<const Step *> steps;
  walkSteps(built.program->getData().steps,
            [&](const Step &step) { steps.push_back(&step); });
  for (auto [step, op] : llvm::zip_equal(steps, built.ops)) {
    KernelInfo info;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto [known, isNew] = byKernel.try_emplace(call.getCallee());
      if (isNew) {
        auto described = describeCall(call, symbols, processor);
        if (!described)
          return described.takeError();
        known->second = std::move(*described);
      }
      info = known->second;
      info.mayKeep = call->hasAttr(metaop::kMayKeepAttr);
    } else if (auto routine = dyn_cast<metaop::RoutineOpInterface>(op)) {
      info.name = op->getName().stripDialect().str();
      info.isCopy = true;
      info.routineWork = std::get<Routine>(step->action).getWork();
      for (Type type : op->getOperandTypes())
        info.bytesRead += metaop::countBytes(type);
      for (Value result : metaop::getMadeValues(op))
        info.bytesWritten += metaop::countBytes(result.getType());
    } else {
      info.name = nameOf(*step);
      info.isCopy = true;
      info.bytesRead = info.bytesWritten = step->getCopiedBytes();
    }
    llvm::SetVector<unsigned> nodes;
    collectNodes(op->getLoc(), nodes);
    info.nodes.assign(nodes.begin(), nodes.end());
    llvm::sort(info.nodes);
    for (unsigned node : info.nodes)
      if (auto it = operators.find(node); it != operators.end())
        info.operators.push_back(it->second.str());
    for (const metaop::KernelOrigin &origin : metaop::getOrigins(op->getLoc()))
      if (origin.line)
        info.scheduleLines.push_back(origin.line);
    info.maxThreads = step->getMaxThreads();
    if (const auto *kernel = std::get_if<KernelCall>(&step->action))
      info.loopOps = kernel->loopOps;
    calls.push_back(std::move(info));
  }
  return calls;
}

class CpuCompiler : public Compiler {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(StringRef bytecode, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override;

  bool hasKernels() const override { return true; }
  void setCacheDirectory(StringRef folder) override;
  CompilerStatistics getStatistics() const override;

  llvm::Expected<std::string> print(StringRef bytecode, StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override;
  llvm::Expected<ProgramDescription>
  describe(StringRef bytecode, const CompileOptions &options) override;
  llvm::Expected<TuningResult> tune(StringRef bytecode,
                                    const CompileOptions &options,
                                    llvm::ArrayRef<double> callSeconds,
                                    double budget, ThreadPool &threads,
                                    StopCheck shouldStop) override;
  llvm::Expected<std::vector<std::string>>
  listNeighbours(StringRef bytecode, const CompileOptions &options) override;
  llvm::Expected<TargetCode> compileFor(StringRef target, StringRef bytecode,
                                        llvm::ArrayRef<std::string> lines,
                                        const CompileOptions &options,
                                        StopCheck shouldStop) override;
  llvm::Expected<std::string> getTargetName() override;

private:
  /// The cache, made with the first program.
  llvm::Expected<KernelCache *> getKernels() {
    if (!kernels) {
      auto created = KernelCache::create();
      if (!created)
        return created.takeError();
      kernels = std::move(*created);
      kernels->setDiskStore(store);
    }
    return kernels.get();
  }

  /// A program compiled from a slice.
  llvm::Expected<std::shared_ptr<CompiledProgram>>
  compileSlice(StringRef bytecode, llvm::ArrayRef<bool> donatable,
               const CompileOptions &options, KernelCache &kernels,
               StopCheck shouldStop, llvm::ArrayRef<std::string> lines = {});

  std::unique_ptr<KernelCache> kernels;
  /// Null where nothing is kept on disk.
  std::shared_ptr<DiskStore> store;
  int64_t programsLoaded = 0;
};

CompilerStatistics CpuCompiler::getStatistics() const {
  CompilerStatistics statistics;
  statistics.programsLoaded = programsLoaded;
  if (kernels)
    statistics.kernelsLoaded = kernels->getNumLoaded();
  if (store)
    statistics.disk = store->getStatistics();
  return statistics;
}

/// What a program depends on. Reading the field of an option here keeps two
/// that differ from sharing a program.
DiskKey getKey(const DiskKey &target, StringRef slice,
               llvm::ArrayRef<bool> donatable, const CompileOptions &options) {
  const auto &[rules, fuse, reuseMemory, schedules, scheduleFile, growing] =
      options;
  DiskKeyBuilder key;
  key.add(static_cast<uint64_t>(growing.size()));
  for (const GrowingDim &dim : growing)
    key.add(static_cast<uint64_t>(dim.argument))
        .add(static_cast<uint64_t>(dim.dimension));
  return key.add(target)
      .add(slice)
      .add(donatable)
      .add(rules)
      .add(fuse)
      .add(reuseMemory)
      .add(schedules)
      .add(schedules.empty() ? llvm::StringRef() : scheduleFile)
      .finish();
}

void CpuCompiler::setCacheDirectory(StringRef folder) {
  store = folder.empty() ? nullptr : std::make_shared<DiskStore>(folder.str());
  if (kernels)
    kernels->setDiskStore(store);
}

/// A program that was stored, with kernels that are linked or stored, too. Null
/// where something is missing or does not fit.
std::shared_ptr<CompiledProgram> readStored(StringRef bytes,
                                            KernelCache &kernels) {
  auto read =
      readProgram(bytes, [&](StringRef name) { return kernels.find(name); });
  if (!read) {
    llvm::consumeError(read.takeError());
    return nullptr;
  }
  // It has been verified.
  return llvm::cantFail(
      CompiledProgram::create(std::move(read->data), std::move(read->info)));
}

llvm::Expected<std::shared_ptr<Program>>
CpuCompiler::compile(StringRef bytecode, llvm::ArrayRef<bool> donatable,
                     const CompileOptions &options, StopCheck shouldStop) {
  auto start = std::chrono::steady_clock::now();
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  KernelCache &kernels = **cache;
  unsigned loadedBefore = kernels.getNumLoaded();
  std::shared_ptr<CompiledProgram> program;
  std::optional<DiskKey> key;
  if (store && kernels.getTargetKey()) {
    key = getKey(*kernels.getTargetKey(), bytecode, donatable, options);
    if (auto bytes = store->load(DiskEntryKind::Program, *key))
      program = readStored(bytes->getBuffer(), kernels);
  }
  if (program) {
    ++programsLoaded;
  } else {
    auto compiled =
        compileSlice(bytecode, donatable, options, kernels, shouldStop);
    if (!compiled)
      return compiled.takeError();
    program = std::move(*compiled);
    if (key)
      store->store(DiskEntryKind::Program, *key,
                   writeProgram(program->getData(), program->getInfo()));
  }
  ProgramInfo info = program->getInfo();
  info.loadedKernels = kernels.getNumLoaded() - loadedBefore;
  info.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  program->setInfo(std::move(info));
  return program;
}

llvm::Expected<std::shared_ptr<CompiledProgram>>
CpuCompiler::compileSlice(StringRef bytecode, llvm::ArrayRef<bool> donatable,
                          const CompileOptions &options, KernelCache &kernels,
                          StopCheck shouldStop,
                          llvm::ArrayRef<std::string> lines) {
  auto slice = parseSlice(bytecode);
  if (!slice)
    return slice.takeError();
  (*slice)->stopWhen(shouldStop);
  ModuleOp module = *(*slice)->module;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration())
    return (*slice)->fail("the slice has no function @main");
  for (auto [i, mayOverwrite] : llvm::enumerate(donatable))
    if (mayOverwrite && i < main.getNumArguments())
      main.setArgAttr(i, "metaop.donatable", UnitAttr::get(&(*slice)->context));
  llvm::DenseMap<unsigned, StringRef> operators;
  unsigned metaOps = 0;
  metaop::walkBlocks(main.getBody(), [&](Block &block) {
    for (Operation &op : block.without_terminator()) {
      llvm::SetVector<unsigned> nodes;
      collectNodes(op.getLoc(), nodes);
      for (unsigned node : nodes)
        operators[node] = op.getName().stripDialect();
      ++metaOps;
    }
  });

  if (auto error = runTo(**slice, metaop::PipelinePhase::Kernels, options,
                         kernels.getProcessor()))
    return std::move(error);
  auto built = buildProgram(module, kernels, shouldStop, lines);
  if (!built && built.errorIsA<Interrupted>())
    return built.takeError();
  if (!built)
    return (*slice)->fail(toString(built.takeError()));
  ProgramInfo info = built->program->getInfo();
  info.metaOps = metaOps;
  auto calls = describeCalls(*built, module, kernels.getProcessor(), operators);
  if (!calls)
    return (*slice)->fail(toString(calls.takeError()));
  info.calls = std::move(*calls);
  std::set<std::string> names;
  for (const KernelInfo &call : info.calls)
    if (!call.isCopy)
      names.insert(call.name);
  info.distinctKernels = names.size();
  info.arenaBytes = built->program->getScratchBytes();
  built->program->setInfo(std::move(info));
  return std::move(built->program);
}

llvm::Expected<std::string>
CpuCompiler::print(StringRef bytecode, StringRef phaseName,
                   llvm::ArrayRef<NodeLocation> locations,
                   const CompileOptions &options) {
  auto phase = metaop::parsePipelinePhase(phaseName);
  if (!phase)
    return llvm::createStringError("there is no phase '" + phaseName +
                                   "'; expected one of " +
                                   metaop::getPipelinePhaseNames());
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto slice = parseSlice(bytecode);
  if (!slice)
    return slice.takeError();
  (*slice)->module->walk([&](Operation *op) {
    llvm::SetVector<unsigned> nodes;
    collectNodes(op->getLoc(), nodes);
    if (!nodes.empty() && nodes[0] < locations.size())
      op->setLoc(FileLineColLoc::get(&(*slice)->context,
                                     locations[nodes[0]].file,
                                     locations[nodes[0]].line, 0));
  });
  if (auto error = runTo(**slice, *phase, options, (*cache)->getProcessor()))
    return std::move(error);
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  (*slice)->module->print(stream, flags);
  return text;
}

llvm::Expected<ProgramDescription>
CpuCompiler::describe(StringRef bytecode, const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const metaop::Processor &processor = (*cache)->getProcessor();
  auto slice = parseSlice(bytecode);
  if (!slice)
    return slice.takeError();
  if (auto error = runTo(**slice, metaop::PipelinePhase::Kernels, options,
                         processor, /*report=*/true))
    return std::move(error);
  ProgramDescription result;
  for (const std::string &remark : (*slice)->remarks)
    if (StringRef(remark).contains("; cost "))
      result.fusion = remark;
  SymbolTable symbols(*(*slice)->module);
  auto main = symbols.lookup<func::FuncOp>("main");
  SmallVector<func::CallOp> calls;
  main.walk<WalkOrder::PreOrder>(
      [&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto kernel = describeKernel(symbols.lookup<func::FuncOp>(call.getCallee()),
                                 processor);
    if (!kernel)
      return (*slice)->fail(toString(kernel.takeError()));
    result.kernels.push_back(std::move(*kernel));
  }
  return result;
}

llvm::Expected<TuningResult>
CpuCompiler::tune(StringRef bytecode, const CompileOptions &options,
                  llvm::ArrayRef<double> callSeconds, double budget,
                  ThreadPool &threads, StopCheck shouldStop) {
  int64_t deadline = readClock() + static_cast<int64_t>(budget * 1e9);
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto slice = parseSlice(bytecode);
  if (!slice)
    return slice.takeError();
  return tuneSlice(*(*slice)->module,
                   toPipelineOptions(options, (*cache)->getProcessor()),
                   callSeconds, deadline, threads, shouldStop);
}

llvm::Expected<std::vector<std::string>>
CpuCompiler::listNeighbours(StringRef bytecode, const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto slice = parseSlice(bytecode);
  if (!slice)
    return slice.takeError();
  return metaops::listNeighbours(
      *(*slice)->module, toPipelineOptions(options, (*cache)->getProcessor()));
}

/// The kernels that a program calls, each once, by name.
std::vector<std::string> listKernels(const ProgramData &program) {
  std::set<std::string> names;
  walkSteps(program.steps, [&](const Step &step) {
    if (const auto *call = std::get_if<KernelCall>(&step.action))
      names.insert(call->kernel->name);
  });
  return {names.begin(), names.end()};
}

llvm::Expected<TargetCode>
CpuCompiler::compileFor(StringRef targetName, StringRef bytecode,
                        llvm::ArrayRef<std::string> lines,
                        const CompileOptions &options, StopCheck shouldStop) {
  auto target = CodeTarget::find(targetName);
  if (!target)
    return target.takeError();
  std::unique_ptr<KernelCache> cache = KernelCache::createFor(*target);
  cache->setDiskStore(store);
  auto program = compileSlice(bytecode, {}, options, *cache, shouldStop, lines);
  if (!program)
    return program.takeError();
  const ProgramData &data = (*program)->getData();
  std::vector<std::string> names = listKernels(data);
  std::vector<llvm::MemoryBufferRef> objects;
  for (const std::string &name : names)
    objects.push_back(cache->getObject(name)->getMemBufferRef());
  auto image = linkImage(objects, names,
                         cache->getTarget().getBuilder().getTargetTriple());
  if (!image)
    return image.takeError();
  return TargetCode{writeProgram(data, (*program)->getInfo()),
                    std::move(*image)};
}

llvm::Expected<std::string> CpuCompiler::getTargetName() {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const std::optional<DiskKey> &key = (*cache)->getTargetKey();
  return key ? toHex(*key) : std::string();
}

} // namespace

std::unique_ptr<Compiler> createCpuCompiler() {
  return std::make_unique<CpuCompiler>();
}

} // namespace metaops
