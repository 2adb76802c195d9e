//===- Session.cpp - The session's life, scope and settings ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Life and scope
//===----------------------------------------------------------------------===//

std::shared_ptr<Session> Session::create(std::shared_ptr<Compiler> compiler,
                                         std::vector<DeviceKind> moreKinds) {
  return std::shared_ptr<Session>(new Session(std::make_unique<SessionImpl>(
      std::move(compiler), std::move(moreKinds))));
}

Session::Session(std::unique_ptr<SessionImpl> parts)
    : RecordingSession(parts->recorder), impl(std::move(parts)) {}

Session::~Session() = default;

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

SessionImpl::SessionImpl(std::shared_ptr<Compiler> compiler,
                         std::vector<DeviceKind> moreKinds)
    : context(MLIRContext::Threading::DISABLED), graph(&context),
      recorder(graph), dropped(graph), provisional(graph),
      fetches(graph, suspended), planner(graph, settings, updates, fetches),
      programs(graph, settings, std::move(compiler)),
      waiter(devices, suspended),
      launcher(graph, settings, programs, suspended, waiter, fetches),
      memory(graph, devices, dropped, programs, waiter),
      transfers(devices, programs, launcher, memory),
      runner(graph, settings, devices, fetches, planner, updates, programs,
             waiter, launcher, memory, provisional, transfers),
      devices(makeKinds(programs.getCompiler(), programs.getInterpreter(),
                        std::move(moreKinds))) {
  context.loadDialect<func::FuncDialect>();
  graph.findDevice = [this](llvm::StringRef name) {
    return devices.find(name);
  };
  graph.setHistoryBound(settings.historyBytes);
  recorder.setSavedBytes(settings.savedValuesBudget);
  for (const DeviceKind &kind : devices.getKinds())
    kind.backend->setRoutines(routines);
  settings.hasCompiler = programs.getCompiler() != nullptr;
  settings.useInterpreter = !settings.hasCompiler;
  graph.onUpdateErased = [this](Node *node) { updates.remove(node); };
}

SessionImpl::~SessionImpl() {
  // Of no device while another one may wait for it.
  if (!forkMark.isChild())
    waiter.drain(nullptr);
}

void SessionImpl::enter() {
  recorder.forgetLine();
  asked.clear();
  devices.setCurrent(devices.getFirst());
  dropped.release();
  provisional.settle();
  if (!suspended.empty())
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
  if (updates.areDropped() && settings.isLazy) {
    updates.finish();
    releaseFormer(updates.takeFormer());
    graph.collect();
  }
  // An operator is a program there: what a step needs is no loop's past.
  if (settings.isLazy)
    graph.boundHistories();
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

void SessionImpl::setFlag(llvm::StringRef name, const FlagValue &value) {
  Settings changed = settings;
  switch (metaops::setFlag(changed, name, value)) {
  case Setting::CacheDirectory:
    for (const DeviceKind &kind : devices.getKinds())
      kind.backend->setCacheDirectory(changed.cacheDirectory);
    break;
  case Setting::KeepsPacked:
    if (!changed.keepsPacked)
      programs.dropPacked(/*isShort=*/false);
    break;
  case Setting::MemoryLimit:
    devices.getCurrent().getMemory().setLimit(changed.memoryLimit);
    break;
  case Setting::PoisonsMemory:
    devices.setPoisons(changed.poisonsMemory);
    break;
  case Setting::ScheduleFile:
    programs.readSchedules(changed);
    break;
  case Setting::Other:
    break;
  }
  settings = std::move(changed);
  graph.setHistoryBound(settings.historyBytes);
  recorder.setSavedBytes(settings.savedValuesBudget);
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

std::timed_mutex &Session::getMutex() { return impl->mutex; }

void Session::checkProcess() const {
  if (impl->forkMark.isChild())
    fail(ErrorKind::Runtime,
         "this process was forked from the one that made the session, which "
         "cannot be used here; start the process afresh (multiprocessing's "
         "'spawn'), or use NumPy only in it");
}

void Session::enter() { impl->enter(); }

void Session::leave(bool failed) { impl->leave(failed); }

void Session::dropLater(Node *node) {
  // Another thread may have held the lock when the process was forked.
  if (!impl->forkMark.isChild())
    impl->dropped.add(node);
}

void Session::prepareHeld(Node *node) { impl->prepareHeld(node); }

void Session::prepareTargets(llvm::ArrayRef<Node *>,
                             llvm::ArrayRef<Node *> targets) {
  // Fresh parameters have to be there for the first iteration to be the same
  // program as the next ones.
  impl->computeInitialValues(targets);
  impl->computeReplacements(targets);
}

void Session::updateAt(Var &x, Operand value, CallPlace place) {
  checkOwn(&x);
  if (!value.isNumber())
    checkUpdate(x, *value.getNode());
  assign(x, impl->update(x, value, place));
}

Device &Session::getDevice(llvm::StringRef name) {
  if (Device *found = impl->devices.find(name))
    return *found;
  fail(ErrorKind::Value, "there is no device '" + name + "'; there are " +
                             impl->devices.describeNames());
}

Device &Session::getDevice() { return impl->devices.getCurrent(); }

void Session::setDevice(Device &device) { impl->devices.setCurrent(device); }

Node *Session::transfer(Node *node, Device &to) {
  if (!node->device)
    node->device = &impl->devices.getCurrent();
  return node->device == &to ? node
                             : impl->recorder.transfer(
                                   node, node->device->getName(), to.getName());
}

Var Session::give(DType dtype, llvm::ArrayRef<int64_t> shape,
                  BufferRef buffer) {
  return wrap(impl->recorder.buffer(
      dtype, shape, impl->transfers.bringOver(std::move(buffer))));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

mlir::MLIRContext *Session::getContext() { return &impl->context; }
RoutineRegistry &Session::getRoutines() const { return *impl->routines; }

Settings Session::getSettings() const {
  Settings result = impl->settings;
  result.memoryLimit =
      impl->devices.getCurrent().getMemory().getStatistics().limit;
  return result;
}

bool Session::isLazy() const { return impl->settings.isLazy; }

void Session::setFlag(llvm::StringRef name, const FlagValue &value) {
  impl->setFlag(name, value);
}

void Session::prepareUpdates(llvm::ArrayRef<const Var *> vars) {
  checkOwn(vars);
  impl->prepareUpdates(getNodes(vars));
}

bool Session::hasUpdates() const { return !impl->updates.empty(); }

void Session::watchUpdates(StepOutcomeRef outcome) {
  impl->updates.watch(std::move(outcome));
}

void Session::sync(llvm::ArrayRef<const Var *> vars) {
  checkOwn(vars);
  impl->sync(getNodes(vars));
}

void Session::computeInitial(llvm::ArrayRef<const Var *> vars) {
  checkOwn(vars);
  impl->computeInitialValues(getNodes(vars));
}

void Session::syncAll() { impl->syncAll(); }

TensorData Session::getData(const Var &var) {
  checkOwn(&var);
  return impl->getData(var.getNode());
}

const Tickets &Session::getAsked() const { return impl->asked; }

void Session::wait(const Tickets &tickets, StopCheck shouldStop) {
  impl->waiter.wait(tickets, shouldStop);
}

void Session::wait(const TensorData &data, StopCheck shouldStop) {
  impl->waiter.wait(data, shouldStop);
}

bool Session::wasStopped(const TensorData &data) const {
  return impl->suspended.wasStopped(data.ready);
}

void Session::waitForRoom(StopCheck shouldStop) {
  impl->waiter.waitForRoom(shouldStop);
}

bool Session::drain(StopCheck shouldStop) {
  return impl->waiter.drain(shouldStop);
}

void Session::cancel() { impl->waiter.cancel(); }

void Session::throwFailure() { impl->waiter.throwFailure(); }

void Session::setStopCheck(std::function<bool()> check) {
  impl->waiter.setStopCheck(std::move(check));
}

uint64_t Session::fetch(llvm::ArrayRef<const Var *> vars) {
  checkOwn(vars);
  return impl->fetch(getNodes(vars));
}

std::vector<CompletedFetch> Session::takeCompletedFetches() {
  return impl->fetches.takeCompleted();
}

bool Session::refresh(CompletedFetch &fetch) {
  return impl->fetches.refresh(fetch);
}

std::shared_ptr<const RunRecord> Session::getLastRun() const {
  if (!impl->runner.getLastRun())
    fail(ErrorKind::Runtime, "no program has run yet");
  return impl->runner.getLastRun();
}

std::vector<std::string> Session::takeWarnings() {
  return impl->programs.takeWarnings();
}

void Session::setListener(std::shared_ptr<RunListener> newListener) {
  impl->launcher.setListener(std::move(newListener));
}

void Session::dropPacked() { impl->programs.dropPacked(/*isShort=*/true); }

void Session::exportProgram(const ExportRequest &request,
                            llvm::StringRef path) {
  impl->exportProgram(shared_from_this(), request, path);
}

SuppliedCode Session::compileIR(const ProgramSignature &signature,
                                const FunctionSignature &function,
                                llvm::StringRef ir) {
  return impl->compileIR(signature, function, ir);
}

Devices &Session::getDevices() { return impl->devices; }

Allocator &Session::getHostMemory() { return impl->transfers.getHostMemory(); }

void Session::resetPeak() {
  impl->devices.getCurrent().getMemory().resetPeak();
}
