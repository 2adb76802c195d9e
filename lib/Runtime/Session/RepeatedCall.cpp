//===- RepeatedCall.cpp - Calls that need not be recorded again -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a recorded function is recorded, operation by operation. Where all
// that it reads is in memory, its program is run at once, and what the program
// takes and gives is noted in terms of the call: arguments, constants, numbers,
// results, and what arguments are rebound to. The next call takes the program
// and launches it. So are steps of optimisers on gradients that are in memory,
// which are calls of one function, too.
//
// 1. `isAlone` says whether nothing but the call will be in its program.
// 2. The call is recorded (RecordedFunction.h).
// 3. `endCall` runs it, and notes which value is which argument or output.
// 4. `repeatCall` launches that program. A rebound Var stays with its value's
//    node, whose memory is another one then: so its value must be in memory,
//    and no other Var, fetch or operation may have it. A result is a value
//    without history.
//
// A result that is made of what the call has rebound, as a loss is, loses its
// history with that, and so does what the call changes in place: gradients that
// would go on behind them are errors, as they are behind a step that has
// written over its parameters. A launch marks what it was given so, as ending a
// recorded history would; where an argument has a history itself, the call is
// recorded. Whatever does not fit is recorded again, which is right always: a
// call whose results keep their history is, each time.
//
// Arguments that are given away have no value behind the call. Results that are
// made of them lose their history as if they had been rebound.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedCall.h"

#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

using Source = RepeatedCall::Source;

/// Returns whether nobody but one Var needs the value, which is in memory.
static bool isHeldOnce(const Node *node) {
  return node->vars == 1 && !node->isScalar && node->pins == 0 &&
         node->value().use_empty();
}

/// Returns the device of the first argument that has one.
Device &SessionImpl::findDevice(llvm::ArrayRef<Var *> arguments) {
  for (const Var *var : arguments)
    if (Device *device = var->getNode()->device)
      return *device;
  return devices.getCurrent();
}

/// Returns whether all arguments are different values in memory of a device,
/// and nothing is pending that a program would compute along.
bool SessionImpl::isAlone(llvm::ArrayRef<Var *> arguments, const Device &on) {
  if (!settings.isLazy || !updates.empty() || !fetches.getPending().empty() ||
      !suspended.empty() || graph.isSwept())
    return false;
  uint32_t mark = graph.startTraversal();
  return llvm::all_of(arguments, [&](const Var *var) {
    Node *node = var->getNode();
    bool isThere = node->buffer || node->isScalar;
    return isThere && (!node->device || node->device == &on) &&
           std::exchange(node->epoch, mark) != mark;
  });
}

/// Returns whether the program may write over as many values as when it was
/// planned, each Var that is rebound can stay with its node, and no history
/// ends that is longer than the call.
static bool takes(const RepeatedCall &call, llvm::ArrayRef<Var *> arguments) {
  for (const auto &replacement : call.replaced) {
    if (!replacement)
      continue;
    const Node *node = arguments[replacement->argument]->getNode();
    if (!isHeldOnce(node) || (node->endedChains && !replacement->isEnd))
      return false;
  }
  if (call.endsHistories && llvm::any_of(arguments, [](const Var *argument) {
        return !argument->getNode()->operands.empty();
      }))
    return false;
  for (auto [source, mayWrite] :
       llvm::zip_equal(call.arguments, call.donatable)) {
    bool may = false;
    if (source.isReplaced) {
      const Node *node = arguments[source.index]->getNode();
      may = isHeldOnce(node) && !node->buffer->isShared() &&
            node->buffer->mayBeWritten();
    }
    if (may != mayWrite)
      return false;
  }
  return true;
}

BufferRef SessionImpl::bufferOf(const Source &source,
                                const CallRequest &request, Device &on) {
  const RecordedFunction &function = request.function;
  switch (source.kind) {
  case Source::Kind::Argument:
    return memory.bufferOf(request.arguments[source.index]->getNode(), on);
  case Source::Kind::Number:
    return memory.makeScalar(request.numbers[source.index].encode(
                                 function.getNumberTypes()[source.index]),
                             on);
  case Source::Kind::Constant:
    return memory.bufferOf(function.getConstants()[source.index].getNode(), on);
  case Source::Kind::Scalar:
    return memory.makeScalar(source.bits, on);
  case Source::Kind::RandomKey:
    return memory.makeScalar(recorder.getRandomKey(), on);
  case Source::Kind::RandomCounter:
    return memory.makeScalar(recorder.getRandomCounter(source.bits), on);
  }
  llvm_unreachable("a kind of source");
}

std::unique_ptr<QueuedRun> SessionImpl::queueCall(const RepeatedCall &call,
                                                  const CallRequest &request,
                                                  Device &on) {
  llvm::ArrayRef<Var *> arguments = request.arguments;
  auto queued = std::make_unique<QueuedRun>(memory.take([&] {
    llvm::SmallVector<BufferRef, 32> buffers;
    for (const Source &source : call.arguments)
      buffers.push_back(bufferOf(source, request, on));
    return check(call.record->cached->program->prepare(
        buffers, on.getMemory(), launcher.getScratch(on)));
  }));
  if (settings.keepsPacked)
    call.record->cached->program->keepPacked(queued->run, on.getMemory());
  for (const Source &source : call.arguments)
    if (source.kind == Source::Kind::Argument)
      queued->await(arguments[source.index]->getNode()->ready, on.getQueue());
  for (auto [number, replacement] : llvm::enumerate(call.replaced))
    if (replacement)
      queued->replacedValues.emplace_back(
          number, RunRef(arguments[replacement->argument]->getNode()->buffer));
  queued->record = call.record;
  return queued;
}

/// Has a run tell steps of a call how it has ended.
static void addSteps(QueuedRun &queued, const RepeatedCall &call,
                     const CallRequest &request) {
  llvm::ArrayRef<DType> types = request.function.getNumberTypes();
  for (const StepOfCall &step : request.steps) {
    step.outcome->begin();
    queued.outcomes.push_back(step.outcome);
    if (!step.outcome->mayChangeNumbers())
      continue;
    for (auto [place, source] : llvm::enumerate(call.arguments))
      if (source.kind == Source::Kind::Number)
        if (std::optional<unsigned> own = step.find(source.index))
          queued.numbers.push_back(
              {unsigned(place), step.outcome, {*own, types[source.index]}});
  }
}

/// Returns the values of a call's results, as its run will have computed them.
std::vector<Node *> SessionImpl::makeResults(const RepeatedCall &call,
                                             const CallRequest &request,
                                             llvm::ArrayRef<BufferRef> outputs,
                                             Ticket ticket, Device &on) {
  std::vector<Node *> results;
  for (auto [number, result] : llvm::enumerate(call.results)) {
    if (!result.isOutput) {
      results.push_back(request.arguments[result.index]->getNode());
      continue;
    }
    RankedTensorType type = request.function.getResultType(number);
    Node *node = recorder.buffer(*fromElementType(type.getElementType()),
                                 type.getShape(), outputs[result.index]);
    node->ready = ticket;
    node->device = &on;
    // Others may be made of what its Var has had in the call.
    node->wasRebound = result.hadFormer;
    results.push_back(node);
  }
  return results;
}

/// Has a node that a run gives another value be as if it had just been made.
static void noteReplaced(Node *node, Ticket ticket) {
  node->ready = ticket;
  // Nothing is made of the new value; what was made of the former one is made
  // of the same node.
  node->wasRebound = true;
  if (node->past) {
    node->past->lostChains = 0;
    node->past->repeated.reset();
  }
}

/// Has gradients behind a call by what it was given, and by results of it that
/// others are made of, be errors where the call has ended histories: those of
/// results, and of what it has rebound. `within` is the place of the last
/// values that this has had in the call.
void SessionImpl::noteEnds(const RepeatedCall &call,
                           llvm::ArrayRef<Var *> arguments,
                           llvm::ArrayRef<Node *> results, uint64_t within) {
  if (!call.endsHistories)
    return;
  uint64_t chains = call.chain;
  llvm::SmallVector<bool, 32> isReplaced(arguments.size(), false);
  for (const auto &replacement : call.replaced)
    if (replacement)
      isReplaced[replacement->argument] = true;
  for (auto [argument, isRebound] : llvm::zip_equal(arguments, isReplaced)) {
    chains |= argument->getNode()->endedChains;
    // A rebound Var holds another value now.
    if (!isRebound)
      argument->getNode()->addLostChains(call.chain);
  }
  // They may be made of whatever a Var has held.
  auto end = [&](Node *node, uint64_t last) {
    node->endedChains |= chains;
    node->addLost({0, last});
    node->overwrittenAt = recorder.getLine();
    node->isEndedByCall = true;
  };
  for (auto [node, result] : llvm::zip_equal(results, call.results)) {
    if (result.isEnded)
      end(node, result.isMadeOfRebound ? within : within - 1);
    if (result.isLost)
      node->addLostChains(call.chain);
  }
  for (const auto &replacement : call.replaced)
    if (replacement && replacement->isEnd)
      end(arguments[replacement->argument]->getNode(),
          replacement->isMadeOfRebound ? within : within - 1);
}

std::optional<std::vector<Node *>>
SessionImpl::repeatCall(const RepeatedCall &call, const CallRequest &request) {
  llvm::ArrayRef<Var *> arguments = request.arguments;
  Device &on = findDevice(arguments);
  if (!call.record || call.record->device != &on || !isAlone(arguments, on) ||
      !takes(call, arguments) ||
      call.flags != programs.getFlags(programs.getCompiler(on)))
    return std::nullopt;
  std::unique_ptr<QueuedRun> queued = queueCall(call, request, on);
  addSteps(*queued, call, request);
  llvm::SmallVector<BufferRef, 32> outputs;
  for (const RunRef &result : queued->run.results)
    outputs.push_back(result.get());
  // As if it had been written over, which it may be.
  for (unsigned number : request.donated)
    if (Node *node = arguments[number]->getNode(); isHeldOnce(node))
      graph.setDonated(node, recorder.getLine());
  runner.noteRun(call.record);
  programs.setHits(programs.getCounts().hits + 1);
  // Before the run: it finds who holds its results.
  for (auto [replacement, buffer] : llvm::zip_equal(call.replaced, outputs))
    if (replacement)
      arguments[replacement->argument]->getNode()->buffer = buffer;
  Ticket ticket = launcher.launch(std::move(queued), /*isAwaited=*/false);
  std::vector<Node *> results = makeResults(call, request, outputs, ticket, on);
  // Behind all that they may be made of: the end of that, and the place of the
  // last values within, of which others may be made.
  graph.skipRecorded();
  uint64_t within = graph.skipRecorded();
  for (const auto &replacement : call.replaced)
    if (replacement)
      noteReplaced(arguments[replacement->argument]->getNode(), ticket);
  for (const auto &replacement : call.replaced)
    if (replacement && replacement->repeats) {
      Node *node = arguments[replacement->argument]->getNode();
      node->getPast().repeated.emplace(
          RepeatedValue{NodeRef(node, within), call.chain});
    }
  noteEnds(call, arguments, results, within);
  recorder.skipRandom(request.function.getNumDrawn());
  graph.startPeriod();
  return results;
}
