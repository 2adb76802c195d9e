//===- Functions.cpp - Functions of the extension -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Function.h"
#include "MetaOps/Runtime/Program/TruePlaces.h"
#include "MetaOps/Runtime/Recording/GivenData.h"

using namespace metaops;
using namespace metaops::python;

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
    return record(
        [&](Recorder &r, Node *x) { return type ? r.cast(x, *type) : x; },
        *var);
  }
  auto number = toNumber(object);
  if (number && sharing != Sharing::Required) {
    return record([&](Recorder &r) {
      return r.scalar(*number, type.value_or(number->getDType()));
    });
  }
  if (sharing != Sharing::Required && hasNestedTensors(object)) {
    py::object stacked = stackNested(object, dtype);
    const Var &var = expectVar(stacked, "array");
    return record([](Recorder &, Node *x) { return x; }, var);
  }
  TensorData data = toTensorData(object, type, sharing);
  return Entered()->give(data.dtype, data.shape, std::move(data.buffer));
}

namespace {
/// What f(2, 3), f((2, 3)) and f((2, 3), dtype) ask for.
struct NewTensor {
  std::vector<int64_t> shape;
  DType dtype;
};
} // namespace

static NewTensor toNewTensor(const py::tuple &given, py::handle dtype) {
  if (given.size() == 1)
    return {toIntegers(given[0], "shape"), toDType(dtype)};
  auto isIndex = [](const py::object &one) { return PyIndex_Check(one.ptr()); };
  if (given.size() != 2 || (isIndex(given[0]) && isIndex(given[1])))
    return {toIntegers(given, "shape"), toDType(dtype)};
  if (toDType(dtype) != DType::F32)
    fail(ErrorKind::Type, "dtype is given twice, by position and by name");
  return {toIntegers(given[0], "shape"), toDType(given[1])};
}

/// Tensors of a shape that is also given as several integers.
static void bindNewTensors(py::module_ &module) {
  auto filled = [&](const char *declaration, int64_t value, const char *doc) {
    define(
        module, declaration,
        [value](const py::tuple &shape, py::handle dtype) {
          NewTensor tensor = toNewTensor(shape, dtype);
          return record([&](Recorder &r) {
            return r.full(tensor.shape, Number::ofInt(value), tensor.dtype);
          });
        },
        doc);
  };
  filled("zeros(*shape, dtype='float32')", 0,
         "A tensor filled with 0: zeros(2, 3), zeros((2, 3)), or with a dtype\n"
         "after a shape that is one argument, zeros((2, 3), \"int32\").");
  filled("ones(*shape, dtype='float32')", 1,
         "A tensor filled with 1; the shape is given as for `zeros`.");
  filled("empty(*shape, dtype='float32')", 0,
         "A tensor to be assigned to; the shape is given as for `zeros`. Its\n"
         "elements are 0: memory is taken when a value is computed, so there\n"
         "is nothing to be saved by leaving them open.");
  define(module, "shape_and_dtype(*shape, dtype='float32')",
         [](const py::tuple &shape, py::handle dtype) {
           NewTensor tensor = toNewTensor(shape, dtype);
           py::tuple extents(tensor.shape.size());
           for (auto [index, extent] : llvm::enumerate(tensor.shape))
             extents[index] = extent;
           return py::make_tuple(extents, toPython(tensor.dtype));
         });
  define(
      module, "rand(*shape, dtype='float32')",
      [](const py::tuple &shape, py::handle dtype) {
        NewTensor tensor = toNewTensor(shape, dtype);
        return record(
            [&](Recorder &r) { return r.random(tensor.shape, tensor.dtype); });
      },
      "Uniform numbers in [0, 1); the shape is given as for `zeros`.");
}

static void bindCreation(py::module_ &module) {
  bindNewTensors(module);
  for (const char *name : {"array(obj, dtype=None, *, copy=True)",
                           "tensor(obj, dtype=None, *, copy=True)"})
    define(module, name, &arrayOf,
           "A Var of numbers, lists of them, or a NumPy array, which is\n"
           "copied; with copy=None only if need be, with copy=False never.");
  define(
      module, "bfloat16_from_bits(bits)",
      [](py::handle bits) {
        TensorData data = fromBits(bits);
        return Entered()->give(data.dtype, data.shape, std::move(data.buffer));
      },
      "A Var of bfloat16 in the memory of its bits, an array of uint16.");
  define(
      module, "full(shape, value, dtype='float32')",
      [](py::handle shape, py::handle value, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        DType type = toDType(dtype);
        return record(
            [&](Recorder &r, Operand x) { return r.full(extents, x, type); },
            Argument(value));
      },
      "A tensor that is filled with a number.");
  define(
      module, "scalars(values, dtype)",
      [](py::handle values, py::handle dtype) {
        DType type = toDType(dtype);
        std::vector<Number> numbers = toNumbers(values, "scalars: a value");
        std::vector<Var> vars;
        {
          Entered session;
          for (Number number : numbers)
            vars.push_back(
                session->wrap(session->getRecorder().scalar(number, type)));
        }
        return toList(std::move(vars));
      },
      "A list of 0-d tensors, one of each number.");
  define(
      module, "iota(shape, dim, dtype='int64')",
      [](py::handle shape, int64_t dim, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        DType type = toDType(dtype);
        return record([&](Recorder &r) { return r.iota(extents, dim, type); });
      },
      "The place of each element along a dimension.");
  define(
      module, "random(shape, dtype='float32')",
      [](py::handle shape, py::handle dtype) {
        auto extents = toIntegers(shape, "shape");
        DType type = toDType(dtype);
        return record([&](Recorder &r) { return r.random(extents, type); });
      },
      "Uniform numbers in [0, 1).");
  define(
      module, "seed(n)",
      [](int64_t n) {
        if (getTrace())
          fail(ErrorKind::Runtime, "seed: called while a function is recorded; "
                                   "call it before the function");
        Entered session;
        session->getRecorder().seed(n);
      },
      "Starts the random numbers again, as every `n` does in its own way.");
  define(
      module, "random_state()",
      [] {
        Entered session;
        Recorder &recorder = session->getRecorder();
        return py::make_tuple(recorder.getRandomKey(), recorder.getNumDrawn());
      },
      "The seed of random numbers, and how many have been drawn since.");
  define(
      module, "take_random_number()",
      [] {
        Entered session;
        Recorder &recorder = session->getRecorder();
        int64_t number = recorder.getNumDrawn();
        recorder.skipRandom(1);
        return py::make_tuple(recorder.getRandomKey(), number);
      },
      "Passes over a random number, and returns the seed and its place.");
  define(
      module, "set_random_state(seed, drawn)",
      [](int64_t seed, int64_t drawn) {
        Entered session;
        session->getRecorder().seed(seed);
        session->getRecorder().skipRandom(drawn);
      },
      "Has random numbers go on behind those that have been drawn.");
}

//===----------------------------------------------------------------------===//
// Meta-operators
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Gradients and running
//===----------------------------------------------------------------------===//

static std::vector<Var> recordGradients(py::handle loss,
                                        llvm::ArrayRef<const Var *> targets,
                                        UnusedTargets unused) {
  const Var &differentiated = expectVar(loss, "grad: the loss");
  return recordWithoutGIL([&](RecordingSession &session) {
    return session.grad(differentiated, targets, unused);
  });
}

static py::object gradientsOf(py::handle loss, py::handle targets,
                              py::object allowUnused) {
  py::list owner;
  std::vector<const Var *> vars = toVars(targets, owner);
  UnusedTargets unused = allowUnused.is_none()      ? UnusedTargets::NotAll
                         : allowUnused.cast<bool>() ? UnusedTargets::Zero
                                                    : UnusedTargets::Error;
  std::vector<Var> gradients = recordGradients(loss, vars, unused);
  if (asVar(targets))
    return py::cast(std::move(gradients.front()));
  return toList(std::move(gradients));
}

static py::list usedGradientsOf(py::handle loss, py::handle targets) {
  py::list owner, result;
  std::vector<const Var *> vars = toVars(targets, owner);
  for (Var &gradient : recordGradients(loss, vars, UnusedTargets::Empty))
    result.append(gradient ? py::cast(std::move(gradient)) : py::none());
  return result;
}

static py::list tangentsOf(py::handle outputs, py::handle inputs,
                           py::handle tangents) {
  py::list outputOwner, inputOwner, tangentOwner;
  std::vector<const Var *> moved = toVars(outputs, outputOwner);
  std::vector<const Var *> moving = toVars(inputs, inputOwner);
  std::vector<const Var *> directions = toVars(tangents, tangentOwner);
  return toList(recordWithoutGIL([&](RecordingSession &session) {
    return session.jvp(moved, moving, directions);
  }));
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
  std::vector<TensorData> values;
  do {
    values = runWithoutGIL([&](Session &session) {
      session.sync(vars);
      std::vector<TensorData> result;
      for (const Var *var : vars)
        result.push_back(session.getData(*var));
      return result;
    });
    // Another thread may have stopped a run.
  } while (llvm::any_of(values, [](const TensorData &value) {
    return getSession().wasStopped(value);
  }));
  py::list arrays;
  for (const TensorData &value : values) {
    getSession().wait(value);
    arrays.append(toNumPy(value, /*copy=*/true));
  }
  return arrays;
}

/// Computes a vector of booleans, and returns where they are true.
static Var findTruePlaces(py::handle object) {
  const Var &mask = expectVar(object, "true_places: x");
  if (!isBool(mask.dtype()) || mask.shape().size() != 1)
    fail(ErrorKind::Type, "true_places: given " + nameOf(mask.dtype()) +
                              " of shape " + formatShape(mask.shape()) +
                              ", expected a vector of booleans");
  TensorData data = dataOf(mask);
  std::optional<TruePlaces> places;
  ThreadPool &threads = getDevice().getThreads();
  {
    ReleasedGIL released;
    places.emplace(
        llvm::ArrayRef(static_cast<const uint8_t *>(data.buffer->data()),
                       mask.numElements()),
        threads);
  }
  int64_t count = places->count();
  BufferRef buffer = allocate(count * sizeof(int64_t));
  {
    ReleasedGIL released;
    places->write(static_cast<int64_t *>(buffer->data()));
  }
  return Entered()->give(DType::I64, {count}, std::move(buffer));
}

static void bindRunning(py::module_ &module) {
  define(module, "true_places(x)", &findTruePlaces,
         "Where a vector of booleans is true, int64. Computes it.");
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
  define(module, "grad(loss, targets, allow_unused=None)", &gradientsOf,
         "Gradients of the sum of the loss by the targets: a Var for a\n"
         "Var, a list for a sequence.\n\n"
         "Where a target has been rebound since the loss was recorded, by a\n"
         "step or by `w += 1`, the gradient is by the value that the loss was\n"
         "made of. It is zero by a target that the loss does not depend on,\n"
         "but there is a ValueError if it depends on none of them; with\n"
         "allow_unused=True there is none, with False also for a single one.");
  define(
      module, "recorded_at(x)",
      [](py::handle x) {
        const Var &var = expectVar(x, "x");
        Entered session;
        return session->getNode(var)->order;
      },
      "The place of x's value in the order of recording, which no other has.");
  define(module, "used_gradients(loss, targets)", &usedGradientsOf,
         "Gradients as those of grad, but None where the loss does not depend\n"
         "on the target.");
  define(module, "jvp(outputs, inputs, tangents)", &tangentsOf,
         "How the outputs move where the inputs move by the tangents.");
  define(module, "sync(vars)", &syncVars,
         "Computes a Var, or a sequence of Vars as one program.");
  define(
      module, "sync_all()",
      [] {
        runWithoutGIL([](Session &session) {
          session.syncAll();
          return 0;
        });
        waitForCallbacks();
      },
      "Computes all that is recorded, and waits for callbacks of fetches.");
  define(module, "fetch_sync(vars)", &fetchSync,
         "NumPy arrays of the Vars, computed as one program.");
}

void metaops::python::bindFunctions(py::module_ &module) {
  bindCreation(module);
  bindElementwise(module);
  bindReindex(module);
  bindProducts(module);
  bindShaping(module);
  bindRunning(module);
}
