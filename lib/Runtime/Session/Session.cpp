//===- Session.cpp - The session's scope, flags and statistics ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"

#include "MetaOps/Runtime/Session/DumpProgram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

#include <exception>

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Var
//===----------------------------------------------------------------------===//

Var::Var(std::shared_ptr<Session> owner, Node *node)
    : session(std::move(owner)), node(node), type(node->type()),
      elementType(node->dtype) {
  session->graph.retainVar(node);
}

Var::~Var() {
  if (node)
    session->dropLater(node);
}

Var Session::wrap(Node *node) {
  node = recorder.applyStop(node);
  if (!node->device)
    node->device = device;
  if (!settings.isLazy)
    runEagerly(node);
  return Var(shared_from_this(), node);
}

std::vector<Var> Session::wrapResults(Node *first) {
  // Where operators run at once, the first computes the others along.
  auto results = llvm::to_vector<2>(resultsOf(first));
  llvm::for_each(results, [&](Node *result) { graph.pin(result); });
  llvm::scope_exit unpin([&] {
    llvm::for_each(results, [&](Node *result) { graph.unpin(result); });
  });
  std::vector<Var> vars;
  for (Node *result : results)
    vars.push_back(wrap(result));
  return vars;
}

void Session::assign(Var &x, Node *value) { x = wrap(value); }

void Session::setItem(Var &x, llvm::ArrayRef<IndexItem> items, Operand value) {
  Node *replaced = recorder.replaceItem(x.node, items, value);
  if (replaced != x.node)
    assign(x, replaced);
}

void Session::dropLater(Node *node) {
  // Another thread may have held the lock when the process was forked.
  if (forkMark.isChild())
    return;
  std::lock_guard<std::mutex> lock(deadMutex);
  dead.push_back(node);
}

void Session::dropDead() {
  for (;;) {
    std::vector<Node *> taken;
    {
      std::lock_guard<std::mutex> lock(deadMutex);
      taken.swap(dead);
    }
    if (taken.empty())
      return;
    for (Node *node : taken)
      graph.releaseVar(node);
    graph.collect();
  }
}

//===----------------------------------------------------------------------===//
// Life and scope
//===----------------------------------------------------------------------===//

std::shared_ptr<Session> Session::create(std::shared_ptr<Compiler> compiler,
                                         std::vector<DeviceKind> moreKinds) {
  return std::shared_ptr<Session>(
      new Session(std::move(compiler), std::move(moreKinds)));
}

/// Processors, the interpreter, and others.
static std::vector<DeviceKind>
makeKinds(const std::shared_ptr<Compiler> &compiler,
          const std::shared_ptr<Compiler> &interpreter,
          std::vector<DeviceKind> more) {
  std::vector<DeviceKind> kinds;
  kinds.push_back({"cpu", 8, compiler ? compiler : interpreter});
  kinds.push_back({"interpreter", 1, interpreter});
  llvm::move(more, std::back_inserter(kinds));
  return kinds;
}

Session::Session(std::shared_ptr<Compiler> givenCompiler,
                 std::vector<DeviceKind> moreKinds)
    : context(MLIRContext::Threading::DISABLED), graph(&context),
      recorder(graph), compiler(std::move(givenCompiler)),
      interpreter(createInterpreterCompiler()),
      devices(makeKinds(compiler, interpreter, std::move(moreKinds))),
      device(&devices.getFirst()) {
  context.loadDialect<func::FuncDialect>();
  graph.findDevice = [this](llvm::StringRef name) {
    return devices.find(name);
  };
  settings.hasCompiler = compiler != nullptr;
  settings.useInterpreter = !compiler;
  graph.onUpdateErased = [this](Node *node) {
    pendingUpdates.remove(node);
    replaced.erase(node);
  };
}

Session::~Session() {
  // Of no device while another one may wait for it.
  if (!forkMark.isChild())
    drain();
}

void Session::checkProcess() const {
  if (forkMark.isChild())
    fail(ErrorKind::Runtime,
         "this process was forked from the one that made the session, which "
         "cannot be used here; start the process afresh (multiprocessing's "
         "'spawn'), or use NumPy only in it");
}

void Session::enter() {
  recorder.forgetLine();
  asked.clear();
  device = &devices.getFirst();
  dropDead();
  suspended.dropUnneeded();
  for (const std::unique_ptr<Device> &each : devices.getMade())
    // Nothing in the queue needs it any more.
    if (each->scratch && each->getQueue().getLast().isDone())
      each->scratch.reset();
  computePending();
}

void Session::leave(bool failed) {
  if (failed)
    graph.collectAll();
  else
    graph.collect();
}

SessionScope::SessionScope(Session &session)
    : SessionScope(session, (session.checkProcess(), session.getMutex().lock(),
                             std::adopt_lock)) {}

SessionScope::SessionScope(Session &session, std::adopt_lock_t)
    : lock(session.getMutex(), std::adopt_lock), session(session),
      exceptions(std::uncaught_exceptions()) {
  session.enter();
}

SessionScope::~SessionScope() {
  session.leave(std::uncaught_exceptions() > exceptions);
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Settings Session::getSettings() const {
  Settings result = settings;
  result.memoryLimit = device->getMemory().getStatistics().limit;
  return result;
}

void Session::setFlag(llvm::StringRef name, const FlagValue &value) {
  Settings changed = settings;
  switch (metaops::setFlag(changed, name, value)) {
  case Setting::CacheDirectory:
    if (compiler)
      compiler->setCacheDirectory(changed.cacheDirectory);
    break;
  case Setting::KeepsPacked:
    if (!changed.keepsPacked)
      programs.dropPacked(/*isShort=*/false);
    break;
  case Setting::MemoryLimit:
    device->getMemory().setLimit(changed.memoryLimit);
    break;
  case Setting::ScheduleFile:
    readSchedules(changed);
    break;
  case Setting::Other:
    break;
  }
  settings = std::move(changed);
}

void Session::readSchedules(Settings &changed) {
  const std::string &file = changed.options.scheduleFile;
  changed.options.schedules = schedules.read(file, &context, warnings);
  // What was tuned is of many programs, of which this process runs some.
  if (!changed.cacheDirectory.empty() &&
      llvm::sys::path::parent_path(file) == changed.cacheDirectory)
    schedules.forgetAll();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

SessionStatistics Session::getStatistics() const {
  SessionStatistics result;
  result.programsCompiled = programsCompiled;
  result.kernelsCompiled = kernelsCompiled;
  result.compileSeconds = compileSeconds;
  result.programHits = programHits;
  result.programsRun = programsRun;
  result.opsInBlock = graph.size();
  result.liveVars = graph.getNumVars();
  result.memory = device->getMemory().getStatistics();
  if (compiler) {
    CompilerStatistics found = compiler->getStatistics();
    result.programsLoaded = found.programsLoaded;
    result.kernelsLoaded = found.kernelsLoaded;
    result.cacheFailure = std::move(found.disk.disabledReason);
  }
  return result;
}

std::shared_ptr<const RunRecord> Session::getLastRun() const {
  if (!lastRun)
    fail(ErrorKind::Runtime, "no program has run yet");
  return lastRun;
}

std::string Session::printProgram(const RunRecord &record,
                                  llvm::StringRef phase) {
  const CachedProgram &cached = *record.cached;
  return check(cached.compiler->print(cached.slice, phase,
                                      toNodeLocations(record.locations),
                                      cached.options),
               ErrorKind::Value);
}
