//===- Export.cpp - Programs for other processes --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Export.h"
#include "Function.h"

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
                              py::handle targets, const py::dict &keys,
                              bool keepsIR) {
  py::list owner;
  ExportRequest request;
  request.inputs = toNamedVars(inputs, owner);
  request.outputs = toNamedVars(outputs, owner);
  request.weights = toNamedVars(weights, owner);
  request.targets = toStrings(targets, "targets");
  for (auto [key, text] : keys)
    request.keys[py::cast<std::string>(key)] = py::cast<std::string>(text);
  request.keepsIR = keepsIR;
  runWithoutGIL([&](Session &session) {
    session.exportProgram(request, path);
    return 0;
  });
  return {};
}

void metaops::python::bindExport(py::module_ &module) {
  define(module,
         "export_program(path, inputs, outputs, weights, targets, keys, ir)",
         &exportProgram);
}
