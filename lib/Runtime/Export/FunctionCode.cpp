//===- FunctionCode.cpp - The code of a program file's function -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The programs of a function for several sizes have one image of machine code.
// A program is a few steps and numbers: it is read when its sizes are asked for
// first, and again when others have been asked for meanwhile. Whoever holds it
// may go on.
//
// Arguments and results are compared with the signature here, so that a run
// compares what it is given with the signature alone. Programs that overwrite
// arguments are refused: weights are pages that cannot be written, and inputs
// are others' memory.
//
//===----------------------------------------------------------------------===//

#include "FunctionCode.h"
#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Export/KernelImports.h"
#include "MetaOps/Runtime/Image/CodeImage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace metaops;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// The number of programs that stay though nobody holds them.
static constexpr size_t kMaxRecent = 16;

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

Expected<std::shared_ptr<FunctionCode>>
FunctionCode::load(std::shared_ptr<const ProgramFile> file, unsigned function,
                   const LoadOptions &options) {
  std::shared_ptr<FunctionCode> code(new FunctionCode(file, function));
  code->routines = options.routines ? options.routines : createHostRoutines();
  std::string bytes;
  if (options.supplied) {
    code->target = options.supplied->target;
    code->suppliedProgram = options.supplied->program;
    bytes = options.supplied->image;
  } else {
    auto chosen = chooseTarget(file->getSignature().targets);
    if (!chosen)
      return chosen.takeError();
    code->targetNumber = *chosen;
    code->target = file->getSignature().targets[*chosen].name;
    if (Error error = file->readImage(function, *chosen).moveInto(bytes))
      return std::move(error);
  }
  // Programs of sorts and copies have no kernels.
  if (!bytes.empty()) {
    auto loaded = CodeImage::load(bytes, findKernelImport);
    if (!loaded)
      return loaded.takeError();
    code->image = std::move(*loaded);
  }
  return code;
}

Expected<std::string> FunctionCode::readProgramBytes(unsigned program) const {
  if (targetNumber)
    return file->readProgram(function, *targetNumber, program);
  return suppliedProgram;
}

/// Fails unless arguments and results are those of the signature, and nothing
/// overwrites an argument.
static Error checkProgram(const ProgramData &data,
                          const FunctionSignature &signature,
                          ArrayRef<TensorSpec> weights) {
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
    const TensorSpec &spec = weight ? weights[*weight] : *input++;
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

std::shared_ptr<ProgramInstance> metaops::makeInstance(const ProgramFile &file,
                                                       unsigned function,
                                                       unsigned program) {
  const FunctionSignature &signature = file.getSignature().functions[function];
  auto instance = std::make_shared<ProgramInstance>();
  instance->signature = std::make_shared<const FunctionSignature>(
      signature.extents.empty() ? signature : fixSizes(signature, program));
  for (std::optional<unsigned> weight : instance->signature->arguments)
    instance->weights.push_back(weight ? file.getWeight(*weight) : nullptr);
  return instance;
}

Expected<std::shared_ptr<ProgramInstance>> FunctionCode::make(unsigned number) {
  auto bytes = readProgramBytes(number);
  if (!bytes)
    return bytes.takeError();
  auto findKernel = [&](StringRef name) -> std::shared_ptr<const Kernel> {
    auto &kernel = kernels[name];
    void *address = kernel || !image ? nullptr : image->lookup(name);
    if (address)
      kernel = std::make_shared<const Kernel>(
          Kernel{reinterpret_cast<KernelFunction>(address), name.str()});
    return kernel;
  };
  ProgramLayout layout =
      targetNumber ? file->getProgramLayout() : ProgramLayout::Current;
  auto described = metaops::readProgram(*bytes, findKernel, *routines, layout);
  if (!described)
    return described.takeError();
  auto created = CompiledProgram::create(std::move(described->data),
                                         std::move(described->info));
  if (!created)
    return created.takeError();
  std::shared_ptr<ProgramInstance> instance =
      makeInstance(*file, function, number);
  instance->program = std::move(*created);
  const ProgramData &data = instance->program->getData();
  if (Error error = checkProgram(data, *instance->signature,
                                 file->getSignature().weights))
    return std::move(error);
  instance->packed = std::make_unique<PackedWeights>(
      packed, data, instance->signature->arguments);
  return instance;
}

Expected<std::shared_ptr<ProgramInstance>> FunctionCode::get(unsigned program) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = llvm::find_if(
      recent, [&](const auto &each) { return each.first == program; });
  if (found != recent.end()) {
    std::rotate(found, found + 1, recent.end());
    return recent.back().second;
  }
  auto instance = make(program);
  if (!instance)
    return instance.takeError();
  if (recent.size() == kMaxRecent)
    recent.erase(recent.begin());
  recent.emplace_back(program, *instance);
  return instance;
}
