//===- Module.cpp - The Python extension metaops._core --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "RaiseText.h"

using namespace metaops;
using namespace metaops::python;

/// Lives as long as the process.
static PyObject *getNoForwardModeError() {
  static PyObject *error =
      py::object(py::module_::import("metaops.func.derivatives")
                     .attr("NoForwardModeError"))
          .release()
          .ptr();
  return error;
}

/// Lives as long as the process.
static PyObject *getOutsideHistoryError() {
  static PyObject *error =
      py::object(py::module_::import("metaops.tracing.functions")
                     .attr("OutsideHistoryError"))
          .release()
          .ptr();
  return error;
}

static PyObject *getLinAlgError() {
  static PyObject *error =
      py::object(py::module_::import("numpy.linalg").attr("LinAlgError"))
          .release()
          .ptr();
  return error;
}

static PyObject *exceptionOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Value:
    return PyExc_ValueError;
  case ErrorKind::Type:
    return PyExc_TypeError;
  case ErrorKind::Index:
    return PyExc_IndexError;
  case ErrorKind::Overflow:
    return PyExc_OverflowError;
  case ErrorKind::Memory:
    return PyExc_MemoryError;
  case ErrorKind::LinearAlgebra:
    return getLinAlgError();
  case ErrorKind::NoForwardMode:
    return getNoForwardModeError();
  case ErrorKind::OutsideHistory:
    return getOutsideHistoryError();
  case ErrorKind::Runtime:
  case ErrorKind::Interrupted:
    return PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

/// The session's errors, each with the user's line at its end.
static void translate(std::exception_ptr pointer) {
  try {
    if (pointer)
      std::rethrow_exception(pointer);
  } catch (const SessionError &error) {
    // Where the call could not be made again.
    if (error.getKind() == ErrorKind::Interrupted && PyErr_CheckSignals() < 0)
      return;
    std::string message = error.what();
    std::string line = currentLine();
    if (!line.empty())
      message += " (" + line + ")";
    raiseText(exceptionOf(error.getKind()), message);
  }
}

PYBIND11_MODULE(_core, module) {
  module.doc() = "The session's variables, meta-operators and queries.";
  py::register_exception_translator(&translate);
  bindFunctionType(module);
  bindDTypes(module);
  initSignals();
  bindVar(module);
  bindCreation(module);
  bindMetaOperators(module);
  bindRunning(module);
  bindFunctionCalls(module);
  bindExternCode(module);
  bindRoutines(module);
  bindReports(module);
  bindMemory(module);
  bindExport(module);
  bindGradMode(module);
  bindDevices(module);
  bindStepOutcome(module);
  bindTrace(module);
  bindCallable(module);
  bindControlFlow(module);
  bindGuards(module);
  bindWatch(module);
  bindCache(module);
  bindFetch(module);
  bindProfile(module);
  bindExplain(module);
}
