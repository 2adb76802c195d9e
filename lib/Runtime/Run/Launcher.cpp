//===- Launcher.cpp - Runs in the queues of devices -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/Launcher.h"

using namespace metaops;

Ticket Launcher::launch(std::unique_ptr<QueuedRun> queued, bool isAwaited) {
  isAwaited |= !settings.isAsynchronous;
  const RunRecord &record = *queued->record;
  const Program &program = *record.cached->program;
  unsigned threads = record.device->getThreads().getThreads();
  // Listeners are told when nobody holds the session.
  bool isShort =
      program.isShort(threads) && !listener && queued->awaited.empty();
  queued->listener = listener;
  queued->order = ++launched;
  return push(std::move(queued), program.isLong(threads) ? Queue::Start::Apart
                                 : isAwaited ? Queue::Start::WhenWaitedFor
                                 : isShort   ? Queue::Start::Here
                                             : Queue::Start::Now);
}

Ticket Launcher::push(std::unique_ptr<QueuedRun> queued, Queue::Start start) {
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
  // One may be where another one was to be replaced.
  std::vector<std::pair<Buffer *, std::vector<char>>> moved;
  for (const auto &[number, old] : replacedValues) {
    const RunRef &result = run.results[number];
    if (old->failure || old->bytes() != result->bytes())
      continue;
    if (result->failure) {
      result->copyFrom(*old.get());
      result->failure = nullptr;
    } else if (result.get() != old.get() && !result->isShared() &&
               result->mayBeWritten()) {
      std::vector<char> &bytes =
          moved.emplace_back(result.get(), old->bytes()).second;
      old->read(bytes.data(), bytes.size());
    }
  }
  for (const auto &[buffer, bytes] : moved)
    buffer->write(bytes.data(), bytes.size());
}

/// Tells the steps whose updates a run has made, or has not.
static void tellOutcomes(const QueuedRun &queued, bool failed) {
  for (const StepOutcomeRef &outcome : queued.outcomes)
    outcome->end(failed);
}

/// Gives a run the numbers that its steps have now that earlier ones have
/// failed.
static void renewNumbers(const QueuedRun &queued) {
  for (const NumberArgument &each : queued.numbers) {
    if (!each.outcome->isBehindFailures())
      continue;
    uint64_t bits =
        each.outcome->getNumber(each.number.index).encode(each.number.type);
    queued.run.arguments[each.argument]->write(&bits, sizeof(bits));
  }
}

/// Has a run find no memory as an earlier one has left it: its arguments are
/// elsewhere, and all that is to be written is filled with NaNs.
static void poison(ProgramRun &run, Allocator &memory) {
  if (run.scratch)
    memory.poison(*run.scratch.get());
  for (RunRef &argument : run.arguments) {
    bool isWritten = llvm::any_of(run.results, [&](const RunRef &result) {
      return result.get() == argument.get();
    });
    if (isWritten || !memory.owns(*argument.get()))
      continue;
    if (BufferRef copy = memory.copyAside(*argument.get()))
      argument = RunRef(copy);
  }
}

void Launcher::execute(std::unique_ptr<QueuedRun> queued, Ticket ticket) {
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
  if (!run.progress.hasBegun()) {
    renewNumbers(*queued);
    found = findFailure(run);
  }
  if (Allocator &memory = record->device->getMemory();
      !found && memory.getPoisons() && !run.progress.hasBegun())
    poison(run, memory);
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
      return tellOutcomes(*queued, /*failed=*/false);
    found = std::make_shared<RunFailure>(
        describeFailure(*record, std::move(error)));
  }
  spoilResults(*queued, found);
  keepReplaced(run, queued->replacedValues);
  tellOutcomes(*queued, /*failed=*/true);
  waiter.note(*ticket.queue, std::move(found));
}
