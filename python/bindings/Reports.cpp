//===- Reports.cpp - Looking inside the session ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

#include "llvm/ADT/StringExtras.h"

using namespace metaops;
using namespace metaops::python;

namespace {
/// One kernel call, with the report that it is part of.
struct KernelView {
  std::shared_ptr<const ProgramReport> report;
  size_t index;

  const KernelInfo &get() const {
    return report->cached->program->getInfo().calls[index];
  }
};

struct ProgramView {
  std::shared_ptr<const ProgramReport> report;

  const ProgramInfo &get() const { return report->cached->program->getInfo(); }
};
} // namespace

/// The lines of the kernel's operations, each once, in the order of the slice.
static std::vector<std::string> linesOf(const KernelView &kernel) {
  std::vector<unsigned> nodes = kernel.get().nodes;
  llvm::sort(nodes);
  std::vector<std::string> lines;
  for (unsigned node : nodes) {
    if (node >= kernel.report->locations.size())
      continue;
    const NodeLocation &location = kernel.report->locations[node];
    if (location.file.empty())
      continue;
    std::string line = location.file + ":" + std::to_string(location.line);
    if (!llvm::is_contained(lines, line))
      lines.push_back(std::move(line));
  }
  return lines;
}

static py::list strings(const std::vector<std::string> &texts) {
  py::list result;
  for (const std::string &text : texts)
    result.append(text);
  return result;
}

static void bindPrograms(py::module_ &module) {
  py::class_<KernelView>(module, "KernelInfo", "One kernel call of a program.")
      .def_property_readonly(
          "name", [](const KernelView &self) { return self.get().name; })
      .def_property_readonly(
          "operators",
          [](const KernelView &self) { return strings(self.get().operators); })
      .def_property_readonly(
          "lines",
          [](const KernelView &self) { return strings(linesOf(self)); })
      .def_property_readonly(
          "bytes_read",
          [](const KernelView &self) { return self.get().bytesRead; })
      .def_property_readonly("bytes_written", [](const KernelView &self) {
        return self.get().bytesWritten;
      });

  py::class_<ProgramView>(module, "ProgramInfo",
                          "What the last slice that ran was compiled to.")
      .def_property_readonly(
          "kernels",
          [](const ProgramView &self) {
            py::list kernels;
            for (size_t index = 0; index < self.get().calls.size(); ++index)
              kernels.append(py::cast(KernelView{self.report, index}));
            return kernels;
          })
      .def_property_readonly(
          "meta_operators",
          [](const ProgramView &self) { return self.get().metaOps; })
      .def_property_readonly(
          "distinct_kernels",
          [](const ProgramView &self) { return self.get().distinctKernels; })
      .def_property_readonly("compiled_kernels",
                             [](const ProgramView &self) {
                               return self.report->wasCompiled
                                          ? self.get().compiledKernels
                                          : 0;
                             })
      .def_property_readonly("compile_seconds",
                             [](const ProgramView &self) {
                               return self.report->wasCompiled
                                          ? self.get().compileSeconds
                                          : 0.0;
                             })
      .def_property_readonly(
          "arena_bytes",
          [](const ProgramView &self) { return self.get().arenaBytes; })
      .def(
          "ir",
          [](const ProgramView &self, const std::string &phase) {
            return runWithoutGIL([&](Session &session) {
              return session.printProgram(*self.report, phase);
            });
          },
          py::arg("phase"));
}

static py::dict statistics() {
  SessionStatistics statistics;
  {
    Entered session;
    statistics = session->getStatistics();
  }
  py::dict result;
  result["programs_compiled"] = statistics.programsCompiled;
  result["kernels_compiled"] = statistics.kernelsCompiled;
  result["compile_seconds"] = statistics.compileSeconds;
  result["program_hits"] = statistics.programHits;
  result["programs_run"] = statistics.programsRun;
  result["ops_in_block"] = statistics.opsInBlock;
  result["live_vars"] = statistics.liveVars;
  result["bytes_in_use"] = statistics.memory.bytesInUse;
  result["peak_bytes"] = statistics.memory.peakBytes;
  result["bytes_reserved"] = statistics.memory.bytesReserved;
  result["allocations"] = statistics.memory.allocations;
  return result;
}

static py::object getFlag(const std::string &name) {
  std::string value;
  {
    Entered session;
    value = session->getFlag(name);
  }
  if (!value.empty() && llvm::all_of(value, llvm::isDigit))
    return py::int_(py::str(value));
  return py::str(value);
}

void metaops::python::bindReports(py::module_ &module) {
  bindPrograms(module);
  module.def(
      "dump",
      [] {
        Entered session;
        return session->dump();
      },
      "The recorded operations as an MLIR module.");
  module.def("last_program", [] {
    Entered session;
    return ProgramView{
        std::make_shared<const ProgramReport>(session->getLastProgram())};
  });
  module.def("stats", &statistics);
  module.def("reset_peak", [] {
    Entered session;
    session->resetPeak();
  });
  module.def(
      "set_num_threads",
      [](int64_t count) {
        if (count < 1 || count > 4096)
          fail(ErrorKind::Value, "set_num_threads: given " +
                                     llvm::Twine(count) +
                                     ", expected 1 or more");
        Entered session;
        session->getThreads().setThreads(count);
      },
      py::arg("n"));
  module.def("get_num_threads",
             [] { return getSession().getThreads().getThreads(); });
  module.def("get_flag", &getFlag, py::arg("name"));
  module.def(
      "set_flag",
      [](const std::string &name, py::handle value) {
        std::string text = py::str(value).cast<std::string>();
        Entered session;
        session->setFlag(name, text);
      },
      py::arg("name"), py::arg("value"));
}
