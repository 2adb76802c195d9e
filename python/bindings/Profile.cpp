//===- Profile.cpp - Profilers and what they have seen --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python gets plain data; the reports are made there
// (metaops/tools/profiler.py).
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include "MetaOps/Runtime/Profiler/Profiler.h"
#include "MetaOps/Runtime/Profiler/SliceGraph.h"
#include "MetaOps/Runtime/Report/Inspector.h"

using namespace metaops;
using namespace metaops::python;

/// Those of the process's session, which guards it.
static ActiveProfilers &getActiveProfilers() {
  static auto *profilers = new ActiveProfilers;
  return *profilers;
}

static void start(const std::shared_ptr<Profiler> &profiler) {
  EnteredSession session;
  getActiveProfilers().add(*session, profiler);
}

/// Also waits for the runs that are to be reported.
static void stop(const std::shared_ptr<Profiler> &profiler) {
  {
    EnteredSession session;
    getActiveProfilers().remove(*session, profiler.get());
  }
  // Ctrl-C ends the waiting; Python calls its handler then.
  ReleasedGIL release;
  getSession().drain(&isInterruptPending);
}

template <typename Range> static py::list toList(const Range &values) {
  py::list result;
  for (const auto &value : values)
    result.append(value);
  return result;
}

static py::dict toDict(const AccessCounts &access) {
  py::dict result;
  result["operation"] = access.operation;
  result["location"] = access.location;
  result["is_shared"] = access.isShared;
  result["requests"] = access.requests;
  result["bytes"] = access.bytes;
  result["moved"] = access.moved;
  result["least"] = access.least;
  return result;
}

/// None where nothing was counted.
static py::object toObject(const LaunchCounts *counts) {
  if (!counts)
    return py::none();
  py::list accesses;
  for (const AccessCounts &access : counts->accesses)
    accesses.append(toDict(access));
  py::dict instructions;
  for (auto [kind, count] : llvm::enumerate(counts->instructions))
    instructions[py::str(getName(static_cast<InstructionClass>(kind)).str())] =
        count;
  py::dict result;
  result["accesses"] = accesses;
  result["instructions"] = instructions;
  return result;
}

static py::list toCalls(const ProfiledProgram &program) {
  py::list result;
  const ProgramInfo &info = program.record->cached->program->getInfo();
  for (auto [call, statistics] : llvm::zip_equal(info.calls, program.calls)) {
    py::dict entry;
    entry["name"] = call.name;
    entry["operators"] = toList(call.operators);
    entry["nodes"] = toList(call.nodes);
    entry["lines"] = toList(getLines(*program.record, call));
    entry["bytes_read"] = call.bytesRead;
    entry["bytes_written"] = call.bytesWritten;
    entry["flops"] = call.flops;
    entry["predicted_seconds"] = predictSeconds(call);
    entry["runs"] = statistics.runs;
    entry["total"] = statistics.total;
    entry["min"] = statistics.min;
    entry["max"] = statistics.max;
    entry["counts"] = toObject(statistics.counts.get());
    result.append(std::move(entry));
  }
  return result;
}

static py::list toPrograms(const Profiler &profiler) {
  py::list result;
  for (const ProfiledProgram &program : profiler.getPrograms()) {
    const ProgramInfo &info = program.record->cached->program->getInfo();
    py::dict entry;
    entry["device"] = program.record->device->getName();
    entry["runs"] = program.runs;
    entry["compilations"] = program.compilations;
    entry["compile_seconds"] = program.compileSeconds;
    entry["meta_operators"] = info.metaOps;
    entry["arena_bytes"] = info.arenaBytes;
    entry["calls"] = toCalls(program);
    result.append(std::move(entry));
  }
  return result;
}

/// For each run its program and its calls, as (call, begin, end).
static py::list toRuns(const Profiler &profiler) {
  py::list result;
  for (const ProfiledRun &run : profiler.getRuns()) {
    py::list times;
    for (const CallTime &time : run.times)
      times.append(py::make_tuple(time.call, time.begin, time.end));
    result.append(
        py::make_tuple(run.program, run.wasCompiled, std::move(times)));
  }
  return result;
}

/// The structure of a program, each of its operations with its line.
static py::dict toGraph(const Profiler &profiler, int64_t index) {
  std::vector<ProfiledProgram> programs = profiler.getPrograms();
  if (index < 0 || size_t(index) >= programs.size())
    fail(ErrorKind::Index, "there is no program " + llvm::Twine(index) +
                               " among " + llvm::Twine(programs.size()));
  const RunRecord &record = *programs[index].record;
  SliceGraph graph = check(readSliceGraph(record.cached->slice));
  py::list nodes;
  for (auto [position, node] : llvm::enumerate(graph.nodes)) {
    std::string line;
    if (position < record.locations.size() &&
        !llvm::isa<mlir::UnknownLoc>(record.locations[position]))
      line = formatLine(record.locations[position]);
    nodes.append(
        py::make_tuple(node.name, toList(node.operands), node.type, line));
  }
  py::dict result;
  result["leaves"] = toList(graph.leaves);
  result["nodes"] = std::move(nodes);
  result["outputs"] = toList(graph.outputs);
  return result;
}

/// One of the programs that a profiler has seen.
static ProfiledProgram getProgram(const Profiler &profiler, int64_t index) {
  std::vector<ProfiledProgram> programs = profiler.getPrograms();
  if (index < 0 || size_t(index) >= programs.size())
    fail(ErrorKind::Index, "there is no program " + llvm::Twine(index) +
                               " among " + llvm::Twine(programs.size()));
  return programs[index];
}

static std::string getTargetName(const Profiler &profiler, int64_t index) {
  ProfiledProgram program = getProgram(profiler, index);
  return runWithoutGIL([&](Session &session) {
    return Inspector(session).getTargetName(*program.record);
  });
}

static py::tuple tune(const Profiler &profiler, int64_t index,
                      int64_t milliseconds) {
  ProfiledProgram program = getProgram(profiler, index);
  const ProgramInfo &info = program.record->cached->program->getInfo();
  std::vector<double> seconds;
  std::vector<const KernelInfo *> calls;
  for (auto [call, statistics] : llvm::zip_equal(info.calls, program.calls)) {
    if (!call.isKernel)
      continue;
    calls.push_back(&call);
    seconds.push_back(statistics.total * 1e-9 /
                      std::max<int64_t>(statistics.runs, 1));
  }
  TuningResult result = runWithoutGIL([&](Session &session) {
    return Inspector(session).tuneProgram(*program.record, seconds,
                                          milliseconds * 1e-3);
  });
  py::list kernels;
  for (const TunedKernels &tuned : result.kernels) {
    py::list names, operators, lines;
    for (unsigned call : tuned.calls) {
      names.append(calls[call]->name);
      for (const std::string &name : calls[call]->operators)
        operators.append(name);
      for (const std::string &line : getLines(*program.record, *calls[call]))
        lines.append(line);
    }
    py::dict entry;
    entry["names"] = names;
    entry["operators"] = operators;
    entry["lines"] = lines;
    entry["seconds_before"] = tuned.secondsBefore;
    entry["seconds_after"] = tuned.secondsAfter;
    entry["before"] = strings(tuned.before);
    entry["schedules"] = strings(tuned.lines);
    entry["measured"] = tuned.measured;
    entry["refused"] = tuned.refused;
    kernels.append(std::move(entry));
  }
  return py::make_tuple(kernels, strings(result.errors));
}

void metaops::python::bindProfile(py::module_ &module) {
  py::class_<Profiler, std::shared_ptr<Profiler>> cls(
      module, "Profiler", "Adds up what the runs of the session take.");
  forbidConstruction(cls);
  define(module, "make_profiler(keep_runs)",
         [](bool keepRuns) { return std::make_shared<Profiler>(keepRuns); });
  define(cls, "start(self)", &start);
  define(cls, "stop(self)", &stop);
  define(cls, "programs(self)", &toPrograms);
  define(cls, "runs(self)", &toRuns);
  define(cls, "graph(self, program)", &toGraph);
  define(cls, "tune(self, program, milliseconds)", &tune);
  define(cls, "target_name(self, program)", &getTargetName);
  define(module, "share_kernels(may_share)", [](bool mayShare) {
    runWithoutGIL([&](Session &session) {
      Inspector(session).shareKernels(mayShare);
      return true;
    });
  });
  define(module, "forget_lengths()", [] {
    runWithoutGIL([](Session &session) {
      Inspector(session).forgetLengths();
      return true;
    });
  });
  define(module, "target_name()", [] {
    return runWithoutGIL(
        [](Session &session) { return Inspector(session).getTargetName(); });
  });
}
