//===- RaiseText.h - Exceptions with any text -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_RAISETEXT_H
#define METAOPS_PYTHON_BINDINGS_RAISETEXT_H

#include <pybind11/pybind11.h>

#include <string>

namespace metaops::python {

/// Sets an exception of Python's. What is not UTF-8 in the text, as a file or a
/// plugin may have it, is replaced.
inline void raiseText(PyObject *type, const std::string &text) {
  PyObject *decoded =
      PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace");
  if (!decoded)
    return;
  PyErr_SetObject(type, decoded);
  Py_DECREF(decoded);
}

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_RAISETEXT_H
