//===- Phases.h - Work in phases, each shared among threads -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_PHASES_H
#define METAOPS_LIB_RUNTIME_ROUTINES_PHASES_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <vector>

namespace metaops {

/// Units of work that do not depend on each other, but on all phases before.
template <typename T> struct Phase {
  int64_t units = 0;
  /// Elements that a unit computes.
  int64_t elements = 0;
  /// Does a unit, in scratch memory of a thread.
  std::function<void(int64_t unit, T *scratch)> run;
};

template <typename T> using Phases = std::vector<Phase<T>>;

/// Threads have scratch memory each, so that it stays in their caches: as many
/// as this.
inline constexpr int64_t kMaxWorkers = 16;
/// A thread is of use for so many elements.
inline constexpr int64_t kElementsPerWorker = 8192;

/// Does phases on one thread.
template <typename T> void runSerially(const Phases<T> &phases, T *scratch) {
  for (const Phase<T> &phase : phases)
    for (int64_t unit = 0; unit < phase.units; ++unit)
      phase.run(unit, scratch);
}

/// Does phases from unit `run.begin` of all on, with `scratchSize` elements of
/// scratch memory for each of kMaxWorkers threads. Returns the unit before
/// which it was stopped.
template <typename T>
std::optional<int64_t> runPhases(const Phases<T> &phases, const RoutineRun &run,
                                 T *scratch, int64_t scratchSize) {
  int64_t first = 0;
  for (const Phase<T> &phase : phases) {
    int64_t begin = std::clamp<int64_t>(run.begin - first, 0, phase.units);
    std::atomic<int64_t> next = begin;
    std::atomic<bool> isStopped = false;
    int64_t useful =
        (phase.units - begin) * phase.elements / kElementsPerWorker;
    int64_t workers = std::clamp<int64_t>(
        std::min(useful, phase.units - begin), 1,
        std::min<int64_t>(kMaxWorkers, run.threads.getThreads()));
    run.threads.parallelFor(workers, 1, [&](int64_t worker, int64_t last) {
      for (; worker < last; ++worker)
        while (!isStopped) {
          // Each unit that is taken is done.
          if (run.shouldStop && run.shouldStop()) {
            isStopped = true;
            break;
          }
          int64_t unit = next++;
          if (unit >= phase.units)
            break;
          phase.run(unit, scratch + worker * scratchSize);
        }
    });
    if (next < phase.units)
      return first + next;
    first += phase.units;
  }
  return std::nullopt;
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_PHASES_H
