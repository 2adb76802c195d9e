//===- StepRunner.cpp - One run of a program's steps ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists run in order, the steps of a group side by side. Branches and loops are
// in RunControlFlow.cpp.
//
// The run asks before each step if it is to stop, and inside of long ones after
// some milliseconds of work. A run that stops leaves its pointers, and the path
// to where it was: on the way out each call, branch, loop and list appends its
// own place, and when the run goes on each takes it from there, the outermost
// list first. Where the path is at its end, the run is where it was; all else
// begins at the beginning. What a step has been told by memory that may have
// been written since, such as the condition of a branch, is in the path, too.
//
//===----------------------------------------------------------------------===//

#include "StepRunner.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "MetaOps/Support/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace metaops;

/// A kernel asks whether it is to stop after so much work, 10 ms.
static constexpr int64_t kWorkBetweenChecks = 10'000'000'000;

StepRunner::StepRunner(const ProgramData &program, const StepPlan &plan,
                       ProgramRun &run, ThreadPool &threads,
                       StopCheck shouldStop, std::vector<CallTime> *times)
    : program(program), plan(plan), memory(run), threads(threads),
      shouldStop(shouldStop), times(times) {
  if (run.progress.hasBegun()) {
    table.assign(run.progress.table.begin(), run.progress.table.end());
    path = std::move(run.progress.path);
    run.progress = {};
    return;
  }
  table.reserve(program.getNumEntries());
  auto add = [&](const RunRef &buffer) {
    table.push_back(buffer ? static_cast<char *>(buffer->data()) : nullptr);
  };
  llvm::for_each(run.arguments, add);
  llvm::for_each(run.results, add);
  add(run.scratch); // null where all intermediate values are empty
  char *arena = table.back();
  table.resize(program.getPacked(0), nullptr);
  for (auto [number, place] : llvm::enumerate(program.packed)) {
    bool isKept = !run.packed.empty() && run.packed[number].copy;
    table.push_back(isKept
                        ? static_cast<char *>(run.packed[number].memory->data())
                        : arena + place.offset);
  }
}

llvm::Error StepRunner::run() {
  llvm::Error error = runList(program.steps, plan.steps);
  if (error.isA<Interrupted>()) {
    memory.progress.table.assign(table.begin(), table.end());
    memory.progress.path = std::move(path);
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Stopping and going on
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::stopAt(int64_t place) {
  path.push_back(place);
  return llvm::make_error<Interrupted>();
}

/// Leaves what has ended with an error; if it was stopped, at this place.
llvm::Error StepRunner::leave(llvm::Error error, int64_t place) {
  if (error.isA<Interrupted>())
    path.push_back(place);
  return error;
}

/// Returns the place to begin at: the beginning, but on the way to where the
/// run was.
int64_t StepRunner::resumeAt() {
  return path.empty() ? 0 : path.pop_back_val();
}

//===----------------------------------------------------------------------===//
// Lists and groups
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::runList(const StepList &steps, const ListPlan &list) {
  for (size_t group = resumeAt(); group < list.groups.size(); ++group) {
    if (mustStop())
      return stopAt(group);
    if (llvm::Error error = runGroup(steps, list, list.groups[group]))
      return leave(std::move(error), group);
  }
  return llvm::Error::success();
}

llvm::Error StepRunner::runGroup(const StepList &steps, const ListPlan &list,
                                 const CallStep &group) {
  if (llvm::all_of(group, [&](unsigned i) { return isThere(steps[i]); })) {
    // Another run may have made what this one was stopped in.
    path.clear();
    return llvm::Error::success();
  }
  llvm::Error error =
      group.size() > 1 ? runBeside(steps, list, group)
                       : runStep(steps[group.front()], {list, group.front()});
  if (error)
    return error;
  for (unsigned i : group)
    noteFilled(steps[i]);
  return llvm::Error::success();
}

/// Each on one thread.
llvm::Error StepRunner::runBeside(const StepList &steps, const ListPlan &list,
                                  const CallStep &group) {
  auto runSteps = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (const Step &step = steps[group[i]]; !isThere(step))
        runCall(step, {list, group[i]}, Sharing::Beside, /*begin=*/0);
  };
  std::optional<int64_t> rest = threads.parallelFor(
      group.size(), 1, runSteps, {shouldStop, /*range=*/1, resumeAt()});
  return rest ? stopAt(*rest) : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Packed results
//===----------------------------------------------------------------------===//

/// The use that a run makes of a step's result, where it may be kept.
static const PackedUse *getPacked(const Step &step, const ProgramData &program,
                                  const ProgramRun &run) {
  if (run.packed.empty() || step.getOutputs().empty() ||
      !program.isPacked(step.getOutputs().back().entry))
    return nullptr;
  int64_t number = step.getOutputs().back().entry - program.getPacked(0);
  return run.packed[number].copy ? &run.packed[number] : nullptr;
}

/// Returns whether an earlier run has packed what the step makes.
bool StepRunner::isThere(const Step &step) const {
  const PackedUse *use = getPacked(step, program, memory);
  return use && use->copy->isFilled;
}

void StepRunner::noteFilled(const Step &step) {
  // A filled copy may be read by runs beside this one.
  const PackedUse *use = getPacked(step, program, memory);
  if (use && !use->copy->isFilled)
    use->copy->isFilled = true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::runStep(const Step &step, Place place) {
  if (const auto *check = std::get_if<Check>(&step.action))
    return runCheck(step, *check, place);
  if (const auto *branches = std::get_if<If>(&step.action))
    return runIf(step, *branches, place);
  if (const auto *loop = std::get_if<While>(&step.action))
    return runWhile(step, *loop, place);
  if (const auto *loop = std::get_if<For>(&step.action))
    return runFor(step, *loop, place);
  if (const auto *view = std::get_if<View>(&step.action)) {
    table[view->entry] = getAddress(step.buffers.front());
    return llvm::Error::success();
  }
  const auto *kernel = std::get_if<KernelCall>(&step.action);
  if (kernel && kernel->kernel->launcher)
    return launch(step, *kernel, place);
  if (const auto *routine = std::get_if<RoutineCall>(&step.action))
    return runRoutine(step, *routine, place, resumeAt());
  std::optional<int64_t> rest =
      runCall(step, place, Sharing::Alone, resumeAt());
  return rest ? stopAt(*rest) : llvm::Error::success();
}

/// Has a kernel's launcher do a call, which is not stopped inside.
llvm::Error StepRunner::launch(const Step &step, const KernelCall &call,
                               Place place) {
  llvm::SmallVector<KernelBuffer, 16> buffers;
  for (const Slot &slot : step.buffers)
    buffers.emplace_back(getAddress(slot), slot.bytes);
  int64_t start = times ? readClock() : 0;
  LaunchMeasures measures;
  llvm::Error error = call.kernel->launcher->launch(
      call, buffers, step.numInputs, threads, times ? &measures : nullptr);
  if (times) {
    CallTime &time = (*times)[place.getNumber()];
    time.add(start, measures.nanoseconds ? start + *measures.nanoseconds
                                         : readClock());
    time.statistics.counts = std::move(measures.counts);
  }
  // A launcher that was stopped does all of the call another time.
  if (!error || error.isA<Interrupted>())
    return error;
  return llvm::make_error<KernelFailure>(
      place.getNumber(), toString(std::move(error)), nameTrips());
}

/// Returns true if something that a routine writes is in the memory of another
/// buffer, but in that of the operand over which it is made.
static bool overlap(const Step &step, const Routine &routine,
                    llvm::ArrayRef<void *> buffers) {
  for (size_t i = step.numInputs; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      auto *written = static_cast<char *>(buffers[i]);
      auto *other = static_cast<char *>(buffers[j]);
      size_t result = i - step.numInputs;
      bool isOver = written == other && result < routine.results.size() &&
                    routine.results[result].over == static_cast<int64_t>(j);
      if (written < other + step.buffers[j].bytes &&
          other < written + step.buffers[i].bytes && !isOver)
        return true;
    }
  return false;
}

/// Runs a routine from `begin` on. Only pointers can lead to memory that
/// overlaps; other buffers have been verified.
llvm::Error StepRunner::runRoutine(const Step &step, const RoutineCall &call,
                                   Place place, int64_t begin) {
  llvm::SmallVector<void *, 8> buffers;
  bool hasPointer = false;
  for (const Slot &slot : step.buffers) {
    buffers.push_back(getAddress(slot));
    hasPointer |= program.isPointer(slot.entry);
  }
  auto fail = [&](std::string message) {
    return llvm::make_error<KernelFailure>(place.getNumber(),
                                           std::move(message), nameTrips());
  };
  if (hasPointer && overlap(step, call.routine, buffers))
    return fail("the routine '" + call.routine.name +
                "' is called on buffers that overlap");
  auto tensors = llvm::ArrayRef(buffers);
  auto *scratch =
      call.hasScratch() ? static_cast<char *>(buffers.back()) : nullptr;
  int64_t start = times ? readClock() : 0;
  auto rest = call.plan->run(
      {tensors.take_front(step.numInputs),
       tensors.slice(step.numInputs, call.routine.results.size()), scratch,
       threads, shouldStop, begin});
  if (times)
    (*times)[place.getNumber()].add(start, readClock());
  if (rest)
    return *rest ? stopAt(**rest) : llvm::Error::success();
  llvm::Error error = rest.takeError();
  if (error.isA<InvalidMatrix>())
    return llvm::make_error<MatrixFailure>(
        place.getNumber(), toString(std::move(error)), nameTrips());
  // A routine stopped without a place does all another time.
  return error.isA<Interrupted>() ? std::move(error)
                                  : fail(toString(std::move(error)));
}

/// Does a call of a kernel, or copies, from `begin` on. Returns where the call
/// was when it was stopped.
std::optional<int64_t> StepRunner::runCall(const Step &step, Place place,
                                           Sharing sharing, int64_t begin) {
  llvm::SmallVector<void *, 16> buffers;
  for (const Slot &slot : step.buffers)
    buffers.push_back(getAddress(slot));
  auto inputs = llvm::ArrayRef(buffers).take_front(step.numInputs);
  std::optional<int64_t> rest;
  int64_t start = times ? readClock() : 0;
  if (const auto *kernel = std::get_if<KernelCall>(&step.action)) {
    auto run = [&](int64_t first, int64_t end) {
      kernel->run(buffers.data(), first, end);
    };
    int64_t range =
        kWorkBetweenChecks / std::max<int64_t>(kernel->workPerStep, 1);
    if (sharing == Sharing::Beside)
      run(0, kernel->parallelRange);
    else
      rest = threads.parallelFor(kernel->parallelRange,
                                 place.list.grains[place.index], run,
                                 {shouldStop, range, begin});
  } else {
    rest = runCopies(std::get<Copies>(step.action), inputs, buffers.back(),
                     threads, shouldStop, begin);
  }
  if (times)
    (*times)[place.getNumber()].add(start, readClock());
  return rest;
}

/// Returns the numbers of the trips as the loops had them before they were made
/// in blocks.
std::vector<int64_t> StepRunner::nameTrips() const {
  std::vector<int64_t> names;
  int64_t before = 0;
  for (auto [loop, trip] : llvm::zip_equal(loops, trips)) {
    if (loop && loop->blockTrips > 0) {
      before = multiplyCounts(trip, loop->blockTrips);
      continue;
    }
    names.push_back(
        addCounts(addCounts(before, loop ? loop->firstTrip : 0), trip));
    before = 0;
  }
  return names;
}

/// Says in which trip of the loops around it a step was, outermost first.
static std::string describeTrips(llvm::ArrayRef<int64_t> trips) {
  if (trips.empty())
    return "";
  std::string text = trips.size() == 1 ? ", in trip " : ", in trips ";
  llvm::raw_string_ostream os(text);
  llvm::interleave(trips, os, ", ");
  return text;
}

llvm::Error StepRunner::runCheck(const Step &step, const Check &check,
                                 Place place) {
  auto problem = describeOutOfRange(check.range, read<int64_t>(step.buffers[0]),
                                    read<int64_t>(step.buffers[1]));
  if (!problem)
    return llvm::Error::success();
  if (!check.place.empty())
    *problem += ", recorded at " + check.place;
  std::vector<int64_t> names = nameTrips();
  *problem += describeTrips(names);
  return llvm::make_error<CheckFailure>(place.getNumber(), std::move(*problem),
                                        std::move(names));
}
