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

//===----------------------------------------------------------------------===//
// The first time
//===----------------------------------------------------------------------===//

void CallValues::addNumber(const Node *node,
                           const RecordedFunction::Step &step) {
  using Kind = RecordedFunction::Step::Kind;
  if (step.kind == Kind::RandomKey)
    numbers[node] = {Source::Kind::RandomKey};
  else if (step.kind == Kind::RandomCounter)
    numbers[node] = {Source::Kind::RandomCounter, 0, step.scalar};
  else if (node->isScalar)
    numbers[node] = {Source::Kind::Scalar, 0, step.scalar};
}

namespace {
/// Finds out what the program that the planner has planned last takes and
/// gives.
class CallNotes {
public:
  CallNotes(const CallValues &values, const RecordedFunction &function)
      : values(values), function(function) {}

  /// Returns false where something of the program is unknown.
  bool note(const Slice &slice, RepeatedCall &call) const {
    for (const Node *leaf : slice.leaves) {
      std::optional<Source> source = find(leaf);
      if (!source)
        return false;
      source->isReplaced = source->kind == Source::Kind::Argument &&
                           values.arguments[source->index]->getNode() != leaf;
      call.arguments.push_back(*source);
    }
    for (const Node *output : slice.outputs) {
      std::optional<RepeatedCall::Replacement> replacement =
          findRebound(output);
      if (!replacement && !isResult(output))
        return false;
      call.endsHistories |= replacement && replacement->isEnd;
      call.replaced.push_back(replacement);
    }
    for (const Var &result : values.results) {
      std::optional<RepeatedCall::Result> found = find(result.getNode(), slice);
      if (!found)
        return false;
      found->hadFormer = !result.getFormer().empty();
      call.endsHistories |= found->isEnded;
      call.results.push_back(*found);
    }
    return areAllComputed(call);
  }

private:
  std::optional<Source> find(const Node *leaf) const {
    const auto *at = llvm::find(values.before, leaf);
    if (at != values.before.end())
      return Source{Source::Kind::Argument,
                    unsigned(at - values.before.begin())};
    for (auto [index, constant] : llvm::enumerate(function.getConstants()))
      if (constant.getNode() == leaf)
        return Source{Source::Kind::Constant, unsigned(index)};
    auto number = values.numbers.find(leaf);
    if (number == values.numbers.end())
      return std::nullopt;
    return number->second;
  }

  std::optional<RepeatedCall::Replacement>
  findRebound(const Node *output) const {
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (var->getNode() == output && values.before[index] != output)
        return RepeatedCall::Replacement{
            unsigned(index), output->endedChains != 0,
            output->getRepeated() != nullptr, isMadeOfRebound(output)};
    return std::nullopt;
  }

  bool isResult(const Node *output) const {
    return llvm::any_of(values.results, [&](const Var &result) {
      return result.getNode() == output;
    });
  }

  std::optional<RepeatedCall::Result> find(const Node *result,
                                           const Slice &slice) const {
    // A history that a gradient may be asked for through is not to be lost.
    if (!result->operands.empty() || result->isScalar)
      return std::nullopt;
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (var->getNode() == result)
        return RepeatedCall::Result{false, unsigned(index)};
    auto output = llvm::find(slice.outputs, result);
    if (output == slice.outputs.end())
      return std::nullopt;
    // Its history may have ended with what the call has rebound.
    bool isEnded = result->endedChains != 0 || !result->getLost().empty();
    return RepeatedCall::Result{true, unsigned(output - slice.outputs.begin()),
                                isEnded, isMadeOfRebound(result),
                                result->getLostChains() != 0};
  }

  /// Returns whether an ended result, or what an argument is rebound to, was
  /// made of a value that another argument has had last in the call.
  bool isMadeOfRebound(const Node *result) const {
    return llvm::any_of(values.arguments, [&](const Var *var) {
      const Node *node = var->getNode();
      if (node == result || !node->getRepeated())
        return false;
      uint64_t order = node->getRepeated()->value.getOrder();
      return (node->getRepeated()->lostChains & result->endedChains) &&
             result->getLost().mayBeIn(order, order + 1);
    });
  }

  /// Returns whether the program gives each Var that is rebound its value.
  bool areAllComputed(const RepeatedCall &call) const {
    for (auto [index, var] : llvm::enumerate(values.arguments))
      if (!var->isGivenAway() && var->getNode() != values.before[index] &&
          llvm::none_of(call.replaced, [&, number = index](const auto &each) {
            return each && each->argument == number;
          }))
        return false;
    return true;
  }

  const CallValues &values;
  const RecordedFunction &function;
};
} // namespace

std::vector<Node *> SessionImpl::findEnding(const CallValues &values) {
  llvm::SmallPtrSet<const Node *, 16> former;
  uint64_t first = ~uint64_t(0);
  for (auto [var, before] : llvm::zip_equal(values.arguments, values.before))
    if (var->getNode() != before) {
      former.insert(before);
      first = std::min(first, before->order);
    }
  std::vector<Node *> ending;
  if (former.empty())
    return ending;
  for (const Var &result : values.results) {
    uint32_t mark = graph.startTraversal();
    std::vector<Node *> stack{result.getNode()};
    bool reaches = false;
    while (!stack.empty() && !reaches) {
      Node *node = stack.back();
      stack.pop_back();
      if (std::exchange(node->epoch, mark) == mark || node->order < first)
        continue;
      reaches = former.contains(node);
      if (!graph.isFlowing(node))
        continue;
      // Other values that regions read are read again, and not written over.
      if (graph.getInfo(node).hasRegions)
        graph.forEachFlowSource(node,
                                [&](Node *source) { stack.push_back(source); });
      else
        stack.insert(stack.end(), node->operands.begin(), node->operands.end());
    }
    if (reaches)
      ending.push_back(result.getNode());
  }
  return ending;
}

llvm::SmallSetVector<Node *, 8>
SessionImpl::findAsked(const CallValues &values,
                       llvm::ArrayRef<Node *> ending) {
  for (Node *node : ending)
    node->isDifferentiated = true;
  llvm::SmallSetVector<Node *, 8> asked;
  for (const Var &result : values.results)
    if (!result.getNode()->isLeaf())
      asked.insert(result.getNode());
  return asked;
}

void SessionImpl::endCall(RepeatedCall &call, const RecordedFunction &function,
                          const CallValues &values) {
  call = RepeatedCall();
  // Former values of Vars that were rebound may be written over.
  dropped.release();
  std::vector<Node *> ending = findEnding(values);
  llvm::SmallSetVector<Node *, 8> asked = findAsked(values, ending);
  int64_t runs = runner.getNumRuns();
  planner.setGiven(values.given, recorder.getLine());
  llvm::scope_exit forget([&] { planner.setGiven({}, recorder.getLine()); });
  if (!updates.empty()) {
    flushUpdates(asked.getArrayRef());
  } else {
    runner.compute(asked.getArrayRef(), RunKind::Asked);
    graph.collect();
    planner.endOverwrittenHistories();
  }
  for (Node *node : ending) {
    node->overwrittenAt = recorder.getLine();
    node->isEndedByCall = true;
  }
  graph.endHistoriesAt(ending);
  if (runner.getNumRuns() != runs + 1 ||
      !CallNotes(values, function).note(planner.getSlice(), call))
    return;
  call.donatable.assign(planner.getDonatable().begin(),
                        planner.getDonatable().end());
  call.chain = graph.makeChain();
  call.flags =
      programs.getFlags(programs.getCompiler(*runner.getLastRun()->device));
  auto record = std::make_shared<RunRecord>(*runner.getLastRun());
  record->wasCompiled = false;
  call.record = std::move(record);
}

//===----------------------------------------------------------------------===//
// Again
//===----------------------------------------------------------------------===//

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

Node *SessionImpl::makeResult(RankedTensorType type, BufferRef buffer,
                              Ticket ticket, Device &on) {
  Node *node = recorder.buffer(*fromElementType(type.getElementType()),
                               type.getShape(), std::move(buffer));
  node->ready = ticket;
  node->device = &on;
  return node;
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
  std::vector<Node *> results;
  for (auto [number, result] : llvm::enumerate(call.results)) {
    if (!result.isOutput) {
      results.push_back(arguments[result.index]->getNode());
      continue;
    }
    results.push_back(makeResult(request.function.getResultType(number),
                                 outputs[result.index], ticket, on));
    // Others may be made of what its Var has had in the call.
    results.back()->wasRebound = result.hadFormer;
  }
  // Behind all that they may be made of: the end of that, and the place of the
  // last values within, of which others may be made.
  graph.skipRecorded();
  uint64_t within = graph.skipRecorded();
  for (const auto &replacement : call.replaced) {
    if (!replacement)
      continue;
    Node *node = arguments[replacement->argument]->getNode();
    node->ready = ticket;
    // Nothing is made of the new value; what was made of the former one is made
    // of the same node.
    node->wasRebound = true;
    if (node->past) {
      node->past->lostChains = 0;
      node->past->repeated.reset();
    }
    if (replacement->repeats)
      node->getPast().repeated.emplace(
          RepeatedValue{NodeRef(node, within), call.chain});
  }
  noteEnds(call, arguments, results, within);
  recorder.skipRandom(request.function.getNumDrawn());
  graph.startPeriod();
  return results;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Records a call, and runs it where nothing else is in its program.
void SessionImpl::recordCall(Session &session, RepeatedCall &call,
                             const CallRequest &request,
                             std::optional<std::vector<Var>> &results) {
  const RecordedFunction &function = request.function;
  Device &on = findDevice(request.arguments);
  bool mayRepeat = isAlone(request.arguments, on);
  Device &current = devices.getCurrent();
  devices.setCurrent(on);
  std::vector<Var> numbers = function.makeNumbers(session, request.numbers);
  devices.setCurrent(current);
  llvm::SmallVector<Var *, 32> arguments(request.arguments);
  CallValues values;
  for (auto [index, number] : llvm::enumerate(numbers)) {
    arguments.push_back(&number);
    values.numbers[number.getNode()] = {Source::Kind::Number, unsigned(index)};
  }
  values.arguments = request.arguments;
  for (const Var *argument : request.arguments)
    values.before.push_back(argument->getNode());
  for (unsigned number : request.donated)
    values.given.emplace_back(request.arguments[number]->getNode());
  results = function.replay(
      session, arguments, RecordedFunction::Mode::Call,
      [&](const Node *node, const RecordedFunction::Step &step) {
        values.addNumber(node, step);
      });
  for (unsigned number : request.donated)
    session.giveAway(*request.arguments[number]);
  for (const StepOfCall &step : request.steps) {
    if (step.outcome->mayChangeNumbers())
      for (auto [index, number] : llvm::enumerate(numbers))
        if (std::optional<unsigned> own = step.find(index))
          step.outcome->setPlace(NodeRef(number.getNode()),
                                 {*own, number.dtype()});
    updates.watch(step.outcome);
  }
  values.results = *results;
  if (!mayRepeat)
    return;
  try {
    endCall(call, function, values);
  } catch (...) {
    // The caller has no results, and keeps what they would be made of.
    for (auto [number, value] : llvm::zip_equal(request.donated, values.given))
      if (Node *node = value.get(); node && !node->isDonated)
        *request.arguments[number] = session.wrap(node);
    throw;
  }
}

void SessionImpl::finishCall() { runner.waitUnlessAsynchronous(); }

/// Returns the values of the arguments that a call rebinds.
static llvm::SmallVector<Node *, 16> findRebound(const CallRequest &request) {
  return llvm::map_to_vector<16>(
      request.function.getRebound(),
      [&](unsigned number) { return request.arguments[number]->getNode(); });
}

/// Returns whether all that a call reads is in memory, or will be when updates
/// that are pending have been run.
static bool areThere(const CallRequest &request) {
  llvm::SmallVector<bool, 32> isThere =
      llvm::map_to_vector<32>(request.arguments, [](const Var *argument) {
        return argument->getNode()->isLeaf();
      });
  for (unsigned number : request.function.getRebound())
    isThere[number] = true;
  return llvm::all_of(isThere, [](bool is) { return is; });
}

/// Throws where an argument that is given away is another shape of a value that
/// is not.
void SessionImpl::checkDonated(const CallRequest &request) {
  for (unsigned number : request.donated) {
    const Node *node = request.arguments[number]->getNode();
    if (!graph.getInfo(node).isView || node->operands.empty())
      continue;
    const Node *source = node->viewed();
    if (source->vars > 0 && source->type() != node->type())
      fail(ErrorKind::Value,
           "a call is to write over an argument of shape " +
               formatShape(node->shape()) +
               " that is a view of another tensor, of shape " +
               formatShape(source->shape()) +
               "; expected that one, or one with memory of its own");
  }
}

/// Throws where the function differentiates by an argument of which it uses
/// another one that is made of it.
void SessionImpl::checkHistories(const CallRequest &request,
                                 OutsidePaths &paths) {
  auto ofNumbers = [&](llvm::ArrayRef<unsigned> numbers) {
    return llvm::map_to_vector(numbers, [&](unsigned number) -> const Var * {
      return request.arguments[number];
    });
  };
  for (const InsideDerivatives &each : request.function.getDifferentiated()) {
    // As a rule nothing that is given has a history.
    llvm::SmallVector<Node *> used;
    for (unsigned number : each.used)
      if (Node *node = request.arguments[number]->getNode();
          !node->operands.empty())
        used.push_back(node);
    if (used.empty())
      continue;
    if (const Node *target = paths.find(graph, used, ofNumbers(each.by),
                                        ofNumbers(each.byFormer)))
      fail(ErrorKind::OutsideHistory,
           "a recorded function differentiates by a value from " +
               formatLine(target->op->getLoc()) +
               ", of which another one that it uses is made outside");
  }
}

void Session::call(const CallRequest &request, RepeatedCall &repeated,
                   std::optional<std::vector<Var>> &results) {
  checkOwn(request.arguments);
  impl->checkHistories(request, getOutsidePaths());
  impl->checkDonated(request);
  if (auto found = impl->repeatCall(repeated, request)) {
    results = wrapAll(*found);
    for (unsigned number : request.donated)
      giveAway(*request.arguments[number]);
    return;
  }
  // Rebinding would run it.
  impl->prepareUpdates(findRebound(request));
  impl->recordCall(*this, repeated, request, results);
}

void Session::finishCall() { impl->finishCall(); }

bool Session::callAlone(const CallRequest &request, RepeatedCall &repeated,
                        std::optional<std::vector<Var>> &results) {
  checkOwn(request.arguments);
  if (auto found = impl->repeatCall(repeated, request)) {
    results = wrapAll(*found);
    return true;
  }
  if (!isLazy() || !areThere(request))
    return false;
  impl->prepareUpdates(findRebound(request));
  if (!impl->isAlone(request.arguments, impl->findDevice(request.arguments)))
    return false;
  impl->recordCall(*this, repeated, request, results);
  return true;
}
