//===- Devices.cpp - The device that is current ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which device is current is the value of a context variable, as it is for
// gradients (GradMode.cpp): the chain of scopes that are open, each a pair of
// a device and the scope around it.
//
// A function that is given an array of another device makes its own there: its
// call (Function.cpp) opens a scope.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "GpuDriver.h"

using namespace metaops;
using namespace metaops::python;

/// Lives as long as the process, as all of the extension's state.
static PyObject *getVariable() {
  static PyObject *variable =
      PyContextVar_New("metaops.device", /*def=*/nullptr);
  return variable;
}

/// True if a scope has ever been opened; guarded by the GIL. Most programs use
/// one device, and need not look.
static bool hasScopes = false;

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

static void enterDevice(Device &device) {
  hasScopes = true;
  // Devices live as long as the session, which is never destroyed.
  setScope(py::make_tuple(py::capsule(&device), getScope()));
}

static void leaveDevice() {
  py::object scope = getScope();
  // A generator may be closed in another context than it was started in.
  if (!scope.is_none())
    setScope(PyTuple_GET_ITEM(scope.ptr(), 1));
}

Device &metaops::python::getDevice() {
  if (hasScopes)
    if (py::object scope = getScope(); !scope.is_none())
      return *py::reinterpret_borrow<py::capsule>(
                  PyTuple_GET_ITEM(scope.ptr(), 0))
                  .get_pointer<Device>();
  return getSession().getDevices().getFirst();
}

/// The first Var among the arguments, or in a list that is one of them.
static const Var *findVar(llvm::ArrayRef<PyObject *> arguments) {
  for (PyObject *argument : arguments) {
    if (const Var *var = asHolder(argument))
      return var;
    if (!PyList_CheckExact(argument) && !PyTuple_CheckExact(argument))
      continue;
    for (Py_ssize_t i = 0, e = PySequence_Fast_GET_SIZE(argument); i < e; ++i)
      if (const Var *var = asHolder(PySequence_Fast_GET_ITEM(argument, i)))
        return var;
  }
  return nullptr;
}

DeviceOfCall::DeviceOfCall(PyObject *const *arguments, size_t count) {
  if (!hasSession() || getSession().getDevices().getMade().size() < 2)
    return;
  const Var *var = findVar({arguments, count});
  if (!var || var->getNode()->device == &getDevice())
    return;
  enterDevice(*var->getNode()->device);
  isEntered = true;
}

DeviceOfCall::~DeviceOfCall() {
  if (isEntered) {
    py::error_scope error;
    leaveDevice();
  }
}

static Device &findDevice(llvm::StringRef name) {
  return Entered()->getDevice(name);
}

void metaops::python::bindDevices(py::module_ &module) {
  define(module, "find_device(name)",
         [](std::string name) { return findDevice(name).getName(); });
  define(module, "why_no_gpu(ordinal)", &whyNoGpu,
         "Returns why a GPU cannot be used, or an empty text.");
  define(module, "list_devices()",
         [] { return strings(getSession().getDevices().getNames()); });
  define(module, "current_device()", [] { return getDevice().getName(); });
  define(module, "enter_device(name)",
         [](std::string name) { enterDevice(findDevice(name)); });
  define(module, "leave_device()", &leaveDevice);
  define(module, "device_of(x)",
         [](const Var &x) { return x.getNode()->device->getName(); });
  define(module, "transfer(x, name)", [](const Var &x, std::string name) {
    Entered session;
    Device &device = session->getDevice(name);
    return session->wrap(session->transfer(session->getNode(x), device));
  });
}
