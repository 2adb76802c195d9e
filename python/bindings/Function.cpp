//===- Function.cpp - Functions that Python calls -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include <structmember.h>

#include <atomic>

using namespace metaops;
using namespace metaops::python;

namespace {
/// The Python object. Functions live as long as the interpreter, so what they
/// hold is never released.
struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  ParameterList *parameters;
  /// One of the two: what C++ does, or a function that is written in Python.
  Body *body;
  PyObject *wrapped;
  PyObject *name, *qualname, *module, *doc;
  /// Says what is to become of calls while there is an interceptor.
  PyObject *rule;
  PyObject *weakReferences;
};
} // namespace

static PyTypeObject *functionType = nullptr;

static FunctionObject *asFunction(PyObject *object) {
  return reinterpret_cast<FunctionObject *>(object);
}

//===----------------------------------------------------------------------===//
// Interception
//===----------------------------------------------------------------------===//

/// Calls of functions that have a rule go to it, if it is there.
static PyObject *interceptor = nullptr;
/// The intercepted call that the thread is within, by a number that no other
/// has, or 0: the calls within it are its own matter.
static thread_local int64_t callWithin = 0;
/// All that have not ended. The thread may be within none of them, as in a
/// scope that one has entered.
static thread_local llvm::SmallVector<int64_t> runningCalls;

WithinCall::WithinCall() : before(callWithin) {
  static std::atomic<int64_t> last = 0;
  callWithin = ++last;
  runningCalls.push_back(callWithin);
}

WithinCall::~WithinCall() {
  runningCalls.pop_back();
  callWithin = before;
}

static bool isToBeIntercepted(PyObject *self) {
  return LLVM_UNLIKELY(interceptor) && asFunction(self)->rule && !callWithin;
}

/// Calls the interceptor with the function and its arguments.
static PyObject *intercept(PyObject *self, PyObject *const *args, size_t flags,
                           PyObject *keywords) {
  WithinCall within;
  size_t count = PyVectorcall_NARGS(flags);
  llvm::SmallVector<PyObject *, 8> given{self};
  given.append(args,
               args + count + (keywords ? PyTuple_GET_SIZE(keywords) : 0));
  // The scope that set it may end in another thread.
  auto called = py::reinterpret_borrow<py::object>(interceptor);
  return PyObject_Vectorcall(called.ptr(), given.data(), count + 1, keywords);
}

/// Those by name stand behind those by position.
static size_t countArguments(size_t count, PyObject *keywords) {
  return count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

/// Calls that refuse their arguments go to it, if it is there: it may know
/// them, as complex numbers.
static PyObject *alternative = nullptr;
/// Calls with one of this type go there at once: a refusal takes longer than
/// most calls.
static PyObject *typeOfAlternative = nullptr;

/// Calls the alternative with the function and its arguments.
static PyObject *passToAlternative(PyObject *self, PyObject *const *args,
                                   size_t count, PyObject *keywords) {
  llvm::SmallVector<PyObject *, 8> given{self};
  given.append(args, args + countArguments(count, keywords));
  return PyObject_Vectorcall(alternative, given.data(), count + 1, keywords);
}

/// Calls the alternative where an argument has its type. Returns false where
/// none has, and where the alternative returns NotImplemented.
static bool startsWithAlternative(PyObject *self, PyObject *const *args,
                                  size_t flags, PyObject *keywords,
                                  PyObject *&result) {
  size_t count = PyVectorcall_NARGS(flags);
  llvm::ArrayRef<PyObject *> given(args, countArguments(count, keywords));
  if (LLVM_LIKELY(llvm::none_of(given, [](PyObject *each) {
        return reinterpret_cast<PyObject *>(Py_TYPE(each)) == typeOfAlternative;
      })))
    return false;
  result = passToAlternative(self, args, count, keywords);
  if (result != Py_NotImplemented)
    return true;
  Py_DECREF(result);
  return false;
}

/// Returns what the alternative makes of the arguments of a call that refuses
/// them, or else the call's result.
static LLVM_ATTRIBUTE_NOINLINE PyObject *
callAlternative(PyObject *result, PyObject *self, PyObject *const *args,
                size_t flags, PyObject *keywords) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *other =
      passToAlternative(self, args, PyVectorcall_NARGS(flags), keywords);
  if (other == Py_NotImplemented) {
    Py_DECREF(other);
    PyErr_Restore(type, value, trace);
    return result;
  }
  Py_XDECREF(result);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return other;
}

/// Returns a call's result, or what the alternative makes of its arguments
/// where they are refused: by NotImplemented, or by a TypeError, which stays
/// where the alternative returns NotImplemented.
static PyObject *orAlternative(PyObject *result, PyObject *self,
                               PyObject *const *args, size_t flags,
                               PyObject *keywords) {
  if (LLVM_LIKELY(result && result != Py_NotImplemented))
    return result;
  if (!alternative || (!result && !PyErr_ExceptionMatches(PyExc_TypeError)))
    return result;
  return callAlternative(result, self, args, flags, keywords);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls the Python function of one that has it, or the alternative.
static PyObject *callPython(PyObject *self, PyObject *const *args, size_t flags,
                            PyObject *keywords) {
  PyObject *result = nullptr;
  if (startsWithAlternative(self, args, flags, keywords, result))
    return result;
  result =
      PyObject_Vectorcall(asFunction(self)->wrapped, args, flags, keywords);
  return orAlternative(result, self, args, flags, keywords);
}

static PyObject *callBody(PyObject *self, PyObject *const *args, size_t flags,
                          PyObject *keywords) {
  if (isToBeIntercepted(self))
    return intercept(self, args, flags, keywords);
  PyObject *result = nullptr;
  if (startsWithAlternative(self, args, flags, keywords, result))
    return result;
  result = guard([&] {
    FunctionObject *function = asFunction(self);
    const ParameterList &parameters = *function->parameters;
    size_t count = PyVectorcall_NARGS(flags);
    DeviceOfCall device(args, countArguments(count, keywords));
    if (!keywords && parameters.areComplete(count))
      return function->body->call(parameters, args);
    BoundArguments bound = parameters.bind(args, count, keywords);
    return function->body->call(parameters, bound.slots.data());
  });
  return orAlternative(result, self, args, flags, keywords);
}

/// Calls a Python function under the names that it knows. The rest of what may
/// be wrong with a call Python tells well.
static PyObject *callRenamed(PyObject *function, PyObject *const *args,
                             size_t count, PyObject *keywords) {
  const ParameterList &parameters = *asFunction(function)->parameters;
  PyObject *self = count > 0 ? args[0] : nullptr;
  llvm::SmallVector<PyObject *, 8> positional(args, args + count), named;
  py::list names;
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(keywords); i < e; ++i) {
    py::handle keyword = PyTuple_GET_ITEM(keywords, i);
    size_t index = parameters.find(keyword, self);
    const Parameter &parameter = parameters[index];
    if (parameter.kind == Parameter::Kind::Variadic) {
      if (positional.size() > index)
        parameters.failTwice(index, keyword, self);
      positional.push_back(args[count + i]);
      continue;
    }
    bool isByPosition = parameter.kind == Parameter::Kind::Ordinary &&
                        index < positional.size();
    if (isByPosition || names.contains(parameter.key))
      parameters.failTwice(index, keyword, self);
    names.append(parameter.key);
    named.push_back(args[count + i]);
  }
  size_t byPosition = positional.size();
  positional.append(named);
  return callPython(function, positional.data(), byPosition,
                    py::tuple(names).ptr());
}

static PyObject *callWrapped(PyObject *self, PyObject *const *args,
                             size_t flags, PyObject *keywords) {
  if (isToBeIntercepted(self))
    return intercept(self, args, flags, keywords);
  return guard([&] {
    size_t count = PyVectorcall_NARGS(flags);
    DeviceOfCall device(args, countArguments(count, keywords));
    if (!keywords || asFunction(self)->parameters->knows(keywords))
      return callPython(self, args, flags, keywords);
    return callRenamed(self, args, count, keywords);
  });
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyObject *bindMethod(PyObject *self, PyObject *object, PyObject *) {
  return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

static PyObject *reprOf(PyObject *self) {
  return PyUnicode_FromFormat("<function %U.%U>", asFunction(self)->module,
                              asFunction(self)->qualname);
}

/// Pickled and copied by name, as Python's own functions are.
static PyObject *reduce(PyObject *self, PyObject *) {
  return Py_NewRef(asFunction(self)->qualname);
}

/// Attributes of a wrapped function, such as its defaults and annotations, are
/// ours.
static PyObject *getAttribute(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !asFunction(self)->wrapped ||
      !PyErr_ExceptionMatches(PyExc_AttributeError))
    return found;
  PyErr_Clear();
  return PyObject_GetAttr(asFunction(self)->wrapped, name);
}

static PyObject *getTextSignature(PyObject *self, void *) {
  // A wrapped function tells its own signature, types included.
  if (asFunction(self)->wrapped)
    return Py_NewRef(Py_None);
  return PyUnicode_FromString(asFunction(self)->parameters->getText().c_str());
}

static PyObject *getSpellings(PyObject *self, void *) {
  return guard([&] {
    py::dict result;
    for (auto &[spelling, name] : asFunction(self)->parameters->getSpellings())
      result[py::str(spelling)] = name;
    return result.release().ptr();
  });
}

static void createType() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall),
       READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET,
       offsetof(FunctionObject, weakReferences), READONLY, nullptr},
      {"__name__", T_OBJECT_EX, offsetof(FunctionObject, name), READONLY,
       nullptr},
      {"__qualname__", T_OBJECT_EX, offsetof(FunctionObject, qualname),
       READONLY, nullptr},
      {"__module__", T_OBJECT_EX, offsetof(FunctionObject, module), READONLY,
       nullptr},
      {"__doc__", T_OBJECT_EX, offsetof(FunctionObject, doc), READONLY,
       nullptr},
      {"__wrapped__", T_OBJECT_EX, offsetof(FunctionObject, wrapped), READONLY,
       nullptr},
      {"rule", T_OBJECT, offsetof(FunctionObject, rule), READONLY, nullptr},
      {}};
  static PyGetSetDef properties[] = {
      {"__text_signature__", &getTextSignature, nullptr, nullptr, nullptr},
      {"spellings", &getSpellings, nullptr,
       "The names of parameters by their other spellings.", nullptr},
      {}};
  static PyMethodDef methods[] = {{"__reduce__", &reduce, METH_NOARGS, nullptr},
                                  {}};
  static PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void *>(&PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void *>(&bindMethod)},
      {Py_tp_repr, reinterpret_cast<void *>(&reprOf)},
      {Py_tp_getattro, reinterpret_cast<void *>(&getAttribute)},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {}};
  static PyType_Spec spec = {
      "metaops._core.Function", sizeof(FunctionObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
      slots};
  functionType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  if (!functionType)
    throw py::error_already_set();
}

static FunctionObject *makeObject(ParameterList parameters) {
  auto *function = PyObject_New(FunctionObject, functionType);
  if (!function)
    throw py::error_already_set();
  function->parameters = new ParameterList(std::move(parameters));
  function->body = nullptr;
  function->wrapped = nullptr;
  function->rule = nullptr;
  function->weakReferences = nullptr;
  return function;
}

py::object metaops::python::makeFunction(llvm::StringRef declaration,
                                         const char *doc,
                                         std::unique_ptr<Body> body) {
  FunctionObject *function = makeObject(ParameterList(declaration));
  function->vectorcall = &callBody;
  function->body = body.release();
  std::string name = function->parameters->getName().str();
  function->name = py::str(name).release().ptr();
  function->qualname = Py_NewRef(function->name);
  function->module = py::str("metaops").release().ptr();
  function->doc = py::str(doc).release().ptr();
  return py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject *>(function));
}

/// Returns the function that a decorated one was made of, as functools.wraps
/// tells it. There is inspect.unwrap, which is Python; the package has a
/// thousand functions to wrap when it is imported.
static py::object unwrap(py::object function) {
  for (;;) {
    py::object inner = py::getattr(function, "__wrapped__", py::none());
    if (inner.is_none())
      return function;
    function = std::move(inner);
  }
}

/// A Python function that also takes the other spellings of its parameters, as
/// the `name` of a module.
static py::object wrapFunction(const py::function &wrapped,
                               const std::string &module,
                               const std::string &name) {
  FunctionObject *function =
      makeObject(ParameterList::ofPythonFunction(unwrap(wrapped), name));
  function->vectorcall = &callWrapped;
  function->wrapped = wrapped.inc_ref().ptr();
  function->qualname = py::str(name).release().ptr();
  function->name = py::str(name.substr(name.rfind('.') + 1)).release().ptr();
  function->module = py::str(module).release().ptr();
  function->doc = wrapped.attr("__doc__").cast<py::object>().release().ptr();
  return py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject *>(function));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Var &metaops::python::toVar(const CallArgument &argument) {
  if (Var *var = asVar(argument.object))
    return *var;
  argument.fail("a Var");
}

bool metaops::python::toBool(const CallArgument &argument) {
  PyObject *object = argument.object.ptr();
  if (object == Py_True || object == Py_False)
    return object == Py_True;
  // 0, 1 and NumPy's booleans. A Var would have to be computed.
  if (PyLong_Check(object) ||
      llvm::StringRef(Py_TYPE(object)->tp_name).starts_with("numpy.bool")) {
    int isTrue = PyObject_IsTrue(object);
    if (isTrue < 0)
      throw py::error_already_set();
    return isTrue;
  }
  argument.fail("True or False");
}

int64_t metaops::python::toInteger(const CallArgument &argument) {
  PyObject *object = argument.object.ptr();
  if (!PyIndex_Check(object) || PyBool_Check(object))
    argument.fail("an integer");
  if (std::optional<int64_t> value = toInt64(object))
    return *value;
  failTooLarge(object, argument.parameters.getPlace(argument.index));
}

std::string metaops::python::toString(const CallArgument &argument) {
  if (!PyUnicode_Check(argument.object.ptr()))
    argument.fail("a str");
  return argument.object.cast<std::string>();
}

void metaops::python::forbidConstruction(py::handle cls) {
  auto *type = reinterpret_cast<PyTypeObject *>(cls.ptr());
  // __new__ of the base class refuses a class whose own function is another.
  type->tp_new = [](PyTypeObject *cls, PyObject *, PyObject *) -> PyObject * {
    return PyErr_Format(PyExc_TypeError, "%s cannot be constructed",
                        cls->tp_name);
  };
}

//===----------------------------------------------------------------------===//
// For the Python part of the package
//===----------------------------------------------------------------------===//

void metaops::python::bindFunctionType(py::module_ &module) {
  createType();
  module.attr("Function") =
      py::handle(reinterpret_cast<PyObject *>(functionType));
  define(
      module, "wrap_function(function, module, name)", &wrapFunction,
      "A Python function that also takes other spellings of its parameters.");
  define(
      module, "set_rule(function, rule)",
      [](py::handle function, py::handle rule) {
        if (Py_TYPE(function.ptr()) != functionType)
          fail(ErrorKind::Type, "set_rule: function is " + describe(function) +
                                    ", expected a function of the package");
        PyObject *given = rule.is_none() ? nullptr : Py_NewRef(rule.ptr());
        Py_XSETREF(asFunction(function.ptr())->rule, given);
        return py::reinterpret_borrow<py::object>(function);
      },
      "Gives a function a rule, or none, and returns it. Calls of one that\n"
      "has a rule may be intercepted.");
  define(
      module, "set_interceptor(interceptor)",
      [](py::handle given) {
        PyObject *next = given.is_none() ? nullptr : Py_NewRef(given.ptr());
        Py_XSETREF(interceptor, next);
      },
      "Has calls of functions that have a rule, but for those within such\n"
      "calls, be those of a callable with the function before the arguments;\n"
      "None ends that.");
  define(
      module, "set_alternative(alternative, type)",
      [](py::handle given, py::handle type) {
        auto set = [](PyObject *&place, py::handle value) {
          PyObject *next = value.is_none() ? nullptr : Py_NewRef(value.ptr());
          Py_XSETREF(place, next);
        };
        set(alternative, given);
        set(typeOfAlternative, given.is_none() ? py::none() : type);
      },
      "Has calls that refuse their arguments, by NotImplemented or a "
      "TypeError,\n"
      "be those of a callable with the function before the arguments, unless\n"
      "that returns NotImplemented; None ends that. Calls with an argument of\n"
      "the type are its own first.");
  define(
      module, "call_within()", [] { return callWithin; },
      "Returns the number of the intercepted call that the thread is within,\n"
      "so that no other is intercepted; 0 for none.");
  define(
      module, "set_call_within(number)",
      [](int64_t number) {
        if (!number || llvm::is_contained(runningCalls, number))
          callWithin = number;
      },
      "Has the thread be within an intercepted call, or 0 for none. One that\n"
      "has ended, or is another thread's, changes nothing.");
  define(module, "describe(object)", &describe,
         "What a message tells of an argument that is no number or string.");
  define(module, "set_spellings(table)", &setSpellings,
         "Sets, for names of parameters, tuples of their other spellings.");
}
