//===- ResultChecks.cpp - Checks of what programs compute -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers to be checked are results when the slice is compiled, since
// nothing else keeps them. Then their buffers become places of the arena,
// behind those there are, and steps at the end look at them. Entries of the
// table that stand behind the results move up.
//
//===----------------------------------------------------------------------===//

#include "ResultChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

/// Places in the arena begin at multiples of this.
static constexpr int64_t kAlignment = 64;

namespace {
/// Takes the results of a program from `kept` on off its table.
class ResultDropper {
public:
  ResultDropper(ProgramData &program, int64_t kept)
      : dropped(program.results.size() - kept),
        firstDropped(program.getResult(kept)), arena(program.getArena()) {
    for (int64_t i = 0; i < dropped; ++i) {
      places.push_back(program.arenaBytes);
      program.arenaBytes = llvm::alignTo(
          program.arenaBytes + program.results[kept + i].bytes, kAlignment);
    }
  }

  /// The slot with the results gone.
  Slot move(Slot slot) const {
    if (slot.entry >= firstDropped && slot.entry < arena) {
      slot.offset += places[slot.entry - firstDropped];
      slot.entry = arena;
    }
    slot.entry = move(slot.entry);
    return slot;
  }
  int64_t move(int64_t entry) const {
    return entry >= arena ? entry - dropped : entry;
  }
  void moveAll(StepList &steps) const;

private:
  int64_t dropped, firstDropped, arena;
  /// Of the results that are dropped, in the arena.
  std::vector<int64_t> places;
};
} // namespace

void ResultDropper::moveAll(StepList &steps) const {
  for (Step &step : steps) {
    for (Slot &slot : step.buffers)
      slot = move(slot);
    if (auto *view = std::get_if<View>(&step.action))
      view->entry = move(view->entry);
    if (auto *branches = std::get_if<If>(&step.action)) {
      moveAll(branches->onTrue);
      moveAll(branches->onFalse);
    }
    auto *loop = std::get_if<While>(&step.action);
    if (!loop)
      continue;
    moveAll(loop->condition);
    moveAll(loop->body);
    for (Carry &carry : loop->carries) {
      carry.current = move(carry.current);
      carry.next = move(carry.next);
      carry.initial = move(carry.initial);
      carry.even = move(carry.even);
      carry.odd = move(carry.odd);
    }
  }
}

void metaops::checkLastResults(ProgramData &program, ProgramInfo &info,
                               llvm::ArrayRef<ResultCheck> checks) {
  if (checks.empty())
    return;
  int64_t kept = program.results.size() - 2 * checks.size();
  // The arena's places begin at multiples of its alignment.
  program.arenaBytes = llvm::alignTo(program.arenaBytes, kAlignment);
  std::vector<ResultPlace> results = program.results;
  ResultDropper dropper(program, kept);
  dropper.moveAll(program.steps);
  for (const ResultCheck &check : checks) {
    Step &step = program.steps.emplace_back();
    step.action = Check{check.range, check.place};
    step.numInputs = 2;
    for (unsigned number : {check.lowest, check.highest}) {
      const ResultPlace &place = results[number];
      step.buffers.push_back(dropper.move(Slot{place.entry, 0, place.bytes}));
    }
    KernelInfo &call = info.calls.emplace_back();
    call.name = "check";
    call.isCopy = true;
  }
  program.results.resize(kept);
  info.arenaBytes = program.arenaBytes;
}
