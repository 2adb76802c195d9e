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
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"
#include "llvm/ADT/ScopeExit.h"

#include <cstring>

using namespace mlir;
using namespace metaops;

void Session::sync(llvm::ArrayRef<const Var *> vars) {
  syncNodes(
      llvm::map_to_vector(vars, [](const Var *var) { return var->node; }));
}

/// The caller will wait for these values, which are there or on their way.
void Session::ask(llvm::ArrayRef<Node *> nodes) {
  resumeFor(nodes);
  for (Node *node : nodes)
    asked = std::max(asked, node->ready);
}

void Session::syncNodes(llvm::ArrayRef<Node *> asked) {
  if (llvm::any_of(asked, [&](Node *node) {
        return !node->isLeaf() && node->generation > flushes;
      }))
    flushUpdates(asked);
  compute(asked, RunKind::Asked);
  ask(asked);
  graph.collect();
}

void Session::syncAll() {
  flushUpdates();
  std::vector<Node *> held = graph.getWaiting();
  llvm::erase_if(held, [](Node *node) { return node->vars == 0; });
  syncNodes(held);
  resume([](Queue::Ticket) { return true; });
  asked = queue->getLast();
}

TensorData Session::getData(const Var &var) {
  Node *node = var.node;
  if (!node->isLeaf())
    syncNodes(node);
  if (node->isDonated)
    failOverwritten(node);
  ask(node);
  return {bufferOf(node), var.dtype(), var.shape().vec(), node->ready};
}

bool Session::planSlice(llvm::ArrayRef<Node *> asked, RunKind kind,
                        llvm::function_ref<bool(Node *)> shareView) {
  llvm::SmallSetVector<Node *, 16> outputs;
  auto add = [&](Node *node) {
    if (!node->isLeaf() && !shareView(node))
      outputs.insert(node);
  };
  llvm::for_each(asked, add);
  if (kind == RunKind::Asked && !outputs.empty())
    llvm::for_each(takeCheckable(), add);
  bool isCarried = kind == RunKind::Carried;
  if (kind == RunKind::Asked || kind == RunKind::Updates || isCarried)
    for (const Fetch &fetch : fetches)
      for (Node *node : fetch.nodes)
        // Of the iteration that begins, there is more to come.
        if (node->generation <= flushes &&
            !(isCarried && node->period == graph.getPeriod()))
          add(node);
  if (outputs.empty())
    return false;
  llvm::scope_exit forget([this] { forgetAsked(); });
  traceSlice(graph, outputs.getArrayRef(), slice);
  if (kind == RunKind::Asked || kind == RunKind::Updates || isCarried)
    addCarriedValues(kind);
  addResultsBeside();
  // Updates have no history; what is computed along with them may have.
  bool keepsHistory =
      llvm::any_of(asked, [&](Node *node) { return graph.needsHistory(node); });
  if (kind == RunKind::Asked || kind == RunKind::Checks ||
      (kind == RunKind::Updates && keepsHistory))
    addSavedValues();
  if (kind == RunKind::Updates)
    addWaitingValues();
  findDonatable(kind);
  return true;
}

void Session::compute(llvm::ArrayRef<Node *> asked, RunKind kind) {
  auto plan = [&] {
    return planSlice(asked, kind,
                     [this](Node *node) { return computeView(node); });
  };
  bool isAny = plan();
  // What has been checked by then needs no computing.
  if (isAny && kind != RunKind::Asked && computeChecks(kind))
    isAny = plan();
  if (isAny) {
    runSlice(lookUpProgram(), kind);
    dropCheckedIndices();
  }
  completeFetches();
  if (!settings.isAsynchronous && kind != RunKind::Checks)
    waitInside(queue->getLast());
}

/// A view of a value that is there is there, too.
bool Session::computeView(Node *node) {
  Node *source = node;
  while (!source->isLeaf()) {
    if (!graph.getInfo(source).isView)
      return false;
    source = source->operands.front();
  }
  if (source->isDonated)
    failOverwritten(source);
  store(node, bufferOf(source), source->ready, source->depth);
  return true;
}

//===----------------------------------------------------------------------===//
// Saved values
//===----------------------------------------------------------------------===//

/// Whether a reindex or a routine of the slice reads the value, so that it
/// exists in memory.
bool Session::feedsReindex(const Node *node) const {
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
bool Session::isOnlyMoved(const Node *node) const {
  return llvm::all_of(graph.getUsers(node), [&](Node *user) {
    const SignatureInfo &info = graph.getInfo(user);
    return !slice.contains(user) ||
           (user->isOutput && (info.isReindex || info.isReindexReduce) &&
            countElements(user->shape()) == countElements(node->shape()));
  });
}

/// Whether something has been recorded that will ask for the value.
bool Session::isAwaited(const Node *node) const {
  return llvm::any_of(graph.getUsers(node), [&](Node *user) {
    return !slice.contains(user) && !user->isLeaf();
  });
}

bool Session::isWorthSaving(Node *node, bool keepsHistory) const {
  const SignatureInfo &info = graph.getInfo(node);
  if (info.isView || info.isReindex || info.isGenerator)
    return false;
  if (!info.isReindexReduce && !info.isRoutine && !feedsReindex(node))
    return false;
  if (keepsHistory && graph.needsHistory(node) &&
      (node->vars > 0 || !isOnlyMoved(node)))
    return true;
  return isAwaited(node);
}

void Session::addSavedValues() {
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
void Session::addResultsBeside() {
  markOutputs(true);
  for (Node *op : slice.ops) {
    if (op->nextResult == op)
      continue;
    for (Node *result : resultsOf(op)) {
      if (result->isOutput || !slice.contains(result) ||
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

ProgramFlags Session::getProgramFlags() const {
  return {uint32_t(settings.useInterpreter),
          uint32_t(settings.options.rules == "paper"),
          uint32_t(settings.options.fuse),
          uint32_t(settings.options.reuseMemory), schedules.getNumber()};
}

std::shared_ptr<const CachedProgram> Session::lookUpProgram() {
  lookUpCompiled = false;
  if (std::shared_ptr<const CachedProgram> copies = makeCopies())
    return copies;
  finishKey(slice, donatable, getProgramFlags());
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
  if (!isGrowing && !settings.useInterpreter)
    growing = growth.note(slice);
  cached = compileSlice(std::move(growing));
  schedules.note(*cached->program);
  programs.insert(slice.key, cached);
  return cached;
}

std::shared_ptr<const CachedProgram>
Session::compileSlice(std::vector<GrowingDim> growing) {
  auto cached = std::make_shared<CachedProgram>();
  cached->slice = writeSlice(graph, slice);
  cached->options = settings.options;
  cached->options.growing = std::move(growing);
  cached->isInterpreted = settings.useInterpreter;
  Compiler &backend = settings.useInterpreter ? *interpreter : *compiler;
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

BufferRef Session::makeScalar(uint64_t bits) {
  BufferRef buffer = memory.allocate(sizeof(bits));
  std::memcpy(buffer->data(), &bits, sizeof(bits));
  return buffer;
}

BufferRef Session::bufferOf(Node *leaf) {
  if (!leaf->buffer)
    leaf->buffer = makeScalar(leaf->scalar);
  return leaf->buffer;
}

/// What the slice on its way and its program are reported as.
std::shared_ptr<const RunRecord>
Session::makeRecord(std::shared_ptr<const CachedProgram> cached) const {
  auto record = std::make_shared<RunRecord>();
  record->cached = std::move(cached);
  record->wasCompiled = lookUpCompiled;
  record->locations.reserve(slice.ops.size());
  for (Node *node : slice.ops)
    record->locations.push_back(node->op->getLoc());
  record->checks = describeChecks();
  record->required = findRequiredChecks();
  return record;
}

void Session::runSlice(std::shared_ptr<const CachedProgram> cached,
                       RunKind kind) {
  resumeForSlice();
  llvm::SmallVector<BufferRef> results;
  {
    // Runs in the queue hold memory, and so do values whose last Var has died.
    auto makeRoom = [this] {
      llvm::for_each(slice.outputs, [&](Node *node) { graph.pin(node); });
      llvm::scope_exit unpin([&] {
        llvm::for_each(slice.outputs, [&](Node *node) { graph.unpin(node); });
      });
      dropDead();
      drainInside();
      scratch.reset();
      dropPacked();
    };
    ProgramRun run = takeMemory(*this, makeRoom, [&] {
      llvm::SmallVector<BufferRef> arguments;
      for (Node *leaf : slice.leaves)
        arguments.push_back(bufferOf(leaf));
      return check(cached->program->prepare(arguments, memory, scratch));
    });
    if (settings.keepsPacked)
      cached->program->keepPacked(run, memory);
    for (const RunRef &result : run.results)
      results.push_back(result.get());
    recordDonations(run);
    auto record = makeRecord(std::move(cached));
    lastRun = record;
    ++programsRun;
    launch(std::move(run), std::move(record), findReplaced(), kind);
  }
  for (auto [output, buffer] : llvm::zip_equal(slice.outputs, results))
    store(output, std::move(buffer), queue->getLast(),
          output->depth + depthStep);
  if (depthStep > 0)
    graph.boundHistory(slice.outputs, settings.historyDepth);
  if (kind != RunKind::Initial && kind != RunKind::Checks)
    graph.startPeriod();
  recordedAtRun = graph.getNumRecorded();
}

void Session::launch(ProgramRun run, std::shared_ptr<const RunRecord> record,
                     ReplacedValues replacedValues, RunKind kind) {
  // A caller that waits at once runs a short program itself.
  bool isAwaited = kind == RunKind::Asked || !settings.isAsynchronous;
  bool isLong = record->cached->program->isLong(threads.getThreads());
  auto queued = std::make_unique<QueuedRun>();
  queued->run = std::move(run);
  queued->record = std::move(record);
  queued->replacedValues = std::move(replacedValues);
  queued->listener = listener;
  push(std::move(queued), isLong      ? Queue::Start::Apart
                          : isAwaited ? Queue::Start::WhenWaitedFor
                                      : Queue::Start::Now);
}

Queue::Ticket Session::push(std::unique_ptr<QueuedRun> queued,
                            Queue::Start start) {
  return queue->push(
      [this, queued = std::move(queued)](Queue::Ticket ticket) mutable {
        execute(std::move(queued), ticket);
      },
      start);
}

/// An earlier failure because of which a run cannot start: an argument is not
/// there, or indices are out of range.
static std::shared_ptr<const RunFailure> findFailure(const ProgramRun &run,
                                                     const RunRecord &record) {
  for (const RunRef &argument : run.arguments)
    if (argument->failure)
      return argument->failure;
  for (const auto &check : record.required)
    if (check->failure)
      return check->failure;
  return nullptr;
}

/// Marks what a failed run has not computed. What it would have written over an
/// argument keeps that argument's value, unless it has.
static void spoilResults(const ProgramRun &run, bool hasWritten,
                         const std::shared_ptr<const RunFailure> &failure) {
  for (const RunRef &result : run.results) {
    bool isArgument = llvm::any_of(run.arguments, [&](const RunRef &argument) {
      return argument.get() == result.get();
    });
    if (hasWritten || !isArgument)
      result->failure = failure;
  }
}

/// Gives results of a run that has written nothing the values that they
/// replace.
static void
keepReplaced(const ProgramRun &run,
             llvm::ArrayRef<std::pair<unsigned, RunRef>> replacedValues) {
  for (const auto &[number, old] : replacedValues) {
    const RunRef &result = run.results[number];
    if (result->failure && !old->failure && old->bytes() == result->bytes()) {
      std::memcpy(result->data(), old->data(), result->bytes());
      result->failure = nullptr;
    }
  }
}

void Session::execute(std::unique_ptr<QueuedRun> queued, Queue::Ticket ticket) {
  queued->ticket = ticket;
  auto isCancelled = [&] { return queue->isCancelled(ticket); };
  if (isCancelled() || suspended.holdUp(*queued))
    return suspended.add(std::move(queued));
  const ProgramRun &run = queued->run;
  const std::shared_ptr<const RunRecord> &record = queued->record;
  RunListener *listener = queued->listener.get();
  Program &program = *record->cached->program;
  std::shared_ptr<const RunFailure> found = findFailure(run, *record);
  bool hasWritten = false;
  if (!found) {
    std::vector<CallTime> times;
    llvm::Error error =
        program.execute(run, threads, isCancelled, listener ? &times : nullptr);
    if (error.isA<Interrupted>()) {
      llvm::consumeError(std::move(error));
      return suspended.add(std::move(queued));
    }
    if (listener)
      listener->ran(record, std::move(times));
    if (!error) {
      found = evaluateChecks(*record, [&](unsigned result) {
        int64_t number;
        std::memcpy(&number, run.results[result]->data(), sizeof(number));
        return number;
      });
      if (!found)
        return;
      hasWritten = true;
    } else {
      found = std::make_shared<RunFailure>(
          describeFailure(*record, std::move(error)));
    }
  }
  // Indices that have not been checked are not known to be in range.
  if (!hasWritten)
    for (const IndexCheck &check : record->checks)
      check.outcome->failure = found;
  spoilResults(run, hasWritten, found);
  if (!hasWritten)
    keepReplaced(run, queued->replacedValues);
  std::lock_guard<std::mutex> lock(failureMutex);
  if (!failure)
    failure = found;
}

void Session::store(Node *output, BufferRef buffer, Queue::Ticket ready,
                    uint32_t depth) {
  llvm::SmallVector<Node *, 4> viewed{output};
  while (graph.getInfo(viewed.back()).isView) {
    Node *source = viewed.back()->operands.front();
    if (source->isLeaf())
      break;
    viewed.push_back(source);
  }
  for (Node *node : viewed) {
    node->ready = ready;
    graph.setComputed(node, buffer, depth);
  }
}

void Session::runEagerly(Node *node) {
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
  waitInside(queue->getLast());
}
