//===- StepPlan.h - How the steps of a program will run ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_PROGRAM_STEPPLAN_H
#define METAOPS_LIB_RUNTIME_PROGRAM_STEPPLAN_H

#include "CallSteps.h"
#include "MetaOps/Runtime/Program/ProgramData.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// A thread is worth its start, of about 3 us, if it has so much to do: 8 us,
/// in picoseconds as the cost model predicts them.
inline constexpr int64_t kWorkPerThread = 8'000'000;

/// Plan of a list of steps.
struct ListPlan {
  /// The steps that run side by side.
  std::vector<CallStep> groups;
  /// Of each step, its place in ProgramInfo::calls.
  std::vector<unsigned> numbers;
  /// Of each step, the fewest iterations that are worth a thread.
  std::vector<int64_t> grains;
  /// Of each step, the plans of the lists inside of it.
  std::vector<std::vector<ListPlan>> regions;
};

/// Plan of a program, which is the same in every run.
struct StepPlan {
  explicit StepPlan(const ProgramData &program);

  ListPlan steps;
  /// Those inside of others included.
  unsigned numSteps = 0;
  /// Predicted picoseconds of steps whose loop is not shared among threads,
  /// and of others; of a loop those of one trip.
  int64_t serialWork = 0, sharedWork = 0;
  bool hasLoop = false;
};

/// The fewest iterations of a kernel's loop that are worth a thread.
int64_t getGrain(const KernelCall &call);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PROGRAM_STEPPLAN_H
