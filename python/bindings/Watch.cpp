//===- Watch.cpp - Watching which functions run ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A watch is the thread's profiler for a while: the interpreter tells it of
// each call of a function in Python. A profiler that is there already, in
// Python or in C, is told of all that it would be told without.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <utility>

using namespace metaops;
using namespace metaops::python;

namespace {
/// The functions that have run, and the objects whose methods they were.
class Watch {
public:
  ~Watch() { assert(!isRunning && "a watch ends before it dies"); }

  /// Becomes the profiler of this thread; `self` is the object of this watch.
  void start(py::handle self);
  void stop();
  void note(PyFrameObject *frame);

  /// Pairs of a function's code and the module's variables.
  py::list codes;
  /// Weak references: an object may hold tensors of a function that is recorded
  /// inside, and has to let go of them when that ends.
  py::list receivers;

private:
  static int follow(PyObject *self, PyFrameObject *frame, int event,
                    PyObject *argument);
  void noteReceiver(PyFrameObject *frame, PyCodeObject *code);

  llvm::DenseSet<std::pair<PyObject *, PyObject *>> seen;
  /// By the objects, whose places others may have since.
  llvm::DenseMap<PyObject *, PyObject *> known;
  Py_tracefunc outer = nullptr;
  py::object outerObject;
  bool isRunning = false;
};
} // namespace

void Watch::start(py::handle self) {
  PyThreadState *state = PyThreadState_Get();
  outer = state->c_profilefunc;
  outerObject = py::reinterpret_borrow<py::object>(state->c_profileobj);
  isRunning = true;
  PyEval_SetProfile(&follow, self.ptr());
}

void Watch::stop() {
  if (!isRunning)
    return;
  isRunning = false;
  PyThreadState *state = PyThreadState_Get();
  // A profiler that was started since stays.
  if (state->c_profilefunc == &follow)
    PyEval_SetProfile(outer, outerObject.ptr());
  outerObject = py::object();
}

int Watch::follow(PyObject *self, PyFrameObject *frame, int event,
                  PyObject *argument) {
  auto &watch = py::handle(self).cast<Watch &>();
  if (event == PyTrace_CALL) {
    py::error_scope error;
    watch.note(frame);
  }
  if (!watch.outer)
    return 0;
  return watch.outer(watch.outerObject.ptr(), frame, event, argument);
}

void Watch::note(PyFrameObject *frame) {
  auto code = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject *>(PyFrame_GetCode(frame)));
  auto globals = py::reinterpret_steal<py::object>(PyFrame_GetGlobals(frame));
  if (seen.insert({code.ptr(), globals.ptr()}).second)
    codes.append(py::make_tuple(code, globals));
  noteReceiver(frame, reinterpret_cast<PyCodeObject *>(code.ptr()));
}

/// Notes the object that a method is called of, which its first argument is.
void Watch::noteReceiver(PyFrameObject *frame, PyCodeObject *code) {
  if (code->co_argcount == 0)
    return;
  auto names = py::reinterpret_steal<py::object>(PyCode_GetVarnames(code));
  if (!names) {
    PyErr_Clear();
    return;
  }
  PyObject *name = PyTuple_GET_ITEM(names.ptr(), 0);
  if (PyUnicode_CompareWithASCIIString(name, "self") != 0)
    return;
  auto locals = py::reinterpret_steal<py::object>(PyFrame_GetLocals(frame));
  PyObject *self =
      locals ? PyDict_GetItemWithError(locals.ptr(), name) : nullptr;
  if (!self) {
    PyErr_Clear();
    return;
  }
  if (asHolder(self))
    return;
  auto weak =
      py::reinterpret_steal<py::object>(PyWeakref_NewRef(self, nullptr));
  if (!weak) {
    PyErr_Clear();
    return;
  }
  // As long as an object lives it has one weak reference.
  PyObject *&last = known[self];
  if (std::exchange(last, weak.ptr()) != weak.ptr())
    receivers.append(weak);
}

void metaops::python::bindWatch(py::module_ &module) {
  py::class_<Watch> watch(
      module, "Watch",
      "Tells which functions run in a `with` block, on this thread.");
  forbidConstruction(watch);
  define(watch, "__enter__(self)", [](py::object self) {
    self.cast<Watch &>().start(self);
    return self;
  });
  define(watch, "__exit__(self, kind, error, trace)",
         [](Watch &self, py::handle, py::handle, py::handle) { self.stop(); });
  define(
      watch, "codes(self)", [](Watch &self) { return self.codes; },
      "Returns the code of the functions and the variables of their modules.");
  define(
      watch, "receivers(self)", [](Watch &self) { return self.receivers; },
      "Returns weak references to the objects whose methods have run.");
  define(module, "make_watch()", [] { return std::make_unique<Watch>(); });
}
