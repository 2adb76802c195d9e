//===- RepeatedUpdate.cpp - Steps that need not be recorded again ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of an optimiser on a hundred small parameters is thousands of
// operations. Where the gradients are in memory, all of them come to a program
// that the step before has run, on the same Vars; then recording them is what
// the step costs.
//
// 1. `beginUpdate` notes the values that a step is about to work on, if nothing
//    but the step will be in its program.
// 2. The step is recorded, as any other, by whoever knows its formula.
// 3. `endUpdate` runs it, and notes which value or number is which argument of
//    the program, and which Var's value is which result.
// 4. `repeatUpdate` runs that program on the values that the Vars hold by then.
//    The Vars stay with their values' nodes, whose memory is written over: an
//    update makes a new node so that what was recorded before it keeps the old
//    one, and here nothing has been. That is, a target's value is in memory, no
//    other Var, fetch or operation has it, and it is the end of no history.
//
// Where a step cannot be repeated it is recorded again, which is right always.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedUpdate.h"

#include "MetaOps/Runtime/Session/SessionImpl.h"

using namespace mlir;
using namespace metaops;

/// Whether nobody but one Var needs the value. A number's node is its value.
static bool isHeldOnce(const Node *node) {
  return node->vars == 1 && !node->isScalar && node->pins == 0 &&
         node->value().use_empty() && node->endedChains == 0 &&
         node->lostChains == 0;
}

/// Whether the value may be written over, as no one sees it when the Var has
/// the next one.
static bool mayReplace(const Node *node) {
  return !node->buffer->isShared() && node->buffer->mayBeWritten();
}

bool SessionImpl::isApart(UpdateValues values) {
  if (!settings.isLazy || !updates.empty() || !fetches.getPending().empty() ||
      !suspended.empty())
    return false;
  // What is there twice could not be told apart.
  uint32_t mark = graph.startTraversal();
  const Device *on =
      values.targets.empty() ? nullptr : values.targets.front()->node->device;
  auto isThere = [&](const Var *var) {
    Node *node = var->node;
    return node->device == on && (node->buffer || node->isScalar) &&
           std::exchange(node->epoch, mark) != mark;
  };
  return llvm::all_of(values.operands, isThere) &&
         llvm::all_of(values.targets, [&](const Var *target) {
           return isThere(target) && isHeldOnce(target->node);
         });
}

//===----------------------------------------------------------------------===//
// The first time
//===----------------------------------------------------------------------===//

bool SessionImpl::beginUpdate(RepeatedUpdate &update, UpdateValues values) {
  update = RepeatedUpdate();
  if (!llvm::all_of(values.operands,
                    [](const Var *var) { return var->node->isLeaf(); }))
    return false;
  // As the updates themselves would.
  auto targets = llvm::map_to_vector(values.targets,
                                     [](const Var *var) { return var->node; });
  if (llvm::any_of(targets, [&](Node *node) { return updates.precede(node); }))
    flushUpdates();
  computeInitialValues(targets);
  if (!isApart(values))
    return false;
  for (llvm::ArrayRef<const Var *> list : {values.targets, values.operands})
    for (const Var *var : list) {
      update.values.push_back(var->node);
      update.types.push_back(var->type);
    }
  return true;
}

void SessionImpl::endUpdate(RepeatedUpdate &update,
                            llvm::ArrayRef<const Var *> targets,
                            llvm::ArrayRef<const Var *> numbers,
                            unsigned numNumbers) {
  if (updates.empty())
    return;
  flushUpdates();
  llvm::DenseMap<const Node *, RepeatedUpdate::Source> sources;
  for (auto [index, node] : llvm::enumerate(update.values))
    sources[node] = {unsigned(index), std::nullopt};
  for (auto [index, var] : llvm::enumerate(numbers))
    sources[var->node] = {unsigned(index % numNumbers), var->dtype()};
  llvm::DenseMap<const Node *, unsigned> replaced;
  for (auto [index, var] : llvm::enumerate(targets))
    replaced[var->node] = index;

  // The slice is that of the run, and its nodes are but compared: some are
  // erased by now.
  for (const Node *leaf : planner.getSlice().leaves) {
    auto found = sources.find(leaf);
    if (found == sources.end())
      return;
    update.arguments.push_back(found->second);
  }
  for (const Node *output : planner.getSlice().outputs) {
    auto found = replaced.find(output);
    if (found == replaced.end())
      return;
    update.results.push_back(found->second);
  }
  update.donatable.assign(planner.getDonatable().begin(),
                          planner.getDonatable().end());
  update.numNumbers = numNumbers;
  update.flags =
      programs.getFlags(programs.getCompiler(*runner.getLastRun()->device));
  auto record = std::make_shared<RunRecord>(*runner.getLastRun());
  record->wasCompiled = false;
  update.record = std::move(record);
}

//===----------------------------------------------------------------------===//
// Again
//===----------------------------------------------------------------------===//

/// The values are of the types that the program was made for, and it may write
/// over as many of them as then.
bool SessionImpl::fits(const RepeatedUpdate &update,
                       UpdateValues values) const {
  size_t count = values.targets.size();
  if (update.types.size() != count + values.operands.size())
    return false;
  for (auto [index, type] : llvm::enumerate(update.types)) {
    const Var *var =
        index < count ? values.targets[index] : values.operands[index - count];
    if (var->type != type)
      return false;
  }
  llvm::SmallVector<bool> isReplaced(count, false);
  for (unsigned target : update.results)
    isReplaced[target] = true;
  for (auto [source, mayWrite] :
       llvm::zip_equal(update.arguments, update.donatable)) {
    bool may = !source.numberType && source.index < count &&
               isReplaced[source.index] &&
               mayReplace(values.targets[source.index]->node);
    if (may != mayWrite)
      return false;
  }
  return true;
}

bool SessionImpl::repeatUpdate(const RepeatedUpdate &update,
                               UpdateValues values,
                               llvm::ArrayRef<Number> numbers,
                               StepOutcomeRef outcome) {
  if (!update.record || numbers.size() != update.numNumbers ||
      !isApart(values) || !fits(update, values))
    return false;
  Device &on = *values.targets.front()->node->device;
  if (update.record->device != &on ||
      update.flags != programs.getFlags(programs.getCompiler(on)))
    return false;
  size_t count = values.targets.size();
  auto nodeOf = [&](RepeatedUpdate::Source source) {
    const Var *var = source.index < count
                         ? values.targets[source.index]
                         : values.operands[source.index - count];
    return var->getNode();
  };
  auto queued = std::make_unique<QueuedRun>(memory.take([&] {
    llvm::SmallVector<BufferRef> arguments;
    for (RepeatedUpdate::Source source : update.arguments)
      arguments.push_back(
          source.numberType
              ? memory.makeScalar(
                    numbers[source.index].encode(*source.numberType), on)
              : memory.bufferOf(nodeOf(source), on));
    return check(update.record->cached->program->prepare(
        arguments, on.getMemory(), launcher.getScratch(on)));
  }));
  for (RepeatedUpdate::Source source : update.arguments)
    if (!source.numberType)
      queued->await(nodeOf(source)->ready, on.getQueue());
  llvm::SmallVector<BufferRef> results;
  for (auto [number, target] : llvm::enumerate(update.results)) {
    queued->replacedValues.emplace_back(
        number, RunRef(values.targets[target]->node->buffer));
    results.push_back(queued->run.results[number].get());
  }
  runner.noteRun(update.record);
  programs.setHits(programs.getCounts().hits + 1);
  queued->record = update.record;
  outcome->begin();
  if (outcome->mayChangeNumbers())
    for (auto [argument, source] : llvm::enumerate(update.arguments))
      if (source.numberType)
        queued->numbers.push_back(
            {unsigned(argument), outcome, {source.index, *source.numberType}});
  queued->outcomes.push_back(std::move(outcome));
  // Before the run: it finds who holds its results.
  for (auto [target, buffer] : llvm::zip_equal(update.results, results))
    values.targets[target]->node->buffer = std::move(buffer);
  Ticket ticket = launcher.launch(std::move(queued), /*isAwaited=*/false);
  for (unsigned target : update.results)
    values.targets[target]->node->ready = ticket;
  graph.startPeriod();
  if (!settings.isAsynchronous)
    waiter.waitInside(ticket);
  return true;
}
