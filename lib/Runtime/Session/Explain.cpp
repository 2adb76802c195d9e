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
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"

using namespace metaops;

std::vector<std::shared_ptr<const RunRecord>>
Session::planRuns(llvm::ArrayRef<const Var *> vars) {
  std::vector<std::shared_ptr<const RunRecord>> runs;
  plan(vars, &runs);
  return runs;
}

ProgramDescription Session::describeProgram(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  Compiler &backend = *cached.compiler;
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
  Compiler &backend = *cached.compiler;
  auto result = backend.tune(cached.slice, cached.options, callSeconds, budget,
                             record.device->getThreads(), getStopCheck());
  if (!result && result.errorIsA<Interrupted>()) {
    llvm::consumeError(result.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was tuned");
  }
  return check(std::move(result));
}

std::vector<std::string> Session::listNeighbours(const RunRecord &record) {
  const CachedProgram &cached = *record.cached;
  Compiler &backend = *cached.compiler;
  return check(backend.listNeighbours(cached.slice, cached.options));
}

std::string Session::getTargetName() {
  return compiler ? check(compiler->getTargetName()) : std::string();
}
