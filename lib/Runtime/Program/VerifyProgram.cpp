//===- VerifyProgram.cpp - Soundness of programs -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs come from files, too. One walk over the steps, in their order, keeps
// a set of the pointers that are set at that point. A pointer is set where it
// is not, to memory of entries before it, so that what it may point to can be
// found without a fixed point. Branches and loops are in VerifyControlFlow.cpp.
//
//===----------------------------------------------------------------------===//

#include "ProgramVerifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace metaops;

/// More memory than there is; sums of two such sizes do not overflow.
static constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 4;

llvm::Error metaops::verifyProgram(const ProgramData &program) {
  return ProgramVerifier(program).verify();
}

llvm::Error ProgramVerifier::verify() {
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

ProgramVerifier::Problem ProgramVerifier::verifyTable() const {
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

int64_t ProgramVerifier::getBytes(int64_t entry) const {
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

bool ProgramVerifier::isSlot(const Slot &slot) const {
  int64_t bytes = getBytes(slot.entry);
  return isSize(slot.offset) && isSize(slot.bytes) && slot.row >= 0 &&
         slot.pitch >= slot.row && slot.offset + slot.bytes <= bytes;
}

/// Returns whether it may be written. What a pointer points to may be an
/// argument or what another step reads, but for the places of a loop's carries.
bool ProgramVerifier::isOutput(const Slot &slot) const {
  return isSlot(slot) &&
         (!program.isPointer(slot.entry) || isWritable[slot.entry]);
}

ProgramVerifier::Problem ProgramVerifier::verifyList(const StepList &steps,
                                                     bool isOutermost) {
  for (const Step &step : steps)
    if (Problem problem = verifyStep(step, isOutermost))
      return problem;
  return kNone;
}

ProgramVerifier::Problem ProgramVerifier::verifyStep(const Step &step,
                                                     bool isOutermost) {
  ++number;
  if (Problem problem = verifyBuffers(step, isOutermost))
    return problem;
  return std::visit(
      [&](const auto &action) { return verifyAction(step, action); },
      step.action);
}

/// Verifies what holds for the buffers of all steps. The one of a loop is
/// written by its condition, and looked at behind that.
ProgramVerifier::Problem ProgramVerifier::verifyBuffers(const Step &step,
                                                        bool isOutermost) {
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
ProgramVerifier::Problem ProgramVerifier::verifyPacked(const Step &step,
                                                       bool isOutermost) {
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

ProgramVerifier::Problem
ProgramVerifier::verifyAction(const Step &step, const KernelCall &kernel) {
  auto isNegative = [](int64_t blocks) { return blocks < 0; };
  if (!kernel.kernel || kernel.parallelRange < 0 || kernel.workPerStep < 0 ||
      llvm::any_of(kernel.furtherGrids, isNegative))
    return "has no kernel to call";
  return kNone;
}

/// Returns true if scratch memory of so many bytes is in the arena.
bool ProgramVerifier::isScratch(const Slot &slot, int64_t bytes) const {
  return slot.entry == program.getArena() && slot.offset % 64 == 0 &&
         slot.pitch == 0 && slot.bytes >= bytes;
}

/// Returns true if nothing that a routine writes lies over anything else of
/// its, but what is made over the operand that it names. What pointers point to
/// is compared when the routine runs.
bool ProgramVerifier::areApart(const Step &step, const Routine &routine) {
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

ProgramVerifier::Problem
ProgramVerifier::verifyAction(const Step &step, const RoutineCall &call) {
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
ProgramVerifier::Problem ProgramVerifier::verifyMayFail() {
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

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const Copies &copies) {
  if (step.getOutputs().size() != 1 ||
      !llvm::all_of(copies,
                    [&](const Copy &copy) { return isCopy(copy, step); }))
    return "copies what does not fit";
  return kNone;
}

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const View &view) {
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

ProgramVerifier::Problem ProgramVerifier::verifyAction(const Step &step,
                                                       const Check &check) {
  auto isNumber = [](const Slot &slot) {
    return slot.bytes == static_cast<int64_t>(sizeof(int64_t));
  };
  if (step.numInputs != 2 || step.buffers.size() != 2 ||
      !llvm::all_of(step.buffers, isNumber) || check.range.extent < 0)
    return "checks what are not two numbers";
  return verifyMayFail();
}
