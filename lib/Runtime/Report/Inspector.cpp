//===- Inspector.cpp - Looks inside of a session --------------------------===//
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
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"

#include "MetaOps/Runtime/Programs/DumpProgram.h"

using namespace metaops;

Inspector::Inspector(Session &session) : own(session), session(*session.impl) {}

std::vector<MemoryHolder> Inspector::getMemoryHolders() {
  return findHolders(session.graph);
}

SessionStatistics Inspector::getStatistics() const {
  SessionStatistics result;
  const Programs::Counts &counts = session.programs.getCounts();
  result.programsCompiled = counts.compiled;
  result.kernelsCompiled = counts.kernelsCompiled;
  result.compileSeconds = counts.compileSeconds;
  result.programHits = counts.hits;
  result.programsRun = session.runner.getNumRuns();
  result.operatorsRepeated = session.runner.getNumRepeated();
  result.valuesRecorded = session.graph.countRecorded();
  result.signatures = session.graph.getSignatures()->size();
  result.historyBytes = session.graph.getHistoryBytes();
  result.updatesPending = session.updates.size();
  result.opsInBlock = session.graph.size();
  result.liveVars = session.graph.getNumVars();
  result.memory = session.devices.getCurrent().getMemory().getStatistics();
  for (const DeviceKind &kind : session.devices.getKinds()) {
    CompilerStatistics found = kind.backend->getStatistics();
    result.programsLoaded += found.programsLoaded;
    result.kernelsLoaded += found.kernelsLoaded;
    if (result.cacheFailure.empty())
      result.cacheFailure = std::move(found.disk.disabledReason);
  }
  return result;
}

std::string Inspector::dump() { return printBlock(session.graph); }

std::string Inspector::printProgram(const RunRecord &record,
                                    llvm::StringRef phase) {
  const CachedProgram &cached = *record.cached;
  return check(cached.compiler->print(cached.slice, phase,
                                      toNodeLocations(record.locations),
                                      cached.options),
               ErrorKind::Value);
}

/// Returns the tools of a program's compiler, which are needed to do something.
static KernelTools &expectTools(const CachedProgram &cached,
                                llvm::StringRef toDo) {
  if (KernelTools *tools = cached.compiler->getTools())
    return *tools;
  fail(ErrorKind::Runtime, "the interpreter has no kernels to " + toDo +
                               "; set the flag backend to compiled");
}

ProgramDescription Inspector::describeProgram(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  return check(
      expectTools(cached, "explain").describe(cached.slice, cached.options));
}

std::vector<std::string> Inspector::listNeighbours(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  KernelTools *tools = cached.compiler->getTools();
  if (!tools)
    return {};
  return check(tools->listNeighbours(cached.slice, cached.options));
}

void Inspector::shareKernels(bool mayShare) {
  session.programs.shareKernels(mayShare);
}

void Inspector::forgetLengths() { session.programs.forgetLengths(); }

TuningResult Inspector::tuneProgram(const RunRecord &record,
                                    llvm::ArrayRef<double> callSeconds,
                                    double budget) {
  const CachedProgram &cached = *record.cached;
  if (!cached.options.schedules.empty())
    fail(ErrorKind::Value,
         "tune: begins with the compiler's own schedules; set "
         "flag schedule_file to ''");
  // Kernels that other lengths share are no matter of one of them.
  if (!cached.options.varying.empty())
    return {};
  auto result =
      expectTools(cached, "tune")
          .tune(cached.slice, cached.options, callSeconds, budget,
                record.device->getThreads(), session.waiter.getStopCheck());
  if (!result && result.errorIsA<Interrupted>()) {
    llvm::consumeError(result.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was tuned");
  }
  return check(std::move(result));
}

/// Returns an empty name where programs have no kernels.
static std::string nameTarget(Compiler &compiler) {
  KernelTools *tools = compiler.getTools();
  return tools ? check(tools->getTargetName()) : "";
}

std::string Inspector::getTargetName() {
  const Device &device = session.devices.getCurrent();
  return nameTarget(session.programs.getCompiler(device));
}

std::string Inspector::getTargetName(const RunRecord &record) {
  return nameTarget(*record.cached->compiler);
}

std::vector<std::string> Inspector::takeUnusedSchedules() {
  return session.programs.takeUnusedSchedules();
}
