//===- FunctionCalls.cpp - Functions with derivatives of their own --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a `metaops.Function` calls its `execute`, and has the results keep
// the object. A sweep of derivatives calls its `grad` or `jvp` while it has let
// go of the session, with None for zeros either way.
//
// The object dies with the operation that has the results, which is when the
// session is entered, and maybe without the GIL. What it holds may use the
// session when it dies. So it goes to a list, which is emptied where Python
// runs next.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Function.h"
#include "MetaOps/Runtime/Graph/FunctionCall.h"
#include "MetaOps/Runtime/Recording/FunctionRecorder.h"
#include "MetaOps/Runtime/Trace/ControlFlow.h"
#include "MetaOps/Runtime/Trace/Trace.h"

#include <mutex>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Objects that nobody needs any more
//===----------------------------------------------------------------------===//

namespace {
/// Objects that are to die with the GIL held and the session not entered.
class DroppedObjects {
public:
  void add(PyObject *object) {
    bool isFirst;
    {
      std::lock_guard<std::mutex> lock(mutex);
      isFirst = objects.empty();
      objects.push_back(object);
    }
    if (isFirst && Py_IsInitialized())
      Py_AddPendingCall(&releaseAll, this);
  }

  void release() {
    std::vector<PyObject *> dying;
    {
      std::lock_guard<std::mutex> lock(mutex);
      dying.swap(objects);
    }
    for (PyObject *object : dying)
      Py_DECREF(object);
  }

private:
  static int releaseAll(void *self) {
    static_cast<DroppedObjects *>(self)->release();
    return 0;
  }

  std::mutex mutex;
  std::vector<PyObject *> objects;
};
} // namespace

/// Lives as long as the process, as the session does.
static DroppedObjects &getDropped() {
  static auto *dropped = new DroppedObjects;
  return *dropped;
}

void metaops::python::releaseDropped() { getDropped().release(); }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of floats that a function was given, or has returned, and its place
/// among all arguments or results.
struct Place {
  size_t number;
  mlir::RankedTensorType type;
  DType dtype;
  Device *device;
};

/// A list of arguments or results with tensors of floats in it.
struct Signature {
  size_t size = 0;
  llvm::SmallVector<Place, 2> places;
};

/// A call of a Python function.
class PythonCall final : public FunctionCall {
public:
  PythonCall(py::object function, std::string name)
      : function(function.release().ptr()), name(std::move(name)) {}
  ~PythonCall() override { getDropped().add(function); }

  const std::string &getName() const override { return name; }
  std::vector<Var> pullBack(std::vector<Var> cotangents) override;
  std::vector<Var> pushForward(std::vector<Var> tangents) override;
  void lock(RecordingSession &session) noexcept override;

  Signature arguments, results;

private:
  std::vector<Var> ask(const char *method, const Signature &from,
                       std::vector<Var> given, const Signature &to,
                       const char *what);
  std::vector<Var> take(py::handle returned, const char *method,
                        const Signature &to, const char *what);

  PyObject *function;
  std::string name;
};
} // namespace

void PythonCall::lock(RecordingSession &session) noexcept {
  std::timed_mutex &mutex = session.getMutex();
  if (!PyGILState_Check())
    return mutex.lock();
  while (!mutex.try_lock()) {
    ReleasedGIL release;
    if (mutex.try_lock_for(Queue::kAskingPeriod))
      mutex.unlock();
  }
}

/// Returns what errors call a method of the function of that name: its user may
/// have written it under another one (`method_names`).
static std::string nameMethod(py::handle function, const std::string &name,
                              const char *method) {
  py::object names = py::getattr(function, "method_names", py::dict());
  py::object written = names.attr("get")(method, method);
  return name + "." + std::string(py::str(written));
}

/// Throws unless there is a derivative, or None, for each argument or result,
/// as `what` calls one. Returns the Vars among them, null for None.
static std::vector<const Var *> checkDerivatives(const std::string &method,
                                                 const py::tuple &derivatives,
                                                 const Signature &to,
                                                 const std::string &what) {
  if (derivatives.size() != to.size)
    fail(ErrorKind::Value,
         method + " has returned " + std::to_string(derivatives.size()) +
             (derivatives.size() == 1 ? " derivative" : " derivatives") +
             ", expected " + std::to_string(to.size) + ", one for each " +
             what);
  std::vector<const Var *> vars(to.places.size());
  const auto *next = to.places.begin();
  for (auto [number, item] : llvm::enumerate(derivatives)) {
    bool isFloat = next != to.places.end() && next->number == number;
    const Var *var = asVar(item);
    std::string where =
        method + ": the derivative of " + what + " " + std::to_string(number);
    if (!item.is_none() && !(var && isFloat))
      fail(ErrorKind::Type,
           where + " is " + describe(item) + ", expected " +
               (isFloat ? "a Var or None"
                        : "None, as that is no tensor of floats"));
    if (var && var->getType() != next->type)
      fail(ErrorKind::Value, where + " has shape " + formatShape(var->shape()) +
                                 " and dtype " + nameOf(var->dtype()) +
                                 ", expected its shape " +
                                 formatShape(next->type.getShape()) +
                                 " and dtype " + nameOf(next->dtype));
    if (isFloat)
      vars[next++ - to.places.begin()] = var;
  }
  return vars;
}

/// Converts what a method has returned: one derivative, or as many as there are
/// arguments or results.
std::vector<Var> PythonCall::take(py::handle returned, const char *method,
                                  const Signature &to, const char *what) {
  bool isList = PyTuple_Check(returned.ptr()) || PyList_Check(returned.ptr());
  py::tuple list = isList
                       ? py::tuple(py::reinterpret_borrow<py::object>(returned))
                       : py::make_tuple(returned);
  std::string where = nameMethod(function, name, method);
  std::vector<const Var *> vars = checkDerivatives(where, list, to, what);
  std::vector<Var> taken(vars.size());
  Entered session;
  for (auto [made, var, place] : llvm::zip_equal(taken, vars, to.places)) {
    if (!var)
      continue;
    Node *node = session->getNode(*var);
    if (node->device && place.device && node->device != place.device)
      fail(ErrorKind::Value, where + ": the derivative of " + what + " " +
                                 std::to_string(place.number) + " is on " +
                                 node->device->getName() +
                                 ", expected its device " +
                                 place.device->getName());
    made = session->wrap(node);
  }
  return taken;
}

/// Returns whether an object is a Var, or a list, tuple or dict that has one,
/// so many deep at most.
static bool holdsVar(py::handle object, unsigned depth = 4) {
  if (asVar(object))
    return true;
  if (depth == 0)
    return false;
  if (PyDict_Check(object.ptr()))
    return holdsVar(
        py::reinterpret_steal<py::list>(PyDict_Values(object.ptr())), depth);
  return (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) &&
         llvm::any_of(object, [&](py::handle item) {
           return holdsVar(item, depth - 1);
         });
}

namespace {
/// Forgets the tensors that a method of a function assigns to attributes.
/// They are made of the function's results, which keep the function: it would
/// never die.
class ForgottenVars {
public:
  explicit ForgottenVars(py::handle function)
      : attributes(py::getattr(function, "__dict__", py::none())) {
    if (PyDict_Check(attributes.ptr()))
      before = py::reinterpret_steal<py::dict>(PyDict_Copy(attributes.ptr()));
  }
  ~ForgottenVars() {
    if (!PyDict_Check(attributes.ptr()))
      return;
    // An error of the method is still to be told.
    py::error_scope raised;
    py::dict now = py::reinterpret_borrow<py::dict>(attributes);
    for (auto [name, value] :
         py::reinterpret_steal<py::dict>(PyDict_Copy(attributes.ptr()))) {
      PyObject *former = PyDict_GetItem(before.ptr(), name.ptr());
      if (former == value.ptr() || !holdsVar(value))
        continue;
      if (former)
        PyDict_SetItem(now.ptr(), name.ptr(), former);
      else
        PyDict_DelItem(now.ptr(), name.ptr());
    }
  }
  ForgottenVars(const ForgottenVars &) = delete;
  ForgottenVars &operator=(const ForgottenVars &) = delete;

private:
  py::object attributes;
  py::dict before;
};
} // namespace

/// Calls a method of the function with derivatives of what `from` says, and
/// returns those of what `to` says.
std::vector<Var> PythonCall::ask(const char *method, const Signature &from,
                                 std::vector<Var> given, const Signature &to,
                                 const char *what) {
  HeldGIL held;
  py::tuple derivatives(from.size);
  for (size_t number = 0; number < from.size; ++number)
    derivatives[number] = py::none();
  for (auto [var, place] : llvm::zip_equal(given, from.places))
    if (var)
      derivatives[place.number] = py::cast(std::move(var));
  // Derivatives are computed as they are written, wherever they are asked for.
  WithinCall within;
  ForgottenVars forget(function);
  py::object returned = py::handle(function).attr(method)(*derivatives);
  return take(returned, method, to, what);
}

std::vector<Var> PythonCall::pullBack(std::vector<Var> cotangents) {
  return ask("grad", results, std::move(cotangents), arguments, "argument");
}

std::vector<Var> PythonCall::pushForward(std::vector<Var> tangents) {
  return ask("jvp", arguments, std::move(tangents), results, "result");
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

/// Finds the tensors of floats in a tuple of arguments or results.
static std::vector<const Var *> findFloats(py::handle tuple) {
  std::vector<const Var *> vars;
  for (py::handle item : py::reinterpret_borrow<py::tuple>(tuple))
    if (const Var *var = asVar(item); var && isFloat(var->dtype()))
      vars.push_back(var);
  return vars;
}

/// Describes them. Where `session` is, it is entered.
static Signature describeFloats(py::handle tuple, RecordingSession *session) {
  Signature signature;
  signature.size = PyTuple_GET_SIZE(tuple.ptr());
  for (size_t number = 0; number < signature.size; ++number)
    if (const Var *var = asVar(PyTuple_GET_ITEM(tuple.ptr(), number));
        var && isFloat(var->dtype()))
      signature.places.push_back(
          {number, var->getType(), var->dtype(),
           session ? session->getNode(*var)->device : nullptr});
  return signature;
}

/// Returns the rules of a function that is called in a trace: nobody can be
/// asked behind it (metaops/tracing/rules.py).
static py::list recordRules(py::handle function, py::handle arguments,
                            py::handle results) {
  WithinCall within;
  return py::module_::import("metaops.tracing.rules")
      .attr("record_rules")(function, arguments, results);
}

/// Returns arguments with handles of their own, as what `execute` keeps has to
/// be what it was given, also where the caller's tensors are updated.
static py::tuple holdArguments(const py::tuple &arguments) {
  std::vector<Var> held;
  {
    Entered session;
    for (py::handle item : arguments)
      if (const Var *var = asVar(item))
        held.push_back(session->wrap(session->getNode(*var)));
  }
  py::list all(arguments);
  size_t next = 0;
  for (size_t number = 0; number < all.size(); ++number)
    if (asVar(arguments[number]))
      all[number] = py::cast(std::move(held[next++]));
  return py::tuple(std::move(all));
}

/// Calls `execute` of a function, and has its results have the function's
/// derivatives.
static py::object callFunction(py::object function, py::tuple arguments) {
  releaseDropped();
  py::str executeName("execute");
  auto execute = [&] {
    return py::reinterpret_steal<py::object>(PyObject_Call(
        function.attr(executeName).ptr(), arguments.ptr(), nullptr));
  };
  auto expect = [](py::object result) {
    if (!result)
      throw py::error_already_set();
    return result;
  };
  if (areGradientsStopped())
    return expect(execute());
  arguments = holdArguments(arguments);
  std::vector<const Var *> given = findFloats(arguments);
  std::optional<FunctionRecorder> recorder;
  {
    Entered session;
    recorder.emplace(*session, given);
  }
  py::object returned = expect(execute());
  bool isTuple = PyTuple_Check(returned.ptr());
  bool isList = PyList_Check(returned.ptr());
  // Calls of functions that have rules have these functions' names.
  std::string name = py::str(py::getattr(
      function, "__name__", py::str(Py_TYPE(function.ptr())->tp_name)));
  if (!isTuple && !isList && !returned.is_none() && !asVar(returned))
    fail(ErrorKind::Type, nameMethod(function, name, "execute") +
                              " has returned " + describe(returned) +
                              ", expected a Var, or a tuple of Vars");
  // A result that others hold may be differentiated through as it was recorded.
  bool isShared = (isTuple || isList) && Py_REFCNT(returned.ptr()) > 1;
  py::tuple results = isTuple  ? py::reinterpret_borrow<py::tuple>(returned)
                      : isList ? py::tuple(returned)
                               : py::make_tuple(returned);
  std::vector<const Var *> values = findFloats(results);
  if (values.empty())
    return returned;
  // Those of the containers here.
  Py_ssize_t own = isTuple ? 1 : 2;
  llvm::SmallVector<bool> areGivenUp;
  for (py::handle item : results)
    if (const Var *var = asVar(item); var && isFloat(var->dtype()))
      areGivenUp.push_back(!isShared && Py_REFCNT(item.ptr()) <= own);
  auto call = std::make_shared<PythonCall>(function, name);
  py::list rules;
  if (getTrace())
    rules = recordRules(function, arguments, results);
  std::vector<const RecordedBody *> bodies;
  for (py::handle rule : rules)
    bodies.push_back(&rule.cast<const RecordedBody &>());
  std::vector<Var> made;
  {
    Entered session;
    if (auto number = recorder->findRebound(*session, given))
      fail(ErrorKind::Runtime,
           nameMethod(function, name, "execute") + " changes tensor " +
               std::to_string(*number) +
               " of its arguments in place; return the new value instead");
    call->arguments = describeFloats(arguments, &*session);
    call->results = describeFloats(results, &*session);
    made = recordCustom(*session, *recorder, values, areGivenUp, call, bodies);
  }
  if (!isTuple && !isList)
    return py::cast(std::move(made.front()));
  py::list all(results);
  for (auto [var, place] : llvm::zip_equal(made, call->results.places))
    all[place.number] = py::cast(std::move(var));
  return isList ? py::object(std::move(all)) : py::tuple(std::move(all));
}

void metaops::python::bindFunctionCalls(py::module_ &module) {
  define(module, "call_function(function, arguments)", &callFunction,
         "The results of a Function's execute, with its derivatives.");
  define(
      module, "check_derivatives(method, derivatives, by, what)",
      [](const std::string &method, const py::list &derivatives,
         const py::list &by, const std::string &what) {
        checkDerivatives(method, py::tuple(derivatives),
                         describeFloats(py::tuple(by), nullptr), what);
      },
      "Raises an error unless there is a derivative, or None, by each of what\n"
      "is given.");
}
