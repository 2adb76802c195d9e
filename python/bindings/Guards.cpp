//===- Guards.cpp - Guards of what a recorded function has read -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guards say what a recording depends on in Python: entries of dictionaries,
// attributes of classes, items of lists, contents of cells. Each is a row: it
// finds a value in one that an earlier row has found, and compares it. Rows run
// in order before a call of the recording, and none of them calls Python code,
// so that no value dies or changes between them.
//
// Numbers and strings are compared by value, other objects by identity. They
// are held weakly, where their types allow it: a guard keeps no model alive,
// and what died is never taken for a newer object at its address. Lists and
// dictionaries have no weak references and are not held. They are compared by
// what is in them.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstring>
#include <structmember.h>

using namespace metaops;
using namespace metaops::python;

namespace {
/// Ways in which a row finds its value.
enum class Access {
  Root,      ///< An object that the row has itself.
  Item,      ///< Of a dictionary or a set, by its key.
  Instance,  ///< The dictionary of an object's attributes.
  Attribute, ///< Of an object, or else of its class.
  Class,     ///< An attribute that the object's class has, or one of its bases.
  Type,      ///< An attribute that a class has, or one of its bases.
  Slot,      ///< An attribute that the class keeps in the object itself.
  Place,     ///< Of a list or a tuple, by its number.
  Length,    ///< Of a list, a tuple, a dictionary or a set.
  Cell,      ///< A variable that a function shares with the one around it.
  Code,      ///< Of a function.
  Defaults,  ///< A function's, of arguments by position.
  KeywordDefaults,
  Receiver, ///< The object of a bound method.
  Tensor    ///< Type and device of a Var.
};

/// Kinds of comparison of a row's value.
enum class Match {
  Any,
  Missing, ///< There is none.
  Weak,    ///< The object of a weak reference.
  Same,    ///< The object.
  Equal,   ///< One of the same type and value.
  TypeOf   ///< One of that class.
};

struct Row {
  Access access;
  Match match;
  /// The row whose value this one looks in; its own has its own number.
  unsigned source;
  /// For `Place` and `Length`, and the number of a cell.
  Py_ssize_t number;
  py::object key;
  py::object expected;
  // Of a tensor.
  mlir::Type type;
  DType elementType = DType::F32;
  Device *device = nullptr;
};

/// A Var from outside that a recording has read, and which of the arguments it
/// is, or -1.
struct Capture {
  py::object weak;
  Py_ssize_t argument;
};
} // namespace

static const std::pair<llvm::StringLiteral, Access> accesses[] = {
    {"root", Access::Root},
    {"item", Access::Item},
    {"instance", Access::Instance},
    {"attribute", Access::Attribute},
    {"class", Access::Class},
    {"type", Access::Type},
    {"slot", Access::Slot},
    {"place", Access::Place},
    {"length", Access::Length},
    {"cell", Access::Cell},
    {"code", Access::Code},
    {"defaults", Access::Defaults},
    {"keyword_defaults", Access::KeywordDefaults},
    {"receiver", Access::Receiver},
    {"tensor", Access::Tensor}};

static const std::pair<llvm::StringLiteral, Match> matches[] = {
    {"any", Match::Any},     {"missing", Match::Missing},
    {"weak", Match::Weak},   {"same", Match::Same},
    {"equal", Match::Equal}, {"type_of", Match::TypeOf}};

template <typename Table>
static auto lookUp(const Table &table, llvm::StringRef name) {
  for (const auto &[known, value] : table)
    if (known == name)
      return value;
  fail(ErrorKind::Value, "guards: no kind '" + name + "'");
}

/// Returns a borrowed reference to the object of a weak reference, or null.
static PyObject *getReferent(PyObject *weak) {
  PyObject *object = PyWeakref_GetObject(weak);
  return object == Py_None ? nullptr : object;
}

/// Compares objects of Python's own types, by their bits where they are floats.
static bool isEqual(PyObject *value, PyObject *expected) {
  if (value == expected)
    return true;
  if (Py_TYPE(value) != Py_TYPE(expected))
    return false;
  if (PyFloat_CheckExact(value)) {
    double x = PyFloat_AS_DOUBLE(value), y = PyFloat_AS_DOUBLE(expected);
    return std::memcmp(&x, &y, sizeof(double)) == 0;
  }
  int result = PyObject_RichCompareBool(value, expected, Py_EQ);
  if (result < 0)
    PyErr_Clear();
  return result == 1;
}

/// Stands for an object that has died.
static PyObject *getGone() { return Py_Ellipsis; }

static bool isMatch(const Row &row, PyObject *value) {
  if (row.match == Match::Missing)
    return !value;
  if (row.match == Match::Any)
    return true;
  if (!value)
    return false;
  switch (row.match) {
  case Match::Weak:
    return getReferent(row.expected.ptr()) == value;
  case Match::Same:
    return row.expected.ptr() == value;
  case Match::Equal:
    return isEqual(value, row.expected.ptr());
  case Match::TypeOf:
    return reinterpret_cast<PyObject *>(Py_TYPE(value)) == row.expected.ptr();
  default:
    return false;
  }
}

/// Returns the item of a dictionary, or whether a set has it.
static PyObject *findItem(PyObject *container, PyObject *key) {
  if (PyDict_Check(container)) {
    PyObject *item = PyDict_GetItemWithError(container, key);
    if (!item)
      PyErr_Clear();
    return item;
  }
  if (!PyAnySet_Check(container))
    return nullptr;
  int found = PySet_Contains(container, key);
  if (found < 0)
    PyErr_Clear();
  return found == 1 ? Py_True : nullptr;
}

/// Returns the dictionary of an object's attributes, which the object keeps.
static PyObject *findInstance(PyObject *object) {
  PyObject *attributes = PyObject_GenericGetDict(object, nullptr);
  if (!attributes) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(attributes);
  return attributes;
}

/// Returns an attribute as Python finds it, but for what descriptors compute.
static PyObject *findAttribute(PyObject *object, PyObject *key) {
  PyObject *ofClass = _PyType_Lookup(Py_TYPE(object), key);
  if (ofClass && Py_TYPE(ofClass)->tp_descr_set)
    return ofClass;
  PyObject *attributes = findInstance(object);
  PyObject *own = attributes ? findItem(attributes, key) : nullptr;
  return own ? own : ofClass;
}

/// Returns the item of a list or a tuple, if it is that long.
static PyObject *findPlace(PyObject *sequence, Py_ssize_t place) {
  if (PyList_Check(sequence))
    return place < PyList_GET_SIZE(sequence) ? PyList_GET_ITEM(sequence, place)
                                             : nullptr;
  if (PyTuple_Check(sequence))
    return place < PyTuple_GET_SIZE(sequence)
               ? PyTuple_GET_ITEM(sequence, place)
               : nullptr;
  return nullptr;
}

static Py_ssize_t countItems(PyObject *container) {
  if (PyList_Check(container))
    return PyList_GET_SIZE(container);
  if (PyTuple_Check(container))
    return PyTuple_GET_SIZE(container);
  if (PyDict_Check(container))
    return PyDict_Size(container);
  return PyAnySet_Check(container) ? PySet_GET_SIZE(container) : -1;
}

/// Returns what a function shares with the one around it in a variable.
static PyObject *findCell(PyObject *function, Py_ssize_t number) {
  if (!PyFunction_Check(function))
    return nullptr;
  PyObject *closure = PyFunction_GetClosure(function);
  if (!closure || number >= PyTuple_GET_SIZE(closure))
    return nullptr;
  PyObject *cell = PyTuple_GET_ITEM(closure, number);
  return PyCell_GET(cell);
}

/// Returns what a descriptor of a class reads from the object itself.
static PyObject *findSlot(PyObject *object, PyObject *key) {
  PyObject *descriptor = _PyType_Lookup(Py_TYPE(object), key);
  if (!descriptor || Py_TYPE(descriptor) != &PyMemberDescr_Type)
    return nullptr;
  PyMemberDef *member =
      reinterpret_cast<PyMemberDescrObject *>(descriptor)->d_member;
  if (member->type != T_OBJECT_EX)
    return nullptr;
  return *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) +
                                        member->offset);
}

static bool isTensor(const Row &row, PyObject *object) {
  const Var *var = asHolder(object);
  return var && *var && var->getType() == row.type &&
         var->dtype() == row.elementType &&
         var->getNode()->device == row.device;
}

/// Finds the value of a row in another one. The reference is borrowed.
static PyObject *find(const Row &row, PyObject *source) {
  switch (row.access) {
  case Access::Root:
    return PyWeakref_Check(row.key.ptr()) ? getReferent(row.key.ptr())
                                          : row.key.ptr();
  case Access::Item:
    return findItem(source, row.key.ptr());
  case Access::Instance:
    return findInstance(source);
  case Access::Attribute:
    return findAttribute(source, row.key.ptr());
  case Access::Class:
    return _PyType_Lookup(Py_TYPE(source), row.key.ptr());
  case Access::Type:
    return PyType_Check(source)
               ? _PyType_Lookup(reinterpret_cast<PyTypeObject *>(source),
                                row.key.ptr())
               : nullptr;
  case Access::Slot:
    return findSlot(source, row.key.ptr());
  case Access::Place:
    return findPlace(source, row.number);
  case Access::Length:
    return countItems(source) == row.number ? source : nullptr;
  case Access::Cell:
    return findCell(source, row.number);
  case Access::Code:
    return PyFunction_Check(source) ? PyFunction_GetCode(source) : nullptr;
  case Access::Defaults:
    return PyFunction_Check(source) ? PyFunction_GetDefaults(source) : nullptr;
  case Access::KeywordDefaults:
    return PyFunction_Check(source) ? PyFunction_GetKwDefaults(source)
                                    : nullptr;
  case Access::Receiver:
    return PyMethod_Check(source) ? PyMethod_GET_SELF(source) : nullptr;
  case Access::Tensor:
    return isTensor(row, source) ? source : nullptr;
  }
  return nullptr;
}

namespace {
/// Rows that run in order, and Vars that a recording has captured.
class Guards {
public:
  /// Adds a row, and returns its number.
  int64_t add(llvm::StringRef access, int64_t source, py::handle key,
              llvm::StringRef match, py::handle expected);
  void capture(const py::object &var, int64_t argument) {
    captures.push_back({makeWeak(var), Py_ssize_t(argument)});
  }
  /// Says which of the arguments a call is given, by their numbers.
  void give(std::vector<int64_t> numbers) { given = std::move(numbers); }
  /// Returns what a call is given: arguments, and then captured Vars that are
  /// none of them.
  py::list gather(const std::vector<PyObject *> &arguments) const;
  /// Returns the first row that differs, or -1; behind the rows, the captured
  /// Var that is another argument than it was, or none of them any more.
  int64_t check(const std::vector<PyObject *> &arguments);
  /// Returns what is found in a row now, or null.
  PyObject *getValue(int64_t row) const {
    return size_t(row) < values.size() ? values[row] : nullptr;
  }
  py::object getExpected(int64_t row) const;
  size_t size() const { return rows.size(); }

private:
  static py::object makeWeak(const py::object &object);
  int64_t checkCaptures(const std::vector<PyObject *> &arguments) const;

  std::vector<Row> rows;
  /// Of each row, while they run. Borrowed.
  std::vector<PyObject *> values;
  std::vector<Capture> captures;
  std::vector<int64_t> given;
};
} // namespace

py::object Guards::makeWeak(const py::object &object) {
  PyObject *weak = PyWeakref_NewRef(object.ptr(), nullptr);
  if (!weak)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(weak);
}

int64_t Guards::add(llvm::StringRef access, int64_t source, py::handle key,
                    llvm::StringRef match, py::handle expected) {
  if (source < -1 || source >= int64_t(rows.size()))
    fail(ErrorKind::Value, "guards: no row " + llvm::Twine(source));
  Row row{lookUp(accesses, access),
          lookUp(matches, match),
          unsigned(source < 0 ? 0 : source),
          0,
          py::reinterpret_borrow<py::object>(key),
          py::reinterpret_borrow<py::object>(expected),
          {}};
  if (row.access == Access::Place || row.access == Access::Length ||
      row.access == Access::Cell)
    row.number = Py_ssize_t(expectInteger(key, "guards: a number"));
  if (row.match == Match::Weak)
    row.expected = makeWeak(row.expected);
  if (row.access == Access::Tensor) {
    const Var &var = expectVar(key, "guards: a tensor");
    row.type = var.getType();
    row.elementType = var.dtype();
    row.device = var.getNode()->device;
    row.key = py::none();
  }
  rows.push_back(std::move(row));
  values.push_back(nullptr);
  return int64_t(rows.size()) - 1;
}

int64_t Guards::check(const std::vector<PyObject *> &arguments) {
  for (size_t i = 0, e = rows.size(); i < e; ++i) {
    const Row &row = rows[i];
    PyObject *source = values[row.source];
    bool isRoot = row.access == Access::Root;
    // Nobody uses what is in an object that has died.
    if (!isRoot && source == getGone()) {
      values[i] = getGone();
      continue;
    }
    // A value in something that is missing is missing, too.
    values[i] = source || isRoot ? find(row, source) : nullptr;
    if (isRoot && !values[i]) {
      values[i] = getGone();
      continue;
    }
    if (!isMatch(row, values[i]))
      return int64_t(i);
  }
  return checkCaptures(arguments);
}

int64_t Guards::checkCaptures(const std::vector<PyObject *> &arguments) const {
  llvm::SmallDenseSet<PyObject *, 16> given(arguments.begin(), arguments.end());
  for (auto [i, capture] : llvm::enumerate(captures)) {
    PyObject *var = getReferent(capture.weak.ptr());
    bool isGiven = var && given.contains(var);
    if (!var || isGiven != (capture.argument >= 0) ||
        (isGiven && arguments[capture.argument] != var))
      return int64_t(rows.size() + i);
  }
  return -1;
}

py::list Guards::gather(const std::vector<PyObject *> &arguments) const {
  py::list vars;
  for (int64_t number : given)
    vars.append(py::handle(arguments.at(number)));
  for (const Capture &capture : captures)
    if (capture.argument < 0) {
      PyObject *var = getReferent(capture.weak.ptr());
      if (!var)
        fail(ErrorKind::Runtime, "a Var that a recorded function uses died");
      vars.append(py::handle(var));
    }
  return vars;
}

py::object Guards::getExpected(int64_t row) const {
  if (size_t(row) >= rows.size())
    return py::none();
  const Row &wanted = rows[row];
  if (wanted.match != Match::Weak)
    return wanted.expected;
  PyObject *object = getReferent(wanted.expected.ptr());
  return object ? py::reinterpret_borrow<py::object>(object)
                : py::str("an object that is gone");
}

//===----------------------------------------------------------------------===//
// Keys of calls
//===----------------------------------------------------------------------===//

/// Appends the bits of a number or a pointer.
template <typename T> static void append(std::string &bits, T value) {
  bits.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// Returns bytes that differ where calls with such tensors are not recorded
/// alike: for types, devices, one Var in two places, and where gradients are
/// stopped or another device is current. Without extents, types differ by
/// elements and dimensions alone.
static py::bytes makeCallKey(const py::list &tensors, bool extents) {
  std::string bits;
  bits.reserve(24 + 24 * tensors.size());
  append(bits, areGradientsStopped());
  append(bits, static_cast<const void *>(&getDevice()));
  llvm::SmallDenseMap<PyObject *, uint32_t, 16> first;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    const Var &var = expectVar(tensor, "call_key: a tensor");
    if (extents)
      append(bits, var.getType().getAsOpaquePointer());
    else
      append(bits, var.shape().size());
    append(bits, var.dtype());
    append(bits, static_cast<const void *>(var.getNode()->device));
    append(bits, first.try_emplace(tensor.ptr(), uint32_t(i)).first->second);
  }
  return bits;
}

static std::vector<PyObject *> toPointers(const py::list &objects) {
  std::vector<PyObject *> pointers;
  pointers.reserve(objects.size());
  for (py::handle object : objects)
    pointers.push_back(object.ptr());
  return pointers;
}

void metaops::python::bindGuards(py::module_ &module) {
  py::class_<Guards> guards(
      module, "Guards",
      "What a recording has read in Python, and what it was: rows, each of\n"
      "which finds a value in what an earlier one has found, and compares it.");
  forbidConstruction(guards);
  define(
      guards, "add(self, access, source, key, match, expected)",
      [](Guards &self, std::string access, int64_t source, py::handle key,
         std::string match, py::handle expected) {
        return self.add(access, source, key, match, expected);
      },
      "Adds a row, and returns its number.");
  define(
      guards, "capture(self, var, argument)",
      [](Guards &self, py::object var, int64_t argument) {
        self.capture(var, argument);
      },
      "Adds a Var that was captured: alive, and the argument of that number,\n"
      "or none of them for -1.");
  define(
      guards, "give(self, numbers)",
      [](Guards &self, py::handle numbers) {
        self.give(toIntegers(numbers, "guards: numbers of arguments"));
      },
      "Says which of the arguments a call is given.");
  define(
      guards, "gather(self, arguments)",
      [](Guards &self, py::list arguments) {
        return self.gather(toPointers(arguments));
      },
      "Returns what a call is given: arguments and captured Vars.");
  define(
      guards, "bind(self, arguments)",
      [](Guards &self, py::list arguments) -> py::object {
        std::vector<PyObject *> pointers = toPointers(arguments);
        if (self.check(pointers) >= 0)
          return py::none();
        return self.gather(pointers);
      },
      "Returns what a call is given, or None where a row differs.");
  define(
      guards, "check(self, arguments)",
      [](Guards &self, py::list arguments) {
        return self.check(toPointers(arguments));
      },
      "Returns the number of the first row that differs, or -1. Those of\n"
      "captured Vars are behind the rows.");
  define(
      guards, "value(self, row, default)",
      [](Guards &self, int64_t row, py::object missing) {
        PyObject *value = self.getValue(row);
        return value ? py::reinterpret_borrow<py::object>(value) : missing;
      },
      "Returns what the last check, which ended there, has found in a row.");
  define(
      guards, "expected(self, row)",
      [](Guards &self, int64_t row) { return self.getExpected(row); },
      "Returns what a row's value is compared with.");
  define(
      guards, "__len__(self)",
      [](Guards &self) { return int64_t(self.size()); },
      "Returns the number of rows.");
  define(module, "make_guards()", [] { return std::make_unique<Guards>(); });
  define(
      module, "call_key(tensors, extents=True)", &makeCallKey,
      "Returns bytes that are the same for calls that are recorded alike, or\n"
      "that differ in extents alone.");
}
