//===- Reports.cpp - Looking inside the session ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Callable.h"
#include "Function.h"
#include "GpuDriver.h"

#include "MetaOps/Runtime/Profiler/Profiler.h"
#include "MetaOps/Runtime/Report/Inspector.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops;
using namespace metaops::python;

namespace {
/// One kernel call, with the report that it is part of.
struct KernelView {
  std::shared_ptr<const RunRecord> record;
  size_t index;

  const KernelInfo &get() const {
    return record->cached->program->getInfo().calls[index];
  }
};

const char *nameOf(KeptFor reason) {
  switch (reason) {
  case KeptFor::Gradient:
    return "gradient";
  case KeptFor::Var:
    return "held";
  case KeptFor::Pending:
    return "pending";
  case KeptFor::Again:
    return "again";
  case KeptFor::Loop:
    return "loop";
  case KeptFor::Update:
    return "update";
  }
  llvm_unreachable("all reasons are handled");
}

struct ProgramView {
  std::shared_ptr<const RunRecord> record;

  const ProgramInfo &get() const { return record->cached->program->getInfo(); }
};
} // namespace

py::list metaops::python::strings(const std::vector<std::string> &texts) {
  py::list result;
  for (const std::string &text : texts)
    result.append(text);
  return result;
}

py::tuple metaops::python::toTuple(llvm::ArrayRef<int64_t> numbers) {
  py::tuple result(numbers.size());
  for (auto [index, number] : llvm::enumerate(numbers))
    result[index] = number;
  return result;
}

static void bindPrograms(py::module_ &module) {
  py::class_<KernelView> kernel(module, "KernelInfo",
                                "One kernel call of a program.");
  forbidConstruction(kernel);
  defineProperty(kernel, "name",
                 [](const KernelView &self) { return self.get().name; });
  defineProperty(kernel, "operators", [](const KernelView &self) {
    return strings(self.get().operators);
  });
  defineProperty(kernel, "lines", [](const KernelView &self) {
    return strings(getLines(*self.record, self.get()));
  });
  defineProperty(kernel, "flops",
                 [](const KernelView &self) { return self.get().flops; });
  defineProperty(kernel, "predicted_seconds", [](const KernelView &self) {
    return predictSeconds(self.get());
  });
  defineProperty(kernel, "bytes_read",
                 [](const KernelView &self) { return self.get().bytesRead; });
  defineProperty(kernel, "bytes_written", [](const KernelView &self) {
    return self.get().bytesWritten;
  });
  defineProperty(kernel, "loop_operations",
                 [](const KernelView &self) { return self.get().loopOps; });

  py::class_<ProgramView> program(
      module, "ProgramInfo", "What the last slice that ran was compiled to.");
  forbidConstruction(program);
  defineProperty(program, "kernels", [](const ProgramView &self) {
    py::list kernels;
    for (size_t index = 0; index < self.get().calls.size(); ++index)
      kernels.append(py::cast(KernelView{self.record, index}));
    return kernels;
  });
  defineProperty(program, "meta_operators",
                 [](const ProgramView &self) { return self.get().metaOps; });
  defineProperty(program, "distinct_kernels", [](const ProgramView &self) {
    return self.get().distinctKernels;
  });
  defineProperty(program, "compiled_kernels", [](const ProgramView &self) {
    return self.record->wasCompiled ? self.get().compiledKernels : 0;
  });
  defineProperty(program, "compile_seconds", [](const ProgramView &self) {
    return self.record->wasCompiled ? self.get().compileSeconds : 0.0;
  });
  defineProperty(program, "arena_bytes",
                 [](const ProgramView &self) { return self.get().arenaBytes; });
  define(program, "kept(self)", [](const ProgramView &self) {
    py::list result;
    for (const KeptValue &value : self.record->kept)
      result.append(py::make_tuple(
          formatLine(value.line), metaops::nameOf(value.dtype).str(),
          toTuple(value.shape), nameOf(value.reason), value.fits));
    return result;
  });
  define(program, "ir(self, phase)",
         [](const ProgramView &self, const std::string &phase) {
           return runWithoutGIL([&](Session &session) {
             return Inspector(session).printProgram(*self.record, phase);
           });
         });
  define(program, "describe(self)",
         [](const ProgramView &self) { return describeProgram(self.record); });
  define(program, "neighbours(self)", [](const ProgramView &self) {
    return strings(runWithoutGIL([&](Session &session) {
      return Inspector(session).listNeighbours(*self.record);
    }));
  });
}

static py::dict statistics() {
  SessionStatistics statistics;
  {
    EnteredSession session;
    statistics = Inspector(*session).getStatistics();
  }
  py::dict result;
  result["programs_compiled"] = statistics.programsCompiled;
  result["kernels_compiled"] = statistics.kernelsCompiled;
  result["compile_seconds"] = statistics.compileSeconds;
  result["program_hits"] = statistics.programHits;
  result["programs_run"] = statistics.programsRun;
  result["operators_repeated"] = statistics.operatorsRepeated;
  result["values_recorded"] = statistics.valuesRecorded;
  result["signatures"] = statistics.signatures;
  result["history_bytes"] = statistics.historyBytes;
  result["updates_pending"] = statistics.updatesPending;
  result["programs_loaded"] = statistics.programsLoaded;
  result["kernels_loaded"] = statistics.kernelsLoaded;
  result["cache_failure"] = statistics.cacheFailure;
  result["ops_in_block"] = statistics.opsInBlock;
  result["live_vars"] = statistics.liveVars;
  result["bytes_in_use"] = statistics.memory.bytesInUse;
  result["peak_bytes"] = statistics.memory.peakBytes;
  result["bytes_reserved"] = statistics.memory.bytesReserved;
  result["allocations"] = statistics.memory.allocations;
  return result;
}

static py::object readFlag(const std::string &name) {
  FlagValue value;
  {
    // A function that is recorded may depend on it.
    Session &session = getSession();
    Entered entered(session);
    value = getFlag(session.getSettings(), name);
  }
  return std::visit([](const auto &given) { return py::cast(given); }, value);
}

static FlagValue toFlagValue(py::handle object) {
  if (py::isinstance<py::str>(object))
    return object.cast<std::string>();
  std::optional<Number> number = toNumber(object);
  if (number && number->getKind() != Number::Kind::Float &&
      !number->fitsInt64())
    failTooLarge(object, "a flag");
  if (!number || number->getKind() == Number::Kind::Float)
    fail(ErrorKind::Type, "a flag is given " + describe(object) +
                              ", expected a bool, an int or a str");
  if (number->getKind() == Number::Kind::Bool)
    return number->getInt() != 0;
  return number->getInt();
}

static void bindFlags(py::module_ &module) {
  define(
      module, "set_default_flag(flag, value)",
      [](const std::string &flag, py::handle value) {
        setDefaultFlag(flag, toFlagValue(value));
      },
      "Says what a flag is in the session, before that is made.");
  define(
      module, "set_most_threads(n)", [](int64_t n) { setMostThreads(n); },
      "Bounds the threads of the session, before that is made.");
  define(
      module, "set_gpu_tools(packages, assemblers)",
      [](py::handle packages, py::handle assemblers) {
        setGpuTools(toStrings(packages, "packages"),
                    toStrings(assemblers, "assemblers"));
      },
      "Says what the session uses GPUs with, before that is made.");
  define(
      module, "set_gpu_driver(text)",
      [](const std::string &text) {
        if (auto error = setGpuDriver(text))
          throw py::value_error(toString(std::move(error)));
      },
      "Has a driver that emulates GPUs take the place of NVIDIA's.");
  define(
      module, "set_emulator(assembled_for, cubins, kernel_log)",
      [](py::handle chips, const std::string &cubins,
         const std::string &kernelLog) {
        if (auto error = setEmulator(toStrings(chips, "assembled_for"), cubins,
                                     kernelLog))
          throw py::value_error(toString(std::move(error)));
      },
      "Says what emulated devices do beside running, before they are made.");
  define(module, "flag_names()", [] { return strings(getFlagNames()); });
  define(module, "get_flag(name)", &readFlag);
  define(module, "set_flag(name, value)",
         [](const std::string &name, py::handle value) {
           FlagValue given = toFlagValue(value);
           runWithoutGIL([&](Session &session) {
             session.setFlag(name, given);
             return true;
           });
         });
}

static py::list toViews(Inspector::Runs runs) {
  py::list result;
  for (auto &run : runs)
    result.append(py::cast(ProgramView{std::move(run)}));
  return result;
}

void metaops::python::bindReports(py::module_ &module) {
  bindPrograms(module);
  define(module, "plan_programs(vars, target=None)",
         [](py::handle object, py::handle name) {
           py::list owner;
           std::vector<const Var *> vars = toVars(object, owner);
           Compiler *target =
               name.is_none() ? nullptr : &findTarget(name.cast<std::string>());
           return toViews(runWithoutGIL([&](Session &session) {
             return Inspector(session).planRuns(vars, target);
           }));
         });
  define(module, "plan_call(function, arguments)",
         [](const Callable &function, py::handle arguments) {
           std::vector<Var *> vars = toArguments(arguments);
           return toViews(runWithoutGIL([&](Session &session) {
             return Inspector(session).planCall(*function.function, vars);
           }));
         });
  define(module, "take_unused_schedules()", [] {
    // At the end of a process; a session is not made for it, and that of the
    // process which this one was forked from is not this one's affair.
    if (!hasSession() || isSessionInherited())
      return py::list();
    EnteredSession session;
    return strings(Inspector(*session).takeUnusedSchedules());
  });
  define(
      module, "dump()",
      [] {
        EnteredSession session;
        return Inspector(*session).dump();
      },
      "The recorded operations as an MLIR module.");
  define(module, "last_program()", [] {
    EnteredSession session;
    return ProgramView{session->getLastRun()};
  });
  define(module, "stats()", &statistics,
         "What the session has compiled, run and taken so far, by name.");
  define(
      module, "reset_peak()",
      [] {
        EnteredSession session;
        session->resetPeak();
      },
      "Has the peak of memory start again at what is in use now.");
  define(
      module, "set_num_threads(n)",
      [](int64_t count) {
        if (count < 1 || count > ThreadPool::kMaxThreads)
          fail(ErrorKind::Value, "set_num_threads: given " +
                                     llvm::Twine(count) + ", expected 1 to " +
                                     llvm::Twine(ThreadPool::kMaxThreads));
        Entered session;
        session->getDevice().getThreads().setThreads(count);
      },
      "Sets how many threads compute.");
  define(
      module, "get_num_threads()",
      [] { return getDevice().getThreads().getThreads(); },
      "How many threads compute.");
  bindFlags(module);
}
