//===- ProgramCompiler.cpp - From slices to programs of kernels -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each compilation has an MLIR context to itself, without threads: a forked
// child finds no lock held. Programs use one after the other, until it has seen
// much. The slice comes as bytecode; kernels that the cache knows are not
// lowered again.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/ProgramCompiler.h"
#include "DescribeCalls.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Runtime/Kernels/SliceModule.h"
#include "MetaOps/Runtime/Kernels/Tuning/Tuner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <chrono>
#include <set>

using namespace mlir;

namespace metaops {

llvm::Expected<KernelCache *> ProgramCompiler::getKernels() {
  if (!kernels) {
    auto backend = createBackend();
    if (!backend)
      return backend.takeError();
    (*backend)->setRoutines(routines);
    kernels = std::make_unique<KernelCache>(std::move(*backend));
    kernels->setDiskStore(store);
  }
  return kernels.get();
}

CompilerStatistics ProgramCompiler::getStatistics() const {
  CompilerStatistics statistics;
  statistics.programsLoaded = programsLoaded;
  if (kernels)
    statistics.kernelsLoaded = kernels->getNumLoaded();
  if (store)
    statistics.disk = store->getStatistics();
  return statistics;
}

/// Returns the key of what a program depends on. Reading the field of an option
/// here keeps two that differ from sharing a program.
static DiskKey getKey(const DiskKey &target, StringRef slice,
                      llvm::ArrayRef<bool> donatable,
                      const CompileOptions &options,
                      const RoutineRegistry &routines) {
  const auto &[rules, fuse, reuseMemory, floatAtomics, libraries, schedules,
               scheduleFile, varying] = options;
  DiskKeyBuilder key;
  key.add(static_cast<uint64_t>(varying.size()));
  for (const VaryingDim &dim : varying)
    key.add(static_cast<uint64_t>(dim.argument))
        .add(static_cast<uint64_t>(dim.dimension));
  return key.add(target)
      .add(routines.describe())
      .add(slice)
      .add(donatable)
      .add(rules)
      .add(fuse)
      .add(reuseMemory)
      .add(floatAtomics)
      .add(libraries)
      .add(schedules)
      .add(schedules.empty() ? llvm::StringRef() : scheduleFile)
      .finish();
}

void ProgramCompiler::setRoutines(
    std::shared_ptr<const RoutineRegistry> given) {
  assert(!kernels && "nothing has been compiled");
  routines = std::move(given);
}

void ProgramCompiler::setCacheDirectory(StringRef folder) {
  store = folder.empty() ? nullptr : std::make_shared<DiskStore>(folder.str());
  if (kernels)
    kernels->setDiskStore(store);
}

/// A program that was stored, with kernels that are linked or stored, too. Null
/// where something is missing or does not fit.
static std::shared_ptr<CompiledProgram> readStored(StringRef bytes,
                                                   KernelCache &kernels) {
  auto read = readProgram(
      bytes,
      [&](StringRef name) {
        auto code = kernels.findExtern(name);
        return code ? code : kernels.find(name);
      },
      kernels.getBackend().getRoutines());
  if (!read) {
    llvm::consumeError(read.takeError());
    return nullptr;
  }
  // It has been verified.
  return llvm::cantFail(
      CompiledProgram::create(std::move(read->data), std::move(read->info)));
}

/// Returns whether a program means nothing in another process.
static bool isLocal(const ProgramData &program) {
  bool found = false;
  walkSteps(program.steps, [&](const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.action);
    found |= call && call->kernel->isLocal;
  });
  return found;
}

llvm::Expected<std::shared_ptr<Program>>
ProgramCompiler::compile(StringRef bytecode, llvm::ArrayRef<bool> donatable,
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
    key = getKey(*kernels.getTargetKey(), bytecode, donatable, options,
                 *routines);
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
    if (key && !isLocal(program->getData()))
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

llvm::Expected<std::shared_ptr<CompiledProgram>> ProgramCompiler::compileSlice(
    StringRef bytecode, llvm::ArrayRef<bool> donatable,
    const CompileOptions &options, KernelCache &kernels, StopCheck shouldStop,
    llvm::ArrayRef<std::string> lines) {
  auto slice = SliceModule::parse(bytecode, kernels.getContexts());
  if (!slice)
    return slice.takeError();
  (*slice)->stopWhen(shouldStop);
  ModuleOp module = (*slice)->getModule();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (auto [i, mayOverwrite] : llvm::enumerate(donatable))
    if (mayOverwrite && i < main.getNumArguments())
      main.setArgAttr(i,
                      metaop::MetaOpDialect::DonatableAttrHelper::getNameStr(),
                      UnitAttr::get(module.getContext()));
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

  if (auto error =
          (*slice)->runTo(metaop::kKernelsPhase, options, kernels.getBackend()))
    return std::move(error);
  auto built = buildProgram(module, kernels, shouldStop, lines);
  if (!built && built.errorIsA<Interrupted>())
    return built.takeError();
  if (!built)
    return (*slice)->fail(toString(built.takeError()));
  ProgramInfo info = built->program->getInfo();
  info.metaOps = metaOps;
  auto calls = describeCalls(*built, module, kernels.getBackend(), operators);
  if (!calls)
    return (*slice)->fail(toString(calls.takeError()));
  info.calls = std::move(*calls);
  std::set<std::string> names;
  for (const KernelInfo &call : info.calls)
    if (call.isKernel)
      names.insert(call.name);
  info.distinctKernels = names.size();
  info.arenaBytes = built->program->getScratchBytes();
  built->program->setInfo(std::move(info));
  return std::move(built->program);
}

llvm::Expected<std::vector<std::string>> ProgramCompiler::getPhases() {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  std::vector<std::string> names;
  const metaop::Target &target = (*cache)->getBackend().getTarget();
  for (StringRef phase : metaop::getPipelinePhases(target))
    if (!target.needsFiles(phase))
      names.push_back(phase.str());
  return names;
}

llvm::Expected<std::string>
ProgramCompiler::print(StringRef bytecode, StringRef phase,
                       llvm::ArrayRef<NodeLocation> locations,
                       const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  auto phases = metaop::getPipelinePhases((*cache)->getBackend().getTarget());
  if (!llvm::is_contained(phases, phase))
    return llvm::createStringError("there is no phase '" + phase +
                                   "'; expected one of " +
                                   llvm::join(phases, ", "));
  auto slice = SliceModule::parse(bytecode, (*cache)->getContexts());
  if (!slice)
    return slice.takeError();
  (*slice)->getModule()->walk([&](Operation *op) {
    llvm::SetVector<unsigned> nodes;
    collectNodes(op->getLoc(), nodes);
    if (!nodes.empty() && nodes[0] < locations.size())
      op->setLoc(FileLineColLoc::get(op->getContext(), locations[nodes[0]].file,
                                     locations[nodes[0]].line, 0));
  });
  if (auto error = (*slice)->runTo(phase, options, (*cache)->getBackend()))
    return std::move(error);
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  (*slice)->getModule()->print(stream, flags);
  return text;
}

llvm::Expected<ProgramDescription>
ProgramCompiler::describe(StringRef bytecode, const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const KernelBackend &backend = (*cache)->getBackend();
  auto slice = SliceModule::parse(bytecode, (*cache)->getContexts());
  if (!slice)
    return slice.takeError();
  if (auto error = (*slice)->runTo(metaop::kKernelsPhase, options, backend,
                                   /*report=*/true))
    return std::move(error);
  ProgramDescription result;
  for (const std::string &remark : (*slice)->getRemarks())
    if (StringRef(remark).contains("; cost "))
      result.fusion = remark;
  SymbolTable symbols((*slice)->getModule());
  auto main = symbols.lookup<func::FuncOp>("main");
  SmallVector<func::CallOp> calls;
  main.walk<WalkOrder::PreOrder>(
      [&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto kernel =
        describeKernel(symbols.lookup<func::FuncOp>(call.getCallee()), backend);
    if (!kernel)
      return (*slice)->fail(toString(kernel.takeError()));
    result.kernels.push_back(std::move(*kernel));
  }
  return result;
}

llvm::Expected<TuningResult>
ProgramCompiler::tune(StringRef bytecode, const CompileOptions &options,
                      llvm::ArrayRef<double> callSeconds, double budget,
                      ThreadPool &threads, StopCheck shouldStop) {
  int64_t deadline = readClock() + static_cast<int64_t>(budget * 1e9);
  auto target = getTuningTarget(options);
  if (!target)
    return target.takeError();
  auto slice = SliceModule::parse(bytecode, kernels->getContexts());
  if (!slice)
    return slice.takeError();
  return tuneSlice((*slice)->getModule(), *target, callSeconds, deadline,
                   threads, shouldStop);
}

llvm::Expected<std::vector<std::string>>
ProgramCompiler::listNeighbours(StringRef bytecode,
                                const CompileOptions &options) {
  auto target = getTuningTarget(options);
  if (!target)
    return target.takeError();
  auto slice = SliceModule::parse(bytecode, kernels->getContexts());
  if (!slice)
    return slice.takeError();
  return metaops::listNeighbours((*slice)->getModule(), *target);
}

llvm::Expected<TuningTarget>
ProgramCompiler::getTuningTarget(const CompileOptions &options) {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const KernelBackend &backend = (*cache)->getBackend();
  return TuningTarget{
      toPipelineOptions(options, backend), backend,
      [this]() -> llvm::Expected<std::shared_ptr<KernelBackend>> {
        auto created = createBackend();
        if (created)
          (*created)->setRoutines(routines);
        return created;
      }};
}

llvm::Expected<std::string> ProgramCompiler::getTargetName() {
  auto cache = getKernels();
  if (!cache)
    return cache.takeError();
  const std::optional<DiskKey> &key = (*cache)->getTargetKey();
  return key ? toHex(*key) : std::string();
}

} // namespace metaops
