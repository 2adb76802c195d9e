//===- KernelCache.cpp - Compiled kernels by what they compute ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that was seen is found by its operations. Any other is lowered to
// loops, which is cheap beside machine code. These without their numbers, the
// skeleton, name a family, in which a form may be found that serves the numbers
// too. For the forms that are missing, numbers become arguments; then they are
// compiled side by side, and linked.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "CodeFeatures.h"
#include "CompileKernels.h"
#include "KernelFamily.h"
#include "KernelLibrary.h"
#include "MetaOps/Conversion/KernelNumbers.h"
#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Support/Assertions.h"
#include "OperationKeys.h"
#include "StretchKernel.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Threading.h"

#include <set>

using namespace mlir;

namespace metaops {

/// A kernel over buffers.
struct KernelCache::Lowered {
  /// The key of its call.
  std::string key;
  OwningOpRef<ModuleOp> module;
  /// In the order in which they run.
  llvm::SmallVector<FunctionOpInterface, 2> functions;
  /// The key of the loops without their numbers, and those.
  std::string skeleton;
  std::vector<int64_t> numbers;
  /// Those for other lengths of what varies.
  std::vector<std::vector<int64_t>> otherNumbers;
  bool isVarying = false;
  std::vector<int64_t> parallelRanges;
  int64_t workPerStep = 0;
  bool flushesDenormals = false;
  int64_t loopOps = 0;
  std::vector<uint64_t> features;

  llvm::Error readFunctions(OperationKeys &keys);
  void readOther(OwningOpRef<ModuleOp> other, OperationKeys &keys);
  llvm::Error abstract();
  std::string getText();
};

/// A form to compile, from a kernel that it serves.
struct KernelCache::Job {
  KernelFamily *family;
  Lowered *lowered;
  NumberBindings bindings;
};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Returns whether a stage of the kernel has a dimension that is varying, or a
/// constant that follows one.
static bool isVarying(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return op->hasAttr(metaop::kVaryingAttr) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns what the code of a form depends on.
static std::string getKey(StringRef skeleton, const NumberBindings &bindings) {
  std::string key = skeleton.str();
  llvm::raw_string_ostream stream(key);
  for (const metaop::NumberBinding &binding : bindings)
    stream << (binding.kind == metaop::NumberBinding::Kind::Argument ? " %"
                                                                     : " ")
           << binding.value;
  return key;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Lines of the user's code are no part of the machine code.
static void dropLocations(Operation *root) {
  auto unknown = UnknownLoc::get(root->getContext());
  root->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
}

/// The steps of loops among the numbers of an abstracted kernel.
static llvm::SmallBitVector
findSteps(llvm::ArrayRef<FunctionOpInterface> functions, size_t count) {
  llvm::SmallBitVector steps(count);
  for (FunctionOpInterface function : functions) {
    unsigned begin = metaop::getFirstNumber(function, count);
    function->walk([&](scf::ForOp loop) {
      if (auto step = dyn_cast<BlockArgument>(loop.getStep());
          step && step.getOwner() == &function.getFunctionBody().front())
        steps.set(step.getArgNumber() - begin);
    });
  }
  return steps;
}

/// The most buffers that one of an abstracted kernel's functions takes.
static size_t countBuffers(llvm::ArrayRef<FunctionOpInterface> functions,
                           size_t count) {
  size_t most = 0;
  for (FunctionOpInterface function : functions)
    most = std::max<size_t>(most, metaop::getFirstNumber(function, count));
  return most;
}

/// Lowers functions to loops, one by one.
class KernelCache::LoopsLowering {
public:
  LoopsLowering(MLIRContext *context, const KernelBackend &backend)
      : passes(context) {
    passes.enableVerifier(kHasAssertions);
    backend.getTarget().addLoops(passes);
    backend.getTarget().addFamily(passes);
  }

  OwningOpRef<ModuleOp> lower(func::FuncOp function) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
    auto copy = cast<func::FuncOp>(function->clone());
    copy.setName("kernel");
    module->push_back(copy);
    if (failed(passes.run(*module)))
      return nullptr;
    return module;
  }

  /// Lowers the same for another length of what varies; null where that is not
  /// known.
  OwningOpRef<ModuleOp> lowerStretched(func::FuncOp function, int64_t length) {
    OwningOpRef<func::FuncOp> copy(cast<func::FuncOp>(function->clone()));
    ScopedDiagnosticHandler ignore(function.getContext(),
                                   [](Diagnostic &) { return success(); });
    return failed(stretchKernel(*copy, length)) || failed(verify(*copy))
               ? nullptr
               : lower(*copy);
  }

private:
  PassManager passes;
};

/// Leaves on a function what of its entry belongs to the code: the memory that
/// launches lend, on a GPU. Processors' code has none, so that it is compiled
/// in contexts without the dialect, whose operations take long to load.
static void leaveToCode(FunctionOpInterface function, metaop::EntryAttr entry) {
  MLIRContext *context = function->getContext();
  metaop::MetaOpDialect::EntryAttrHelper entryOf(context);
  if (entry.getScratch().empty())
    return entryOf.removeAttr(function);
  entryOf.setAttr(
      function, metaop::EntryAttr::get(context, entry.getBuffers(),
                                       /*range=*/std::nullopt,
                                       /*work_per_step=*/0, entry.getScratch(),
                                       /*flushes_denormals=*/false));
}

/// Takes what belongs to the call off the lowered functions.
llvm::Error KernelCache::Lowered::readFunctions(OperationKeys &keys) {
  functions = metaop::collectKernels(*module);
  metaop::MetaOpDialect::EntryAttrHelper entryOf(module->getContext());
  for (FunctionOpInterface function : functions) {
    metaop::EntryAttr entry = entryOf.getAttr(function);
    if (!entry || !entry.getRange())
      return llvm::createStringError(
          "a kernel's parallel range is not known before it runs");
    parallelRanges.push_back(*entry.getRange());
    workPerStep = entry.getWorkPerStep();
    flushesDenormals = entry.getFlushesDenormals();
    leaveToCode(function, entry);
    function->walk([&](Operation *) { ++loopOps; });
  }
  LoopsKey loops = keys.getLoopsKey(*module, functions);
  skeleton = std::move(loops.key);
  if (isVarying)
    skeleton += "varying";
  numbers = std::move(loops.numbers);
  loopOps -= numbers.size();
  return llvm::Error::success();
}

/// Keeps the numbers of the same loops for another length.
void KernelCache::Lowered::readOther(OwningOpRef<ModuleOp> other,
                                     OperationKeys &keys) {
  Lowered stretched;
  stretched.isVarying = isVarying;
  stretched.module = std::move(other);
  if (llvm::Error error = stretched.readFunctions(keys)) {
    llvm::consumeError(std::move(error));
    return;
  }
  if (stretched.skeleton == skeleton)
    otherNumbers.push_back(std::move(stretched.numbers));
}

/// Makes arguments of the numbers, as code is made of them. Of the functions of
/// a kernel, each takes those of all.
llvm::Error KernelCache::Lowered::abstract() {
  metaop::MetaOpDialect::NumbersAttrHelper numbersOf(module->getContext());
  if (failed(metaop::abstractNumbers(functions)))
    return llvm::createStringError("a kernel's numbers are not known");
  for (FunctionOpInterface function : functions) {
    auto attr = numbersOf.getAttr(function);
    if (!attr || attr.asArrayRef() != llvm::ArrayRef(numbers))
      return llvm::createStringError("a kernel's numbers are others than "
                                     "those of its key");
    function->removeAttr(numbersOf.getName());
  }
  dropLocations(*module);
  return llvm::Error::success();
}

/// Returns the text of the abstracted loops, which is the same in any process.
std::string KernelCache::Lowered::getText() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  if (isVarying)
    stream << "varying";
  return text;
}

//===----------------------------------------------------------------------===//
// KernelCache
//===----------------------------------------------------------------------===//

static std::optional<DiskKey> makeTargetKey(const KernelBackend &backend) {
  auto identity = getBuildIdentity();
  if (!identity)
    return std::nullopt;
  return DiskKeyBuilder().add(*identity).add(backend.getDescription()).finish();
}

static DialectRegistry makeSliceRegistry() {
  DialectRegistry registry;
  metaop::registerSliceDialects(registry);
  return registry;
}

KernelCache::KernelCache(std::shared_ptr<KernelBackend> backend,
                         const KernelCacheOptions &options)
    : backend(std::move(backend)), targetKey(makeTargetKey(*this->backend)),
      library(std::make_unique<KernelLibrary>(this->backend)),
      contexts(makeSliceRegistry()),
      kernelTexts(std::make_unique<TextNumbers>()),
      loopsTexts(std::make_unique<TextNumbers>()),
      threads(options.threads
                  ? options.threads
                  : llvm::hardware_concurrency().compute_thread_count()) {}
KernelCache::~KernelCache() = default;

/// Returns whether there is code for the kernel.
bool KernelCache::hasForm(const Lowered &kernel) const {
  std::vector<int64_t> scalars;
  auto family = families.find(kernel.skeleton);
  return family != families.end() &&
         family->second->find(kernel.numbers, scalars);
}

/// The forms that are missing for the given kernels, family by family.
std::vector<KernelCache::Job>
KernelCache::plan(llvm::ArrayRef<Lowered *> lowered) {
  llvm::MapVector<KernelFamily *, std::vector<Lowered *>> missing;
  std::set<std::pair<KernelFamily *, std::vector<int64_t>>> seen;
  for (Lowered *kernel : lowered) {
    auto &family = families[kernel->skeleton];
    size_t count = kernel->numbers.size();
    if (!family)
      family = std::make_unique<KernelFamily>(
          findSteps(kernel->functions, count), kernel->isVarying,
          backend->getTarget().getMaxNumbers(
              countBuffers(kernel->functions, count)));
    for (const std::vector<int64_t> &others : kernel->otherNumbers)
      family->seeOther(others);
    std::vector<int64_t> scalars;
    bool isKnown = family->find(kernel->numbers, scalars) ||
                   !seen.insert({family.get(), kernel->numbers}).second;
    if (!isKnown)
      missing[family.get()].push_back(kernel);
  }
  std::vector<Job> jobs;
  for (auto &[family, kernels] : missing) {
    std::vector<Numbers> numbers;
    for (Lowered *kernel : kernels)
      numbers.push_back(kernel->numbers);
    for (auto [i, bindings] : llvm::enumerate(family->plan(numbers)))
      jobs.push_back({family, kernels[i], std::move(bindings)});
  }
  return jobs;
}

/// The kernel with its numbers bound, as the compiler takes it.
static BoundKernel bindKernel(ModuleOp lowered, std::string key,
                              const NumberBindings &bindings) {
  OwningOpRef<ModuleOp> module = lowered.clone();
  for (auto [i, kernel] : llvm::enumerate(metaop::collectKernels(*module))) {
    metaop::bindNumbers(kernel, bindings);
    kernel.setName(getKernelName(key) + (i ? "_" + std::to_string(i) : ""));
  }
  BoundKernel bound;
  llvm::raw_string_ostream stream(bound.bytecode);
  // Writing cannot fail without a wish for an older version.
  (void)writeBytecodeToFile(*module, stream);
  bound.entry = getKernelEntry(key);
  bound.key = std::move(key);
  return bound;
}

void KernelCache::setDiskStore(std::shared_ptr<DiskStore> store) {
  if (targetKey)
    library->setDiskStore(std::move(store), *targetKey);
}

std::shared_ptr<const Kernel> KernelCache::find(StringRef name) {
  return library->find(name);
}

void KernelCache::addExtern(std::shared_ptr<const Kernel> kernel) {
  std::string name = kernel->name;
  externs.try_emplace(name, std::move(kernel));
}

void KernelCache::addSources(const KernelCache &other) {
  for (const auto &entry : other.externs)
    if (const std::shared_ptr<const Kernel> &kernel = entry.second;
        kernel->source)
      addExtern(std::make_shared<const Kernel>(
          Kernel{nullptr, kernel->name, /*launcher=*/nullptr, kernel->source}));
}

unsigned KernelCache::getNumLoaded() const { return library->getNumLoaded(); }

/// Finds, or compiles and links, what it can, and returns the errors of the
/// rest.
llvm::Error KernelCache::compile(llvm::MutableArrayRef<Job> jobs,
                                 unsigned &compiled, StopCheck shouldStop) {
  std::vector<Job *> missing;
  std::vector<BoundKernel> kernels;
  for (Job &job : jobs) {
    std::string key = getKey(job.lowered->getText(), job.bindings);
    if (auto kernel = library->find(getKernelEntry(key))) {
      job.family->add({std::move(job.bindings), std::move(kernel)});
      continue;
    }
    missing.push_back(&job);
    kernels.push_back(
        bindKernel(*job.lowered->module, std::move(key), job.bindings));
  }
  std::vector<std::string> entries;
  for (const BoundKernel &kernel : kernels)
    entries.push_back(kernel.entry);
  auto [codes, wasStopped] =
      compileKernels(std::move(kernels), backend, threads, shouldStop);
  llvm::Error errors = llvm::Error::success();
  for (auto [job, entry, compilation] :
       llvm::zip_equal(missing, entries, codes)) {
    if (!compilation.code) {
      errors = llvm::joinErrors(std::move(errors),
                                llvm::createStringError(compilation.error));
      continue;
    }
    auto kernel = library->add(entry, std::move(compilation.code));
    if (!kernel) {
      errors = llvm::joinErrors(std::move(errors), kernel.takeError());
      continue;
    }
    ++compiled;
    job->family->add({std::move(job->bindings), std::move(*kernel)});
  }
  if (!wasStopped)
    return errors;
  llvm::consumeError(std::move(errors));
  return llvm::make_error<Interrupted>();
}

/// Kernels to remember. Each length of a program has some of its own.
static constexpr size_t kMaxKnown = 1 << 15;

/// Forgets all kernels once they are too many. Their code stays.
void KernelCache::forgetMany() {
  if (known.size() < kMaxKnown)
    return;
  known.clear();
  kernelTexts->clear();
}

/// Lowers a kernel as far as its code needs: to its key where there is code.
llvm::Error KernelCache::lower(func::FuncOp function, LoopsLowering &lowering,
                               OperationKeys &keys, Lowered &kernel) {
  kernel.module = lowering.lower(function);
  if (!kernel.module)
    return llvm::createStringError("a kernel could not be lowered to loops");
  if (llvm::Error error = kernel.readFunctions(keys))
    return error;
  bool isMissing = !hasForm(kernel);
  if (isMissing && kernel.isVarying)
    for (int64_t length : kOtherLengths)
      if (auto other = lowering.lowerStretched(function, length))
        kernel.readOther(std::move(other), keys);
  if (isMissing || backend->notesCalls())
    if (llvm::Error error = kernel.abstract())
      return error;
  if (backend->notesCalls())
    kernel.features = getCodeFeatures(*kernel.module);
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::shared_ptr<const KernelCall>>>
KernelCache::getAll(llvm::ArrayRef<func::FuncOp> functions, unsigned &compiled,
                    StopCheck shouldStop) {
  forgetMany();
  OperationKeys kernelKeys(*kernelTexts), loopsKeys(*loopsTexts);
  llvm::MapVector<Operation *, std::string> keys;
  std::vector<std::unique_ptr<Lowered>> lowered;
  llvm::StringSet<> isLowered;
  std::optional<LoopsLowering> lowering;
  for (func::FuncOp function : functions) {
    auto [key, isNew] = keys.insert({function, {}});
    if (!isNew)
      continue;
    key->second = kernelKeys.getBodyKey(function);
    if (known.contains(key->second) || !isLowered.insert(key->second).second)
      continue;
    if (shouldStop && shouldStop())
      return llvm::make_error<Interrupted>();
    if (!lowering)
      lowering.emplace(function.getContext(), *backend);
    auto kernel = std::make_unique<Lowered>();
    kernel->key = key->second;
    kernel->isVarying = isVarying(function);
    if (llvm::Error error = lower(function, *lowering, loopsKeys, *kernel))
      return std::move(error);
    lowered.push_back(std::move(kernel));
  }

  std::vector<Lowered *> pointers;
  for (auto &kernel : lowered)
    pointers.push_back(kernel.get());
  std::vector<Job> jobs = plan(pointers);
  if (llvm::Error error = compile(jobs, compiled, shouldStop))
    return std::move(error);

  for (auto &kernel : lowered) {
    auto call = std::make_shared<KernelCall>();
    const KernelForm *form =
        families[kernel->skeleton]->find(kernel->numbers, call->scalars);
    call->kernel = form->kernel;
    call->parallelRange = kernel->parallelRanges.front();
    call->furtherGrids.assign(kernel->parallelRanges.begin() + 1,
                              kernel->parallelRanges.end());
    call->workPerStep = kernel->workPerStep;
    call->flushesDenormals = kernel->flushesDenormals;
    call->loopOps = kernel->loopOps;
    known[kernel->key] = {std::move(call), std::move(kernel->features)};
  }
  std::vector<std::shared_ptr<const KernelCall>> result;
  for (func::FuncOp function : functions) {
    const Known &found = known.find(keys.find(function)->second)->second;
    backend->noteCall(found.features);
    result.push_back(found.call);
  }
  return result;
}

llvm::Expected<std::shared_ptr<const KernelCall>>
KernelCache::get(func::FuncOp function, unsigned &compiled) {
  auto all = getAll(function, compiled);
  if (!all)
    return all.takeError();
  return all->front();
}

} // namespace metaops
