//===- DTypeClass.cpp - The Python class dtype ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one object for each dtype. It is a str, its name, so that whatever
// takes names takes it, NumPy included; beyond that it equals the types that
// stand for it, such as numpy.float32.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

using namespace metaops;
using namespace metaops::python;

static PyTypeObject *dtypeClass = nullptr;
/// By DType; they live as long as the interpreter.
static std::array<PyObject *, numDTypes> objects;

py::object metaops::python::toPython(DType dtype) {
  return py::reinterpret_borrow<py::object>(objects[unsigned(dtype)]);
}

std::optional<DType> metaops::python::asDType(py::handle object) {
  if (Py_TYPE(object.ptr()) != dtypeClass)
    return std::nullopt;
  return DType(llvm::find(objects, object.ptr()) - objects.begin());
}

/// Returns the one object for what may be given as a dtype.
static PyObject *create(PyTypeObject *, PyObject *args, PyObject *keywords) {
  return guard([&] {
    static const ParameterList parameters("dtype(value)");
    llvm::SmallVector<PyObject *, 2> given;
    for (py::handle argument : py::reinterpret_borrow<py::tuple>(args))
      given.push_back(argument.ptr());
    size_t count = given.size();
    py::list names;
    if (keywords)
      for (auto [name, value] : py::reinterpret_borrow<py::dict>(keywords)) {
        names.append(name);
        given.push_back(value.ptr());
      }
    BoundArguments bound =
        parameters.bind(given.data(), count, py::tuple(names).ptr());
    return toPython(toDType(bound.slots[0])).release().ptr();
  });
}

static bool isType(py::handle object) {
  return PyType_Check(object.ptr()) || py::isinstance<py::dtype>(object);
}

/// As strings compare, and with types by what they stand for.
static PyObject *compare(PyObject *self, PyObject *other, int op) {
  if ((op != Py_EQ && op != Py_NE) || PyUnicode_Check(other) || !isType(other))
    return PyUnicode_Type.tp_richcompare(self, other, op);
  return guard([&] {
    bool isEqual = false;
    try {
      isEqual = toDType(other) == *asDType(self);
    } catch (const SessionError &) {
      // A type that no elements have.
    }
    return py::bool_(isEqual == (op == Py_EQ)).release().ptr();
  });
}

static PyObject *reprOf(PyObject *self) {
  return PyUnicode_FromFormat("metaops.%U", self);
}

static PyObject *reduce(PyObject *self, PyObject *) {
  return guard([&] {
    return py::make_tuple(py::type::of(self), py::make_tuple(py::str(self)))
        .release()
        .ptr();
  });
}

static PyObject *getNameText(PyObject *self, void *) {
  return PyObject_Str(self);
}

static PyObject *getItemSize(PyObject *self, void *) {
  return PyLong_FromLongLong(sizeOf(*asDType(self)));
}

void metaops::python::bindDTypes(py::module_ &module) {
  static PyGetSetDef properties[] = {
      {"name", &getNameText, nullptr, "The name as a plain str.", nullptr},
      {"itemsize", &getItemSize, nullptr, "The bytes of an element.", nullptr},
      {}};
  static PyMethodDef methods[] = {{"__reduce__", &reduce, METH_NOARGS, nullptr},
                                  {}};
  static char doc[] =
      "dtype(value)\n--\n\n"
      "The type of elements: its name, as a str that equals NumPy's types too.";
  static PyType_Slot slots[] = {
      {Py_tp_doc, doc},
      {Py_tp_new, reinterpret_cast<void *>(&create)},
      {Py_tp_richcompare, reinterpret_cast<void *>(&compare)},
      {Py_tp_hash, reinterpret_cast<void *>(PyUnicode_Type.tp_hash)},
      {Py_tp_repr, reinterpret_cast<void *>(&reprOf)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {}};
  static PyType_Spec spec = {"metaops.dtype", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  py::handle base(reinterpret_cast<PyObject *>(&PyUnicode_Type));
  dtypeClass = reinterpret_cast<PyTypeObject *>(
      PyType_FromSpecWithBases(&spec, base.ptr()));
  if (!dtypeClass)
    throw py::error_already_set();
  module.attr("dtype") = py::handle(reinterpret_cast<PyObject *>(dtypeClass));
  for (unsigned index = 0; index < numDTypes; ++index) {
    std::string name = nameOf(DType(index)).str();
    objects[index] = PyUnicode_Type.tp_new(
        dtypeClass, py::make_tuple(name).ptr(), /*keywords=*/nullptr);
    if (!objects[index])
      throw py::error_already_set();
    module.attr(name.c_str()) = py::handle(objects[index]);
  }
}
