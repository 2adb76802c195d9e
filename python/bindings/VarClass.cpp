//===- VarClass.cpp - The Python class Var --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Function.h"

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TensorData metaops::python::dataOf(const Var &var) {
  TensorData data;
  do {
    data =
        runWithoutGIL([&](Session &session) { return session.getData(var); });
    // Another thread may have stopped the run.
  } while (getSession().wasStopped(data));
  getSession().wait(data);
  raiseCallbackFailure();
  return data;
}

static py::object itemOf(const Var &var, const char *what) {
  if (var.numElements() != 1)
    fail(ErrorKind::Value, llvm::Twine(what) + ": a tensor of shape " +
                               formatShape(var.shape()) +
                               " is not a single number");
  return toScalar(dataOf(var));
}

/// NumPy's text; one line for small tensors.
static std::string reprOf(const Var &var) {
  py::array array = toNumPy(dataOf(var), /*copy=*/true);
  py::object text = py::module_::import("numpy").attr("array2string")(
      array, py::arg("separator") = ", ", py::arg("prefix") = "Var(");
  return "Var(" + text.cast<std::string>() +
         ", dtype=" + nameOf(var.dtype()).str() + ")";
}

static py::str formatOf(VarObject self, const std::string &spec) {
  if (spec.empty())
    return py::str(self.object);
  py::object item = itemOf(self.var, "format");
  return py::module_::import("builtins").attr("format")(item, spec);
}

static py::object dataCopy(const Var &self) {
  py::array array = toNumPy(dataOf(self), /*copy=*/true);
  array.attr("setflags")(py::arg("write") = false);
  return std::move(array);
}

static py::object syncVar(VarObject self) {
  const Var *var = &self.var;
  runWithoutGIL([&](Session &session) {
    session.sync(var);
    return 0;
  });
  raiseCallbackFailure();
  return self.get();
}

static void bindValues(py::class_<Var> &cls) {
  define(
      cls, "numpy(self, copy=True)",
      [](const Var &self, bool copy) { return toNumPy(dataOf(self), copy); },
      "The value as a NumPy array: a copy, or with copy=False a read-only\n"
      "array that shares the memory. bfloat16 comes as a copy in float32.");
  define(
      cls, "fetch_sync(self)",
      [](const Var &self) { return toNumPy(dataOf(self), true); },
      "The same as numpy().");
  define(
      cls, "tolist(self)",
      [](const Var &self) -> py::object {
        return toNumPy(dataOf(self), true).attr("tolist")();
      },
      "The value as nested lists of Python's numbers, or as one number.");
  defineProperty(cls, "data", &dataCopy,
                 "The value as a NumPy array: a copy that cannot be written,\n"
                 "since that would not change the Var; numpy() gives one that\n"
                 "can, and `assign`, `update` and x[...] = y change the Var.");
  define(
      cls, "item(self)", [](const Var &self) { return itemOf(self, "item"); },
      "The only element as a Python number.");
  define(cls, "sync(self)", &syncVar,
         "Computes the value if need be, and returns the Var.");
  define(
      cls, "__array__(self, dtype=None, copy=None)",
      [](const Var &self, py::handle dtype, py::handle copy) {
        return toArray(dataOf(self), dtype, copy);
      },
      "For numpy.asarray, which gets a read-only array that shares the\n"
      "memory, and numpy.array, which gets a copy.");
  define(cls, "__bool__(self)",
         [](const Var &self) { return py::bool_(itemOf(self, "bool")); });
  define(cls, "__int__(self)",
         [](const Var &self) { return py::int_(itemOf(self, "int")); });
  define(cls, "__float__(self)",
         [](const Var &self) { return py::float_(itemOf(self, "float")); });
  define(cls, "__repr__(self)", &reprOf);
  define(cls, "__str__(self)", [](const Var &self) {
    return py::str(toNumPy(dataOf(self), /*copy=*/true));
  });
  define(cls, "__format__(self, format_spec)", &formatOf);
}

//===----------------------------------------------------------------------===//
// Shape and identity
//===----------------------------------------------------------------------===//

static py::tuple shapeOf(const Var &var) {
  py::tuple shape(var.rank());
  for (auto [index, extent] : llvm::enumerate(var.shape()))
    shape[index] = extent;
  return shape;
}

static void bindShape(py::class_<Var> &cls) {
  defineProperty(cls, "shape", &shapeOf, "The extents of all dimensions.");
  defineProperty(
      cls, "dtype", [](const Var &self) { return toPython(self.dtype()); },
      "The type of the elements, as `metaops.float32`.");
  auto rank = [](const Var &self) { return self.rank(); };
  auto size = [](const Var &self) { return self.numElements(); };
  defineProperty(cls, "ndim", rank, "The number of dimensions.");
  defineProperty(cls, "size", size, "The number of elements.");
  define(cls, "dim(self)", rank, "The number of dimensions, `ndim`.");
  define(cls, "numel(self)", size, "The number of elements, `size`.");
  define(cls, "__len__(self)", [](const Var &self) {
    if (self.rank() == 0)
      fail(ErrorKind::Type, "a tensor without dimensions has no length");
    return self.shape()[0];
  });
  define(cls, "__iter__(self)", [](VarObject self) {
    if (self.var.rank() == 0)
      fail(ErrorKind::Type,
           "a tensor without dimensions cannot be iterated over");
    return py::reinterpret_steal<py::object>(PySeqIter_New(self.object.ptr()));
  });
}

/// Makes an instance of a subclass a Var as well.
static void initialise(py::handle self, py::handle value, py::handle dtype) {
  if (!py::isinstance(self, py::type::of<Var>()))
    fail(ErrorKind::Type,
         "Var: self is " + describe(self) + ", expected a Var");
  Var var = arrayOf(value, dtype, py::bool_(true));
  auto *instance = reinterpret_cast<py::detail::instance *>(self.ptr());
  const py::detail::type_info *type = py::detail::get_type_info(typeid(Var));
  py::detail::value_and_holder holder = instance->get_value_and_holder(type);
  if (holder.value_ptr())
    fail(ErrorKind::Type, "Var: __init__ is called again; assign(value) "
                          "rebinds a Var to another value");
  holder.value_ptr() = new Var(std::move(var));
  type->init_instance(instance, nullptr);
}

static void bindIdentity(py::class_<Var> &cls) {
  define(cls, "__init__(self, value, dtype=None)", &initialise);
  auto share = [](const Var &self) {
    return record([](Recorder &, Node *x) { return x; }, self);
  };
  for (const char *name : {"clone(self)", "copy(self)"})
    define(cls, name, share,
           "Another Var of the same value, through which gradients flow.");
  // A Var is a mutable name, so it is itself that counts, not its value.
  define(cls, "__hash__(self)", [](py::handle self) {
    return int64_t(reinterpret_cast<intptr_t>(self.ptr()) >> 4);
  });
  define(cls, "__pos__(self)", share);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

bool metaops::python::isOperand(py::handle object) {
  return asVar(object) || toNumber(object) ||
         py::hasattr(object, "__array__") || PyList_Check(object.ptr()) ||
         PyTuple_Check(object.ptr());
}

static py::object notImplemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

template <typename Work>
static py::object recordWith(const Var &self, py::handle other, Work work) {
  if (!isOperand(other))
    return notImplemented();
  return py::cast(record([&](Recorder &recorder, Node *x,
                             Operand y) { return work(recorder, x, y); },
                         self, Argument(other)));
}

static void bindBinary(py::class_<Var> &cls, const char *method,
                       const char *op) {
  std::string name(method);
  define(cls, "__" + name + "__(self, other)",
         [op](const Var &self, py::handle other) {
           return recordWith(self, other,
                             [op](Recorder &r, Operand x, Operand y) {
                               return r.binary(op, x, y);
                             });
         });
  define(cls, "__r" + name + "__(self, other)",
         [op](const Var &self, py::handle other) {
           return recordWith(self, other,
                             [op](Recorder &r, Operand x, Operand y) {
                               return r.binary(op, y, x);
                             });
         });
  // A Var is rebound to the result; who holds the old value keeps it.
  define(cls, "__i" + name + "__(self, other)",
         [op](VarObject self, py::handle other) -> py::object {
           if (!isOperand(other))
             return notImplemented();
           Argument argument(other);
           Entered session;
           session->assign(self.var, session->getRecorder().binary(
                                         op, session->getNode(self.var),
                                         argument.operand(*session)));
           return self.get();
         });
}

static void bindMatrixProduct(py::class_<Var> &cls) {
  auto product = [](py::handle x, py::handle y,
                    py::handle other) -> py::object {
    if (!isOperand(other))
      return notImplemented();
    return py::cast(recordTensors(
        [](Recorder &r, Node *x, Node *y) { return r.matmul(x, y); },
        Argument(x), Argument(y)));
  };
  define(cls, "__matmul__(self, other)",
         [product](py::handle self, py::handle other) {
           return product(self, other, other);
         });
  define(cls, "__rmatmul__(self, other)",
         [product](py::handle self, py::handle other) {
           return product(other, self, other);
         });
}

static void bindComparison(py::class_<Var> &cls, const char *predicate) {
  define(cls, "__" + std::string(predicate) + "__(self, other)",
         [predicate](const Var &self, py::handle other) {
           return recordWith(self, other,
                             [predicate](Recorder &r, Operand x, Operand y) {
                               return r.compare(predicate, x, y);
                             });
         });
}

static Var recordUnary(const Var &self, const char *op) {
  return record([&](Recorder &r, Node *x) { return r.unary(op, x); }, self);
}

static void bindOperators(py::class_<Var> &cls) {
  constexpr std::pair<const char *, const char *> binary[] = {
      {"add", "add"},
      {"sub", "sub"},
      {"mul", "mul"},
      {"truediv", "div"},
      {"floordiv", "floor_div"},
      {"mod", "mod"},
      {"pow", "pow"},
      {"and", "and"},
      {"or", "or"},
      {"xor", "xor"}};
  for (auto [method, op] : binary)
    bindBinary(cls, method, op);
  bindMatrixProduct(cls);
  for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    bindComparison(cls, predicate);
  struct {
    const char *method, *op, *doc;
  } unary[] = {{"__neg__", "neg", "-x."},
               {"__abs__", "abs", "The absolute value."},
               {"__invert__", "not", "The other bits, or the other boolean."},
               {"abs", "abs", "The absolute value."},
               {"exp", "exp", "e to the power of x."},
               {"log", "log", "The natural logarithm: -inf at 0, NaN below."},
               {"sqrt", "sqrt", "The square root: NaN below 0."},
               {"sin", "sin", "The sine of x in radians."},
               {"cos", "cos", "The cosine of x in radians."},
               {"tanh", "tanh", "The hyperbolic tangent."},
               {"erf", "erf", "The error function."},
               {"floor", "floor", "The largest integer not above x."},
               {"ceil", "ceil", "The smallest integer not below x."},
               {"round", "round", "The nearest integer, ties to even."},
               {"sign", "sign", "-1, 0 or 1, as x is; NaN for NaN."}};
  for (auto [method, op, doc] : unary)
    define(
        cls, std::string(method) + "(self)",
        [op = op](const Var &self) { return recordUnary(self, op); }, doc);
  // NumPy arrays leave operators to us.
  cls.attr("__array_ufunc__") = py::none();
}

/// Moves a value to what `to` takes: a dtype, a tensor of that dtype, or a
/// device's name.
static Node *moveTo(RecordingSession &session, const Var &self,
                    py::handle target) {
  Recorder &recorder = session.getRecorder();
  if (const Var *other = asVar(target))
    return recorder.cast(session.getNode(self), other->dtype());
  if (!PyUnicode_Check(target.ptr()) || asDType(target))
    return recorder.cast(session.getNode(self), toDType(target));
  auto name = py::reinterpret_borrow<py::str>(target).cast<std::string>();
  if (std::optional<DType> dtype = parseDType(name))
    return recorder.cast(session.getNode(self), *dtype);
  Devices &devices = getSession().getDevices();
  if (Device *device = devices.find(name))
    return session.transfer(session.getNode(self), *device);
  fail(ErrorKind::Value, "to: given '" + name +
                             "', expected a dtype, a Var or a device: " +
                             devices.describeNames());
}

static void bindCasts(py::class_<Var> &cls) {
  auto cast = [](const Var &self, py::handle dtype) {
    DType type = toDType(dtype);
    return record([&](Recorder &r, Node *x) { return r.cast(x, type); }, self);
  };
  for (const char *name : {"cast(self, dtype)", "astype(self, dtype)"})
    define(cls, name, cast, "The same numbers with another dtype.");
  define(
      cls, "to(self, destination)",
      [](const Var &self, py::handle target) {
        Entered session;
        return session->wrap(moveTo(*session, self, target));
      },
      "The same numbers with another dtype, or that of another Var; or on the\n"
      "device of a name, see `metaops.device`. Gradients flow back.");
  auto named = [&](llvm::StringRef name, DType dtype) {
    define(
        cls, name.str() + "(self)",
        [dtype](const Var &self) {
          return record([&](Recorder &r, Node *x) { return r.cast(x, dtype); },
                        self);
        },
        "The same numbers with this dtype.");
  };
  for (unsigned index = 0; index < numDTypes; ++index)
    named(nameOf(DType(index)), DType(index));
  constexpr std::pair<const char *, DType> others[] = {{"half", DType::F16},
                                                       {"float", DType::F32},
                                                       {"double", DType::F64},
                                                       {"int", DType::I32},
                                                       {"long", DType::I64}};
  for (auto [name, dtype] : others)
    named(name, dtype);
}

//===----------------------------------------------------------------------===//
// Rebinding
//===----------------------------------------------------------------------===//

static void bindRebinding(py::class_<Var> &cls) {
  define(
      cls, "stop_grad(self)",
      [](VarObject self) {
        Entered session;
        session->assign(self.var, session->getRecorder().stopGrad(
                                      session->getNode(self.var)));
        return self.get();
      },
      "Stops gradients at this Var, in place; returns it.");
  define(
      cls, "detach(self)",
      [](const Var &self) {
        return record([](Recorder &r, Node *x) { return r.stopGrad(x); }, self);
      },
      "A new Var of the same value, through which no gradient flows.");
  define(
      cls, "stop_fuse(self)",
      [](const Var &self) {
        return record([](Recorder &r, Node *x) { return r.stopFuse(x); }, self);
      },
      "A new Var of the same value, which exists in memory.");
  define(
      cls, "assign(self, value)",
      [](VarObject self, py::handle value) {
        Argument argument(value);
        Entered session;
        session->assign(self.var, argument.tensor(*session));
        return self.get();
      },
      "Rebinds the Var to another value; gradients flow through it.");
  define(
      cls, "update(self, value)",
      [](VarObject self, py::handle value) {
        Argument argument(value);
        CallPlace place = currentPlace();
        recordWithoutGIL([&](RecordingSession &session) {
          session.updateAt(self.var, argument.operand(session), place);
          return 0;
        });
        return self.get();
      },
      "Rebinds the Var to a value of the same shape and dtype, through\n"
      "which no gradient flows; the old value's memory may be reused.");
}

//===----------------------------------------------------------------------===//
// Shapes and reductions
//===----------------------------------------------------------------------===//

/// f(2, 3) and f((2, 3)) mean the same.
static std::vector<int64_t> toVariadic(const py::tuple &given,
                                       const char *what) {
  if (given.size() == 1)
    return toIntegers(given[0], what);
  return toIntegers(given, what);
}

static void bindShaping(py::class_<Var> &cls) {
  auto reshape = [](const Var &self, const py::tuple &shape) {
    auto extents = toVariadic(shape, "shape");
    return record([&](Recorder &r, Node *x) { return r.reshape(x, extents); },
                  self);
  };
  for (const char *name : {"reshape(self, *shape)", "view(self, *shape)"})
    define(cls, name, reshape,
           "The same elements in row-major order under another shape; one\n"
           "extent may be -1.");
  auto transpose = [](const Var &self, const py::tuple &axes) {
    std::optional<std::vector<int64_t>> permutation;
    if (axes.size() > 0 && !(axes.size() == 1 && axes[0].is_none()))
      permutation = toVariadic(axes, "axes");
    return record(
        [&](Recorder &r, Node *x) { return r.transpose(x, permutation); },
        self);
  };
  for (const char *name : {"transpose(self, *axes)", "permute(self, *axes)"})
    define(cls, name, transpose,
           "The dimensions in another order, reversed by default.");
  define(
      cls, "t(self)",
      [](const Var &self) {
        if (self.rank() > 2)
          fail(ErrorKind::Value, "t: given a tensor of shape " +
                                     formatShape(self.shape()) +
                                     ", expected at most two dimensions");
        return record(
            [](Recorder &r, Node *x) { return r.transpose(x, std::nullopt); },
            self);
      },
      "The transposed matrix; a vector stays as it is.");
}

static void bindReductions(py::class_<Var> &cls) {
  constexpr std::pair<const char *, const char *> reductions[] = {
      {"sum", "The sum; 0 over nothing."},
      {"prod", "The product; 1 over nothing."},
      {"max", "The largest element; -inf or the lowest over nothing."},
      {"min", "The smallest element; inf or the highest over nothing."},
      {"mean", "The arithmetic mean, a float; NaN over nothing."},
      {"all", "A boolean: no element is zero."},
      {"any", "A boolean: some element is not zero."}};
  for (auto [name, doc] : reductions)
    define(
        cls, std::string(name) + "(self, dim=None, keepdims=False)",
        [name = name](const Var &self, py::handle dim, bool keepDims) {
          std::optional<std::vector<int64_t>> dims = toDims(dim);
          return record(
              [&](Recorder &r, Node *x) {
                return r.reduce(name, x, dims, keepDims);
              },
              self);
        },
        doc);
}

void metaops::python::bindVar(py::module_ &module) {
  py::class_<Var> cls(module, "Var",
                      "A tensor whose value is computed when it is asked for.");
  setVarClass(cls);
  bindIdentity(cls);
  bindValues(cls);
  bindShape(cls);
  bindOperators(cls);
  bindCasts(cls);
  bindRebinding(cls);
  bindIndexing(cls);
  bindShaping(cls);
  bindReductions(cls);
  bindDLPack(module, cls);
}
