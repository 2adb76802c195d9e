//===- Indexing.cpp - x[key] and x[key] = value ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys of integers, slices, None and ... are recorded here; a 0-d tensor of
// integers is as an integer. Those with other tensors are made of other
// operators, in metaops/ops/index/indexing.py.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include <opcode.h>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Returns the 0-d tensor of integers that an item of a key is, or null.
static const Var *asPlace(py::handle item) {
  const Var *var = asHolder(item);
  bool isPlace = var && var->shape().empty() &&
                 (isSignedInt(var->dtype()) || isUnsignedInt(var->dtype()));
  return isPlace ? var : nullptr;
}

static bool isTensor(py::handle item) {
  PyObject *ptr = item.ptr();
  if (PyLong_CheckExact(ptr) || PySlice_Check(ptr) || ptr == Py_None ||
      ptr == Py_Ellipsis)
    return false;
  if (asVar(item))
    return !asPlace(item);
  // A bool is a mask without dimensions; a tuple or a range in a key is as a
  // list is. What is nothing that indexes is told of in Python, too.
  return PyBool_Check(ptr) || !PyIndex_Check(ptr) ||
         py::isinstance<py::array>(item);
}

static bool hasTensors(py::handle key) {
  if (!PyTuple_Check(key.ptr()))
    return isTensor(key);
  return llvm::any_of(py::reinterpret_borrow<py::tuple>(key), isTensor);
}

/// The end of a slice, or nothing where there is none.
static std::optional<int64_t> toEnd(PyObject *object) {
  if (object == Py_None)
    return std::nullopt;
  if (!PyIndex_Check(object))
    fail(ErrorKind::Type,
         "a slice's end is " + describe(object) + ", expected an integer");
  // Beyond the range of integers means beyond the tensor.
  Py_ssize_t value = PyNumber_AsSsize_t(object, nullptr);
  if (value == -1 && PyErr_Occurred())
    throw py::error_already_set();
  // The middle of the range leaves room for adding an extent.
  constexpr Py_ssize_t limit = PY_SSIZE_T_MAX / 4;
  return std::clamp(value, -limit, limit);
}

static IndexItem toItem(py::handle item) {
  IndexItem result;
  PyObject *ptr = item.ptr();
  if (asPlace(item)) {
    result.kind = IndexItem::Kind::Integer;
  } else if (ptr == Py_None) {
    result.kind = IndexItem::Kind::NewAxis;
  } else if (ptr == Py_Ellipsis) {
    result.kind = IndexItem::Kind::Ellipsis;
  } else if (PySlice_Check(ptr)) {
    auto *slice = reinterpret_cast<PySliceObject *>(ptr);
    result.start = toEnd(slice->start);
    result.stop = toEnd(slice->stop);
    result.step = toEnd(slice->step);
  } else if (PyIndex_Check(ptr) && !PyBool_Check(ptr)) {
    result.kind = IndexItem::Kind::Integer;
    result.start = toInt64(item);
    if (!result.start)
      failTooLarge(item, "an index", ErrorKind::Index);
  } else {
    fail(ErrorKind::Type, "an index is " + describe(item) +
                              ", expected integers, slices, None, ... and "
                              "tensors of integers or booleans");
  }
  return result;
}

namespace {
/// A key without other tensors than places.
class PlainKey {
public:
  explicit PlainKey(py::handle key) {
    if (!PyTuple_Check(key.ptr())) {
      add(key);
      return;
    }
    for (py::handle item : py::reinterpret_borrow<py::tuple>(key))
      add(item);
  }

  /// Returns the items, with the session entered.
  llvm::ArrayRef<IndexItem> getItems(RecordingSession &session) {
    for (auto [item, var] : llvm::zip_equal(items, places))
      if (var)
        item.place = session.getNode(*var);
    return items;
  }

private:
  void add(py::handle item) {
    items.push_back(toItem(item));
    places.push_back(asPlace(item));
  }

  std::vector<IndexItem> items;
  std::vector<const Var *> places;
};
} // namespace

//===----------------------------------------------------------------------===//
// Assignments that nobody sees
//===----------------------------------------------------------------------===//

/// Returns whether the object that a subscript of is assigned to is gone
/// afterwards, as z[1] is in `z[1][2] = 5`. It is if the interpreter's stack
/// has the only reference. Code in C may have the only one too and use it
/// later, but then the innermost Python frame is not at an assignment.
static bool isTemporary(py::handle object) {
#if PY_VERSION_HEX >= 0x030E0000
  return PyUnstable_Object_IsUniqueReferencedTemporary(object.ptr());
#else
  if (Py_REFCNT(object.ptr()) != 1)
    return false;
  auto *frame = reinterpret_cast<PyObject *>(PyEval_GetFrame());
  if (!frame)
    return false;
  py::handle handle(frame);
  auto code = handle.attr("f_code").attr("co_code").cast<std::string>();
  auto place = handle.attr("f_lasti").cast<int64_t>();
  return place >= 0 && size_t(place) < code.size() &&
         uint8_t(code[place]) == STORE_SUBSCR;
#endif
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

static py::object ofPackage(const char *name) {
  return py::module_::import("metaops.ops.index.indexing").attr(name);
}

static py::object getItem(VarObject self, py::handle key) {
  if (hasTensors(key))
    return ofPackage("getitem")(self.object, key);
  PlainKey index(key);
  Entered session;
  Node *x = session->getNode(self.var);
  return py::cast(session->wrap(
      session->getRecorder().getItem(x, index.getItems(*session))));
}

static void setItem(VarObject self, py::handle key, py::handle value) {
  if (isTemporary(self.object))
    fail(ErrorKind::Type,
         "an element is assigned to of a Var that nothing else refers to: "
         "x[i] is no view of x, so write x[i, j] = y for x[i][j] = y");
  if (hasTensors(key)) {
    ofPackage("setitem")(self.object, key, value);
    return;
  }
  PlainKey index(key);
  Argument argument(value);
  Entered session;
  session->setItem(self.var, index.getItems(*session),
                   argument.operand(*session));
}

void metaops::python::bindIndexing(py::class_<Var> &cls) {
  define(cls, "__getitem__(self, key)", &getItem,
         "A part, as in NumPy, but never a view: it does not change when x\n"
         "does, nor x when it does.");
  define(cls, "__setitem__(self, key, value)", &setItem,
         "Assigns to a part, as in NumPy. A part of a part is named by one\n"
         "key: x[i, j] = y. x[i][j] = y would change a copy, and raises.");
  define(cls, "__delitem__(self, key)", [](const Var &, py::handle) {
    fail(ErrorKind::Type, "elements of a Var cannot be deleted");
  });
}
