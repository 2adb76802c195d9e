//===- VarClass.cpp - The Python class Var --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TensorData metaops::python::dataOf(const Var &var) {
  TensorData data =
      runWithoutGIL([&](Session &session) { return session.getData(var); });
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

static py::str formatOf(const py::object &self, const std::string &spec) {
  if (spec.empty())
    return py::str(self);
  py::object item = itemOf(*asVar(self), "format");
  return py::module_::import("builtins").attr("format")(item, spec);
}

static void bindValues(py::class_<Var> &cls) {
  cls.def(
      "numpy",
      [](const Var &self, bool copy) { return toNumPy(dataOf(self), copy); },
      py::arg("copy") = true,
      "The value as a NumPy array: a copy, or with copy=False a read-only\n"
      "array that shares the memory. bfloat16 comes as a copy in float32.");
  cls.def(
      "fetch_sync", [](const Var &self) { return toNumPy(dataOf(self), true); },
      "The same as numpy().");
  cls.def_property_readonly(
      "data", [](const Var &self) { return toNumPy(dataOf(self), true); },
      "The same as numpy().");
  cls.def(
      "item", [](const Var &self) { return itemOf(self, "item"); },
      "The only element as a Python number.");
  cls.def(
      "sync",
      [](py::object self) {
        const Var &var = *asVar(self);
        runWithoutGIL([&](Session &session) {
          session.sync(&var);
          return 0;
        });
        raiseCallbackFailure();
        return self;
      },
      "Computes the value if need be, and returns the Var.");
  cls.def(
      "__array__",
      [](const Var &self, py::handle dtype, py::handle copy) {
        return toArray(dataOf(self), dtype, copy);
      },
      py::arg("dtype") = py::none(), py::arg("copy") = py::none(),
      "For numpy.asarray, which gets a read-only array that shares the\n"
      "memory, and numpy.array, which gets a copy.");
  cls.def("__bool__",
          [](const Var &self) { return py::bool_(itemOf(self, "bool")); });
  cls.def("__int__",
          [](const Var &self) { return py::int_(itemOf(self, "int")); });
  cls.def("__float__",
          [](const Var &self) { return py::float_(itemOf(self, "float")); });
  cls.def("__repr__", &reprOf);
  cls.def("__str__", [](const Var &self) {
    return py::str(toNumPy(dataOf(self), /*copy=*/true));
  });
  cls.def("__format__", &formatOf);
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
  cls.def_property_readonly("shape", &shapeOf);
  cls.def_property_readonly("dtype", [](const Var &self) {
    llvm::StringRef name = nameOf(self.dtype());
    return py::str(name.data(), name.size());
  });
  cls.def_property_readonly("ndim", &Var::rank);
  cls.def_property_readonly("size", &Var::numElements);
  cls.def("__len__", [](const Var &self) {
    if (self.rank() == 0)
      fail(ErrorKind::Type, "a tensor without dimensions has no length");
    return self.shape()[0];
  });
  cls.def("__iter__", [](py::object self) {
    if (asVar(self)->rank() == 0)
      fail(ErrorKind::Type,
           "a tensor without dimensions cannot be iterated over");
    return py::reinterpret_steal<py::object>(PySeqIter_New(self.ptr()));
  });
  auto share = [](const Var &self) {
    Entered session;
    return session->share(self);
  };
  cls.def("__copy__", share);
  cls.def("__deepcopy__",
          [share](const Var &self, py::handle) { return share(self); });
  cls.def("__reduce__", [](const Var &self) {
    py::object array = py::module_::import("metaops._core").attr("array");
    return py::make_tuple(array,
                          py::make_tuple(toNumPy(dataOf(self), /*copy=*/true),
                                         nameOf(self.dtype()).str()));
  });
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Whether an operator may be tried on the object at all; Python asks the other
/// side otherwise.
static bool isOperand(py::handle object) {
  return asVar(object) || toNumber(object) ||
         py::hasattr(object, "__array__") || PyList_Check(object.ptr()) ||
         PyTuple_Check(object.ptr());
}

static py::object notImplemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

template <typename Record>
static py::object recordWith(const Var &self, py::handle other, Record record) {
  if (!isOperand(other))
    return notImplemented();
  Argument argument(other);
  Var result;
  {
    Entered session;
    result = record(*session, self, argument.operand(*session));
  }
  return py::cast(std::move(result));
}

static void bindBinary(py::class_<Var> &cls, const char *method,
                       const char *op) {
  std::string name(method);
  cls.def(
      ("__" + name + "__").c_str(), [op](const Var &self, py::handle other) {
        return recordWith(self, other, [op](Session &s, Operand x, Operand y) {
          return s.binary(op, x, y);
        });
      });
  cls.def(
      ("__r" + name + "__").c_str(), [op](const Var &self, py::handle other) {
        return recordWith(self, other, [op](Session &s, Operand x, Operand y) {
          return s.binary(op, y, x);
        });
      });
  // A Var is rebound to the result; who holds the old value keeps it.
  cls.def(("__i" + name + "__").c_str(),
          [op](py::object self, py::handle other) -> py::object {
            if (!isOperand(other))
              return notImplemented();
            Var &var = *asVar(self);
            Argument argument(other);
            Entered session;
            session->assign(
                var, session->binary(op, var, argument.operand(*session)));
            return self;
          });
}

static void bindComparison(py::class_<Var> &cls, const char *predicate) {
  cls.def(("__" + std::string(predicate) + "__").c_str(),
          [predicate](const Var &self, py::handle other) {
            return recordWith(self, other,
                              [predicate](Session &s, Operand x, Operand y) {
                                return s.compare(predicate, x, y);
                              });
          });
}

static Var recordUnary(const Var &self, const char *op) {
  Entered session;
  return session->unary(op, self);
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
  for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    bindComparison(cls, predicate);
  constexpr std::pair<const char *, const char *> unary[] = {
      {"__neg__", "neg"}, {"__abs__", "abs"}, {"__invert__", "not"},
      {"abs", "abs"},     {"exp", "exp"},     {"log", "log"},
      {"sqrt", "sqrt"},   {"sin", "sin"},     {"cos", "cos"},
      {"tanh", "tanh"},   {"erf", "erf"},     {"floor", "floor"},
      {"ceil", "ceil"},   {"round", "round"}, {"sign", "sign"}};
  for (auto [method, op] : unary)
    cls.def(method,
            [op = op](const Var &self) { return recordUnary(self, op); });
  cls.def("__pos__", [](const Var &self) {
    Entered session;
    return session->share(self);
  });
  // After __eq__, which would take it away. A Var is a mutable name, so it is
  // itself that counts, not its value.
  cls.def("__hash__", [](py::handle self) {
    return reinterpret_cast<intptr_t>(self.ptr()) >> 4;
  });
  // NumPy arrays leave operators to us.
  cls.attr("__array_ufunc__") = py::none();
}

static void bindCasts(py::class_<Var> &cls) {
  auto cast = [](const Var &self, py::handle dtype) {
    DType type = toDType(dtype);
    Entered session;
    return session->cast(self, type);
  };
  cls.def("cast", cast, py::arg("dtype"));
  cls.def("astype", cast, py::arg("dtype"));
  for (unsigned index = 0; index < numDTypes; ++index) {
    DType dtype = DType(index);
    cls.def(nameOf(dtype).str().c_str(), [dtype](const Var &self) {
      Entered session;
      return session->cast(self, dtype);
    });
  }
}

//===----------------------------------------------------------------------===//
// Rebinding
//===----------------------------------------------------------------------===//

static void bindRebinding(py::class_<Var> &cls) {
  cls.def(
      "stop_grad",
      [](py::object self) {
        Var &var = *asVar(self);
        Entered session;
        session->assign(var, session->stopGrad(var));
        return self;
      },
      "Stops gradients at this Var, in place; returns it.");
  cls.def(
      "detach",
      [](const Var &self) {
        Entered session;
        return session->stopGrad(self);
      },
      "A new Var of the same value, through which no gradient flows.");
  cls.def(
      "stop_fuse",
      [](const Var &self) {
        Entered session;
        return session->stopFuse(self);
      },
      "A new Var of the same value, which exists in memory.");
  cls.def(
      "assign",
      [](py::object self, py::handle value) {
        Argument argument(value);
        Var &var = *asVar(self);
        Entered session;
        session->assign(var, argument.tensor(*session));
        return self;
      },
      py::arg("value"),
      "Rebinds the Var to another value; gradients flow through it.");
  cls.def(
      "update",
      [](py::object self, py::handle value) {
        Argument argument(value);
        Var &var = *asVar(self);
        runWithoutGIL([&](Session &session) {
          session.update(var, argument.operand(session));
          return 0;
        });
        return self;
      },
      py::arg("value"),
      "Rebinds the Var to a value of the same shape and dtype, through\n"
      "which no gradient flows; the old value's memory may be reused.");
  cls.def("__getitem__", [](const Var &self, py::handle key) {
    std::vector<IndexItem> index = toIndex(key);
    Entered session;
    return session->getItem(self, index);
  });
  cls.def("__setitem__", [](Var &self, py::handle key, py::handle value) {
    std::vector<IndexItem> index = toIndex(key);
    Argument argument(value);
    Entered session;
    session->setItem(self, index, argument.operand(*session));
  });
}

//===----------------------------------------------------------------------===//
// Meta-operators
//===----------------------------------------------------------------------===//

/// The argument that a function knows by two names.
static std::vector<std::string> toIndexes(py::handle indexes,
                                          py::handle indices) {
  if (indexes.is_none() == indices.is_none())
    fail(ErrorKind::Type, "give one of indexes and indices, they mean the "
                          "same");
  return toStrings(indexes.is_none() ? indices : indexes, "indexes");
}

/// f(2, 3) and f((2, 3)) mean the same.
static std::vector<int64_t> toVariadic(const py::args &args, const char *what) {
  if (args.size() == 1)
    return toIntegers(args[0], what);
  return toIntegers(args, what);
}

static void bindMetaOps(py::class_<Var> &cls) {
  cls.def(
      "reindex",
      [](const Var &self, py::handle shape, py::handle indexes,
         py::handle overflowValue, py::handle overflowConditions,
         py::handle indices, py::handle extras) {
        auto extents = toIntegers(shape, "shape");
        auto texts = toIndexes(indexes, indices);
        Number fill = expectNumber(overflowValue, "overflow_value");
        auto conditions = toStrings(overflowConditions, "overflow_conditions");
        py::list owner;
        auto tensors = toVars(extras, owner);
        Entered session;
        return session->reindex(self, extents, texts, fill, conditions,
                                tensors);
      },
      py::arg("shape"), py::arg("indexes") = py::none(),
      py::arg("overflow_value") = 0,
      py::arg("overflow_conditions") = py::tuple(), py::kw_only(),
      py::arg("indices") = py::none(), py::arg("extras") = py::tuple());
  cls.def(
      "reindex_reduce",
      [](const Var &self, const std::string &op, py::handle shape,
         py::handle indexes, py::handle overflowConditions, py::handle indices,
         py::handle extras) {
        auto extents = toIntegers(shape, "shape");
        auto texts = toIndexes(indexes, indices);
        auto conditions = toStrings(overflowConditions, "overflow_conditions");
        py::list owner;
        auto tensors = toVars(extras, owner);
        Entered session;
        return session->reindexReduce(self, op, extents, texts, conditions,
                                      tensors);
      },
      py::arg("op"), py::arg("shape"), py::arg("indexes") = py::none(),
      py::arg("overflow_conditions") = py::tuple(), py::kw_only(),
      py::arg("indices") = py::none(), py::arg("extras") = py::tuple());
  cls.def(
      "broadcast",
      [](const Var &self, py::handle shape, py::handle dims) {
        // The shape may be that of another Var.
        std::vector<int64_t> extents = asVar(shape)
                                           ? asVar(shape)->shape().vec()
                                           : toIntegers(shape, "shape");
        auto newDims = toIntegers(dims, "dims");
        Entered session;
        return session->broadcast(self, extents, newDims);
      },
      py::arg("shape"), py::arg("dims") = py::tuple());
  cls.def(
      "broadcast_var",
      [](const Var &self, py::handle object, py::handle dims) {
        const Var &other = expectVar(object, "broadcast_var");
        auto newDims = toIntegers(dims, "dims");
        Entered session;
        return session->broadcast(self, other.shape(), newDims);
      },
      py::arg("other"), py::arg("dims") = py::tuple());
  cls.def("reshape", [](const Var &self, const py::args &shape) {
    auto extents = toVariadic(shape, "shape");
    Entered session;
    return session->reshape(self, extents);
  });
  auto transpose = [](const Var &self, const py::args &axes) {
    std::optional<std::vector<int64_t>> permutation;
    if (axes.size() > 0 && !(axes.size() == 1 && axes[0].is_none()))
      permutation = toVariadic(axes, "axes");
    Entered session;
    if (!permutation)
      return session->transpose(self, std::nullopt);
    return session->transpose(self, llvm::ArrayRef(*permutation));
  };
  cls.def("transpose", transpose);
  cls.def("permute", transpose);
  for (const char *name : {"sum", "prod", "max", "min", "mean", "all", "any"})
    cls.def(
        name,
        [name](const Var &self, py::handle dim, bool keepDims, py::handle dims,
               py::handle axis) {
          auto given = toDims(dim, dims, axis);
          Entered session;
          if (!given)
            return session->reduce(name, self, std::nullopt, keepDims);
          return session->reduce(name, self, llvm::ArrayRef(*given), keepDims);
        },
        py::arg("dim") = py::none(), py::arg("keepdims") = false, py::kw_only(),
        py::arg("dims") = py::none(), py::arg("axis") = py::none());
}

void metaops::python::bindVar(py::module_ &module) {
  py::class_<Var> cls(module, "Var",
                      "A tensor whose value is computed when it is asked for.");
  cls.def(py::init([](py::handle value, py::handle dtype) {
            return arrayOf(value, dtype, py::bool_(true));
          }),
          py::arg("value"), py::arg("dtype") = py::none());
  setVarClass(cls);
  bindValues(cls);
  bindShape(cls);
  bindOperators(cls);
  bindCasts(cls);
  bindRebinding(cls);
  bindMetaOps(cls);
  bindDLPack(module, cls);
}
