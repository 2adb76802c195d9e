//===- LoadedProgram.cpp - Running program files --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels count on results that begin at cache lines, and on inputs that no
// result overlaps. An output that is not so gets its own in the end, as do
// outputs that the program does not make but passes on: arguments, and other
// outputs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "FunctionCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
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
                             unsigned function, std::shared_ptr<Shared> shared)
    : file(std::move(file)), function(function), shared(std::move(shared)),
      // Of the file, which stays.
      signature(this->file, &this->file->getSignature().functions[function]) {}

LoadedProgram::~LoadedProgram() = default;

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::open(StringRef path, const LoadOptions &options) {
  return load(ProgramFile::open(path), options);
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::read(StringRef bytes, const LoadOptions &options) {
  return load(ProgramFile::read(bytes), options);
}

/// Returns "batch 65, length 16".
static std::string formatSizes(const FunctionSignature &function,
                               ArrayRef<int64_t> sizes) {
  std::string text;
  for (auto [extent, size] : llvm::zip_equal(function.extents, sizes))
    text +=
        (text.empty() ? "" : ", ") + extent.name + " " + std::to_string(size);
  return text;
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
  unsigned threads =
      options.threads ? options.threads : ThreadPool::getDefaultThreads();
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(
      std::move(file), *function, std::make_shared<Shared>(threads)));
  bool hasSizes = !loaded->getFunction().extents.empty();
  if (options.supplied && hasSizes)
    return fail(Kind::Argument, "code was supplied for the function '" +
                                    loaded->getFunction().name +
                                    "', which has programs for several sizes");
  if (options.code || options.supplied) {
    auto code = FunctionCode::load(loaded->file, *function, options);
    if (!code)
      return fail(Kind::File, code.takeError());
    loaded->code = std::move(*code);
    loaded->target = loaded->code->getTarget();
  }
  if (!hasSizes)
    if (Error error = loaded->openProgram(0))
      return std::move(error);
  return loaded;
}

/// Has the program be one of its function's.
Error LoadedProgram::openProgram(unsigned number) {
  auto made = code ? code->get(number)
                   : Expected<std::shared_ptr<ProgramInstance>>(
                         makeInstance(*file, function, number));
  if (!made)
    return fail(Kind::File, made.takeError());
  instance = std::move(*made);
  signature = instance->signature;
  return Error::success();
}

/// Fails where a function of several sizes is to run, and none of them.
static Error failAnySize(const FunctionSignature &function) {
  return fail(Kind::Argument, "the function '" + function.name +
                                  "' has programs for several sizes (" +
                                  describeSizes(function) +
                                  "); expected one of them to be opened");
}

static Error failClosed() {
  return fail(Kind::Closed, "the program has been closed");
}

Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::openSizes(ArrayRef<int64_t> sizes) const {
  const FunctionSignature &described = getSignature().functions[function];
  if (described.extents.empty())
    return fail(Kind::Argument,
                "the function '" + described.name + "' has fixed shapes");
  if (sizes.size() != described.extents.size())
    return fail(Kind::Argument, "the function '" + described.name + "' has " +
                                    Twine(described.extents.size()) +
                                    " sizes (" + describeSizes(described) +
                                    "), given " + Twine(sizes.size()));
  auto number = findSizes(described, sizes);
  if (!number)
    return fail(Kind::Argument,
                "the function '" + described.name + "' has no program for " +
                    formatSizes(described, sizes) + "; it has those for " +
                    describeSizes(described));
  std::shared_lock<std::shared_mutex> lock(shared->running);
  if (cannotRun())
    return failClosed();
  std::unique_ptr<LoadedProgram> sized(
      new LoadedProgram(file, function, shared));
  sized->code = code;
  sized->target = target;
  if (Error error = sized->openProgram(*number))
    return std::move(error);
  return sized;
}

int64_t LoadedProgram::getScratchBytes() const {
  std::shared_lock<std::shared_mutex> lock(shared->running);
  return instance && instance->program ? instance->program->getScratchBytes()
                                       : 0;
}

int64_t LoadedProgram::getPackedBytes() const {
  std::shared_lock<std::shared_mutex> lock(shared->running);
  return instance && instance->packed ? instance->packed->getBytes() : 0;
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
  if (cannotRun())
    return failClosed();
  if (!getFunction().extents.empty())
    return failAnySize(getFunction());
  if (!instance->program)
    return fail(Kind::Argument,
                "the program was loaded without code, so it cannot be run");
  return checkAll(getInputs(), inputs, "input");
}

SmallVector<BufferRef>
LoadedProgram::gatherArguments(ArrayRef<ConstMemory> inputs) const {
  SmallVector<BufferRef> arguments;
  for (const BufferRef &weight : instance->weights) {
    if (weight) {
      arguments.push_back(weight);
      continue;
    }
    // Nothing writes arguments; see FunctionCode.
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
  const ProgramData &data = instance->program->getData();
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
      results.push_back(shared->memory.allocate(output.bytes));
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
  Allocator &memory = shared->memory;
  CompiledProgram &program = *instance->program;
  if (int64_t bytes = program.getScratchBytes(); bytes > 0)
    run.scratch = memory.allocate(bytes, MemoryUse::Scratch);
  instance->packed->begin(run, memory);
  auto end = llvm::scope_exit([&] { instance->packed->end(run); });
  if (Error error = program.execute(run, shared->threads,
                                    /*shouldStop=*/nullptr, /*times=*/nullptr))
    return fail(error.isA<MatrixFailure>() ? Kind::Matrix : Kind::Run,
                std::move(error));
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
    BufferRef aside = shared->memory.allocate(own.bytes);
    std::memcpy(aside->data(), result->data(), own.bytes);
    result = aside;
  }
  for (auto [result, output] : llvm::zip_equal(results, outputs))
    if (result->data() != output.data && output.bytes > 0)
      std::memcpy(output.data, result->data(), output.bytes);
}

Error LoadedProgram::run(ArrayRef<ConstMemory> inputs,
                         ArrayRef<MutableMemory> outputs) {
  std::shared_lock<std::shared_mutex> lock(shared->running);
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
  if (!getFunction().extents.empty())
    return failAnySize(getFunction());
  try {
    for (const TensorSpec &spec : getOutputs()) {
      taken.push_back(shared->memory.allocate(spec.getBytes()));
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
  std::lock_guard<std::shared_mutex> lock(shared->running);
  shared->threads.setThreads(number);
  return Error::success();
}

void LoadedProgram::close() {
  // Runs that begin from now on see it, so that there is an end to wait for.
  isClosed = true;
  std::lock_guard<std::shared_mutex> lock(shared->running);
  instance.reset();
  code.reset();
  shared->memory.trim();
}

void LoadedProgram::closeAllSizes() {
  shared->areClosed = true;
  close();
}
