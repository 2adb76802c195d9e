//===- Programs.cpp - The programs of slices ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is found by its slice's key, or compiled. One that is for extents
// that vary is compiled again when it has come to stay (ExtentWatch.h).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/Programs.h"

#include "MetaOps/Runtime/Programs/DumpProgram.h"
#include "llvm/Support/Path.h"

using namespace metaops;

Programs::Programs(Graph &graph, const Settings &settings,
                   std::shared_ptr<Compiler> compiler)
    : graph(graph), settings(settings), compiler(std::move(compiler)),
      interpreter(createInterpreterCompiler()) {}

Compiler &Programs::getCompiler(const Device &on) const {
  // It computes in any memory that kernels are run on here.
  return settings.useInterpreter && on.getBackend().getTools()
             ? *interpreter
             : on.getBackend();
}

ProgramFlags Programs::getFlags(const Compiler &backend) {
  // Devices of one backend run the same programs.
  auto [target, isNew] = targets.try_emplace(&backend, targets.size());
  return {target->second,
          uint32_t(settings.options.rules == "paper"),
          uint32_t(settings.options.fuse),
          uint32_t(settings.options.reuseMemory),
          uint32_t(settings.options.floatAtomics),
          uint32_t(settings.options.libraries),
          schedules.getNumber()};
}

FoundProgram Programs::lookUp(Slice &slice, llvm::ArrayRef<bool> donatable,
                              StopCheck shouldStop, Compiler *target) {
  Compiler &backend = target ? *target : getCompiler(*slice.device);
  if (std::shared_ptr<const CachedProgram> copies = makeCopies(slice, backend))
    return {copies};
  finishKey(slice, donatable, getFlags(backend));
  std::shared_ptr<const CachedProgram> cached = cache.find(slice.key);
  bool isVarying = cached && !cached->options.varying.empty();
  // Schedules of a file are for the extents that they were made for.
  bool shares = sharesKernels && settings.options.schedules.empty();
  if (isVarying && (!shares || watch.hasSettled(slice.key)))
    cached = nullptr;
  if (cached) {
    ++counts.hits;
    schedules.note(*cached->program);
    return {cached};
  }
  std::vector<VaryingDim> varying;
  if (!isVarying && shares)
    varying = watch.note(slice, backend.getSharing());
  cached = compile(slice, donatable, std::move(varying), backend, shouldStop);
  schedules.note(*cached->program);
  cache.insert(slice.key, cached);
  return {cached, /*wasCompiled=*/true};
}

void Programs::forgetLengths() {
  watch = ExtentWatch();
  cache.eraseShared();
}

std::shared_ptr<const CachedProgram>
Programs::compile(Slice &slice, llvm::ArrayRef<bool> donatable,
                  std::vector<VaryingDim> varying, Compiler &backend,
                  StopCheck shouldStop) {
  auto cached = std::make_shared<CachedProgram>();
  cached->slice = writeSlice(graph, slice);
  cached->options = settings.options;
  cached->options.varying = std::move(varying);
  cached->compiler = &backend;
  ProgramDump dump(settings.dumpDirectory, backend, *cached,
                   llvm::map_to_vector(slice.ops, [](Node *node) {
                     return node->op->getLoc();
                   }));
  dump.writePhases();
  auto compiled =
      backend.compile(cached->slice, donatable, cached->options, shouldStop);
  if (!compiled && compiled.errorIsA<Interrupted>()) {
    llvm::consumeError(compiled.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was compiled");
  }
  if (!compiled) {
    std::string message = llvm::toString(compiled.takeError());
    schedules.forgetNamed(message);
    fail(ErrorKind::Runtime, message);
  }
  cached->program = std::move(*compiled);
  dump.writeSummary();
  if (!dump.getFailure().empty() &&
      settings.dumpDirectory != unwritableDirectory) {
    warnings.push_back("dump_dir: " + dump.getFailure());
    unwritableDirectory = settings.dumpDirectory;
  }
  counts.compiled += !cached->program->getInfo().isLoaded;
  counts.kernelsCompiled += cached->program->getInfo().compiledKernels;
  counts.compileSeconds += cached->program->getInfo().compileSeconds;
  return cached;
}

std::shared_ptr<const RunRecord>
metaops::makeRecord(const Slice &slice, llvm::ArrayRef<PlannedValue> kept,
                    FoundProgram found) {
  auto record = std::make_shared<RunRecord>();
  record->cached = std::move(found.cached);
  record->device = slice.device;
  record->wasCompiled = found.wasCompiled;
  record->locations.reserve(slice.ops.size());
  for (Node *node : slice.ops)
    record->locations.push_back(node->op->getLoc());
  record->kept.reserve(kept.size());
  for (const auto &[node, reason, fits] : kept)
    record->kept.push_back(
        {reason, fits, node->dtype, node->shape().vec(), node->op->getLoc()});
  return record;
}

void Programs::readSchedules(Settings &changed) {
  const std::string &file = changed.options.scheduleFile;
  changed.options.schedules =
      schedules.read(file, graph.getBuilder().getContext(), warnings);
  // Tuned schedules are of many programs, of which this process runs some.
  if (!changed.cacheDirectory.empty() &&
      llvm::sys::path::parent_path(file) == changed.cacheDirectory)
    schedules.forgetAll();
}
