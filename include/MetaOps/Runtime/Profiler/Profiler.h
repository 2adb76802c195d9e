//===- Profiler.h - Where the time of runs goes -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROFILER_PROFILER_H
#define METAOPS_RUNTIME_PROFILER_PROFILER_H

#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace metaops {

class Session;

/// The runs of one program for the same lines of the user's code.
struct ProfiledProgram {
  /// Of the first run.
  std::shared_ptr<const RunRecord> record;
  int64_t runs = 0;
  /// The number of the runs that had to compile it, and the time of that.
  int64_t compilations = 0;
  double compileSeconds = 0;
  /// By call. A run that failed has not made all of its calls.
  std::vector<CallStatistics> calls;
};

/// One run, for a timeline.
struct ProfiledRun {
  unsigned program;
  bool wasCompiled;
  std::vector<CallTime> times;
};

/// Listens to runs and adds up what they took. May be asked while runs go on.
class Profiler : public RunListener {
public:
  /// Keeps the time of each call, some tens of bytes, if there is to be a
  /// timeline.
  explicit Profiler(bool keepsRuns) : keepsRuns(keepsRuns) {}

  void ran(const std::shared_ptr<const RunRecord> &record,
           std::vector<CallTime> times) override;

  /// In the order of their first runs.
  std::vector<ProfiledProgram> getPrograms() const;
  /// In their order; empty where they are not kept.
  std::vector<ProfiledRun> getRuns() const;

private:
  unsigned findProgram(const std::shared_ptr<const RunRecord> &record);

  const bool keepsRuns;
  mutable std::mutex mutex;
  std::vector<ProfiledProgram> programs;
  std::unordered_multimap<const CachedProgram *, unsigned> byProgram;
  std::vector<ProfiledRun> runs;
};

/// The profilers that are on in a session, each of which sees all runs. All
/// calls are made with the session entered.
class ActiveProfilers {
public:
  /// Runs that are put into the queue from here on are reported to it.
  void add(Session &session, std::shared_ptr<Profiler> profiler);
  /// Runs that are in the queue still are reported.
  void remove(Session &session, const Profiler *profiler);

private:
  void listen(Session &session);

  llvm::SmallVector<std::shared_ptr<Profiler>> profilers;
};

/// The lines of a kernel's operations, each once, in the order of the slice.
std::vector<std::string> getLines(const RunRecord &record,
                                  const KernelInfo &kernel);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROFILER_PROFILER_H
