//===- Routines.cpp - Routines of the session in Python -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Function.h"
#include "MetaOps/Runtime/Routines/MatrixLibrary.h"
#include "MetaOps/Runtime/Routines/Plugin.h"
#include "MetaOps/Runtime/Routines/ProductLibrary.h"
#include "pybind11/stl.h"

using namespace metaops;
using namespace metaops::python;

/// Returns the integers, floats or texts of a list, which are of one kind.
static RoutineAttribute toAttribute(const std::string &name, py::list values) {
  RoutineAttribute attribute;
  attribute.name = name;
  if (values.empty())
    return attribute;
  if (py::isinstance<py::str>(values[0]))
    attribute.values = values.cast<RoutineAttribute::Texts>();
  else if (py::isinstance<py::float_>(values[0]))
    attribute.values = values.cast<RoutineAttribute::Floats>();
  else
    attribute.values = values.cast<RoutineAttribute::Integers>();
  return attribute;
}

/// Records the call of a routine; what it is given has been looked at by the
/// package (metaops/extern/routines.py).
static py::list callRoutine(const std::string &name, py::handle inputs,
                            py::handle outputs, const py::dict &parameters,
                            py::handle roles, py::handle over, bool isBatched,
                            bool isTotal) {
  py::list owner;
  std::vector<const Var *> given = toVars(inputs, owner);
  RoutineRequest request;
  request.name = name;
  request.roles = toStrings(roles, "roles");
  request.over = toIntegers(over, "over");
  request.isBatched = isBatched;
  request.isTotal = isTotal;
  for (py::handle item : py::reinterpret_borrow<py::iterable>(outputs)) {
    auto [shape, dtype] = item.cast<std::pair<py::object, py::object>>();
    request.outputs.push_back({toIntegers(shape, "shapes"), toDType(dtype)});
  }
  for (auto [key, values] : parameters)
    request.parameters.push_back(toAttribute(
        key.cast<std::string>(), py::reinterpret_borrow<py::list>(values)));
  Entered session;
  return toList(session->wrapResults(
      session->getRecorder().callRoutine(request, session->getNodes(given))));
}

static py::list makeBarrier(py::handle values) {
  py::list owner;
  std::vector<const Var *> given = toVars(values, owner);
  Entered session;
  return toList(session->wrapResults(
      session->getRecorder().barrier(session->getNodes(given))));
}

static py::list loadPlugin(const std::string &path) {
  auto names = loadRoutines(path, getSession().getRoutines());
  if (!names)
    fail(ErrorKind::Value, "load_routines: " + toString(names.takeError()));
  return strings(*names);
}

static std::pair<std::string, int> describeLapack() {
  auto library = findMatrixLibrary();
  if (!library)
    fail(ErrorKind::Runtime, "backend: " + toString(library.takeError()));
  return {library->path, library->hasWideIntegers ? 64 : 32};
}

static std::pair<std::string, std::string>
findProducts(const std::string &path, const std::vector<std::string> &folders) {
  auto library = addProductLibrary(getSession().getRoutines(), path, folders);
  if (!library)
    fail(ErrorKind::Value, "flag libraries: " + toString(library.takeError()));
  return {library->path, library->version};
}

static std::vector<std::tuple<std::string, std::string, std::string>>
listRoutines() {
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  for (const auto &each : getSession().getRoutines().list())
    all.emplace_back(each->getRoutine().str(), each->getLibrary().str(),
                     each->getVersion().str());
  return all;
}

void metaops::python::bindRoutines(py::module_ &module) {
  define(module,
         "call_routine(name, inputs, outputs, parameters, roles, over, "
         "batched, total)",
         &callRoutine,
         "The outputs of a routine, given the shape and dtype of each.");
  define(module, "barrier(values)", &makeBarrier,
         "The values, each of which is there when all are.");
  define(module, "load_routines(path)", &loadPlugin,
         "Adds the routines of a plugin to the session; their names.");
  define(
      module, "find_products(path, folders)",
      [](const std::string &path, py::handle folders) {
        return findProducts(path, toStrings(folders, "folders"));
      },
      "The path and version of oneDNN, which then computes products for\n"
      "programs that call libraries.");
  define(module, "describe_lapack()", &describeLapack,
         "The path of the library for matrices, and the bits of its integers.");
  define(module, "list_routines()", &listRoutines,
         "The name, library and version of each implementation, the first\n"
         "of which that takes a routine computes it.");
}
