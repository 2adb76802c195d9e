//===- Operators.cpp - Meta-operators as functions -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Function.h"
#include "MetaOps/Runtime/Recording/GivenData.h"

using namespace metaops;
using namespace metaops::python;

static void bindElementwise(py::module_ &module) {
  define(module, "unary(name, x)", [](const std::string &name, py::handle x) {
    return record([&](Recorder &r, Operand x) { return r.unary(name, x); },
                  Argument(x));
  });
  define(module, "binary(name, x, y)",
         [](const std::string &name, py::handle x, py::handle y) {
           return record([&](Recorder &r, Operand x,
                             Operand y) { return r.binary(name, x, y); },
                         Argument(x), Argument(y));
         });
  define(module, "ternary(name, x, y, z)",
         [](const std::string &name, py::handle x, py::handle y, py::handle z) {
           return record([&](Recorder &r, Operand x, Operand y,
                             Operand z) { return r.ternary(name, x, y, z); },
                         Argument(x), Argument(y), Argument(z));
         });
  define(module, "compare(pred, x, y)",
         [](const std::string &pred, py::handle x, py::handle y) {
           return record([&](Recorder &r, Operand x,
                             Operand y) { return r.compare(pred, x, y); },
                         Argument(x), Argument(y));
         });
  define(module, "select(cond, a, b)",
         [](py::handle cond, py::handle a, py::handle b) {
           return record([](Recorder &r, Operand cond, Operand a,
                            Operand b) { return r.select(cond, a, b); },
                         Argument(cond), Argument(a), Argument(b));
         });
  define(module, "cast(x, dtype)", [](py::handle x, py::handle dtype) {
    DType type = toDType(dtype);
    return record([&](Recorder &r, Operand x) { return r.cast(x, type); },
                  Argument(x));
  });
  define(module, "bitcast(x, dtype)", [](py::handle x, py::handle dtype) {
    DType type = toDType(dtype);
    return record([&](Recorder &r, Operand x) { return r.bitcast(x, type); },
                  Argument(x));
  });
}

static Var reindex(py::handle x, py::handle shape, py::handle indexes,
                   py::handle overflowValue, py::handle overflowConditions,
                   py::handle extras) {
  auto extents = toIntegers(shape, "shape");
  auto texts = toStrings(indexes, "indexes");
  Number fill = expectNumber(overflowValue, "overflow_value");
  auto conditions = toStrings(overflowConditions, "overflow_conditions");
  py::list owner;
  auto tensors = toVars(extras, owner);
  Entered session;
  return session->wrap(session->getRecorder().reindex(
      Argument(x).tensor(*session), extents, texts, fill, conditions,
      session->getNodes(tensors)));
}

static Var reindexReduce(py::handle x, const std::string &op, py::handle shape,
                         py::handle indexes, py::handle overflowConditions,
                         py::handle extras) {
  auto extents = toIntegers(shape, "shape");
  auto texts = toStrings(indexes, "indexes");
  auto conditions = toStrings(overflowConditions, "overflow_conditions");
  py::list owner;
  auto tensors = toVars(extras, owner);
  Entered session;
  return session->wrap(session->getRecorder().reindexReduce(
      Argument(x).tensor(*session), op, extents, texts, conditions,
      session->getNodes(tensors)));
}

static Var broadcast(py::handle x, py::handle shape, py::handle dims) {
  // The shape may be that of another Var.
  std::vector<int64_t> extents =
      asVar(shape) ? asVar(shape)->shape().vec() : toIntegers(shape, "shape");
  auto newDims = toIntegers(dims, "dims");
  return recordTensors(
      [&](Recorder &r, Node *x) { return r.broadcast(x, extents, newDims); },
      Argument(x));
}

static Var broadcastVar(py::handle x, const Var &other, py::handle dims) {
  auto newDims = toIntegers(dims, "dims");
  return recordTensors(
      [&](Recorder &r, Node *x) {
        return r.broadcast(x, other.shape(), newDims);
      },
      Argument(x));
}

/// Defines what is a function of x and a method of Var.
template <typename Work>
static void defineBoth(py::module_ &module, const std::string &name,
                       const std::string &rest, Work work, const char *doc) {
  define(module, name + "(x, " + rest + ")", work, doc);
  define(module.attr("Var"), name + "(self, " + rest + ")", work, doc);
}

static Var matmul(py::handle a, py::handle b) {
  return recordTensors(
      [](Recorder &r, Node *x, Node *y) { return r.matmul(x, y); }, Argument(a),
      Argument(b));
}

static void bindProducts(py::module_ &module) {
  const char *doc =
      "The matrix product of a, of shape (..., n, m) or (m), and b, of shape\n"
      "(..., m, k) or (m): (..., n, k), where the leading dimensions "
      "broadcast\n"
      "and the dimension that a vector lacks is absent. The dtype is that of\n"
      "a * b. It is a product of two broadcasts summed over the inner\n"
      "dimension; nothing of the broadcasts' size exists in memory.\n"
      "ValueError if an operand is 0-d, the inner extents differ, or the\n"
      "leading dimensions do not broadcast.";
  define(module, "matmul(a, b)", &matmul, doc);
  define(module.attr("Var"), "matmul(self, b)", &matmul, doc);
}

static void bindReindex(py::module_ &module) {
  defineBoth(module, "reindex",
             "shape, indexes, overflow_value=0, overflow_conditions=(), *, "
             "extras=()",
             &reindex,
             "One to many: each element of the result is the element of x\n"
             "that the index expressions name, or the overflow value.");
  defineBoth(module, "reindex_reduce",
             "op, shape, indexes, overflow_conditions=(), *, extras=()",
             &reindexReduce,
             "Many to one: each element of x is combined into the element of\n"
             "the result that the index expressions name.");
  defineBoth(module, "broadcast", "shape, dims=()", &broadcast,
             "x repeated to a shape, or that of a Var, with `dims` new in it.");
  defineBoth(module, "broadcast_var", "other, dims=()", &broadcastVar,
             "x repeated to the shape of another Var, with `dims` new in it.");
  define(module, "check_indices(indices, dim, extent, has_negative=True)",
         [](const Var &indices, int64_t dim, int64_t extent, bool hasNegative) {
           return record(
               [&](Recorder &r, Node *x) {
                 return r.checkIndices(x, {dim, extent, hasNegative});
               },
               indices);
         });
  define(
      module, "find_outside(x, lowest, highest)",
      [](const Var &x, py::handle lowest, py::handle highest) -> py::object {
        double first = expectNumber(lowest, "lowest").getDouble();
        double last = expectNumber(highest, "highest").getDouble();
        Entered session;
        if (std::optional<double> found =
                findOutside(*x.getNode(), first, last))
          return py::float_(*found);
        return py::none();
      },
      "Returns the first of a tensor's numbers that is not from the lowest to\n"
      "the highest one; None if there is none, or it is not given as data.");
  define(module, "check_labels(labels, classes, ignored)",
         [](const Var &labels, int64_t classes, py::handle ignored) {
           IndexRange range{std::nullopt, classes, /*hasNegative=*/false};
           if (!ignored.is_none())
             range.ignored = expectInteger(ignored, "ignore_index");
           return record(
               [&](Recorder &r, Node *x) { return r.checkIndices(x, range); },
               labels);
         });
}

static void bindShaping(py::module_ &module) {
  define(module, "reshape(x, shape)", [](py::handle x, py::handle shape) {
    auto extents = toIntegers(shape, "shape");
    return recordTensors(
        [&](Recorder &r, Node *x) { return r.reshape(x, extents); },
        Argument(x));
  });
  define(module, "concat(parts, dim=0)", [](py::handle parts, int64_t dim) {
    py::list owner;
    std::vector<const Var *> vars = toVars(parts, owner);
    return record(
        [&](Recorder &r, llvm::ArrayRef<Node *> x) { return r.concat(x, dim); },
        vars);
  });
  define(module, "stack(parts, dim=0)", [](py::handle parts, int64_t dim) {
    py::list owner;
    std::vector<const Var *> vars = toVars(parts, owner);
    return record(
        [&](Recorder &r, llvm::ArrayRef<Node *> x) { return r.stack(x, dim); },
        vars);
  });
  define(
      module, "pad(x, low, high, value=0)",
      [](py::handle x, py::handle low, py::handle high, py::handle value) {
        auto before = toIntegers(low, "low");
        auto after = toIntegers(high, "high");
        Number fill = expectNumber(value, "value");
        return recordTensors(
            [&](Recorder &r, Node *x) { return r.pad(x, before, after, fill); },
            Argument(x));
      });
  define(module, "is_operand(x)", &isOperand);
  define(module, "has_tensors(x)", &hasNestedTensors);
  define(module, "roll(x, shift, dim)",
         [](py::handle x, int64_t shift, int64_t dim) {
           return recordTensors(
               [&](Recorder &r, Node *x) { return r.roll(x, shift, dim); },
               Argument(x));
         });
  define(
      module, "stop_grad(x)",
      [](py::handle x) {
        return recordTensors([](Recorder &r, Node *x) { return r.stopGrad(x); },
                             Argument(x));
      },
      "x, through which no gradient flows.");
  define(
      module, "stop_fuse(x)",
      [](py::handle x) {
        return recordTensors([](Recorder &r, Node *x) { return r.stopFuse(x); },
                             Argument(x));
      },
      "x, which exists in memory.");
}

static void bindAlongDims(py::module_ &module) {
  define(module, "norm(x, dims, keepdims, divisor, order, is_signed)",
         [](py::handle x, py::handle dims, bool keepDims,
            py::handle givenDivisor, py::handle givenOrder, bool isSigned) {
           const Var &source = expectVar(x, "norm: x");
           std::vector<int64_t> axes = toIntegers(dims, "norm: dims");
           double divisor = givenDivisor.cast<double>();
           double order = givenOrder.cast<double>();
           return record(
               [&](Recorder &r, Node *x) {
                 return r.norm(x, axes, keepDims, divisor, order, isSigned);
               },
               source);
         });
  define(module, "prefix(kind, x, factors, dim, reverse, exclusive)",
         [](const std::string &kind, py::handle x, py::handle factors,
            int64_t dim, bool reverse, bool exclusive) {
           const Var &source = expectVar(x, "prefix: x");
           std::vector<const Var *> factor;
           if (!factors.is_none())
             factor.push_back(&expectVar(factors, "prefix: a"));
           return record(
               [&](Recorder &r, Node *x, llvm::ArrayRef<Node *> given) {
                 return r.prefix(kind, x, given.empty() ? nullptr : given[0],
                                 dim, reverse, exclusive);
               },
               source, factor);
         });
  define(module, "sort(x, dim, descending, begin, count)",
         [](py::handle x, int64_t dim, bool descending, int64_t begin,
            int64_t count) {
           const Var &source = expectVar(x, "sort: x");
           std::vector<Var> results;
           {
             Entered session;
             results = session->wrapResults(session->getRecorder().sort(
                 session->getNode(source), dim, descending, begin, count));
           }
           return py::tuple(toList(std::move(results)));
         });
}

void metaops::python::bindMetaOperators(py::module_ &module) {
  bindElementwise(module);
  bindReindex(module);
  bindProducts(module);
  bindShaping(module);
  bindAlongDims(module);
}
