//===- LoadedProgram.cpp - Running program files --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's arguments and results are compared with the
// signature when it is loaded, so that a run compares what it is given with the
// signature alone. Programs that overwrite arguments are refused: weights are
// pages that cannot be written, and inputs are others' memory.
//
// Kernels count on results that begin at cache lines, and on inputs that no
// result overlaps. An output that is not so gets its own in the end, as do
// outputs that the program does not make but passes on: arguments, and other
// outputs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "KernelImports.h"
#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Image/CodeImage.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "PackedWeights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

using namespace metaops;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using Kind = ProgramError::Kind;

char ProgramError::ID = 0;

static Error fail(Kind kind, const Twine &message) {
  return llvm::make_error<ProgramError>(kind, message.str());
}

static Error fail(Kind kind, Error error) {
  return fail(kind, llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

LoadedProgram::LoadedProgram(std::shared_ptr<const ProgramFile> file,
                             unsigned function, unsigned threads)
    : file(std::move(file)), function(function),
      threads(threads ? threads : ThreadPool::getDefaultThreads()) {}

LoadedProgram::~LoadedProgram() = default;

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::open(StringRef path, const LoadOptions &options) {
  return load(ProgramFile::open(path), options);
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::read(StringRef bytes, const LoadOptions &options) {
  return load(ProgramFile::read(bytes), options);
}

static Error failThreads(unsigned number) {
  return fail(Kind::Argument, "a program has 1 to " +
                                  Twine(ThreadPool::kMaxThreads) +
                                  " threads, given " + Twine(number));
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::openFunction(const LoadOptions &options) const {
  return load(file, options);
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::load(Expected<ProgramFile> file, const LoadOptions &options) {
  if (!file)
    return fail(Kind::File, file.takeError());
  return load(std::make_shared<const ProgramFile>(std::move(*file)), options);
}

/// Returns the place of the function that is to run.
static Expected<unsigned> chooseFunction(const ProgramSignature &signature,
                                         StringRef name) {
  if (name.empty())
    return 0;
  if (auto found = findFunction(signature, name))
    return *found;
  return fail(Kind::Argument, "the program file has no function '" + name +
                                  "'; it has " + listFunctions(signature));
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::load(std::shared_ptr<const ProgramFile> file,
                    const LoadOptions &options) {
  if (options.threads > ThreadPool::kMaxThreads)
    return failThreads(options.threads);
  if (options.verify)
    if (Error error = file->verify())
      return fail(Kind::File, std::move(error));
  auto function = chooseFunction(file->getSignature(), options.function);
  if (!function)
    return function.takeError();
  std::unique_ptr<LoadedProgram> loaded(
      new LoadedProgram(std::move(file), *function, options.threads));
  for (std::optional<unsigned> weight : loaded->getFunction().arguments)
    loaded->weights.push_back(weight ? loaded->getWeight(*weight) : nullptr);
  if (!options.code && !options.supplied)
    return loaded;
  auto code = options.supplied ? Expected<SuppliedCode>(*options.supplied)
                               : loaded->readCode();
  if (!code)
    return fail(Kind::File, code.takeError());
  if (Error error = loaded->loadCode(std::move(*code)))
    return fail(Kind::File, std::move(error));
  return loaded;
}

/// Returns what of the first list the second one lacks.
static std::vector<StringRef> listMissing(ArrayRef<std::string> wanted,
                                          ArrayRef<std::string> present) {
  std::vector<StringRef> missing;
  for (const std::string &feature : wanted)
    if (!llvm::is_contained(present, feature))
      missing.push_back(feature);
  return missing;
}

/// Returns the place of the best target for this processor.
static Expected<unsigned> chooseTarget(ArrayRef<ProgramTarget> targets) {
  if (targets.empty())
    return llvm::createStringError("the program file has no machine code, and "
                                   "its IR takes a compiler to run; in Python, "
                                   "metaops.load_program has one");
  std::vector<std::string> host = getHostFeatures();
  std::optional<unsigned> best;
  std::string refused;
  for (auto [number, target] : llvm::enumerate(targets)) {
    std::vector<StringRef> missing = listMissing(target.features, host);
    if (!missing.empty())
      refused += (refused.empty() ? "" : "; ") + target.name + " needs " +
                 llvm::join(missing, ", ");
    else if (!best || targets[*best].features.size() < target.features.size())
      best = number;
  }
  if (best)
    return *best;
  return llvm::createStringError(
      "the program file has no code for this processor: " + refused +
      "; the processor has " + llvm::join(host, ", "));
}

/// Returns the function's code for this processor.
Expected<SuppliedCode> LoadedProgram::readCode() const {
  auto chosen = chooseTarget(getSignature().targets);
  if (!chosen)
    return chosen.takeError();
  auto bytes = file->readProgram(function, *chosen);
  auto code = file->readImage(function, *chosen);
  if (Error error =
          llvm::joinErrors(bytes ? Error::success() : bytes.takeError(),
                           code ? Error::success() : code.takeError()))
    return std::move(error);
  return SuppliedCode{getSignature().targets[*chosen].name, std::move(*bytes),
                      std::move(*code)};
}

Error LoadedProgram::loadCode(SuppliedCode code) {
  // A program of sorts and copies has no kernels.
  if (!code.image.empty()) {
    auto loaded = CodeImage::load(code.image, findKernelImport);
    if (!loaded)
      return loaded.takeError();
    image = std::move(*loaded);
  }

  llvm::StringMap<std::shared_ptr<const Kernel>> kernels;
  auto findKernel = [&](StringRef name) -> std::shared_ptr<const Kernel> {
    auto &kernel = kernels[name];
    void *address = kernel || !image ? nullptr : image->lookup(name);
    if (address)
      kernel = std::make_shared<const Kernel>(
          Kernel{reinterpret_cast<KernelFunction>(address), name.str()});
    return kernel;
  };
  auto described = readProgram(code.program, findKernel);
  if (!described)
    return described.takeError();
  auto created = CompiledProgram::create(std::move(described->data),
                                         std::move(described->info));
  if (!created)
    return created.takeError();
  program = std::move(*created);
  target = std::move(code.target);
  if (Error error = checkProgram())
    return error;
  packed = std::make_unique<PackedWeights>(program->getData(),
                                           getFunction().arguments);
  return Error::success();
}

Error LoadedProgram::checkProgram() const {
  const ProgramData &data = program->getData();
  const FunctionSignature &signature = getFunction();
  auto differ = [](const Twine &what, uint64_t found, uint64_t expected) {
    return llvm::createStringError("the program of a program file has " +
                                   Twine(found) + " " + what + ", and " +
                                   Twine(expected) + " by the signature");
  };
  if (data.arguments.size() != signature.arguments.size())
    return differ("arguments", data.arguments.size(),
                  signature.arguments.size());
  if (data.results.size() != signature.outputs.size())
    return differ("results", data.results.size(), signature.outputs.size());
  const TensorSpec *input = signature.inputs.data();
  for (auto [bytes, weight] :
       llvm::zip_equal(data.arguments, signature.arguments)) {
    const TensorSpec &spec = weight ? getWeights()[*weight] : *input++;
    if (bytes != spec.getBytes())
      return differ("bytes in the argument '" + spec.name + "'", bytes,
                    spec.getBytes());
  }
  for (auto [place, spec] : llvm::zip_equal(data.results, signature.outputs))
    if (place.bytes != spec.getBytes())
      return differ("bytes in the output '" + spec.name + "'", place.bytes,
                    spec.getBytes());
  bool overwrites = false;
  walkSteps(data.steps, [&](const Step &step) {
    for (const Slot &slot : step.getOutputs())
      overwrites |= data.isArgument(slot.entry);
  });
  if (overwrites)
    return llvm::createStringError(
        "the program of a program file overwrites one of its arguments");
  return Error::success();
}

int64_t LoadedProgram::getScratchBytes() const {
  std::shared_lock<std::shared_mutex> lock(running);
  return program ? program->getScratchBytes() : 0;
}

int64_t LoadedProgram::getPackedBytes() const {
  std::shared_lock<std::shared_mutex> lock(running);
  return packed ? packed->getBytes() : 0;
}

Expected<std::string> LoadedProgram::readIR() const {
  auto ir = file->readIR(function);
  if (!ir)
    return fail(Kind::File, ir.takeError());
  return ir;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Fails unless memory is what a tensor needs.
static Error checkMemory(const TensorSpec &spec, StringRef what,
                         const void *data, size_t bytes) {
  std::string name = what.str() + " '" + spec.name + "'";
  if (bytes != size_t(spec.getBytes()))
    return fail(Kind::Argument,
                "the " + Twine(name) + " is " + formatType(spec) + " of " +
                    Twine(spec.getBytes()) + " bytes, given " + Twine(bytes));
  if (!data && bytes > 0)
    return fail(Kind::Argument, "the " + Twine(name) + " has no memory");
  if (reinterpret_cast<uintptr_t>(data) % sizeOf(spec.dtype) != 0)
    return fail(Kind::Argument, "the memory of the " + Twine(name) +
                                    " is not aligned to elements of " +
                                    Twine(sizeOf(spec.dtype)) + " bytes");
  return Error::success();
}

template <typename Memory>
static Error checkAll(ArrayRef<TensorSpec> specs, ArrayRef<Memory> given,
                      StringRef what) {
  if (specs.size() != given.size())
    return fail(Kind::Argument, "the program has " + Twine(specs.size()) + " " +
                                    what + "s, given " + Twine(given.size()));
  for (auto [spec, memory] : llvm::zip_equal(specs, given))
    if (Error error = checkMemory(spec, what, memory.data, memory.bytes))
      return error;
  return Error::success();
}

Error LoadedProgram::checkRun(ArrayRef<ConstMemory> inputs) const {
  if (isClosed)
    return fail(Kind::Closed, "the program has been closed");
  if (!program)
    return fail(Kind::Argument,
                "the program was loaded without code, so it cannot be run");
  return checkAll(getInputs(), inputs, "input");
}

SmallVector<BufferRef>
LoadedProgram::gatherArguments(ArrayRef<ConstMemory> inputs) const {
  SmallVector<BufferRef> arguments;
  for (const BufferRef &weight : weights) {
    if (weight) {
      arguments.push_back(weight);
      continue;
    }
    // Nothing writes arguments; see checkProgram.
    arguments.push_back(Buffer::wrap(const_cast<void *>(inputs.front().data),
                                     inputs.front().bytes, nullptr));
    inputs = inputs.drop_front();
  }
  return arguments;
}

static bool overlap(const Buffer &buffer, MutableMemory memory) {
  auto begin = reinterpret_cast<uintptr_t>(buffer.data());
  auto other = reinterpret_cast<uintptr_t>(memory.data);
  return begin < other + memory.bytes && other < begin + buffer.bytes();
}

SmallVector<BufferRef>
LoadedProgram::takeResults(ArrayRef<BufferRef> arguments,
                           ArrayRef<MutableMemory> outputs) {
  const ProgramData &data = program->getData();
  SmallVector<BufferRef> results;
  for (auto [number, place] : llvm::enumerate(data.results)) {
    MutableMemory output = outputs[number];
    if (data.isArgument(place.entry))
      results.push_back(arguments[place.entry]);
    else if (place.entry != data.getResult(number))
      results.push_back(results[place.entry - data.getResult(0)]);
    else if (reinterpret_cast<uintptr_t>(output.data) % 64 == 0 &&
             llvm::none_of(arguments, [&](const BufferRef &argument) {
               return overlap(*argument, output);
             }))
      results.push_back(Buffer::wrap(output.data, output.bytes, nullptr));
    else
      results.push_back(memory.allocate(output.bytes));
  }
  return results;
}

/// Returns the buffers that the program has written.
Expected<SmallVector<BufferRef>>
LoadedProgram::runOn(ArrayRef<ConstMemory> inputs,
                     ArrayRef<MutableMemory> outputs) {
  SmallVector<BufferRef> arguments = gatherArguments(inputs);
  SmallVector<BufferRef> results = takeResults(arguments, outputs);
  ProgramRun run;
  run.arguments.assign(arguments.begin(), arguments.end());
  run.results.assign(results.begin(), results.end());
  if (int64_t bytes = program->getScratchBytes(); bytes > 0)
    run.scratch = memory.allocate(bytes, MemoryUse::Scratch);
  packed->begin(run, memory);
  auto end = llvm::scope_exit([&] { packed->end(run); });
  if (Error error = program->execute(run, threads, /*shouldStop=*/nullptr,
                                     /*times=*/nullptr))
    return fail(Kind::Run, std::move(error));
  return results;
}

void LoadedProgram::copyResults(SmallVector<BufferRef> results,
                                ArrayRef<MutableMemory> outputs) {
  // An output that is an input may have to go where another output comes from.
  for (auto [result, own] : llvm::zip_equal(results, outputs)) {
    if (result->data() == own.data ||
        llvm::none_of(outputs, [&, &from = result](MutableMemory output) {
          return overlap(*from, output);
        }))
      continue;
    BufferRef aside = memory.allocate(own.bytes);
    std::memcpy(aside->data(), result->data(), own.bytes);
    result = aside;
  }
  for (auto [result, output] : llvm::zip_equal(results, outputs))
    if (result->data() != output.data && output.bytes > 0)
      std::memcpy(output.data, result->data(), output.bytes);
}

Error LoadedProgram::run(ArrayRef<ConstMemory> inputs,
                         ArrayRef<MutableMemory> outputs) {
  std::shared_lock<std::shared_mutex> lock(running);
  if (Error error = checkRun(inputs))
    return error;
  if (Error error = checkAll(getOutputs(), outputs, "output"))
    return error;
  try {
    auto results = runOn(inputs, outputs);
    if (!results)
      return results.takeError();
    copyResults(std::move(*results), outputs);
  } catch (const std::bad_alloc &error) {
    return fail(Kind::OutOfMemory, error.what());
  }
  return Error::success();
}

Expected<SmallVector<BufferRef>>
LoadedProgram::run(ArrayRef<ConstMemory> inputs) {
  SmallVector<BufferRef> taken;
  SmallVector<MutableMemory> outputs;
  try {
    for (const TensorSpec &spec : getOutputs()) {
      taken.push_back(memory.allocate(spec.getBytes()));
      outputs.push_back({taken.back()->data(), taken.back()->bytes()});
    }
  } catch (const std::bad_alloc &error) {
    return fail(Kind::OutOfMemory, error.what());
  }
  if (Error error = run(inputs, outputs))
    return std::move(error);
  return taken;
}

Error LoadedProgram::setThreads(unsigned number) {
  if (number == 0 || number > ThreadPool::kMaxThreads)
    return failThreads(number);
  std::lock_guard<std::shared_mutex> lock(running);
  threads.setThreads(number);
  return Error::success();
}

void LoadedProgram::close() {
  // Runs that begin from now on see it, so that there is an end to wait for.
  isClosed = true;
  std::lock_guard<std::shared_mutex> lock(running);
  packed.reset();
  program.reset();
  image.reset();
  memory.trim();
}
