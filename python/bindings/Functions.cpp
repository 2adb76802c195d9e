//===- Functions.cpp - Functions of the extension -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

using namespace metaops;
using namespace metaops::python;

/// Records with an operand that may be anything NumPy makes a tensor of.
template <typename Record> static Var record(py::handle x, Record work) {
  Argument argument(x);
  Entered session;
  return work(*session, argument);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Var metaops::python::arrayOf(py::handle object, py::handle dtype,
                             py::handle copy) {
  Sharing sharing = toSharing(copy, "array");
  std::optional<DType> type;
  if (!dtype.is_none())
    type = toDType(dtype);
  if (const Var *var = asVar(object)) {
    if (sharing == Sharing::Required &&
        type.value_or(var->dtype()) != var->dtype())
      fail(ErrorKind::Value, "array: given copy=False, but the Var is " +
                                 nameOf(var->dtype()) + ", not " +
                                 nameOf(*type));
    Entered session;
    return type ? session->cast(*var, *type) : session->share(*var);
  }
  auto number = toNumber(object);
  if (number && sharing != Sharing::Required) {
    Entered session;
    return session->scalar(*number,
                           type.value_or(defaultDType(number->getKind())));
  }
  TensorData data = toTensorData(object, type, sharing);
  Entered session;
  return session->buffer(data.dtype, data.shape, std::move(data.buffer));
}

static void bindCreation(py::module_ &module) {
  module.def("array", &arrayOf, py::arg("obj"), py::arg("dtype") = py::none(),
             py::kw_only(), py::arg("copy") = true,
             "A Var of numbers, lists of them, or a NumPy array, which is\n"
             "copied; with copy=None only if need be, with copy=False never.");
  module.def(
      "full",
      [](py::handle shape, py::handle value, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        DType type = toDType(dtype);
        return record(value, [&](Session &session, Argument &x) {
          return session.full(extents, x.operand(session), type);
        });
      },
      py::arg("shape"), py::arg("value"), py::arg("dtype") = "float32");
  module.def(
      "iota",
      [](py::handle shape, py::handle dim, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        int64_t dimension = expectInteger(dim, "dim");
        DType type = toDType(dtype);
        Entered session;
        return session->iota(extents, dimension, type);
      },
      py::arg("shape"), py::arg("dim"), py::arg("dtype") = "int64");
  module.def(
      "random",
      [](py::handle shape, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        DType type = toDType(dtype);
        Entered session;
        return session->random(extents, type);
      },
      py::arg("shape"), py::arg("dtype") = "float32");
  module.def(
      "seed",
      [](py::handle n) {
        int64_t key = expectInteger(n, "seed");
        Entered session;
        session->seed(key);
      },
      py::arg("n"));
}

//===----------------------------------------------------------------------===//
// Meta-operators
//===----------------------------------------------------------------------===//

static void bindElementwise(py::module_ &module) {
  module.def(
      "unary",
      [](const std::string &name, py::handle x) {
        return record(x, [&](Session &session, Argument &argument) {
          return session.unary(name, argument.operand(session));
        });
      },
      py::arg("name"), py::arg("x"));
  module.def(
      "binary",
      [](const std::string &name, py::handle x, py::handle y) {
        Argument lhs(x), rhs(y);
        Entered session;
        return session->binary(name, lhs.operand(*session),
                               rhs.operand(*session));
      },
      py::arg("name"), py::arg("x"), py::arg("y"));
  module.def(
      "compare",
      [](const std::string &pred, py::handle x, py::handle y) {
        Argument lhs(x), rhs(y);
        Entered session;
        return session->compare(pred, lhs.operand(*session),
                                rhs.operand(*session));
      },
      py::arg("pred"), py::arg("x"), py::arg("y"));
  module.def(
      "select",
      [](py::handle cond, py::handle a, py::handle b) {
        Argument condition(cond), onTrue(a), onFalse(b);
        Entered session;
        return session->select(condition.operand(*session),
                               onTrue.operand(*session),
                               onFalse.operand(*session));
      },
      py::arg("cond"), py::arg("a"), py::arg("b"));
  module.def(
      "cast",
      [](py::handle x, py::handle dtype) {
        DType type = toDType(dtype);
        return record(x, [&](Session &session, Argument &argument) {
          return session.cast(argument.operand(session), type);
        });
      },
      py::arg("x"), py::arg("dtype"));
}

static void bindReindex(py::module_ &module) {
  // The methods' functions, for what is no Var yet.
  auto forward = [&module](const char *name, const char *method) {
    module.def(name,
               [method](py::handle x, const py::args &args,
                        const py::kwargs &kwargs) -> py::object {
                 py::object var =
                     asVar(x)
                         ? py::reinterpret_borrow<py::object>(x)
                         : py::cast(arrayOf(x, py::none(), py::bool_(true)));
                 return var.attr(method)(*args, **kwargs);
               });
  };
  for (const char *name :
       {"reindex", "reindex_reduce", "broadcast", "broadcast_var"})
    forward(name, name);
  module.def(
      "check_indices",
      [](py::handle object, int64_t dim, int64_t extent, bool hasNegative) {
        const Var &indices = expectVar(object, "check_indices");
        Entered session;
        return session->checkIndices(indices, {dim, extent, hasNegative});
      },
      py::arg("indices"), py::arg("dim"), py::arg("extent"),
      py::arg("has_negative") = true);
  module.def(
      "check_labels",
      [](py::handle object, int64_t classes, py::handle ignored) {
        const Var &labels = expectVar(object, "check_labels");
        IndexRange range{std::nullopt, classes, /*hasNegative=*/false};
        if (!ignored.is_none())
          range.ignored = expectInteger(ignored, "ignore_index");
        Entered session;
        return session->checkIndices(labels, range);
      },
      py::arg("labels"), py::arg("classes"), py::arg("ignored"));
  module.def(
      "reshape",
      [](py::handle x, py::handle shape) {
        auto extents = toIntegers(shape, "shape");
        return record(x, [&](Session &session, Argument &argument) {
          return session.reshape(argument.tensor(session), extents);
        });
      },
      py::arg("x"), py::arg("shape"));
  module.def(
      "transpose",
      [](py::handle x, py::handle axes) {
        auto permutation = toDims(axes);
        return record(x, [&](Session &session, Argument &argument) {
          const Var &var = argument.tensor(session);
          if (!permutation)
            return session.transpose(var, std::nullopt);
          return session.transpose(var, llvm::ArrayRef(*permutation));
        });
      },
      py::arg("x"), py::arg("axes") = py::none());
  module.def(
      "concat",
      [](py::handle parts, py::handle dim) {
        py::list owner;
        std::vector<const Var *> vars = toVars(parts, owner);
        int64_t dimension = expectInteger(dim, "dim");
        Entered session;
        return session->concat(vars, dimension);
      },
      py::arg("parts"), py::arg("dim") = 0);
  module.def(
      "stack",
      [](py::handle parts, py::handle dim) {
        py::list owner;
        std::vector<const Var *> vars = toVars(parts, owner);
        int64_t dimension = expectInteger(dim, "dim");
        Entered session;
        return session->stack(vars, dimension);
      },
      py::arg("parts"), py::arg("dim") = 0);
  module.def(
      "pad",
      [](py::handle x, py::handle low, py::handle high, py::handle value) {
        auto before = toIntegers(low, "low");
        auto after = toIntegers(high, "high");
        Number fill = expectNumber(value, "value");
        return record(x, [&](Session &session, Argument &argument) {
          return session.pad(argument.tensor(session), before, after, fill);
        });
      },
      py::arg("x"), py::arg("low"), py::arg("high"), py::arg("value") = 0);
  module.def(
      "reduce",
      [](const std::string &op, py::handle x, py::handle dims, bool keepDims) {
        auto given = toDims(dims);
        return record(x, [&](Session &session, Argument &argument) {
          const Var &var = argument.tensor(session);
          if (!given)
            return session.reduce(op, var, std::nullopt, keepDims);
          return session.reduce(op, var, llvm::ArrayRef(*given), keepDims);
        });
      },
      py::arg("op"), py::arg("x"), py::arg("dims") = py::none(),
      py::arg("keepdims") = false);
  module.def("stop_grad", [](py::handle x) {
    return record(x, [](Session &session, Argument &argument) {
      return session.stopGrad(argument.tensor(session));
    });
  });
  module.def("stop_fuse", [](py::handle x) {
    return record(x, [](Session &session, Argument &argument) {
      return session.stopFuse(argument.tensor(session));
    });
  });
}

//===----------------------------------------------------------------------===//
// Gradients and running
//===----------------------------------------------------------------------===//

static py::object gradientsOf(py::handle loss, py::handle targets) {
  py::list owner;
  const Var &differentiated = expectVar(loss, "grad: the loss");
  std::vector<const Var *> vars = toVars(targets, owner);
  std::vector<Var> gradients = runWithoutGIL(
      [&](Session &session) { return session.grad(differentiated, vars); });
  if (asVar(targets))
    return py::cast(std::move(gradients.front()));
  py::list result;
  for (Var &gradient : gradients)
    result.append(py::cast(std::move(gradient)));
  return std::move(result);
}

static void syncVars(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  runWithoutGIL([&](Session &session) {
    session.sync(vars);
    return 0;
  });
  raiseCallbackFailure();
}

static py::list fetchSync(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  std::vector<TensorData> values = runWithoutGIL([&](Session &session) {
    session.sync(vars);
    std::vector<TensorData> result;
    for (const Var *var : vars)
      result.push_back(session.getData(*var));
    return result;
  });
  py::list arrays;
  for (const TensorData &value : values) {
    getSession().wait(value);
    arrays.append(toNumPy(value, /*copy=*/true));
  }
  return arrays;
}

/// fetch(x, y, ..., callback)
static void bindRunning(py::module_ &module) {
  module.def("grad", &gradientsOf, py::arg("loss"), py::arg("targets"),
             "Gradients of the sum of the loss by the targets: a Var for a\n"
             "Var, a list for a sequence; zeros where nothing depends on one.");
  module.def("sync", &syncVars, py::arg("vars"));
  module.def("sync_all", [] {
    runWithoutGIL([](Session &session) {
      session.syncAll();
      return 0;
    });
    waitForCallbacks();
  });
  module.def("fetch_sync", &fetchSync, py::arg("vars"),
             "NumPy arrays of the Vars, computed as one program.");
}

void metaops::python::bindFunctions(py::module_ &module) {
  bindCreation(module);
  bindElementwise(module);
  bindReindex(module);
  bindRunning(module);
}
