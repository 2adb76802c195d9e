//===- Explain.cpp - What programs do, and schedules for them -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is explained by running the graph passes on its slice once more,
// which takes milliseconds, so that programs need not carry what is rarely
// asked for.
//
// A file of schedules is read when the flag is set, and part of the keys of
// programs by its contents. An entry fits some kernels and not others, so it is
// only when another file takes its place that an entry is known to be of no
// use.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Transforms/Schedule/ScheduleFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace metaops;

std::vector<std::shared_ptr<const RunRecord>>
Session::planRuns(llvm::ArrayRef<const Var *> vars) {
  std::vector<std::shared_ptr<const RunRecord>> runs;
  plan(vars, &runs);
  return runs;
}

ProgramDescription Session::describeProgram(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  Compiler &backend = cached.isInterpreted ? *interpreter : *compiler;
  return check(backend.describe(cached.slice, cached.options));
}

TuningResult Session::tuneProgram(const RunRecord &record,
                                  llvm::ArrayRef<double> callSeconds,
                                  double budget) {
  const CachedProgram &cached = *record.cached;
  if (!cached.options.schedules.empty())
    fail(ErrorKind::Value,
         "tune: begins with the compiler's own schedules; set "
         "flag schedule_file to ''");
  // Kernels for all lengths of a sequence are no matter of one of them.
  if (!cached.options.growing.empty())
    return {};
  Compiler &backend = cached.isInterpreted ? *interpreter : *compiler;
  auto result = backend.tune(cached.slice, cached.options, callSeconds, budget,
                             threads, getStopCheck());
  if (!result && result.errorIsA<Interrupted>()) {
    llvm::consumeError(result.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was tuned");
  }
  return check(std::move(result));
}

std::vector<std::string> Session::listNeighbours(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  Compiler &backend = cached.isInterpreted ? *interpreter : *compiler;
  return check(backend.listNeighbours(cached.slice, cached.options));
}

std::string Session::getTargetName() {
  return compiler ? check(compiler->getTargetName()) : std::string();
}

void Session::setScheduleFile(std::string file) {
  std::string text;
  std::map<unsigned, std::string> entries;
  if (!file.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      fail(ErrorKind::Value, "flag schedule_file: cannot read '" + file +
                                 "': " + buffer.getError().message());
    text = (*buffer)->getBuffer().str();
    auto parsed = mlir::metaop::parseScheduleFile(text, file, &context);
    if (!parsed)
      fail(ErrorKind::Value,
           "flag schedule_file: " + llvm::toString(parsed.takeError()));
    for (const mlir::metaop::ScheduleEntry &entry : *parsed)
      entries[entry.line] = entry.identity;
  }
  for (std::string &unused : takeUnusedSchedules())
    warnings.push_back(std::move(unused));
  unusedSchedules = std::move(entries);
  // Without an entry, programs are those of no file.
  scheduleNumber = 0;
  options.schedules.clear();
  if (!unusedSchedules.empty()) {
    uint32_t next = scheduleNumbers.size() + 1;
    scheduleNumber =
        scheduleNumbers.try_emplace(file + '\0' + text, next).first->second;
    options.schedules = std::move(text);
  }
  // What was tuned is of many programs, of which this process runs some.
  if (!cacheDirectory.empty() &&
      llvm::sys::path::parent_path(file) == cacheDirectory)
    unusedSchedules.clear();
  options.scheduleFile = std::move(file);
}

void Session::noteSchedules(const Program &program) {
  if (unusedSchedules.empty())
    return;
  for (const KernelInfo &call : program.getInfo().calls)
    for (unsigned line : call.scheduleLines)
      unusedSchedules.erase(line);
}

std::vector<std::string> Session::takeUnusedSchedules() {
  std::vector<std::string> result;
  for (const auto &[line, identity] : unusedSchedules)
    result.push_back(options.scheduleFile + ":" + std::to_string(line) +
                     (llvm::StringRef(identity).contains('.')
                          ? ": no kernel had the stage "
                          : ": there was no kernel ") +
                     identity);
  unusedSchedules.clear();
  return result;
}
