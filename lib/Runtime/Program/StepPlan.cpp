//===- StepPlan.cpp - How the steps of a program will run -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which steps run side by side is decided from the memory that they read and
// write (CallSteps.cpp). What a pointer points to is not known before the run,
// but what it may point to is: a view's what the view reads, a carry's any of
// its three places, a row's all rows. An entry so stands for a set of ranges.
// Two carries that exchange pointers never point to the same memory at the same
// time, but may come to in the course of a loop, and the sets say so.
//
// A step with lists inside reads and writes what these do. It is never run
// beside others: its own steps may be shared among threads.
//
//===----------------------------------------------------------------------===//

#include "StepPlan.h"
#include "MetaOps/Support/Counts.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

int64_t metaops::getGrain(const KernelCall &call) {
  return llvm::divideCeil(kWorkPerThread,
                          std::max<int64_t>(call.workPerStep, 1));
}

/// Returns whether a step's own loop is shared among threads.
static bool isSplit(const Step &step) {
  // Copies and routines share themselves among threads, so that no two
  // routines run at once. What a launcher does is its own affair.
  const auto *kernel = std::get_if<KernelCall>(&step.action);
  return !kernel || kernel->kernel->launcher ||
         kernel->parallelRange > getGrain(*kernel);
}

namespace {
class StepPlanner {
public:
  StepPlanner(const ProgramData &program, StepPlan &plan)
      : program(program), plan(plan), targets(program.pointers.size()) {
    findTargets(program.steps);
  }

  ListPlan planList(const StepList &steps);

private:
  /// Targets of a pointer: the slot, or any row of it.
  struct Target {
    Slot slot;
    bool areRows = false;
  };

  void findTargets(const StepList &steps);
  void addRanges(const Slot &slot, llvm::SmallVectorImpl<MemoryRange> &ranges);
  void addMemory(const Step &step, CallFacts &facts);
  void countWork(const Step &step, const CallFacts &facts);

  const ProgramData &program;
  StepPlan &plan;
  /// Places to which each pointer may point.
  std::vector<std::vector<Target>> targets;
  /// The place of the next step in ProgramInfo::calls.
  unsigned nextNumber = 0;
};
} // namespace

void StepPlanner::findTargets(const StepList &steps) {
  auto add = [&](int64_t entry, llvm::ArrayRef<Slot> slots, bool areRows) {
    for (const Slot &slot : slots)
      targets[entry - program.getPointer(0)].push_back({slot, areRows});
  };
  walkSteps(steps, [&](const Step &step) {
    if (const auto *view = std::get_if<View>(&step.action))
      add(view->entry, step.getInputs(), /*areRows=*/false);
    for (const Carry &carry : step.getCarries()) {
      add(carry.current, carry.initial, /*areRows=*/false);
      // Then `next` points to a row.
      if (carry.isRow)
        add(carry.current, Slot{carry.next}, /*areRows=*/false);
      else
        add(carry.next, {carry.even, carry.odd}, /*areRows=*/false);
      if (carry.settles || !carry.isRow)
        add(carry.current, carry.even, /*areRows=*/false);
      if (!carry.isRow)
        add(carry.current, carry.odd, /*areRows=*/false);
    }
    if (const auto *loop = std::get_if<For>(&step.action))
      for (const LoopRows &rows : loop->rows)
        add(rows.entry, rows.whole, /*areRows=*/true);
  });
}

/// The memory that a slot may be. Pointers point to what earlier ones do, so
/// this comes to an end.
void StepPlanner::addRanges(const Slot &slot,
                            llvm::SmallVectorImpl<MemoryRange> &ranges) {
  if (program.isPointer(slot.entry)) {
    for (auto [target, areRows] : targets[slot.entry - program.getPointer(0)]) {
      if (areRows) {
        addRanges(target, ranges);
        continue;
      }
      // Rows of what is pointed to are those of the one who looks.
      Slot seen = target;
      seen.offset += slot.offset;
      seen.bytes = slot.bytes;
      seen.row = slot.row;
      seen.pitch = slot.pitch;
      addRanges(seen, ranges);
    }
    return;
  }
  MemoryRange range = {slot.entry, slot.offset, slot.offset + slot.bytes,
                       slot.row, slot.pitch};
  if (program.isPacked(slot.entry)) {
    int64_t begin = program.packed[slot.entry - program.getPacked(0)].offset;
    range.object = program.getArena();
    range.begin += begin;
    range.end += begin;
  }
  ranges.push_back(range);
}

void StepPlanner::addMemory(const Step &step, CallFacts &facts) {
  for (const Slot &slot : step.getInputs())
    addRanges(slot, facts.reads);
  for (const Slot &slot : step.getOutputs())
    addRanges(slot, facts.writes);
  // Pointers are objects as well.
  auto movePointer = [&](int64_t entry) {
    facts.writes.push_back({entry + program.getNumEntries(), 0, 1});
  };
  for (const Slot &slot : step.buffers)
    if (program.isPointer(slot.entry))
      facts.reads.push_back({slot.entry + program.getNumEntries(), 0, 1});
  if (const auto *view = std::get_if<View>(&step.action))
    movePointer(view->entry);
  for (const Carry &carry : step.getCarries()) {
    addRanges(carry.initial, facts.reads);
    movePointer(carry.current);
    movePointer(carry.next);
  }
  if (const auto *loop = std::get_if<For>(&step.action))
    for (const LoopRows &rows : loop->rows)
      movePointer(rows.entry);
  // Nothing that overwrites an argument comes before what may fail.
  if (step.mayFail())
    for (auto [argument, bytes] : llvm::enumerate(program.arguments))
      facts.reads.push_back({static_cast<int64_t>(argument), 0, bytes});
  for (const StepList *list : step.getRegions())
    for (const Step &inner : *list)
      addMemory(inner, facts);
}

void StepPlanner::countWork(const Step &step, const CallFacts &facts) {
  if (!step.getRegions().empty())
    return; // its steps are counted
  int64_t &work = facts.isSplit ? plan.sharedWork : plan.serialWork;
  // Half of what there is, so that the sum of both does not overflow.
  work = std::min(addCounts(work, step.getWork()), kMaxCount / 2);
}

ListPlan StepPlanner::planList(const StepList &steps) {
  ListPlan list;
  std::vector<CallFacts> facts;
  for (const Step &step : steps) {
    list.numbers.push_back(nextNumber++);
    const auto *call = std::get_if<KernelCall>(&step.action);
    list.grains.push_back(call ? getGrain(*call) : 1);
    CallFacts &fact = facts.emplace_back();
    fact.isSplit = isSplit(step);
    if (call)
      fact.work = multiplyCounts(call->parallelRange, call->workPerStep);
    addMemory(step, fact);
    countWork(step, fact);
    plan.hasLoop |= std::holds_alternative<While>(step.action) ||
                    std::holds_alternative<For>(step.action);
    std::vector<ListPlan> &regions = list.regions.emplace_back();
    for (const StepList *inner : step.getRegions())
      regions.push_back(planList(*inner));
  }
  list.groups = planSteps(facts);
  return list;
}

StepPlan::StepPlan(const ProgramData &program) {
  steps = StepPlanner(program, *this).planList(program.steps);
  numSteps = countSteps(program.steps);
}
