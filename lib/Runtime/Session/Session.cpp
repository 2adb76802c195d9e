//===- Session.cpp - The session's life, scope and settings ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/SessionImpl.h"

#include "MetaOps/Runtime/Recording/Derivatives.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

#include <exception>

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Var
//===----------------------------------------------------------------------===//

Var::Var(std::shared_ptr<Session> owner, Node *node)
    : session(std::move(owner)), node(node), type(node->type()),
      elementType(node->dtype), firstOrder(node->order) {}

void Var::rebind(Var &&other) {
  std::vector<NodeRef> values = std::move(former);
  // Those that are gone are looked for when the list would grow.
  if (values.size() == values.capacity())
    llvm::erase_if(values, [](const NodeRef &value) { return !value.get(); });
  if (node && isFloat(elementType))
    values.emplace_back(node);
  uint64_t first = node ? firstOrder : other.firstOrder;
  *this = std::move(other);
  former = std::move(values);
  firstOrder = first;
}

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
    node->device = &devices.getCurrent();
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

void SessionImpl::assign(Var &x, Node *value) {
  x.node->wasRebound = true;
  x.rebind(wrap(value));
}

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
  dropped.add(node);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

SessionImpl::KeptTargets::KeptTargets(Graph &graph,
                                      llvm::ArrayRef<Node *> values)
    : graph(graph) {
  for (Node *value : values) {
    if (value->vars > 0 || value->isReplaced)
      continue;
    graph.setReplaced(value, true);
    kept.emplace_back(value);
  }
}

SessionImpl::KeptTargets::~KeptTargets() {
  for (const NodeRef &ref : kept)
    if (Node *value = ref.get())
      graph.setReplaced(value, false);
}

void SessionImpl::prepareTargets(llvm::ArrayRef<Node *> targets) {
  // Fresh parameters have to be there for the first iteration to be the same
  // program as the next ones.
  computeInitialValues(targets);
  computeReplacements(targets);
}

std::vector<Var> SessionImpl::grad(const Var &loss,
                                   llvm::ArrayRef<const Var *> targets,
                                   UnusedTargets unused) {
  Derivatives derivatives(recorder, settings.historyBytes);
  derivatives.checkGrad(loss.node, getNodes(targets));
  Targets found(graph, loss.node, targets);
  derivatives.checkUsed("grad", loss.node, found, unused);
  llvm::SmallVector<Node *> nodes;
  for (auto [node, isUsed] :
       llvm::zip_equal(found.getValues(), found.areUsed()))
    if (isUsed || unused != UnusedTargets::Empty)
      nodes.push_back(node);
  if (nodes.empty())
    return std::vector<Var>(targets.size());
  KeptTargets keep(graph, nodes);
  prepareTargets(nodes);
  std::vector<Var> gradients = wrapAll(derivatives.grad(loss.node, nodes));
  if (unused != UnusedTargets::Empty)
    return gradients;
  std::vector<Var> byTarget(targets.size());
  auto next = gradients.begin();
  for (auto [gradient, isUsed] : llvm::zip_equal(byTarget, found.areUsed()))
    if (isUsed)
      gradient = std::move(*next++);
  return byTarget;
}

std::vector<Var> SessionImpl::jvp(llvm::ArrayRef<const Var *> outputs,
                                  llvm::ArrayRef<const Var *> inputs,
                                  llvm::ArrayRef<const Var *> tangents) {
  Derivatives derivatives(recorder, settings.historyBytes);
  llvm::SmallVector<Node *> moved = getNodes(outputs),
                            directions = getNodes(tangents);
  derivatives.checkJvp(moved, getNodes(inputs), directions);
  Targets found(graph, moved, inputs);
  derivatives.checkUsed("jvp", moved, found, UnusedTargets::Zero);
  llvm::ArrayRef<Node *> moving = found.getValues();
  KeptTargets keep(graph, moving);
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
  settings.hasCompiler = programs.getCompiler() != nullptr;
  settings.useInterpreter = !settings.hasCompiler;
  graph.onUpdateErased = [this](Node *node) { updates.remove(node); };
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
    graph.boundHistories(settings.historyBytes);
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
// Devices
//===----------------------------------------------------------------------===//

Device &SessionImpl::getDevice(llvm::StringRef name) {
  if (Device *found = devices.find(name))
    return *found;
  fail(ErrorKind::Value, "there is no device '" + name + "'; there are " +
                             devices.describeNames());
}

Var SessionImpl::give(DType dtype, llvm::ArrayRef<int64_t> shape,
                      BufferRef buffer) {
  return wrap(
      recorder.buffer(dtype, shape, transfers.bringOver(std::move(buffer))));
}

Node *SessionImpl::transfer(Node *node, Device &to) {
  if (!node->device)
    node->device = &devices.getCurrent();
  return node->device == &to
             ? node
             : recorder.transfer(node, node->device->getName(), to.getName());
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Settings SessionImpl::getSettings() const {
  Settings result = settings;
  result.memoryLimit = devices.getCurrent().getMemory().getStatistics().limit;
  return result;
}

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
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::shared_ptr<const RunRecord> SessionImpl::getLastRun() const {
  if (!runner.getLastRun())
    fail(ErrorKind::Runtime, "no program has run yet");
  return runner.getLastRun();
}
