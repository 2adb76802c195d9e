//===- Parameters.h - What a function may be called with --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_PARAMETERS_H
#define METAOPS_PYTHON_BINDINGS_PARAMETERS_H

#include "Bindings.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace metaops::python {

/// A parameter of a function that is called from Python.
struct Parameter {
  enum class Kind { PositionalOnly, Ordinary, Variadic, KeywordOnly };

  std::string name;
  Kind kind = Kind::Ordinary;
  /// The name as Python's interned string, whose address tells it.
  py::object key;
  /// The value if none is given, and its text; null where one has to be.
  py::object fallback;
  std::string fallbackText;
};

/// The arguments of a call in the order of the parameters.
struct BoundArguments {
  /// Borrowed, except what `variadic` owns.
  llvm::SmallVector<PyObject *, 8> slots;
  py::object variadic;
};

/// The parameters of a function. Keywords that name none of them are looked up
/// in a table of other spellings (`setSpellings`); no argument is ever printed.
class ParameterList {
public:
  /// From Python's syntax: "mean(self, dim=None, keepdims=False)".
  explicit ParameterList(llvm::StringRef declaration);
  /// Those of a function that is written in Python, which messages name so.
  static ParameterList ofPythonFunction(py::handle function, std::string name);

  llvm::StringRef getName() const { return name; }
  const Parameter &operator[](size_t index) const { return parameters[index]; }
  size_t size() const { return parameters.size(); }
  /// In the form of `__text_signature__`.
  std::string getText() const;

  /// Returns whether so many arguments by position are all that there are.
  bool areComplete(size_t count) const { return count == complete; }

  /// Puts the arguments of a call in order.
  BoundArguments bind(PyObject *const *args, size_t count,
                      PyObject *keywords) const;

  /// Returns whether all keywords are names of parameters.
  bool knows(PyObject *keywords) const;
  /// The index of the parameter that a keyword names, under any spelling.
  /// `self` is the object of a method, for messages.
  size_t find(py::handle keyword, PyObject *self) const;

  /// Other spellings of the parameters, as pairs of spelling and name.
  std::vector<std::pair<std::string, std::string>> getSpellings() const;

  /// Returns a parameter's name in messages: the function's name and its own.
  std::string getPlace(size_t index) const;

  /// Two spellings, or a position and a keyword, of one parameter were given.
  [[noreturn]] void failTwice(size_t index, py::handle keyword,
                              PyObject *self) const;
  [[noreturn]] void failType(size_t index, py::handle given,
                             const std::string &expected) const;

private:
  ParameterList() = default;
  void add(Parameter parameter);
  std::optional<size_t> findName(py::handle keyword) const;
  std::optional<size_t> findName(llvm::StringRef keyword) const;
  std::optional<size_t> findSpelling(llvm::StringRef spelling) const;
  /// The name that messages use: the class for a constructor.
  std::string nameFor(PyObject *self) const;
  /// "the parameters are ..."
  std::string listNames() const;
  [[noreturn]] void failUnknown(llvm::StringRef keyword, PyObject *self) const;
  [[noreturn]] void failCount(size_t count, PyObject *self) const;

  std::string name;
  llvm::SmallVector<Parameter, 6> parameters;
  /// The number of those that may be given by position.
  size_t positional = 0;
  std::optional<size_t> variadic;
  /// The number of arguments by position that fill everything; no number if
  /// none do.
  size_t complete = 0;
  /// Takes any keyword.
  bool isOpen = false;
};

/// Sets the table of spellings: for the names of parameters a tuple of others,
/// which every function with such a parameter takes.
void setSpellings(const py::dict &table);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_PARAMETERS_H
