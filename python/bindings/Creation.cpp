//===- Creation.cpp - Making tensors -------------------------------------===//
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
/// A tensor that f(2, 3), f((2, 3)) and f((2, 3), dtype) ask for.
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

void metaops::python::bindCreation(py::module_ &module) {
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
