//===- StepRunner.cpp - One run of a program's steps ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists run in order, the steps of a group side by side. A loop's condition and
// body run with the carries' pointers set; after the body each carry's `next`
// becomes its `current`, and `next` whichever of the two places is free then:
// no value is copied but the last, where it has to lie in one of them.
//
// A run that stops has overwritten nothing, so it may be started again: the
// question whether to stop is asked after some milliseconds of work, between
// steps and inside of long ones, until the first step that writes over an
// argument.
//
//===----------------------------------------------------------------------===//

#include "StepRunner.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "MetaOps/Support/Counts.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

using namespace metaops;

/// A run asks whether it is to stop after so much work, 10 ms.
static constexpr int64_t kWorkBetweenChecks = 10'000'000'000;
/// What a trip of a loop takes beside its steps: 100 ns.
static constexpr int64_t kWorkOfTrip = 100'000;

StepRunner::StepRunner(const ProgramData &program, const StepPlan &plan,
                       const ProgramRun &run, ThreadPool &threads,
                       StopCheck shouldStop, std::vector<CallTime> *times)
    : program(program), plan(plan), memory(run), threads(threads),
      shouldStop(shouldStop), times(times) {
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

template <typename T> T StepRunner::read(const Slot &slot) const {
  T value;
  std::memcpy(&value, getAddress(slot), sizeof(value));
  return value;
}

//===----------------------------------------------------------------------===//
// Lists and groups
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::runList(const StepList &steps, const ListPlan &list) {
  for (const CallStep &group : list.groups)
    if (llvm::Error error = runGroup(steps, list, group))
      return error;
  return llvm::Error::success();
}

llvm::Error StepRunner::runGroup(const StepList &steps, const ListPlan &list,
                                 const CallStep &group) {
  if (llvm::all_of(group, [&](unsigned i) { return isThere(steps[i]); }))
    return llvm::Error::success();
  const Step &first = steps[group.front()];
  bool isLeaf = list.regions[group.front()].empty();
  // A step with lists inside begins to overwrite when a step of these does.
  if (isLeaf &&
      llvm::any_of(group, [&](unsigned i) { return list.overwrites[i]; }))
    shouldStop = nullptr;
  if (group.size() > 1)
    runBeside(steps, list, group);
  else if (llvm::Error error = runStep(first, {list, group.front()}))
    return error;
  int64_t work = 0;
  for (unsigned i : group) {
    noteFilled(steps[i]);
    work = addCounts(work, list.works[i]);
  }
  return isLeaf ? pollStop(work) : llvm::Error::success();
}

llvm::Error StepRunner::pollStop(int64_t work) {
  unpolled = addCounts(unpolled, work);
  if (!shouldStop || unpolled <= kWorkBetweenChecks)
    return llvm::Error::success();
  unpolled = 0;
  if (shouldStop())
    return llvm::make_error<Interrupted>();
  return llvm::Error::success();
}

/// Each on one thread.
void StepRunner::runBeside(const StepList &steps, const ListPlan &list,
                           const CallStep &group) {
  threads.parallelFor(group.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Step &step = steps[group[i]];
      if (!isThere(step))
        runCall(step, list.numbers[group[i]], [&](ThreadPool::Body body) {
          body(0, std::get<KernelCall>(step.action).parallelRange);
        });
    }
  });
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

/// Whether an earlier run has packed what the step makes.
bool StepRunner::isThere(const Step &step) const {
  const PackedUse *use = getPacked(step, program, memory);
  return use && use->copy->isFilled;
}

void StepRunner::noteFilled(const Step &step) {
  if (const PackedUse *use = getPacked(step, program, memory))
    use->copy->isFilled = true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::runStep(const Step &step, Place place) {
  if (const auto *kernel = std::get_if<KernelCall>(&step.action))
    return runKernel(step, *kernel, place);
  if (const auto *check = std::get_if<Check>(&step.action))
    return runCheck(step, *check, place);
  if (const auto *branches = std::get_if<If>(&step.action))
    return runIf(step, *branches, place);
  if (const auto *loop = std::get_if<While>(&step.action))
    return runWhile(step, *loop, place);
  if (const auto *view = std::get_if<View>(&step.action))
    table[view->entry] = getAddress(step.buffers.front());
  else
    runCall(step, place.getNumber(), nullptr);
  return llvm::Error::success();
}

/// Does a call of a kernel with its loop done by `runLoop`, or of a routine, or
/// copies.
void StepRunner::runCall(const Step &step, unsigned number, Loop runLoop) {
  llvm::SmallVector<void *, 16> buffers;
  for (const Slot &slot : step.buffers)
    buffers.push_back(getAddress(slot));
  auto inputs = llvm::ArrayRef(buffers).take_front(step.numInputs);
  int64_t start = times ? readClock() : 0;
  if (const auto *kernel = std::get_if<KernelCall>(&step.action))
    runLoop([&](int64_t begin, int64_t end) {
      kernel->run(buffers.data(), begin, end);
    });
  else if (const auto *routine = std::get_if<Routine>(&step.action))
    routine->run(inputs, llvm::ArrayRef(buffers).drop_front(step.numInputs),
                 table[program.getArena()] + plan.routineBegin, threads);
  else
    runCopies(std::get<Copies>(step.action), inputs, buffers.back(), threads);
  if (times)
    (*times)[number].add(start, readClock());
}

llvm::Error StepRunner::runKernel(const Step &step, const KernelCall &kernel,
                                  Place place) {
  bool isDone = true;
  runCall(step, place.getNumber(), [&](ThreadPool::Body body) {
    ThreadPool::Stop stop;
    stop.check = shouldStop;
    stop.range = kWorkBetweenChecks / std::max<int64_t>(kernel.workPerStep, 1);
    isDone = threads.parallelFor(kernel.parallelRange,
                                 place.list.grains[place.index], body, stop);
  });
  if (!isDone)
    return llvm::make_error<Interrupted>();
  return llvm::Error::success();
}

llvm::Error StepRunner::runCheck(const Step &step, const Check &check,
                                 Place place) {
  auto problem = describeOutOfRange(check.range, read<int64_t>(step.buffers[0]),
                                    read<int64_t>(step.buffers[1]));
  if (!problem)
    return llvm::Error::success();
  if (!check.place.empty())
    *problem += ", recorded at " + check.place;
  return llvm::make_error<CheckFailure>(place.getNumber(), std::move(*problem),
                                        trips);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::runIf(const Step &step, const If &branches,
                              Place place) {
  const std::vector<ListPlan> &regions = place.list.regions[place.index];
  // A bool is a byte, of which kernels write 0 or 1.
  if (read<uint8_t>(step.buffers.front()) != 0)
    return runList(branches.onTrue, regions[0]);
  return runList(branches.onFalse, regions[1]);
}

llvm::Error StepRunner::runWhile(const Step &step, const While &loop,
                                 Place place) {
  const std::vector<ListPlan> &regions = place.list.regions[place.index];
  for (const Carry &carry : loop.carries) {
    table[carry.current] = getAddress(carry.initial);
    table[carry.next] = getAddress(carry.even);
  }
  for (trips.push_back(0);; ++trips.back()) {
    if (llvm::Error error = runList(loop.condition, regions[0]))
      return error;
    if (read<uint8_t>(step.buffers.front()) == 0)
      break;
    if (llvm::Error error = runList(loop.body, regions[1]))
      return error;
    for (const Carry &carry : loop.carries) {
      bool isEven = trips.back() % 2 == 0;
      table[carry.current] = table[carry.next];
      table[carry.next] = getAddress(isEven ? carry.odd : carry.even);
    }
    // A loop of empty steps is to be stopped, too.
    if (llvm::Error error = pollStop(kWorkOfTrip))
      return error;
  }
  trips.pop_back();
  for (const Carry &carry : loop.carries) {
    char *place = getAddress(carry.even);
    if (!carry.settles || table[carry.current] == place)
      continue;
    std::memmove(place, table[carry.current], carry.even.bytes);
    table[carry.current] = place;
  }
  return llvm::Error::success();
}
