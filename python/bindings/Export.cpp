//===- Export.cpp - Programs for other processes --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Export.h"
#include "Bindings.h"
#include "Callable.h"
#include "Function.h"
#include "MetaOps/Runtime/Export/LoadedProgram.h"

#include <pybind11/stl.h>

using namespace metaops;
using namespace metaops::python;

/// Returns pairs of a name and a Var; the objects are kept in `owner`.
static std::vector<NamedVar> toNamedVars(py::handle object, py::list &owner) {
  std::vector<NamedVar> result;
  for (py::handle pair : object) {
    auto entry = py::cast<py::tuple>(pair);
    owner.append(entry);
    result.emplace_back(py::cast<std::string>(entry[0]),
                        &expectVar(entry[1], "export"));
  }
  return result;
}

static ExportedRecording toRecording(py::handle object, py::list &owner) {
  auto given = py::cast<py::dict>(object);
  ExportedRecording recording;
  recording.recorded = py::cast<Callable &>(given["recorded"]).function;
  recording.arguments = toNamedVars(given["arguments"], owner);
  recording.outputs = py::cast<std::vector<std::string>>(given["outputs"]);
  recording.state = py::cast<std::vector<unsigned>>(given["state"]);
  recording.drawsFromState = py::cast<bool>(given["draws_from_state"]);
  recording.sizes = py::cast<std::vector<int64_t>>(given["sizes"]);
  return recording;
}

/// Returns a function of what `export_program` is given.
static ExportedFunction toFunction(py::handle object, py::list &owner) {
  auto given = py::cast<py::dict>(object);
  ExportedFunction function;
  function.name = py::cast<std::string>(given["name"]);
  function.structure = py::cast<std::string>(given["structure"]);
  for (py::handle pair : given["extents"]) {
    auto extent = py::cast<py::tuple>(pair);
    function.extents.push_back(
        {py::cast<std::string>(extent[0]),
         py::cast<std::vector<std::pair<unsigned, unsigned>>>(extent[1])});
  }
  for (py::handle recording : given["recordings"])
    function.recordings.push_back(toRecording(recording, owner));
  return function;
}

static py::none exportProgram(const std::string &path, py::handle functions,
                              py::handle weights, py::handle targets,
                              const py::dict &keys) {
  py::list owner;
  ExportRequest request;
  for (py::handle function : functions)
    request.functions.push_back(toFunction(function, owner));
  request.weights = toNamedVars(weights, owner);
  for (py::handle pair : targets) {
    auto entry = py::cast<py::tuple>(pair);
    request.targets.push_back(
        {py::cast<std::string>(entry[0]), py::cast<std::string>(entry[1])});
  }
  for (auto [key, text] : keys)
    request.keys[py::cast<std::string>(key)] = py::cast<std::string>(text);
  runWithoutGIL([&](Session &session) {
    session.exportProgram(request, path);
    return 0;
  });
  return {};
}

/// Compiles the IR of a function of a program file; returns what
/// metaops._execute takes of it.
static py::tuple compileIR(const std::string &ir, const std::string &text,
                           const std::string &name) {
  SuppliedCode code = runWithoutGIL([&](Session &session) {
    ProgramSignature signature = check(readSignature(text));
    auto function = findFunction(signature, name);
    if (!function)
      fail(ErrorKind::Value, "the program file has no function '" + name +
                                 "'; it has " + listFunctions(signature));
    return session.compileIR(signature, signature.functions[*function], ir);
  });
  return py::make_tuple(code.target, py::bytes(code.program),
                        py::bytes(code.image));
}

void metaops::python::bindExport(py::module_ &module) {
  define(
      module, "find_rebinds(recorded)",
      [](const Callable &self) {
        const RecordedFunction &recorded = *self.function;
        py::list result;
        for (const Rebind &rebind : findRebinds(recorded))
          result.append(py::make_tuple(rebind.argument, rebind.line));
        return result;
      },
      "Returns the numbers of the arguments that a recorded function rebinds,\n"
      "and the lines.");
  define(
      module, "num_drawn(recorded)",
      [](const Callable &self) { return self.function->getNumDrawn(); },
      "Returns how many random numbers a call of a recorded function draws.");
  define(
      module, "draws_random(recorded)",
      [](const Callable &self) { return self.function->drawsRandom(); },
      "Returns whether a call of a recorded function draws random numbers, if\n"
      "only none.");
  define(module, "export_program(path, functions, weights, targets, keys)",
         &exportProgram);
  define(module, "compile_ir(ir, signature, function)", &compileIR);
}
