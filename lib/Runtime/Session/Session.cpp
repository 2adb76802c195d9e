//===- Session.cpp - The session's life, scope and settings ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionImpl.h"

#include "MetaOps/Runtime/Session/Derivatives.h"
#include "MetaOps/Runtime/Session/Inspector.h"
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
      elementType(node->dtype) {}

Var::~Var() {
  if (node)
    session->dropLater(node);
}

Var SessionImpl::makeVar(Node *node) {
  graph.retainVar(node);
  return Var(shared_from_this(), node);
}

Var SessionImpl::wrap(Node *node) {
  node = recorder.applyStop(node);
  if (!node->device)
    node->device = device;
  if (!settings.isLazy)
    runEagerly(node);
  return makeVar(node);
}

std::vector<Var> SessionImpl::wrapAll(llvm::ArrayRef<Node *> nodes) {
  // Where operators run at once, the first may be all that is kept.
  llvm::for_each(nodes, [&](Node *node) { graph.pin(node); });
  llvm::scope_exit unpin(
      [&] { llvm::for_each(nodes, [&](Node *node) { graph.unpin(node); }); });
  std::vector<Var> vars;
  for (Node *node : nodes)
    vars.push_back(wrap(node));
  return vars;
}

std::vector<Var> SessionImpl::wrapResults(Node *first) {
  return wrapAll(llvm::to_vector<2>(resultsOf(first)));
}

void SessionImpl::assign(Var &x, Node *value) { x = wrap(value); }

void SessionImpl::setItem(Var &x, llvm::ArrayRef<IndexItem> items,
                          Operand value) {
  Node *replaced = recorder.replaceItem(x.node, items, value);
  if (replaced != x.node)
    assign(x, replaced);
}

void SessionImpl::dropLater(Node *node) {
  // Another thread may have held the lock when the process was forked.
  if (forkMark.isChild())
    return;
  std::lock_guard<std::mutex> lock(deadMutex);
  dead.push_back(node);
  areDead = true;
}

void SessionImpl::dropDead() {
  while (areDead) {
    std::vector<Node *> taken;
    {
      std::lock_guard<std::mutex> lock(deadMutex);
      taken.swap(dead);
      areDead = false;
    }
    for (Node *node : taken)
      graph.releaseVar(node);
    graph.collect();
  }
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

void SessionImpl::prepareTargets(llvm::ArrayRef<Node *> targets) {
  // Fresh parameters have to be there for the first iteration to be the same
  // program as the next ones.
  computeInitialValues(targets);
  computeReplacements(targets);
}

std::vector<Var> SessionImpl::grad(const Var &loss,
                                   llvm::ArrayRef<const Var *> targets) {
  Derivatives derivatives(recorder, settings.historyDepth);
  llvm::SmallVector<Node *> nodes = getNodes(targets);
  derivatives.checkGrad(loss.node, nodes);
  prepareTargets(nodes);
  return wrapAll(derivatives.grad(loss.node, nodes));
}

std::vector<Var> SessionImpl::jvp(llvm::ArrayRef<const Var *> outputs,
                                  llvm::ArrayRef<const Var *> inputs,
                                  llvm::ArrayRef<const Var *> tangents) {
  Derivatives derivatives(recorder, settings.historyDepth);
  llvm::SmallVector<Node *> moved = getNodes(outputs),
                            moving = getNodes(inputs),
                            directions = getNodes(tangents);
  derivatives.checkJvp(moved, moving, directions);
  prepareTargets(moving);
  return wrapAll(derivatives.jvp(moved, moving, directions));
}

//===----------------------------------------------------------------------===//
// Life and scope
//===----------------------------------------------------------------------===//

std::shared_ptr<Session> Session::create(std::shared_ptr<Compiler> compiler,
                                         std::vector<DeviceKind> moreKinds) {
  return std::make_shared<SessionImpl>(std::move(compiler),
                                       std::move(moreKinds));
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

SessionImpl::SessionImpl(std::shared_ptr<Compiler> givenCompiler,
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

SessionImpl::~SessionImpl() {
  // Of no device while another one may wait for it.
  if (!forkMark.isChild())
    drain(nullptr);
}

void SessionImpl::checkProcess() const {
  if (forkMark.isChild())
    fail(ErrorKind::Runtime,
         "this process was forked from the one that made the session, which "
         "cannot be used here; start the process afresh (multiprocessing's "
         "'spawn'), or use NumPy only in it");
}

void SessionImpl::enter() {
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

void SessionImpl::leave(bool failed) {
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

Settings SessionImpl::getSettings() const {
  Settings result = settings;
  result.memoryLimit = device->getMemory().getStatistics().limit;
  return result;
}

void SessionImpl::setFlag(llvm::StringRef name, const FlagValue &value) {
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

void SessionImpl::readSchedules(Settings &changed) {
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

std::shared_ptr<const RunRecord> SessionImpl::getLastRun() const {
  if (!lastRun)
    fail(ErrorKind::Runtime, "no program has run yet");
  return lastRun;
}

Inspector SessionImpl::inspect() { return Inspector(*this); }
