//===- StepRunner.h - One run of a program's steps --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_PROGRAM_STEPRUNNER_H
#define METAOPS_LIB_RUNTIME_PROGRAM_STEPRUNNER_H

#include "MetaOps/Runtime/Program/Program.h"
#include "StepPlan.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace metaops {

/// Runs the steps of a program once, from where the run was stopped.
class StepRunner {
public:
  StepRunner(const ProgramData &program, const StepPlan &plan, ProgramRun &run,
             ThreadPool &threads, StopCheck shouldStop,
             std::vector<CallTime> *times);

  llvm::Error run();

private:
  /// The place of a step in its list.
  struct Place {
    const ListPlan &list;
    unsigned index;

    unsigned getNumber() const { return list.numbers[index]; }
  };

  llvm::Error runList(const StepList &steps, const ListPlan &list);
  llvm::Error runGroup(const StepList &steps, const ListPlan &list,
                       const CallStep &group);
  llvm::Error runStep(const Step &step, Place place);
  llvm::Error runBeside(const StepList &steps, const ListPlan &list,
                        const CallStep &group);
  /// Says if other calls run on the other threads meanwhile.
  enum class Sharing { Alone, Beside };
  llvm::Error launch(const Step &step, const KernelCall &call, Place place);
  llvm::Error runRoutine(const Step &step, const RoutineCall &call, Place place,
                         int64_t begin);
  std::optional<int64_t> runCall(const Step &step, Place place, Sharing sharing,
                                 int64_t begin);
  llvm::Error runCheck(const Step &step, const Check &check, Place place);
  llvm::Error runIf(const Step &step, const If &branches, Place place);
  llvm::Error runWhile(const Step &step, const While &loop, Place place);
  enum TripPart : int64_t { Condition, Body, Settling };
  llvm::Error runTrips(const Step &step, const While &loop, Place place,
                       int64_t &part);
  llvm::Error runFor(const Step &step, const For &loop, Place place);
  llvm::Error runTrips(const For &loop, const ListPlan &body, int64_t count);
  void beginCarries(llvm::ArrayRef<Carry> carries);
  void handOn(llvm::ArrayRef<Carry> carries);
  void beginRows(const For &loop, int64_t count);
  void moveRows(const For &loop, int64_t count);
  llvm::Error settle(llvm::ArrayRef<Carry> carries);

  bool mustStop() const { return shouldStop && shouldStop(); }
  llvm::Error stopAt(int64_t place);
  llvm::Error leave(llvm::Error error, int64_t place);
  int64_t resumeAt();

  char *getAddress(const Slot &slot) const {
    return table[slot.entry] + slot.offset;
  }
  template <typename T> T read(const Slot &slot) const {
    T value;
    std::memcpy(&value, getAddress(slot), sizeof(value));
    return value;
  }
  bool isThere(const Step &step) const;
  void noteFilled(const Step &step);
  std::vector<int64_t> nameTrips() const;

  const ProgramData &program;
  const StepPlan &plan;
  ProgramRun &memory;
  ThreadPool &threads;
  StopCheck shouldStop;
  std::vector<CallTime> *times;
  /// Addresses through which the program reaches its memory.
  llvm::SmallVector<char *, 64> table;
  /// The path to where a run that was stopped goes on; see RunProgress. It gets
  /// shorter on the way there, and is empty afterwards.
  llvm::SmallVector<int64_t, 0> path;
  /// Of the loops that are on their way, and which of these count.
  llvm::SmallVector<int64_t, 2> trips;
  llvm::SmallVector<const For *, 2> loops;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PROGRAM_STEPRUNNER_H
