//===- Run.cpp - Computing what is asked for ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The slice of the values asked for is traced, and with it its key. Where
//    an operation of it has several results, all that somebody waits for are
//    computed with it, and none by a second program.
// 2. Values that are in memory in any case between two kernels, and that a
//    later gradient would need, become outputs as well, within a budget. (By
//    Rules 1 and 2 of fusion these are results of reductions, and what
//    reindexes read; and all that routines read and write.)
// 3. The program is found by the key, or compiled.
// 4. It runs on the leaves' buffers; the outputs become leaves themselves.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/DumpProgram.h"
#include "MetaOps/Runtime/Session/MemoryReport.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"
#include "SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

void SessionImpl::sync(llvm::ArrayRef<const Var *> vars) {
  syncNodes(
      llvm::map_to_vector(vars, [](const Var *var) { return var->node; }));
}

/// The caller will wait for these values, which are there or on their way.
void SessionImpl::ask(llvm::ArrayRef<Node *> nodes) {
  resumeFor(nodes);
  for (Node *node : nodes)
    asked.add(node->ready);
}

void SessionImpl::syncNodes(llvm::ArrayRef<Node *> asked) {
  if (llvm::any_of(asked, [&](Node *node) {
        return !node->isLeaf() && node->generation > flushes;
      }))
    flushUpdates(asked);
  compute(asked, RunKind::Asked);
  ask(asked);
  graph.collect();
}

void SessionImpl::syncAll() {
  flushUpdates();
  std::vector<Node *> held = graph.getWaiting();
  llvm::erase_if(held, [](Node *node) { return node->vars == 0; });
  syncNodes(held);
  resume([](Ticket) { return true; });
  for (const std::unique_ptr<Device> &each : devices.getMade())
    asked.add(each->getQueue().getLast());
}

TensorData SessionImpl::getData(const Var &var) {
  Node *node = var.node;
  if (!node->isLeaf())
    syncNodes(node);
  if (node->isDonated)
    failOverwritten(node);
  ask(node);
  TensorData data = read(node);
  asked.add(data.ready);
  return data;
}

/// Values of fetches that are to be computed along.
std::vector<Node *> SessionImpl::findFetched(RunKind kind) const {
  std::vector<Node *> fetched;
  bool isCarried = kind == RunKind::Carried;
  if (kind != RunKind::Asked && kind != RunKind::Updates && !isCarried)
    return fetched;
  for (const Fetch &fetch : fetches)
    for (Node *node : fetch.nodes)
      // Of the iteration that begins, there is more to come.
      if (!node->isLeaf() && node->generation <= flushes &&
          !(isCarried && node->period == graph.getPeriod()))
        fetched.push_back(node);
  return fetched;
}

bool SessionImpl::planSlice(Device &on, llvm::ArrayRef<Node *> asked,
                            RunKind kind,
                            llvm::function_ref<bool(Node *)> shareView) {
  slice.device = &on;
  llvm::SmallSetVector<Node *, 16> outputs;
  auto add = [&](Node *node) {
    if (!node->isLeaf() && !shareView(node))
      outputs.insert(node);
  };
  llvm::for_each(asked, add);
  for (Node *node : findFetched(kind))
    if (node->device == &on)
      add(node);
  if (outputs.empty())
    return false;
  llvm::scope_exit forget([this] { forgetAsked(); });
  traceSlice(graph, outputs.getArrayRef(), slice);
  if (!slice.transfers.empty())
    return true;
  if (kind == RunKind::Asked || kind == RunKind::Updates ||
      kind == RunKind::Carried)
    addCarriedValues(kind);
  if (!slice.transfers.empty())
    return true;
  addResultsBeside();
  // Updates have no history; what is computed along with them may have.
  bool keepsHistory =
      llvm::any_of(asked, [&](Node *node) { return graph.needsHistory(node); });
  if (kind == RunKind::Asked || (kind == RunKind::Updates && keepsHistory))
    addSavedValues();
  if (kind == RunKind::Updates)
    addWaitingValues();
  if (slice.transfers.empty())
    findDonatable(kind);
  return true;
}

/// Plans a program, for which everything is on its device.
bool SessionImpl::planProgram(Device &on, llvm::ArrayRef<Node *> asked,
                              RunKind kind) {
  for (;;) {
    if (!planSlice(on, asked, kind,
                   [this](Node *node) { return computeView(node); }))
      return false;
    if (slice.transfers.empty())
      return true;
    computeTransfers(std::move(slice.transfers));
  }
}

/// What one program of each device computes; in the order in which the devices
/// are met.
SessionImpl::NodesByDevice
SessionImpl::groupByDevice(llvm::ArrayRef<Node *> asked, RunKind kind) const {
  NodesByDevice groups;
  auto find = [&](Device *on) -> llvm::SmallVectorImpl<Node *> & {
    for (DeviceNodes &group : groups)
      if (group.device == on)
        return group.nodes;
    groups.push_back({on, {}});
    return groups.back().nodes;
  };
  for (Node *node : asked)
    if (!node->isLeaf())
      find(node->device ? node->device : device).push_back(node);
  for (Node *node : findFetched(kind))
    find(node->device);
  return groups;
}

void SessionImpl::compute(llvm::ArrayRef<Node *> asked, RunKind kind) {
  NodesByDevice byDevice = groupByDevice(asked, kind);
  // A program may overwrite what another device is to read, so all copies that
  // the programs need come first.
  if (byDevice.size() > 1) {
    std::vector<Node *> pending = findFetched(kind);
    for (auto &[on, nodes] : byDevice)
      llvm::append_range(pending, nodes);
    traceSlice(graph, pending, slice);
    computeTransfers(std::move(slice.transfers));
  }
  for (auto &[on, nodes] : byDevice)
    if (planProgram(*on, nodes, kind))
      runSlice(lookUpProgram(), kind);
  completeFetches();
  if (!settings.isAsynchronous && kind != RunKind::Transferred)
    for (const std::unique_ptr<Device> &each : devices.getMade())
      waitInside(each->getQueue().getLast());
}

/// A view of a value that is there is there, too.
bool SessionImpl::computeView(Node *node) {
  Node *source = node;
  while (!source->isLeaf()) {
    if (!graph.getInfo(source).isView)
      return false;
    source = source->operands.front();
  }
  if (source->isDonated)
    failOverwritten(source);
  if (!node->device)
    node->device = device;
  BufferRef buffer = bufferOf(source, *node->device);
  store(node, std::move(buffer), source->ready, source->depth);
  return true;
}

//===----------------------------------------------------------------------===//
// Saved values
//===----------------------------------------------------------------------===//

/// Whether a reindex or a routine of the slice reads the value, so that it
/// exists in memory.
bool SessionImpl::feedsReindex(const Node *node) const {
  return llvm::any_of(graph.getUsers(node), [&](Node *user) {
    if (!slice.contains(user))
      return false;
    const SignatureInfo &info = graph.getInfo(user);
    if (info.isView)
      return feedsReindex(user);
    if (info.isRoutine)
      return true;
    // A value of a much smaller space is computed again for each consumer.
    return info.isReindex &&
           countElements(user->shape()) / metaop::kSmallProducerRatio <
               countElements(node->shape());
  });
}

/// Whether all that becomes of the value in this program is results with as
/// many elements that one reindex or reindex-reduce makes of it: its elements
/// in another order, as the gradient of a transposed weight has them. No
/// gradient reads what was only moved.
bool SessionImpl::isOnlyMoved(const Node *node) const {
  return llvm::all_of(graph.getUsers(node), [&](Node *user) {
    const SignatureInfo &info = graph.getInfo(user);
    return !slice.contains(user) ||
           (user->isOutput && (info.isReindex || info.isReindexReduce) &&
            countElements(user->shape()) == countElements(node->shape()));
  });
}

/// Whether something has been recorded that will ask for the value.
bool SessionImpl::isAwaited(const Node *node) const {
  return llvm::any_of(graph.getUsers(node), [&](Node *user) {
    return !slice.contains(user) && !user->isLeaf();
  });
}

bool SessionImpl::isWorthSaving(Node *node, bool keepsHistory) const {
  const SignatureInfo &info = graph.getInfo(node);
  // What is free of a device is to stay so.
  if (info.isView || info.isCheck || info.isReindex || info.isGenerator ||
      !node->device)
    return false;
  if (!info.isReindexReduce && !info.isRoutine && !feedsReindex(node))
    return false;
  if (keepsHistory && graph.needsHistory(node) &&
      (node->vars > 0 || !isOnlyMoved(node)))
    return true;
  return isAwaited(node);
}

void SessionImpl::addSavedValues() {
  int64_t budget = settings.savedValuesBudget;
  auto isAsked = [&](Node *node) {
    return askedNodes.empty() || node->isAsked;
  };
  // What has been differentiated is seldom differentiated again, and what its
  // gradients need is saved because they need it.
  bool keepsHistory = llvm::any_of(slice.outputs, [&](Node *node) {
    return isAsked(node) && !node->isDifferentiated && graph.needsHistory(node);
  });
  markOutputs(true);
  auto save = [&](Node *node) {
    if (node->isOutput || !slice.contains(node) ||
        !isWorthSaving(node, keepsHistory && isAsked(node)))
      return;
    int64_t bytes = countBytes(node->shape(), node->dtype);
    if (bytes > budget)
      return;
    budget -= bytes;
    node->isSaved = true;
    slice.outputs.push_back(node);
  };
  for (Node *op : slice.ops)
    llvm::for_each(resultsOf(op), save);
  markOutputs(false);
}

//===----------------------------------------------------------------------===//
// Several results
//===----------------------------------------------------------------------===//

/// An operation with several results is no part of a kernel: what somebody
/// waits for of them is there anyway, or cheaper now than by another program.
void SessionImpl::addResultsBeside() {
  markOutputs(true);
  for (Node *op : slice.ops) {
    if (op->nextResult == op)
      continue;
    for (Node *result : resultsOf(op)) {
      if (result->isOutput || !slice.contains(result) || !result->device ||
          !(result->vars > 0 || result->pins > 0 || isAwaited(result)))
        continue;
      result->isOutput = true;
      slice.outputs.push_back(result);
    }
  }
  markOutputs(false);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Compiler &SessionImpl::getCompiler(const Device &on) const {
  return settings.useInterpreter && &on.getBackend() == compiler.get()
             ? *interpreter
             : on.getBackend();
}

ProgramFlags SessionImpl::getProgramFlags(const Device &on) {
  // Devices of one backend run the same programs.
  Compiler *backend = &getCompiler(on);
  auto [target, isNew] = targets.try_emplace(backend, targets.size());
  return {target->second, uint32_t(settings.options.rules == "paper"),
          uint32_t(settings.options.fuse),
          uint32_t(settings.options.reuseMemory), schedules.getNumber()};
}

std::shared_ptr<const CachedProgram> SessionImpl::lookUpProgram() {
  lookUpCompiled = false;
  if (std::shared_ptr<const CachedProgram> copies = makeCopies())
    return copies;
  finishKey(slice, donatable, getProgramFlags(*slice.device));
  std::shared_ptr<const CachedProgram> cached = programs.find(slice.key);
  bool isGrowing = cached && !cached->options.growing.empty();
  if (isGrowing && growth.hasSettled(slice.key))
    cached = nullptr;
  lookUpCompiled = !cached;
  if (cached) {
    ++programHits;
    schedules.note(*cached->program);
    return cached;
  }
  std::vector<GrowingDim> growing;
  if (!isGrowing && getCompiler(*slice.device).hasKernels())
    growing = growth.note(slice);
  cached = compileSlice(std::move(growing));
  schedules.note(*cached->program);
  programs.insert(slice.key, cached);
  return cached;
}

std::shared_ptr<const CachedProgram>
SessionImpl::compileSlice(std::vector<GrowingDim> growing) {
  auto cached = std::make_shared<CachedProgram>();
  cached->slice = writeSlice(graph, slice);
  cached->options = settings.options;
  cached->options.growing = std::move(growing);
  Compiler &backend = getCompiler(*slice.device);
  cached->compiler = &backend;
  ProgramDump dump(settings.dumpDirectory, backend, *cached,
                   llvm::map_to_vector(slice.ops, [](Node *node) {
                     return node->op->getLoc();
                   }));
  dump.writePhases();
  auto compiled = backend.compile(cached->slice, donatable, cached->options,
                                  getStopCheck());
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
  programsCompiled += !cached->program->getInfo().isLoaded;
  kernelsCompiled += cached->program->getInfo().compiledKernels;
  compileSeconds += cached->program->getInfo().compileSeconds;
  return cached;
}

BufferRef SessionImpl::makeScalar(uint64_t bits, Device &on) {
  BufferRef buffer = on.getMemory().allocate(sizeof(bits));
  buffer->write(&bits, sizeof(bits));
  return buffer;
}

BufferRef SessionImpl::bufferOf(Node *leaf, Device &on) {
  // A number that is free of a device may have been used on another.
  if (!leaf->buffer || (leaf->isScalar && !on.getMemory().owns(*leaf->buffer)))
    leaf->buffer = makeScalar(leaf->scalar, on);
  return leaf->buffer;
}

/// What the slice on its way and its program are reported as.
std::shared_ptr<const RunRecord>
SessionImpl::makeRecord(std::shared_ptr<const CachedProgram> cached) const {
  auto record = std::make_shared<RunRecord>();
  record->cached = std::move(cached);
  record->device = slice.device;
  record->wasCompiled = lookUpCompiled;
  record->locations.reserve(slice.ops.size());
  for (Node *node : slice.ops)
    record->locations.push_back(node->op->getLoc());
  return record;
}

void SessionImpl::makeRoom(llvm::ArrayRef<Node *> kept) {
  llvm::for_each(kept, [&](Node *node) { graph.pin(node); });
  llvm::scope_exit unpin(
      [&] { llvm::for_each(kept, [&](Node *node) { graph.unpin(node); }); });
  dropDead();
  drainInside();
  for (const std::unique_ptr<Device> &each : devices.getMade())
    each->scratch.reset();
  dropPacked();
}

void SessionImpl::runSlice(std::shared_ptr<const CachedProgram> cached,
                           RunKind kind) {
  resumeFor(slice.leaves);
  Device &on = *slice.device;
  llvm::SmallVector<BufferRef> results;
  auto queued = std::make_unique<QueuedRun>();
  queued->run = takeMemory(
      *this, [this] { makeRoom(slice.outputs); },
      [&] {
        llvm::SmallVector<BufferRef> arguments;
        for (Node *leaf : slice.leaves)
          arguments.push_back(bufferOf(leaf, on));
        return check(cached->program->prepare(arguments, on.getMemory(),
                                              getScratch(on)));
      });
  if (settings.keepsPacked)
    cached->program->keepPacked(queued->run, on.getMemory());
  for (const RunRef &result : queued->run.results)
    results.push_back(result.get());
  std::vector<CheckedValue> checked = findChecked(queued->run);
  for (const CheckedValue &value : checked)
    queued->checked.push_back(value.buffer);
  recordDonations(queued->run);
  for (Node *leaf : slice.leaves)
    queued->await(leaf->ready, on.getQueue());
  queued->record = lastRun = makeRecord(std::move(cached));
  queued->replacedValues = findReplaced();
  ++programsRun;
  Ticket ticket = launch(std::move(queued), kind);
  for (auto [output, buffer] : llvm::zip_equal(slice.outputs, results))
    store(output, std::move(buffer), ticket, output->depth + depthStep);
  for (CheckedValue &value : checked)
    store(value.node, std::move(value.buffer), ticket,
          value.node->depth + depthStep);
  if (depthStep > 0)
    graph.boundHistory(slice.outputs, settings.historyDepth);
  if (kind != RunKind::Initial && kind != RunKind::Transferred)
    graph.startPeriod();
  recordedAtRun = graph.getNumRecorded();
}

Ticket SessionImpl::launch(std::unique_ptr<QueuedRun> queued, RunKind kind) {
  // A caller that waits at once runs a short program itself.
  bool isAwaited = kind == RunKind::Asked || !settings.isAsynchronous;
  const RunRecord &record = *queued->record;
  bool isLong =
      record.cached->program->isLong(record.device->getThreads().getThreads());
  queued->listener = listener;
  queued->order = ++launched;
  return push(std::move(queued), isLong      ? Queue::Start::Apart
                                 : isAwaited ? Queue::Start::WhenWaitedFor
                                             : Queue::Start::Now);
}

Ticket SessionImpl::push(std::unique_ptr<QueuedRun> queued,
                         Queue::Start start) {
  return queued->record->device->getQueue().push(
      [this, queued = std::move(queued)](Ticket ticket) mutable {
        execute(std::move(queued), ticket);
      },
      start);
}

/// An earlier failure because of which a run cannot start: an argument is not
/// there.
static std::shared_ptr<const RunFailure> findFailure(const ProgramRun &run) {
  for (const RunRef &argument : run.arguments)
    if (argument->failure)
      return argument->failure;
  return nullptr;
}

/// Marks what a failed run has neither computed nor found in range. What it
/// would have written over an argument keeps that argument's value.
static void spoilResults(const QueuedRun &queued,
                         const std::shared_ptr<const RunFailure> &failure) {
  for (const RunRef &result : queued.run.results)
    if (llvm::none_of(queued.run.arguments, [&](const RunRef &argument) {
          return argument.get() == result.get();
        }))
      result->failure = failure;
  for (const RunRef &checked : queued.checked)
    checked->failure = failure;
}

/// Gives results of a failed run, which has written nothing, the values that
/// they replace.
static void
keepReplaced(const ProgramRun &run,
             llvm::ArrayRef<std::pair<unsigned, RunRef>> replacedValues) {
  for (const auto &[number, old] : replacedValues) {
    const RunRef &result = run.results[number];
    if (result->failure && !old->failure && old->bytes() == result->bytes()) {
      result->copyFrom(*old.get());
      result->failure = nullptr;
    }
  }
}

void SessionImpl::execute(std::unique_ptr<QueuedRun> queued, Ticket ticket) {
  queued->ticket = ticket;
  auto isCancelled = [&] { return ticket.isCancelled(); };
  if (isCancelled() || !queued->awaited.wait(isCancelled) ||
      suspended.holdUp(*queued))
    return suspended.add(std::move(queued));
  ProgramRun &run = queued->run;
  const std::shared_ptr<const RunRecord> &record = queued->record;
  RunListener *listener = queued->listener.get();
  Program &program = *record->cached->program;
  std::shared_ptr<const RunFailure> found;
  // Nothing that a run needs is lost once it has begun.
  if (!run.progress.hasBegun())
    found = findFailure(run);
  if (!found) {
    llvm::Error error =
        program.execute(run, record->device->getThreads(), isCancelled,
                        listener ? &queued->times : nullptr);
    if (error.isA<Interrupted>()) {
      llvm::consumeError(std::move(error));
      return suspended.add(std::move(queued));
    }
    if (listener)
      listener->ran(record, std::move(queued->times));
    if (!error)
      return;
    found = std::make_shared<RunFailure>(
        describeFailure(*record, std::move(error)));
  }
  spoilResults(*queued, found);
  keepReplaced(run, queued->replacedValues);
  failures.add(*ticket.queue, std::move(found));
}

void SessionImpl::store(Node *output, BufferRef buffer, Ticket ready,
                        uint32_t depth) {
  Device &on = output->device ? *output->device : *slice.device;
  llvm::SmallVector<Node *, 4> viewed{output};
  while (graph.getInfo(viewed.back()).isView) {
    Node *source = viewed.back()->operands.front();
    if (source->isLeaf())
      break;
    viewed.push_back(source);
  }
  for (Node *node : viewed) {
    node->ready = ready;
    if (!node->device)
      node->device = &on;
    graph.setComputed(node, buffer, depth);
  }
}

void SessionImpl::runEagerly(Node *node) {
  if (node->generation > flushes)
    flushUpdates();
  if (node->isLeaf())
    return;
  traceSlice(graph, node, slice);
  // What one of them computes beside is there when it is met.
  std::vector<Node *> ops = slice.ops;
  // A program is an operator, and says nothing about loops.
  llvm::scope_exit restore([this] { depthStep = 1; });
  depthStep = 0;
  for (Node *op : ops)
    compute(op, RunKind::Asked);
  waitInside(node->ready);
}
