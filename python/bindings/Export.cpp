//===- Export.cpp - Programs for other processes --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Export.h"
#include "Function.h"
#include "MetaOps/Runtime/Export/LoadedProgram.h"

using namespace metaops;
using namespace metaops::python;

/// Pairs of a name and a Var; the objects are kept in `owner`.
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

static py::none exportProgram(const std::string &path, py::handle inputs,
                              py::handle outputs, py::handle weights,
                              py::handle targets, const py::dict &keys) {
  py::list owner;
  ExportRequest request;
  request.inputs = toNamedVars(inputs, owner);
  request.outputs = toNamedVars(outputs, owner);
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

/// Compiles the IR of a program file; what metaops._execute takes of it.
static py::tuple compileIR(const std::string &ir,
                           const std::string &signature) {
  SuppliedCode code = runWithoutGIL([&](Session &session) {
    return session.compileIR(check(readSignature(signature)), ir);
  });
  return py::make_tuple(code.target, py::bytes(code.program),
                        py::bytes(code.image));
}

void metaops::python::bindExport(py::module_ &module) {
  define(module,
         "export_program(path, inputs, outputs, weights, targets, keys)",
         &exportProgram);
  define(module, "compile_ir(ir, signature)", &compileIR);
}
