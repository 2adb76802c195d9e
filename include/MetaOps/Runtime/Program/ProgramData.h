//===- ProgramData.h - A program as plain data ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a tree of steps. Steps reach memory through a table of pointers,
// whose entries are, in this order:
//
//   the arguments, the results, the arena     one each
//   pointers that steps set                   ProgramData::pointers
//   results that may be kept packed           ProgramData::packed
//
// The memory of a run is decided before it starts; steps only move pointers to
// it. So what a loop carries is handed on from trip to trip by exchanging two
// pointers, and a branch may give a value of outside as its own. A pointer is
// set to the memory of entries before it alone.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_PROGRAMDATA_H
#define METAOPS_RUNTIME_PROGRAM_PROGRAMDATA_H

#include "MetaOps/Runtime/Program/Copy.h"
#include "MetaOps/Runtime/Program/Kernel.h"
#include "MetaOps/Runtime/Program/ProgramInfo.h"
#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "MetaOps/Support/IndexRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace metaops {

/// Memory that a step reads or writes.
struct Slot {
  /// Of the table of pointers.
  int64_t entry = 0;
  /// Bytes before it.
  int64_t offset = 0;
  /// From the first to the last.
  int64_t bytes = 0;
  /// Bytes of a row, and from one row to the next, where rows are apart.
  int64_t row = 0, pitch = 0;
};

struct Step;
/// In their order.
using StepList = std::vector<Step>;

/// A routine by the implementation that was chosen for it. Behind the buffers
/// of its operands and results is its scratch memory, if it takes any.
struct RoutineCall {
  Routine routine;
  /// The library of the implementation, and its version for messages.
  std::string library, version;
  /// Null in a program that cannot be run.
  std::shared_ptr<const RoutinePlan> plan;

  const RoutineEstimate &getEstimate() const { return plan->getEstimate(); }
  bool hasScratch() const { return getEstimate().scratchBytes > 0; }
};

/// Each into a window of the one buffer that is written.
using Copies = std::vector<Copy>;

/// Makes a pointer point to the one buffer that is read.
struct View {
  int64_t entry = 0;
};

/// Fails the program unless the first and the second buffer, each one int64,
/// are in the range: the lowest and the highest of some indices. Stands before
/// everything that overwrites an argument.
struct Check {
  IndexRange range;
  /// The user's line, for messages; empty where it is not known.
  std::string place;
};

/// Runs the first list if the one buffer, a bool, is true, else the second.
struct If {
  StepList onTrue, onFalse;
};

/// A value that a loop hands from trip to trip.
struct Carry {
  /// Pointers to the value of this trip, and to where that of the next goes.
  int64_t current = 0, next = 0;
  /// Set if that is a row that the loop makes: then `even` is where the last
  /// value is to lie, if it settles, and there is no `odd`.
  bool isRow = false;
  /// The value of the first trip; it is not written.
  Slot initial;
  /// Of later trips, in turn. No two of the three overlap.
  Slot even, odd;
  /// True if the last value is to lie in `even` when the loop is done.
  bool settles = false;
};

/// Runs `condition`, and while the one buffer, a bool, then is true `body` and
/// `condition` again.
struct While {
  std::vector<Carry> carries;
  StepList condition, body;
};

/// Rows that a loop reads or makes one by one.
struct LoopRows {
  /// The pointer to the row of this trip, which has a row's bytes.
  int64_t entry = 0;
  /// All rows, one behind the other.
  Slot whole;
  /// Set if the loop makes them.
  bool areMade = false;
};

/// Runs `body` a number of times, with the pointers of `rows` moved on from
/// trip to trip: from the first row to the last, or back.
struct For {
  /// The number of rows, too: without it there are none. If there is a buffer,
  /// an int64, that says how many trips there are: none if it is less than 0,
  /// and `trips` at most.
  std::optional<int64_t> trips;
  bool isReverse = false;
  /// Errors name its trips as those of a longer loop, of which the first has
  /// this number; or by those of the loop inside, of which each trip makes so
  /// many, 0 if it does not.
  int64_t firstTrip = 0, blockTrips = 0;
  std::vector<Carry> carries;
  std::vector<LoopRows> rows;
  StepList body;
};

/// One step of a program.
struct Step {
  using Action = std::variant<KernelCall, RoutineCall, Copies, View, Check, If,
                              While, For>;

  Action action;
  /// Buffers that the action reads, then those that it writes.
  std::vector<Slot> buffers;
  unsigned numInputs = 0;

  llvm::ArrayRef<Slot> getInputs() const {
    return llvm::ArrayRef(buffers).take_front(numInputs);
  }
  llvm::ArrayRef<Slot> getOutputs() const {
    return llvm::ArrayRef(buffers).drop_front(numInputs);
  }
  /// Of a loop.
  llvm::ArrayRef<Carry> getCarries() const;
  /// The lists of steps inside, in their order.
  std::vector<const StepList *> getRegions() const;
  /// Returns true if a run may fail here: a check, code of a user's, or a
  /// routine that says so.
  bool mayFail() const;
  /// Predicted picoseconds; of a loop those of one trip.
  int64_t getWork() const;
  /// Returns the number of threads that there is work for.
  int64_t getMaxThreads() const;
  /// Of copies.
  int64_t getCopiedBytes() const;
};

/// The place of a result when the program is done.
struct ResultPlace {
  /// An argument's, or that of a result that is not a later one: that of the
  /// first of several results that are the same memory.
  int64_t entry = 0;
  int64_t bytes = 0;
};

/// A result of a step of the outermost list that may be kept from run to run:
/// it is made of arguments alone, and the only one of its step.
struct PackedPlace {
  /// Bytes before it in the arena, where it is when it is not kept.
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// All of a program.
struct ProgramData {
  /// The bytes of each.
  std::vector<int64_t> arguments;
  std::vector<ResultPlace> results;
  /// Intermediate values.
  int64_t arenaBytes = 0;
  /// The bytes that there are behind each at least.
  std::vector<int64_t> pointers;
  std::vector<PackedPlace> packed;
  StepList steps;

  int64_t getResult(int64_t number) const { return arguments.size() + number; }
  int64_t getArena() const { return getResult(results.size()); }
  int64_t getPointer(int64_t number) const { return getArena() + 1 + number; }
  int64_t getPacked(int64_t number) const {
    return getPointer(pointers.size()) + number;
  }
  int64_t getNumEntries() const { return getPacked(packed.size()); }

  bool isArgument(int64_t entry) const {
    return entry < static_cast<int64_t>(arguments.size());
  }
  bool isResult(int64_t entry) const {
    return !isArgument(entry) && entry < getArena();
  }
  bool isPointer(int64_t entry) const {
    return entry >= getPointer(0) && entry < getPacked(0);
  }
  bool isPacked(int64_t entry) const { return entry >= getPacked(0); }
};

/// Calls `visit` with each step, those inside of it behind it: the order of
/// ProgramInfo::calls.
void walkSteps(const StepList &steps,
               llvm::function_ref<void(const Step &)> visit);
unsigned countSteps(const StepList &steps);

/// Returns whether everything refers to memory that is there; what is wrong
/// otherwise. Of a program for which this holds, no step reads or writes
/// outside of the memory of a run, whatever that holds, if its kernels keep to
/// their buffers. And a run that fails a check has overwritten no argument.
llvm::Error verifyProgram(const ProgramData &program);

/// A program and what is reported of it.
struct DescribedProgram {
  ProgramData data;
  ProgramInfo info;
};

/// The layouts of a program's bytes that can be read: today's, and the one in
/// which there were sorts and no other routines.
enum class ProgramLayout { Current, SortsAlone };

/// The program as bytes, its kernels and routines by name.
std::string writeProgram(const ProgramData &program, const ProgramInfo &info);
/// Reads such bytes, and verifies what they say. `findKernel` gives the
/// kernels; the program cannot be read where it gives none, or where nobody
/// computes one of its routines.
llvm::Expected<DescribedProgram>
readProgram(llvm::StringRef bytes,
            llvm::function_ref<std::shared_ptr<const Kernel>(llvm::StringRef)>
                findKernel,
            const RoutineRegistry &routines,
            ProgramLayout layout = ProgramLayout::Current);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_PROGRAMDATA_H
