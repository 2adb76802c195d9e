//===- VerifyControlFlow.cpp - Soundness of branches and loops ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both branches of an `if` have to set a pointer for it to be set afterwards;
// what a loop's body sets is gone after a trip, and what its condition sets
// stays.
//
//===----------------------------------------------------------------------===//

#include "ProgramVerifier.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace metaops;

/// Returns whether a step has one buffer, of a bool.
static bool hasCondition(const Step &step) {
  return step.numInputs == 1 && step.buffers.size() == 1 &&
         step.buffers.front().bytes == 1;
}

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const If &branches) {
  if (!hasCondition(step))
    return "has no condition";
  llvm::BitVector before = isSet;
  if (Problem problem = verifyList(branches.onTrue, /*isOutermost=*/false))
    return problem;
  llvm::BitVector onTrue = std::exchange(isSet, std::move(before));
  if (Problem problem = verifyList(branches.onFalse, /*isOutermost=*/false))
    return problem;
  isSet &= onTrue;
  return kNone;
}

/// Returns whether it is memory of the program's own, dense.
bool ProgramVerifier::isPlace(const Slot &slot) const {
  return isSlot(slot) && slot.pitch == 0 && !program.isArgument(slot.entry) &&
         !program.isPointer(slot.entry) && !program.isPacked(slot.entry);
}

ProgramVerifier::Problem ProgramVerifier::verifyCarry(const Carry &carry) {
  for (int64_t entry : {carry.current, carry.next})
    if (!program.isPointer(entry) || isSet[entry])
      return "carries by pointers that cannot be set";
  bool isInitialEarlier = carry.initial.entry < carry.current ||
                          program.isPacked(carry.initial.entry);
  if (!isSlot(carry.initial) || carry.initial.pitch != 0 || !isInitialEarlier ||
      !isPlace(carry.even) || !isPlace(carry.odd) ||
      carry.current == carry.next)
    return "carries values in memory that is not there";
  if (overlap(carry.even, carry.odd) || overlap(carry.initial, carry.even) ||
      overlap(carry.initial, carry.odd))
    return "carries values in places that overlap";
  int64_t bytes =
      std::max(program.pointers[carry.current - program.getPointer(0)],
               program.pointers[carry.next - program.getPointer(0)]);
  if (std::min({carry.initial.bytes, carry.even.bytes, carry.odd.bytes}) <
          bytes ||
      carry.even.bytes > std::min(carry.initial.bytes, carry.odd.bytes))
    return "carries values in places of different sizes";
  return kNone;
}

/// A carry that is a row from the second trip on.
ProgramVerifier::Problem
ProgramVerifier::verifyCarriedRow(const Carry &carry,
                                  llvm::ArrayRef<LoopRows> rows) const {
  auto *row = llvm::find_if(rows, [&](const LoopRows &each) {
    return each.areMade && each.entry == carry.next;
  });
  if (!program.isPointer(carry.current) || isSet[carry.current] ||
      row == rows.end() || row->whole.entry >= carry.current)
    return "carries rows that it does not make";
  bool isInitialEarlier = carry.initial.entry < carry.current ||
                          program.isPacked(carry.initial.entry);
  if (!isSlot(carry.initial) || carry.initial.pitch != 0 || !isInitialEarlier)
    return "carries values in memory that is not there";
  auto getPointed = [&](int64_t entry) {
    return program.pointers[entry - program.getPointer(0)];
  };
  int64_t bytes = getPointed(carry.next);
  if (carry.initial.bytes < bytes || getPointed(carry.current) > bytes)
    return "carries values in places of different sizes";
  if (!carry.settles)
    return kNone;
  if (!isPlace(carry.even) || carry.even.bytes > bytes)
    return "carries values in memory that is not there";
  if (overlap(carry.even, carry.initial) || overlap(carry.even, row->whole))
    return "carries values in places that overlap";
  return kNone;
}

ProgramVerifier::Problem
ProgramVerifier::setCarries(llvm::ArrayRef<Carry> carries,
                            llvm::ArrayRef<LoopRows> rows) {
  for (const Carry &carry : carries)
    if (Problem problem =
            carry.isRow ? verifyCarriedRow(carry, rows) : verifyCarry(carry))
      return problem;
  for (const Carry &carry : carries) {
    if (isSet[carry.current] || (isSet[carry.next] && !carry.isRow))
      return "carries two values by one pointer";
    isSet.set(carry.current);
    isSet.set(carry.next);
    isWritable.set(carry.next);
  }
  return kNone;
}

/// Values that a loop has carried are there behind it; places for more are not.
void ProgramVerifier::leaveCarries(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries) {
    isSet.reset(carry.next);
    isWritable.reset(carry.next);
  }
}

/// Ends a loop, whose later trips check behind what earlier ones overwrite.
ProgramVerifier::Problem ProgramVerifier::leaveLoop() {
  if (--loops > 0)
    return kNone;
  bool mayFail = loopOverwrites && loopChecks;
  loopOverwrites = loopChecks = false;
  return mayFail ? "overwrites an argument inside of a loop that checks"
                 : kNone;
}

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const While &loop) {
  if (!hasCondition(step))
    return "has no condition";
  if (Problem problem = setCarries(loop.carries, /*rows=*/{}))
    return problem;
  ++loops;
  if (Problem problem = verifyList(loop.condition, /*isOutermost=*/false))
    return problem;
  if (!isSlot(step.buffers.front()))
    return "has a condition that is not there";
  llvm::BitVector behind = isSet;
  if (Problem problem = verifyList(loop.body, /*isOutermost=*/false))
    return problem;
  if (Problem problem = leaveLoop())
    return problem;
  isSet = std::move(behind);
  leaveCarries(loop.carries);
  return kNone;
}

/// Sets a pointer to rows that are all inside of one slot.
ProgramVerifier::Problem ProgramVerifier::setRows(const LoopRows &rows,
                                                  int64_t trips) {
  if (!program.isPointer(rows.entry) || isSet[rows.entry])
    return "has rows by pointers that cannot be set";
  bool isEarlier =
      rows.whole.entry < rows.entry || program.isPacked(rows.whole.entry);
  if (!isSlot(rows.whole) || rows.whole.pitch != 0 || !isEarlier)
    return "has rows of memory that is not there";
  bool isOverwritten = program.isArgument(rows.whole.entry) ||
                       program.isPacked(rows.whole.entry);
  if (rows.areMade && (isOverwritten || !isOutput(rows.whole)))
    return "makes rows in memory that is not to be written";
  int64_t bytes;
  if (llvm::MulOverflow(program.pointers[rows.entry - program.getPointer(0)],
                        trips, bytes) ||
      bytes > rows.whole.bytes)
    return "has more rows than there is memory";
  isSet.set(rows.entry);
  isWritable[rows.entry] = rows.areMade;
  return kNone;
}

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const For &loop) {
  bool isCounted =
      step.numInputs == 1 && step.buffers.size() == 1 &&
      step.buffers.front().bytes == static_cast<int64_t>(sizeof(int64_t));
  bool hasTrips = loop.trips ? *loop.trips >= 0 : loop.rows.empty();
  if (!hasTrips || (!isCounted && (!step.buffers.empty() || !loop.trips)))
    return "has no number of trips";
  if (loop.firstTrip < 0 || loop.blockTrips < 0)
    return "has trips of a negative number";
  // First values of a loop are there before its rows.
  for (const Carry &carry : loop.carries)
    if (!isSlot(carry.initial))
      return "carries values in memory that is not there";
  llvm::BitVector behind = isSet;
  for (const LoopRows &rows : loop.rows)
    if (Problem problem = setRows(rows, *loop.trips))
      return problem;
  if (Problem problem = setCarries(loop.carries, loop.rows))
    return problem;
  ++loops;
  if (Problem problem = verifyList(loop.body, /*isOutermost=*/false))
    return problem;
  if (Problem problem = leaveLoop())
    return problem;
  isSet = std::move(behind);
  for (const LoopRows &rows : loop.rows)
    isWritable.reset(rows.entry);
  for (const Carry &carry : loop.carries)
    isSet.set(carry.current);
  leaveCarries(loop.carries);
  return kNone;
}
