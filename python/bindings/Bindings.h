//===- Bindings.h - Shared by the Python extension --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_BINDINGS_H
#define METAOPS_PYTHON_BINDINGS_BINDINGS_H

#include "MetaOps/Runtime/Session/Session.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace metaops::python {

namespace py = pybind11;

//===----------------------------------------------------------------------===//
// The session (Scope.cpp)
//===----------------------------------------------------------------------===//

/// The process's session.
Session &getSession();
const std::shared_ptr<Session> &getSharedSession();

/// "file.py:12" of the user's innermost frame; empty outside of Python code.
std::string currentLine();

/// Enters the session with the GIL held, at the user's line. A thread that
/// holds the session may need the GIL, so this never waits for it with the GIL
/// held.
class Entered {
public:
  Entered();
  Session &operator*() const { return session; }
  Session *operator->() const { return &session; }

private:
  Session &session;
  SessionScope scope;
};

/// Calls the callbacks of completed fetches.
void callBack(std::vector<CompletedFetch> &completed);

/// Calls `work(session)`, which may compile and run programs, with the session
/// entered and the GIL released, and then the callbacks of fetches.
template <typename Work> auto runWithoutGIL(Work work) {
  std::vector<CompletedFetch> completed;
  auto run = [&] {
    std::optional<Entered> entered(std::in_place);
    py::gil_scoped_release release;
    // Left before the GIL is taken back.
    struct Leave {
      std::optional<Entered> &entered;
      ~Leave() { entered.reset(); }
    } leave{entered};
    Session &session = **entered;
    auto result = work(session);
    completed = session.takeCompletedFetches();
    return result;
  };
  auto result = run();
  callBack(completed);
  return result;
}

/// Calls `callback` with the arrays of fetch `id` when it is completed.
void addCallback(uint64_t id, py::function callback);

//===----------------------------------------------------------------------===//
// Conversions (Convert.cpp)
//===----------------------------------------------------------------------===//

/// An operand as Python gives it: a Var, a number, or what NumPy makes an array
/// of. Made with the GIL held, before the session is entered.
class Argument {
public:
  Argument(py::handle object);
  /// Copies or converts nothing; for Vars only.
  const Var *getVar() const { return var; }
  bool isNumber() const { return number.has_value(); }

  /// With the session entered.
  Operand operand(Session &session);
  /// The same, with a number made a tensor.
  const Var &tensor(Session &session);

private:
  const Var *var = nullptr;
  std::optional<Number> number;
  std::optional<TensorData> data;
  Var owned;
};

/// The Var in an object, or null. Faster than pybind11's general conversion,
/// which looks the class up each time.
Var *asVar(py::handle object);
void setVarClass(py::handle cls);

/// A Python number; nothing for other objects.
std::optional<Number> toNumber(py::handle object);
Number expectNumber(py::handle object, const char *what);

DType toDType(py::handle object);
std::vector<int64_t> toIntegers(py::handle object, const char *what);
std::vector<std::string> toStrings(py::handle object, const char *what);
std::vector<IndexItem> toIndex(py::handle key);
/// A dimension, several, or None.
std::optional<std::vector<int64_t>> toDims(py::handle object);
/// One of three spellings of the same argument.
std::optional<std::vector<int64_t>> toDims(py::handle dim, py::handle dims,
                                           py::handle axis);
/// Vars of a sequence; the objects are kept in `owner`.
std::vector<const Var *> toVars(py::handle object, py::list &owner);

/// What NumPy makes of an object, copied into a buffer.
TensorData toTensorData(py::handle object, std::optional<DType> dtype);
/// A copy, or, without one, a read-only view of the buffer.
py::array toNumPy(const TensorData &data, bool copy);
/// The one element of a tensor as a Python number.
py::object toScalar(const TensorData &data);

//===----------------------------------------------------------------------===//
// Parts of the module
//===----------------------------------------------------------------------===//

void bindVar(py::module_ &module);
void bindFunctions(py::module_ &module);
void bindReports(py::module_ &module);

Var arrayOf(py::handle object, py::handle dtype);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_BINDINGS_H
