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
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace metaops {

/// Runs the steps of a program once.
class StepRunner {
public:
  StepRunner(const ProgramData &program, const StepPlan &plan,
             const ProgramRun &run, ThreadPool &threads, StopCheck shouldStop,
             std::vector<CallTime> *times);

  llvm::Error run() { return runList(program.steps, plan.steps); }

private:
  using Loop = llvm::function_ref<void(ThreadPool::Body)>;

  /// Where a step is in its list.
  struct Place {
    const ListPlan &list;
    unsigned index;

    unsigned getNumber() const { return list.numbers[index]; }
  };

  llvm::Error runList(const StepList &steps, const ListPlan &list);
  llvm::Error runGroup(const StepList &steps, const ListPlan &list,
                       const CallStep &group);
  llvm::Error runStep(const Step &step, Place place);
  llvm::Error runKernel(const Step &step, const KernelCall &kernel,
                        Place place);
  void runBeside(const StepList &steps, const ListPlan &list,
                 const CallStep &group);
  void runCall(const Step &step, unsigned number, Loop runLoop);
  llvm::Error runCheck(const Step &step, const Check &check, Place place);
  llvm::Error runIf(const Step &step, const If &branches, Place place);
  llvm::Error runWhile(const Step &step, const While &loop, Place place);
  llvm::Error pollStop(int64_t work);

  char *getAddress(const Slot &slot) const {
    return table[slot.entry] + slot.offset;
  }
  template <typename T> T read(const Slot &slot) const;
  bool isThere(const Step &step) const;
  void noteFilled(const Step &step);

  const ProgramData &program;
  const StepPlan &plan;
  const ProgramRun &memory;
  ThreadPool &threads;
  /// Null once an argument has been written over.
  StopCheck shouldStop;
  std::vector<CallTime> *times;
  /// What the program reaches its memory through.
  llvm::SmallVector<char *, 64> table;
  /// Work since `shouldStop` was asked.
  int64_t unpolled = 0;
  /// Of the loops that are on their way.
  std::vector<int64_t> trips;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PROGRAM_STEPRUNNER_H
