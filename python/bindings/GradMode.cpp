//===- GradMode.cpp - Where gradients are stopped -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python's no_grad and enable_grad are scopes of a context variable: threads
// and asynchronous tasks have their own. Its value is the chain of scopes that
// are open, each a pair of whether gradients flow and the scope around it. So a
// scope needs no state of its own, and one object may be entered many times.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

using namespace metaops;
using namespace metaops::python;

/// Lives as long as the process, as all of the extension's state.
static PyObject *getVariable() {
  static PyObject *variable =
      PyContextVar_New("metaops.grad_mode", /*def=*/nullptr);
  return variable;
}

/// The innermost scope, or None.
static py::object getScope() {
  PyObject *scope = nullptr;
  if (PyContextVar_Get(getVariable(), Py_None, &scope) < 0)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(scope);
}

static void setScope(py::handle scope) {
  PyObject *token = PyContextVar_Set(getVariable(), scope.ptr());
  if (!token)
    throw py::error_already_set();
  Py_DECREF(token);
}

bool metaops::python::areGradientsStopped() {
  py::object scope = getScope();
  return !scope.is_none() && PyTuple_GET_ITEM(scope.ptr(), 0) == Py_False;
}

void metaops::python::bindGradMode(py::module_ &module) {
  define(
      module, "is_grad_enabled()", [] { return !areGradientsStopped(); },
      "Whether gradients flow through what is recorded now.");
  define(module, "enter_grad_mode(enabled)", [](bool isEnabled) {
    setScope(py::make_tuple(isEnabled, getScope()));
  });
  define(module, "leave_grad_mode()", [] {
    py::object scope = getScope();
    // A generator may be closed in another context than it was started in.
    if (!scope.is_none())
      setScope(PyTuple_GET_ITEM(scope.ptr(), 1));
  });
}
