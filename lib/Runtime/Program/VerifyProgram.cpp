//===- VerifyProgram.cpp - Whether programs are sound ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs come from files, too. One walk over the steps, in their order, keeps
// a set of the pointers that are set at that point: both branches of an `if`
// have to set a pointer for it to be set afterwards; what a loop's body sets is
// gone after a trip, and what its condition sets stays. A pointer is set where
// it is not, to memory of entries before it, so that what it may point to can
// be found without a fixed point.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/ProgramData.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace metaops;

/// More memory than there is; sums of two such sizes do not overflow.
static constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 4;

namespace {
class Verifier {
public:
  explicit Verifier(const ProgramData &program)
      : program(program), isSet(program.getNumEntries()),
        isWritable(program.getNumEntries()) {}

  llvm::Error verify();

private:
  /// What is wrong; empty where nothing is.
  using Problem = const char *;
  static constexpr Problem kNone = nullptr;

  Problem verifyTable() const;
  Problem verifyList(const StepList &steps, bool isOutermost);
  Problem verifyStep(const Step &step, bool isOutermost);
  Problem verifyBuffers(const Step &step, bool isOutermost);
  Problem verifyPacked(const Step &step, bool isOutermost);

  Problem verifyAction(const Step &step, const KernelCall &kernel);
  Problem verifyAction(const Step &step, const RoutineCall &call);
  Problem verifyMayFail();
  bool isScratch(const Slot &slot, int64_t bytes) const;
  Problem verifyAction(const Step &step, const Copies &copies);
  Problem verifyAction(const Step &step, const View &view);
  Problem verifyAction(const Step &step, const Check &check);
  Problem verifyAction(const Step &step, const If &branches);
  Problem verifyAction(const Step &step, const While &loop);
  Problem verifyAction(const Step &step, const For &loop);
  Problem verifyCarry(const Carry &carry);
  Problem verifyCarriedRow(const Carry &carry,
                           llvm::ArrayRef<LoopRows> rows) const;
  Problem setCarries(llvm::ArrayRef<Carry> carries,
                     llvm::ArrayRef<LoopRows> rows);
  void leaveCarries(llvm::ArrayRef<Carry> carries);
  Problem leaveLoop();
  Problem setRows(const LoopRows &rows, int64_t trips);

  bool isFresh(int64_t result) const {
    return program.results[result].entry == program.getResult(result);
  }
  bool isSlot(const Slot &slot) const;
  bool isOutput(const Slot &slot) const;
  bool isPlace(const Slot &slot) const;
  /// The bytes behind an entry; -1 where it is not to be used.
  int64_t getBytes(int64_t entry) const;

  const ProgramData &program;
  /// Pointers that are set, and those that may be written through.
  llvm::BitVector isSet, isWritable;
  /// How many packed results have been made.
  int64_t numPacked = 0;
  unsigned loops = 0;
  bool hasOverwritten = false;
  /// In the outermost of the loops.
  bool loopOverwrites = false, loopChecks = false;
  /// The place of the step that is looked at, for messages.
  unsigned number = 0;
};
} // namespace

llvm::Error metaops::verifyProgram(const ProgramData &program) {
  return Verifier(program).verify();
}

llvm::Error Verifier::verify() {
  if (Problem problem = verifyTable())
    return llvm::createStringError("a program's %s", problem);
  if (Problem problem = verifyList(program.steps, /*isOutermost=*/true))
    return llvm::createStringError("step %u of a program %s", number - 1,
                                   problem);
  if (numPacked != static_cast<int64_t>(program.packed.size()))
    return llvm::createStringError("a program does not make all results that "
                                   "are to be packed");
  return llvm::Error::success();
}

static bool isSize(int64_t bytes) { return bytes >= 0 && bytes <= kMaxBytes; }

Verifier::Problem Verifier::verifyTable() const {
  if (!llvm::all_of(program.arguments, isSize) ||
      !llvm::all_of(program.pointers, isSize) || !isSize(program.arenaBytes))
    return "memory has an impossible size";
  for (auto [number, place] : llvm::enumerate(program.results)) {
    int64_t own = program.getResult(number);
    if (!isSize(place.bytes) || place.entry < 0 || place.entry > own)
      return "results are not where they can be";
    if (place.entry != own && (getBytes(place.entry) < place.bytes))
      return "results are larger than where they are";
  }
  for (const PackedPlace &place : program.packed)
    if (!isSize(place.offset) || !isSize(place.bytes) ||
        place.offset + place.bytes > program.arenaBytes)
      return "packed results are outside of the arena";
  return kNone;
}

int64_t Verifier::getBytes(int64_t entry) const {
  if (entry < 0 || entry >= program.getNumEntries())
    return -1;
  if (program.isArgument(entry))
    return program.arguments[entry];
  if (program.isResult(entry)) {
    int64_t result = entry - program.getResult(0);
    return isFresh(result) ? program.results[result].bytes : -1;
  }
  if (entry == program.getArena())
    return program.arenaBytes;
  if (program.isPacked(entry)) {
    int64_t packed = entry - program.getPacked(0);
    return packed < numPacked ? program.packed[packed].bytes : -1;
  }
  return isSet[entry] ? program.pointers[entry - program.getPointer(0)] : -1;
}

bool Verifier::isSlot(const Slot &slot) const {
  int64_t bytes = getBytes(slot.entry);
  return isSize(slot.offset) && isSize(slot.bytes) && slot.row >= 0 &&
         slot.pitch >= slot.row && slot.offset + slot.bytes <= bytes;
}

/// Returns whether it may be written. What a pointer points to may be an
/// argument or what another step reads, but for the places of a loop's carries.
bool Verifier::isOutput(const Slot &slot) const {
  return isSlot(slot) &&
         (!program.isPointer(slot.entry) || isWritable[slot.entry]);
}

Verifier::Problem Verifier::verifyList(const StepList &steps,
                                       bool isOutermost) {
  for (const Step &step : steps)
    if (Problem problem = verifyStep(step, isOutermost))
      return problem;
  return kNone;
}

Verifier::Problem Verifier::verifyStep(const Step &step, bool isOutermost) {
  ++number;
  if (Problem problem = verifyBuffers(step, isOutermost))
    return problem;
  return std::visit(
      [&](const auto &action) { return verifyAction(step, action); },
      step.action);
}

/// What holds for the buffers of all steps. The one of a loop is written by
/// its condition, and looked at behind that.
Verifier::Problem Verifier::verifyBuffers(const Step &step, bool isOutermost) {
  if (step.numInputs > step.buffers.size())
    return "has more inputs than buffers";
  if (Problem problem = verifyPacked(step, isOutermost))
    return problem;
  if (std::holds_alternative<While>(step.action))
    return kNone;
  auto isInput = [&](const Slot &slot) { return isSlot(slot); };
  if (!llvm::all_of(step.getInputs(), isInput))
    return "reads memory that is not there";
  for (const Slot &slot : step.getOutputs()) {
    if (!isOutput(slot))
      return "writes memory that is not there or not to be written";
    if (!program.isArgument(slot.entry))
      continue;
    hasOverwritten = true;
    loopOverwrites |= loops > 0;
  }
  return kNone;
}

/// A result that may be kept is made by one step, of arguments alone.
Verifier::Problem Verifier::verifyPacked(const Step &step, bool isOutermost) {
  for (const Slot &slot : step.getOutputs()) {
    if (!program.isPacked(slot.entry))
      continue;
    int64_t packed = slot.entry - program.getPacked(0);
    if (!isOutermost || packed != numPacked ||
        packed >= static_cast<int64_t>(program.packed.size()) ||
        slot.offset != 0 || slot.bytes != program.packed[packed].bytes ||
        step.getOutputs().size() != 1 || step.getInputs().empty() ||
        !llvm::all_of(step.getInputs(), [&](const Slot &input) {
          return input.entry >= 0 && program.isArgument(input.entry);
        }))
      return "makes a packed result that cannot be kept";
    ++numPacked;
  }
  return kNone;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

Verifier::Problem Verifier::verifyAction(const Step &step,
                                         const KernelCall &kernel) {
  auto isNegative = [](int64_t blocks) { return blocks < 0; };
  if (!kernel.kernel || kernel.parallelRange < 0 || kernel.workPerStep < 0 ||
      llvm::any_of(kernel.furtherGrids, isNegative))
    return "has no kernel to call";
  return kNone;
}

/// Returns whether two slots have bytes in common, as far as entries tell.
static bool overlap(const Slot &a, const Slot &b) {
  return a.entry == b.entry && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

/// Returns true if scratch memory of so many bytes is in the arena.
bool Verifier::isScratch(const Slot &slot, int64_t bytes) const {
  return slot.entry == program.getArena() && slot.offset % 64 == 0 &&
         slot.pitch == 0 && slot.bytes >= bytes;
}

/// Returns true if nothing that a routine writes lies over anything else of
/// its, but what is made over the operand that it names. What pointers point to
/// is compared when the routine runs.
static bool areApart(const Step &step, const Routine &routine) {
  for (size_t i = step.numInputs; i < step.buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Slot &written = step.buffers[i], &other = step.buffers[j];
      size_t result = i - step.numInputs;
      bool isOver = result < routine.results.size() &&
                    routine.results[result].over == static_cast<int64_t>(j) &&
                    written.offset == other.offset;
      if (overlap(written, other) && !isOver)
        return false;
    }
  return true;
}

Verifier::Problem Verifier::verifyAction(const Step &step,
                                         const RoutineCall &call) {
  const Routine &routine = call.routine;
  size_t numTensors = routine.operands.size() + routine.results.size();
  if (!call.plan || routine.results.empty() ||
      step.numInputs != routine.operands.size() ||
      step.buffers.size() != numTensors + call.hasScratch())
    return "calls a routine that does not exist";
  auto isOf = [](const Slot &slot, const RoutineTensor &tensor) {
    return slot.pitch == 0 && countBytes(tensor) == slot.bytes &&
           slot.offset % sizeOf(tensor.dtype) == 0;
  };
  auto outputs = step.getOutputs().take_front(routine.results.size());
  if (!llvm::equal(step.getInputs(), routine.operands, isOf) ||
      !llvm::equal(outputs, routine.results, isOf))
    return "calls a routine on buffers of other sizes";
  if (call.hasScratch() &&
      !isScratch(step.buffers.back(), call.getEstimate().scratchBytes))
    return "calls a routine without scratch memory of its own";
  if (!areApart(step, routine))
    return "calls a routine on buffers that overlap";
  return call.getEstimate().mayFail ? verifyMayFail() : kNone;
}

/// Verifies that a step which may fail leaves arguments as they were.
Verifier::Problem Verifier::verifyMayFail() {
  if (hasOverwritten)
    return "may fail when an argument has been overwritten";
  loopChecks |= loops > 0;
  return kNone;
}

/// Returns whether a copy reads and writes inside of its buffers.
static bool isCopy(const Copy &copy, const Step &step) {
  auto isInput = [&](int64_t number) {
    return number >= 0 && number < static_cast<int64_t>(step.numInputs);
  };
  if (!isInput(copy.source) || copy.elementBytes <= 0)
    return false;
  int64_t read = copy.elementBytes, written = copy.elementBytes;
  for (const CopyDim &dim : copy.dims) {
    if (dim.extent < 0 || dim.room < dim.extent ||
        llvm::MulOverflow(read, dim.extent, read) ||
        llvm::MulOverflow(written, dim.room, written))
      return false;
    bool isFixed = dim.startBuffer == -1;
    if (isFixed ? dim.start < 0 || dim.start > dim.room - dim.extent
                : !isInput(dim.startBuffer) ||
                      step.buffers[dim.startBuffer].bytes !=
                          static_cast<int64_t>(sizeof(int64_t)))
      return false;
  }
  return read <= step.buffers[copy.source].bytes &&
         written <= step.buffers.back().bytes;
}

Verifier::Problem Verifier::verifyAction(const Step &step,
                                         const Copies &copies) {
  if (step.getOutputs().size() != 1 ||
      !llvm::all_of(copies,
                    [&](const Copy &copy) { return isCopy(copy, step); }))
    return "copies what does not fit";
  return kNone;
}

Verifier::Problem Verifier::verifyAction(const Step &step, const View &view) {
  if (step.numInputs != 1 || step.buffers.size() != 1 ||
      !program.isPointer(view.entry) || isSet[view.entry])
    return "sets a pointer that cannot be set";
  const Slot &slot = step.buffers.front();
  int64_t bytes = program.pointers[view.entry - program.getPointer(0)];
  bool isEarlier = slot.entry < view.entry || program.isPacked(slot.entry);
  if (!isEarlier || slot.pitch != 0 || slot.bytes < bytes)
    return "points to memory that is too small";
  isSet.set(view.entry);
  return kNone;
}

Verifier::Problem Verifier::verifyAction(const Step &step, const Check &check) {
  auto isNumber = [](const Slot &slot) {
    return slot.bytes == static_cast<int64_t>(sizeof(int64_t));
  };
  if (step.numInputs != 2 || step.buffers.size() != 2 ||
      !llvm::all_of(step.buffers, isNumber) || check.range.extent < 0)
    return "checks what are not two numbers";
  return verifyMayFail();
}

/// Returns whether a step has one buffer, of a bool.
static bool hasCondition(const Step &step) {
  return step.numInputs == 1 && step.buffers.size() == 1 &&
         step.buffers.front().bytes == 1;
}

Verifier::Problem Verifier::verifyAction(const Step &step, const If &branches) {
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
bool Verifier::isPlace(const Slot &slot) const {
  return isSlot(slot) && slot.pitch == 0 && !program.isArgument(slot.entry) &&
         !program.isPointer(slot.entry) && !program.isPacked(slot.entry);
}

Verifier::Problem Verifier::verifyCarry(const Carry &carry) {
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
Verifier::Problem
Verifier::verifyCarriedRow(const Carry &carry,
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

Verifier::Problem Verifier::setCarries(llvm::ArrayRef<Carry> carries,
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
void Verifier::leaveCarries(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries) {
    isSet.reset(carry.next);
    isWritable.reset(carry.next);
  }
}

/// Ends a loop, whose later trips check behind what earlier ones overwrite.
Verifier::Problem Verifier::leaveLoop() {
  if (--loops > 0)
    return kNone;
  bool mayFail = loopOverwrites && loopChecks;
  loopOverwrites = loopChecks = false;
  return mayFail ? "overwrites an argument inside of a loop that checks"
                 : kNone;
}

Verifier::Problem Verifier::verifyAction(const Step &step, const While &loop) {
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
Verifier::Problem Verifier::setRows(const LoopRows &rows, int64_t trips) {
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

Verifier::Problem Verifier::verifyAction(const Step &step, const For &loop) {
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
