//===- Execute.cpp - The Python extension metaops._execute ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs program files, and knows nothing of the session or of the compiler: no
// file of these bindings is shared with metaops._core. Conversions are left to
// python/metaops/execute.py; arrays that come here are in row-major order and
// aligned.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "RaiseText.h"
#include "pybind11/numpy.h"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"

#include <memory>
#include <new>
#include <set>

using namespace metaops;
namespace py = pybind11;
using Kind = ProgramError::Kind;

namespace {

/// A ProgramError as an exception of C++.
struct Failure {
  Kind kind;
  std::string message;
};

/// The name of a tensor, that of its dtype, and its shape.
using Description = std::tuple<std::string, std::string, py::tuple>;

class Program {
public:
  Program(std::unique_ptr<LoadedProgram> loaded) : loaded(std::move(loaded)) {}

  std::vector<py::array> run(const std::vector<py::array> &inputs);
  std::vector<py::array> getWeights() const;
  std::optional<std::string> readIR() const;
  void close();
  void setThreads(unsigned threads);
  std::vector<std::string> getFunctions() const;

  const LoadedProgram &get() const { return *loaded; }

private:
  std::unique_ptr<LoadedProgram> loaded;
};

} // namespace

static void check(llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [](const ProgramError &failure) {
        throw Failure{failure.getKind(), failure.getMessage()};
      },
      [](const llvm::ErrorInfoBase &failure) {
        throw Failure{Kind::Run, failure.message()};
      });
}

template <typename T> static T valueOf(llvm::Expected<T> result) {
  check(result.takeError());
  return std::move(*result);
}

static PyObject *getLinAlgError() {
  static PyObject *error =
      py::object(py::module_::import("numpy.linalg").attr("LinAlgError"))
          .release()
          .ptr();
  return error;
}

static void translate(std::exception_ptr pointer) {
  try {
    if (pointer)
      std::rethrow_exception(pointer);
  } catch (const Failure &failure) {
    PyObject *type = PyExc_RuntimeError;
    if (failure.kind == Kind::File || failure.kind == Kind::Argument)
      type = PyExc_ValueError;
    else if (failure.kind == Kind::OutOfMemory)
      type = PyExc_MemoryError;
    else if (failure.kind == Kind::Matrix)
      type = getLinAlgError();
    python::raiseText(type, failure.message);
  }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// NumPy has no bfloat16: its bits are integers here.
static py::dtype toNumPyDType(DType dtype) {
  return py::dtype(dtype == DType::BF16 ? "uint16" : nameOf(dtype).str());
}

/// An array that shares the buffer's memory.
static py::array toArray(const TensorSpec &spec, const BufferRef &buffer) {
  py::capsule owner(new BufferRef(buffer),
                    [](void *kept) { delete static_cast<BufferRef *>(kept); });
  return py::array(toNumPyDType(spec.dtype), spec.shape, buffer->data(), owner);
}

static std::vector<Description> describe(llvm::ArrayRef<TensorSpec> tensors) {
  std::vector<Description> result;
  for (const TensorSpec &tensor : tensors)
    result.emplace_back(tensor.name, nameOf(tensor.dtype).str(),
                        py::tuple(py::cast(tensor.shape)));
  return result;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::vector<py::array> Program::run(const std::vector<py::array> &inputs) {
  std::vector<ConstMemory> memory;
  for (const py::array &input : inputs) {
    if (!(input.flags() & py::array::c_style))
      throw Failure{Kind::Argument, "an input is not in row-major order"};
    memory.push_back({input.data(), size_t(input.nbytes())});
  }
  auto results = [&] {
    py::gil_scoped_release release;
    return valueOf(loaded->run(memory));
  }();
  std::vector<py::array> arrays;
  for (auto [number, result] : llvm::enumerate(results))
    arrays.push_back(toArray(loaded->getOutputs()[number], result));
  return arrays;
}

std::vector<py::array> Program::getWeights() const {
  std::vector<py::array> arrays;
  for (auto [number, spec] : llvm::enumerate(loaded->getWeights())) {
    arrays.push_back(toArray(spec, loaded->getWeight(number)));
    arrays.back().attr("flags").attr("writeable") = false;
  }
  return arrays;
}

std::optional<std::string> Program::readIR() const {
  if (!loaded->hasIR())
    return std::nullopt;
  return valueOf(loaded->readIR());
}

void Program::close() {
  py::gil_scoped_release release;
  loaded->closeAllSizes();
}

void Program::setThreads(unsigned threads) {
  py::gil_scoped_release release;
  check(loaded->setThreads(threads));
}

std::vector<std::string> Program::getFunctions() const {
  std::vector<std::string> names;
  for (const FunctionSignature &function : loaded->getSignature().functions)
    names.push_back(function.name);
  return names;
}

/// A target, a program and an image.
using Supplied = std::optional<std::tuple<std::string, py::bytes, py::bytes>>;

template <typename Open>
static std::unique_ptr<Program> open(Open open, const std::string &function,
                                     unsigned threads, bool verify, bool code,
                                     const Supplied &supplied) {
  LoadOptions options;
  options.function = function;
  options.threads = threads;
  options.verify = verify;
  options.code = code;
  if (supplied) {
    const auto &[target, program, image] = *supplied;
    options.supplied = {target, std::string(program), std::string(image)};
  }
  py::gil_scoped_release release;
  return std::make_unique<Program>(valueOf(open(options)));
}

static std::unique_ptr<Program> loadFile(const std::string &path,
                                         const std::string &function,
                                         unsigned threads, bool verify,
                                         bool code, const Supplied &supplied) {
  return open(
      [&](const LoadOptions &options) {
        return LoadedProgram::open(path, options);
      },
      function, threads, verify, code, supplied);
}

static std::unique_ptr<Program> loadBytes(const py::bytes &bytes,
                                          const std::string &function,
                                          unsigned threads, bool verify,
                                          bool code, const Supplied &supplied) {
  char *data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0)
    throw py::error_already_set();
  return open(
      [&](const LoadOptions &options) {
        return LoadedProgram::read(llvm::StringRef(data, size), options);
      },
      function, threads, verify, code, supplied);
}

/// Opens another function of a program's file.
static std::unique_ptr<Program> openFunction(const Program &program,
                                             const std::string &function,
                                             unsigned threads, bool verify,
                                             bool code,
                                             const Supplied &supplied) {
  return open(
      [&](const LoadOptions &options) {
        return program.get().openFunction(options);
      },
      function, threads, verify, code, supplied);
}

/// The name of an extent, its inputs and dimensions, and its sizes.
using Extent =
    std::tuple<std::string, std::vector<std::pair<unsigned, unsigned>>,
               std::set<int64_t>>;

static std::vector<Extent> describeExtents(const Program &program) {
  std::vector<Extent> result;
  const FunctionSignature &function = program.get().getFunction();
  for (auto [number, extent] : llvm::enumerate(function.extents)) {
    std::set<int64_t> sizes;
    for (const SizedProgram &sized : function.programs)
      sizes.insert(sized.sizes[number]);
    result.emplace_back(extent.name, extent.dims, std::move(sizes));
  }
  return result;
}

/// Opens the program for some sizes.
static std::unique_ptr<Program> openSizes(const Program &program,
                                          const std::vector<int64_t> &sizes) {
  py::gil_scoped_release release;
  return std::make_unique<Program>(valueOf(program.get().openSizes(sizes)));
}

PYBIND11_MODULE(_execute, module) {
  module.doc() = "Programs of files.";
  py::register_local_exception_translator(&translate);
  py::class_<Program>(module, "Program", py::module_local())
      .def("run", &Program::run)
      .def("close", &Program::close)
      .def("open_function", &openFunction)
      .def("open_sizes", &openSizes)
      .def_property_readonly("extents", &describeExtents)
      .def("read_ir", &Program::readIR)
      .def("weight_arrays", &Program::getWeights)
      .def_property(
          "threads",
          [](const Program &self) { return self.get().getThreads(); },
          &Program::setThreads)
      .def_property_readonly(
          "inputs",
          [](const Program &self) { return describe(self.get().getInputs()); })
      .def_property_readonly(
          "outputs",
          [](const Program &self) { return describe(self.get().getOutputs()); })
      .def_property_readonly(
          "weights",
          [](const Program &self) { return describe(self.get().getWeights()); })
      .def_property_readonly(
          "target",
          [](const Program &self) { return self.get().getTarget().str(); })
      .def_property_readonly("targets",
                             [](const Program &self) {
                               std::vector<std::string> names;
                               for (const ProgramTarget &target :
                                    self.get().getSignature().targets)
                                 names.push_back(target.name);
                               return names;
                             })
      .def_property_readonly("signature",
                             [](const Program &self) {
                               return writeSignature(self.get().getSignature());
                             })
      .def_property_readonly("functions", &Program::getFunctions)
      .def_property_readonly(
          "function",
          [](const Program &self) { return self.get().getFunction().name; })
      .def_property_readonly("structure",
                             [](const Program &self) {
                               return self.get().getFunction().structure;
                             })
      .def_property_readonly("producer",
                             [](const Program &self) {
                               return self.get().getSignature().producer;
                             })
      .def_property_readonly(
          "keys",
          [](const Program &self) { return self.get().getSignature().keys; })
      .def_property_readonly("scratch_bytes", [](const Program &self) {
        return self.get().getScratchBytes();
      });
  module.def("load_file", &loadFile);
  module.def("load_bytes", &loadBytes);
}
