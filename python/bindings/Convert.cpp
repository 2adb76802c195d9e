//===- Convert.cpp - Python's values ------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

using namespace metaops;
using namespace metaops::python;

/// The Python class Var, which lives as long as the interpreter.
static PyTypeObject *varClass = nullptr;

void metaops::python::setVarClass(py::handle cls) {
  varClass = reinterpret_cast<PyTypeObject *>(cls.ptr());
}

static bool isVar(py::handle object) {
  return Py_TYPE(object.ptr()) == varClass ||
         PyObject_TypeCheck(object.ptr(), varClass);
}

Var *metaops::python::asHolder(py::handle object) {
  if (!isVar(object))
    return nullptr;
  auto *instance = reinterpret_cast<py::detail::instance *>(object.ptr());
  return static_cast<Var *>(instance->get_value_and_holder().value_ptr());
}

Var *metaops::python::asVar(py::handle object) {
  if (!isVar(object))
    return nullptr;
  Var *var = asHolder(object);
  if (!var)
    fail(ErrorKind::Type, "a Var is used whose __init__ was not called");
  return var;
}

std::string metaops::python::describe(py::handle object) {
  if (object.is_none())
    return "None";
  if (const Var *var = asVar(object))
    return "a Var of shape " + formatShape(var->shape()) + " and dtype " +
           nameOf(var->dtype()).str();
  if (py::isinstance<py::array>(object))
    return "an array of shape " +
           py::str(object.attr("shape")).cast<std::string>() + " and dtype " +
           py::str(object.attr("dtype")).cast<std::string>();
  llvm::StringRef path = Py_TYPE(object.ptr())->tp_name;
  llvm::StringRef name = path.substr(path.rfind('.') + 1);
  bool hasVowel = llvm::StringRef("aeiouAEIOU").contains(name.front());
  return (hasVowel ? "an " : "a ") + name.str();
}

//===----------------------------------------------------------------------===//
// Numbers, types, lists
//===----------------------------------------------------------------------===//

void metaops::python::failTooLarge(py::handle object, const llvm::Twine &what,
                                   ErrorKind kind) {
  std::string digits = py::repr(object).cast<std::string>();
  if (digits.size() > 40)
    digits = digits.substr(0, 20) + "..." + digits.substr(digits.size() - 10);
  fail(kind, what + ": given " + digits + ", expected an integer of 64 bits");
}

std::optional<int64_t> metaops::python::toInt64(py::handle object) {
  Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (value != -1 || !PyErr_Occurred())
    return value;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError))
    throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

static bool isNumPyScalar(py::handle object) {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> type;
  py::object generic =
      type.call_once_and_store_result([] {
            return py::object(py::module_::import("numpy").attr("generic"));
          })
          .get_stored();
  return PyObject_TypeCheck(object.ptr(),
                            reinterpret_cast<PyTypeObject *>(generic.ptr()));
}

/// A number of NumPy's, or of a package that adds types to it.
static std::optional<Number> toTypedNumber(py::handle object) {
  if (!isNumPyScalar(object))
    return std::nullopt;
  auto dtype =
      parseDType(object.attr("dtype").attr("name").cast<std::string>());
  py::object item = object.attr("item")();
  if (!dtype || isNumPyScalar(item))
    return std::nullopt;
  std::optional<Number> number = toNumber(item);
  return number ? std::optional(number->withDType(*dtype)) : std::nullopt;
}

std::optional<Number> metaops::python::toNumber(py::handle object) {
  PyObject *ptr = object.ptr();
  if (PyBool_Check(ptr))
    return Number::ofBool(ptr == Py_True);
  if (PyFloat_CheckExact(ptr))
    return Number::ofFloat(PyFloat_AS_DOUBLE(ptr));
  if (!PyLong_Check(ptr)) {
    if (auto number = toTypedNumber(object))
      return number;
    if (PyFloat_Check(ptr))
      return Number::ofFloat(PyFloat_AS_DOUBLE(ptr));
    return std::nullopt;
  }
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(ptr, &overflow);
  if (!overflow)
    return Number::ofInt(value);
  unsigned long long large = PyLong_AsUnsignedLongLong(ptr);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    failTooLarge(object, "a number");
  }
  return Number::ofUnsigned(large);
}

Number metaops::python::expectNumber(py::handle object, const char *what) {
  if (auto number = toNumber(object))
    return *number;
  // NumPy's scalars say what they are in Python's numbers.
  if (py::hasattr(object, "item") && !asVar(object)) {
    py::object item = object.attr("item")();
    if (auto number = toNumber(item))
      return *number;
  }
  fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(object) +
                            ", expected a number");
}

std::vector<Number> metaops::python::toNumbers(py::handle list,
                                               const char *what) {
  std::vector<Number> numbers;
  for (py::handle number : py::reinterpret_borrow<py::iterable>(list))
    numbers.push_back(expectNumber(number, what));
  return numbers;
}

const Var &metaops::python::expectVar(py::handle object, const char *what) {
  if (const Var *var = asVar(object))
    return *var;
  fail(ErrorKind::Type,
       llvm::Twine(what) + ": given " + describe(object) + ", expected a Var");
}

int64_t metaops::python::expectInteger(py::handle object, const char *what) {
  if (!PyIndex_Check(object.ptr()) || PyBool_Check(object.ptr()))
    fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(object) +
                              ", expected an integer");
  if (std::optional<int64_t> value = toInt64(object))
    return *value;
  failTooLarge(object, what);
}

/// Returns NumPy's name of a type of its own or of Python's.
static std::string nameOfNumPyType(py::handle object) {
  try {
    return py::dtype::from_args(py::reinterpret_borrow<py::object>(object))
        .attr("name")
        .cast<std::string>();
  } catch (py::error_already_set &) {
    return py::repr(object).cast<std::string>(); // of a class, which is short
  }
}

DType metaops::python::toDType(py::handle object) {
  if (std::optional<DType> dtype = asDType(object))
    return *dtype;
  PyObject *ptr = object.ptr();
  if (ptr == reinterpret_cast<PyObject *>(&PyFloat_Type))
    return DType::F32;
  if (ptr == reinterpret_cast<PyObject *>(&PyLong_Type))
    return DType::I64;
  if (ptr == reinterpret_cast<PyObject *>(&PyBool_Type))
    return DType::Bool;
  // NumPy would take None for float64, and ask a tensor for its dtype.
  std::string name;
  if (py::isinstance<py::str>(object))
    name = object.cast<std::string>();
  else if (PyType_Check(ptr) || py::isinstance<py::dtype>(object))
    name = nameOfNumPyType(object);
  else
    fail(ErrorKind::Type, "given " + describe(object) +
                              " as a dtype, expected one of " + listDTypes());
  if (auto dtype = parseDType(name))
    return *dtype;
  fail(ErrorKind::Type,
       "there is no dtype '" + name + "'; expected one of " + listDTypes());
}

std::vector<int64_t> metaops::python::toIntegers(py::handle object,
                                                 const char *what) {
  auto convert = [&](py::handle item) -> int64_t {
    if (!PyIndex_Check(item.ptr()) || PyBool_Check(item.ptr()))
      fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(item) +
                                ", expected integers");
    if (std::optional<int64_t> value = toInt64(item))
      return *value;
    failTooLarge(item, what);
  };
  if (PyIndex_Check(object.ptr()))
    return {convert(object)};
  std::vector<int64_t> result;
  if (!py::isinstance<py::iterable>(object) || asVar(object))
    fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(object) +
                              ", expected a sequence of integers");
  for (py::handle item : py::reinterpret_borrow<py::iterable>(object))
    result.push_back(convert(item));
  return result;
}

std::vector<std::string> metaops::python::toStrings(py::handle object,
                                                    const char *what) {
  std::vector<std::string> result;
  if (!py::isinstance<py::str>(object) &&
      py::isinstance<py::iterable>(object)) {
    for (py::handle item : py::reinterpret_borrow<py::iterable>(object)) {
      if (!py::isinstance<py::str>(item))
        fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(item) +
                                  ", expected strings");
      result.push_back(item.cast<std::string>());
    }
    return result;
  }
  fail(ErrorKind::Type, llvm::Twine(what) + ": given " + describe(object) +
                            ", expected a sequence of strings");
}

std::optional<std::vector<int64_t>> metaops::python::toDims(py::handle object) {
  if (object.is_none())
    return std::nullopt;
  return toIntegers(object, "dims");
}

llvm::SmallBitVector metaops::python::toFlags(py::handle object) {
  llvm::SmallBitVector flags;
  for (py::handle item : py::reinterpret_borrow<py::iterable>(object))
    flags.push_back(item.cast<bool>());
  return flags;
}

std::vector<const Var *> metaops::python::toVars(py::handle object,
                                                 py::list &owner) {
  if (asVar(object)) {
    owner.append(object);
  } else if (py::isinstance<py::iterable>(object)) {
    for (py::handle item : py::reinterpret_borrow<py::iterable>(object)) {
      if (!asVar(item))
        fail(ErrorKind::Type, "given " + describe(item) + ", expected Vars");
      owner.append(item);
    }
  } else {
    fail(ErrorKind::Type, "given " + describe(object) +
                              ", expected a Var or a sequence of Vars");
  }
  std::vector<const Var *> vars;
  for (py::handle item : owner)
    vars.push_back(asVar(item));
  return vars;
}

py::list metaops::python::toList(std::vector<Var> vars) {
  py::list result;
  for (Var &var : vars)
    result.append(py::cast(std::move(var)));
  return result;
}

//===----------------------------------------------------------------------===//
// Nested sequences
//===----------------------------------------------------------------------===//

static bool hasTensorsBelow(py::handle object, unsigned depth) {
  // NumPy has no more dimensions, and a sequence may hold itself.
  constexpr unsigned mostDimensions = 64;
  PyObject *sequence = object.ptr();
  if (depth > mostDimensions ||
      (!PyList_Check(sequence) && !PyTuple_Check(sequence)))
    return false;
  bool hasSequences = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
    if (isVar(item))
      return true;
    hasSequences |= PyList_Check(item) || PyTuple_Check(item);
  }
  if (!hasSequences)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i)
    if (hasTensorsBelow(PySequence_Fast_GET_ITEM(sequence, i), depth + 1))
      return true;
  return false;
}

bool metaops::python::hasNestedTensors(py::handle object) {
  return hasTensorsBelow(object, 0);
}

py::object metaops::python::stackNested(py::handle sequence, py::handle dtype) {
  return py::module_::import("metaops._nested")
      .attr("read_sequence")(sequence, dtype);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Argument::Argument(py::handle object) {
  var = asVar(object);
  if (var || (number = toNumber(object)))
    return;
  if (hasNestedTensors(object)) {
    stacked = stackNested(object, py::none());
    var = asVar(stacked);
  } else {
    data = toTensorData(object, std::nullopt, Sharing::Never);
  }
}

Operand Argument::operand(RecordingSession &session) {
  if (number)
    return *number;
  return tensor(session);
}

Node *Argument::tensor(RecordingSession &session) {
  if (var)
    return session.getNode(*var);
  Recorder &recorder = session.getRecorder();
  owned = number
              ? session.wrap(recorder.scalar(*number, number->getDType()))
              : session.give(data->dtype, data->shape, std::move(data->buffer));
  var = &owned;
  number.reset();
  return owned.getNode();
}
