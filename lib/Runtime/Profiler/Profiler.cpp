//===- Profiler.cpp - Where the time of runs goes -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program serves many places of a user's code. Its runs are added up where
// all of their operations were recorded at the same lines, and kept apart
// otherwise. Programs are few and runs are many, so a run is one look-up by the
// program's address, a comparison of locations, which are unique pointers, and
// an addition for each call.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Profiler/Profiler.h"

#include "MetaOps/Runtime/Session/Session.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;

//===----------------------------------------------------------------------===//
// Profiler
//===----------------------------------------------------------------------===//

unsigned Profiler::findProgram(const std::shared_ptr<const RunRecord> &record) {
  const CachedProgram *cached = record->cached.get();
  for (auto [it, end] = byProgram.equal_range(cached); it != end; ++it)
    if (programs[it->second].record->locations == record->locations &&
        programs[it->second].record->device == record->device)
      return it->second;
  unsigned index = programs.size();
  ProfiledProgram &program = programs.emplace_back();
  program.record = record;
  program.calls.resize(cached->program->getInfo().calls.size());
  byProgram.emplace(cached, index);
  return index;
}

void Profiler::ran(const std::shared_ptr<const RunRecord> &record,
                   std::vector<CallTime> times) {
  // A run that failed has no times of the calls that it has not made.
  llvm::erase_if(
      times, [](const CallTime &time) { return time.statistics.runs == 0; });
  std::lock_guard<std::mutex> lock(mutex);
  unsigned index = findProgram(record);
  ProfiledProgram &program = programs[index];
  ++program.runs;
  if (record->wasCompiled) {
    ++program.compilations;
    program.compileSeconds += record->cached->program->getInfo().compileSeconds;
  }
  for (const CallTime &time : times)
    program.calls[time.call].add(time.statistics);
  if (keepsRuns)
    runs.push_back({index, record->wasCompiled, std::move(times)});
}

std::vector<ProfiledProgram> Profiler::getPrograms() const {
  std::lock_guard<std::mutex> lock(mutex);
  return programs;
}

std::vector<ProfiledRun> Profiler::getRuns() const {
  std::lock_guard<std::mutex> lock(mutex);
  return runs;
}

//===----------------------------------------------------------------------===//
// ActiveProfilers
//===----------------------------------------------------------------------===//

namespace {
/// A session tells one listener.
class Distributor : public RunListener {
public:
  explicit Distributor(llvm::ArrayRef<std::shared_ptr<Profiler>> profilers)
      : profilers(profilers) {}

  void ran(const std::shared_ptr<const RunRecord> &record,
           std::vector<CallTime> times) override {
    for (const std::shared_ptr<Profiler> &profiler : profilers)
      profiler->ran(record, times);
  }

private:
  const llvm::SmallVector<std::shared_ptr<Profiler>> profilers;
};
} // namespace

void ActiveProfilers::listen(Session &session) {
  if (profilers.empty())
    session.setListener(nullptr);
  else
    session.setListener(std::make_shared<Distributor>(profilers));
}

void ActiveProfilers::add(Session &session,
                          std::shared_ptr<Profiler> profiler) {
  profilers.push_back(std::move(profiler));
  listen(session);
}

void ActiveProfilers::remove(Session &session, const Profiler *profiler) {
  llvm::erase_if(profilers, [&](const std::shared_ptr<Profiler> &active) {
    return active.get() == profiler;
  });
  listen(session);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

std::vector<std::string> metaops::getLines(const RunRecord &record,
                                           const KernelInfo &kernel) {
  std::vector<unsigned> nodes = kernel.nodes;
  llvm::sort(nodes);
  std::vector<std::string> lines;
  for (unsigned node : nodes) {
    if (node >= record.locations.size() ||
        llvm::isa<mlir::UnknownLoc>(record.locations[node]))
      continue;
    std::string line = formatLine(record.locations[node]);
    if (!llvm::is_contained(lines, line))
      lines.push_back(std::move(line));
  }
  return lines;
}
