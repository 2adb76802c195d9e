//===- ExternCode.cpp - Code of the user's own as operators ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code is a shared library that the package has had compiled, or a function of
// Python's. Either is a kernel with a launcher, which the backend of a device
// knows by its name from the first call there on.
//
// A Python function runs on the thread that runs the program: the queue's, or
// that of a caller who waits without the GIL, and who may have entered the
// session. So whatever the function asks of the session fails at once, as does
// whatever runs while an export has a source compiled.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Exchange.h"
#include "Function.h"
#include "MetaOps/Runtime/CPU/HostCode.h"
#include "MetaOps/Runtime/Device/Device.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cstring>
#include <utility>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Functions of Python's
//===----------------------------------------------------------------------===//

/// Says why this thread may not use the session, which waits for it.
static thread_local const char *whyNoSession = nullptr;

void metaops::python::checkNotInHostFunction() {
  if (whyNoSession)
    fail(ErrorKind::Runtime, whyNoSession);
}

namespace {
/// Has the GIL, on any thread: also on one that Python does not know.
class TakenGIL {
public:
  TakenGIL() {
    if (PyGILState_GetThisThreadState())
      held.emplace();
    else
      state = PyGILState_Ensure();
  }
  ~TakenGIL() {
    if (!held)
      PyGILState_Release(state);
  }
  TakenGIL(const TakenGIL &) = delete;
  TakenGIL &operator=(const TakenGIL &) = delete;

private:
  std::optional<HeldGIL> held;
  PyGILState_STATE state = PyGILState_UNLOCKED;
};

/// Forbids this thread the session while Python runs that it waits for.
class WithoutSession {
public:
  explicit WithoutSession(const char *why)
      : before(std::exchange(whyNoSession, why)) {}
  ~WithoutSession() { whyNoSession = before; }
  WithoutSession(const WithoutSession &) = delete;
  WithoutSession &operator=(const WithoutSession &) = delete;

private:
  const char *before;
};

/// Returns the text of an exception in UTF-8; "" where it has none.
std::string getText(py::handle value) {
  auto text = py::reinterpret_steal<py::object>(PyObject_Str(value.ptr()));
  py::object bytes;
  if (text)
    bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(
        text.ptr(), "utf-8", /*errors=*/"backslashreplace"));
  if (bytes)
    return {PyBytes_AS_STRING(bytes.ptr()),
            size_t(PyBytes_GET_SIZE(bytes.ptr()))};
  PyErr_Clear();
  return "";
}

/// Returns what a function has raised. Who is interrupted raises that when it
/// has been told, and what was stopped is done another time.
llvm::Error describe(const py::error_already_set &error) noexcept {
  try {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      PyErr_SetInterrupt();
      return llvm::make_error<Interrupted>();
    }
    std::string text = getText(error.value());
    if (text.empty())
      text = reinterpret_cast<PyTypeObject *>(error.type().ptr())->tp_name;
    return llvm::createStringError(text);
  } catch (...) {
    PyErr_Clear();
    return llvm::createStringError("an error that cannot be told");
  }
}

/// Type of an argument or a result, but for its extents.
struct HostTensor {
  DType dtype;
  size_t rank;
};

class HostLauncher : public KernelLauncher {
public:
  HostLauncher(const py::object &function, std::vector<HostTensor> tensors)
      : function(function.ptr()), tensors(std::move(tensors)) {
    // As the session, which knows it by its name, it is there for good.
    function.inc_ref();
  }

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &threads,
                     LaunchMeasures *measures) const override;

private:
  void run(const KernelCall &call, llvm::ArrayRef<KernelBuffer> buffers,
           unsigned numInputs) const;

  PyObject *function;
  /// The arguments, then the results.
  std::vector<HostTensor> tensors;
};
} // namespace

/// Calls the function with arrays of its own, and copies what it returns, which
/// the package has made what is expected (metaops/extern/host.py).
void HostLauncher::run(const KernelCall &call,
                       llvm::ArrayRef<KernelBuffer> buffers,
                       unsigned numInputs) const {
  llvm::ArrayRef<int64_t> extents = call.scalars;
  size_t known = 0;
  for (const HostTensor &tensor : tensors)
    known += tensor.rank;
  // Behind all extents is how many leading dimensions there are, if any may be.
  size_t leading = extents.size() > known ? extents.back() : 0;
  py::tuple arrays(numInputs);
  py::list shapes;
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    llvm::ArrayRef<int64_t> shape = extents.take_front(leading + tensor.rank);
    extents = extents.drop_front(shape.size());
    if (number >= numInputs) {
      shapes.append(toTuple(shape));
      continue;
    }
    KernelBuffer memory = buffers[number];
    TensorData data;
    data.dtype = tensor.dtype;
    data.shape = shape.vec();
    data.buffer = Buffer::wrap(memory.data(), memory.size(), [] {});
    arrays[number] = toNumPy(data, /*copy=*/true);
    arrays[number].attr("setflags")(py::arg("write") = false);
  }
  py::tuple results = py::handle(function)(arrays, shapes);
  for (auto [number, item] : llvm::enumerate(results)) {
    KernelBuffer memory = buffers[numInputs + number];
    TensorData data = toTensorData(item, tensors[numInputs + number].dtype,
                                   Sharing::Possible);
    if (data.buffer->bytes() < memory.size())
      fail(ErrorKind::Value, "host_call: a result is too small");
    if (!memory.empty())
      std::memcpy(memory.data(), data.buffer->data(), memory.size());
  }
}

llvm::Error HostLauncher::launch(const KernelCall &call,
                                 llvm::ArrayRef<KernelBuffer> buffers,
                                 unsigned numInputs, ThreadPool &threads,
                                 LaunchMeasures *measures) const {
  TakenGIL taken;
  WithoutSession without(
      "host_call: the function uses metaops, whose program waits for it; "
      "compute with NumPy alone, and give it tensors as arguments");
  try {
    run(call, buffers, numInputs);
  } catch (const py::error_already_set &error) {
    return describe(error);
  } catch (const std::exception &error) {
    return llvm::createStringError(error.what());
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Code in Python
//===----------------------------------------------------------------------===//

namespace {
/// Code that may be called.
class ExternCode {
public:
  explicit ExternCode(std::shared_ptr<const Kernel> kernel)
      : kernel(std::move(kernel)) {}

  const std::string &getName() const { return kernel->name; }
  bool isKnownTo(const Device &device) const {
    return backends.contains(&device.getBackend());
  }
  /// With the session entered.
  void addTo(Device &device);

private:
  std::shared_ptr<const Kernel> kernel;
  /// Those that have it. Guarded by the GIL.
  llvm::SmallPtrSet<const Compiler *, 1> backends;
};
} // namespace

void ExternCode::addTo(Device &device) {
  if (llvm::Error error = device.getBackend().addExtern(kernel))
    fail(ErrorKind::Value, llvm::StringRef(kernel->name).split('.').first +
                               " on " + device.getName() + ": " +
                               toString(std::move(error)) +
                               "; move the inputs to the CPU (x.to(\"cpu\"))");
  backends.insert(&device.getBackend());
}

namespace {
/// A source that Python has compiled for other processes.
class PythonSource : public KernelSource {
public:
  PythonSource(const py::object &compile, std::string place)
      : compile(compile.ptr()), place(std::move(place)) {
    // It is there for good, as the code is.
    compile.inc_ref();
  }

  llvm::Expected<std::string>
  compileFor(llvm::StringRef target) const override {
    TakenGIL taken;
    WithoutSession without("code: Python that runs while a source is compiled "
                           "uses metaops, whose export waits for it");
    try {
      return py::handle(compile)(target.str()).cast<std::string>();
    } catch (const py::error_already_set &error) {
      return describe(error);
    } catch (const std::exception &error) {
      return llvm::createStringError(error.what());
    }
  }
  const std::string &getPlace() const override { return place; }

private:
  PyObject *compile;
  std::string place;
};
} // namespace

static std::shared_ptr<ExternCode> loadCode(const std::string &name,
                                            const std::string &library,
                                            const std::string &symbol,
                                            const std::string &place,
                                            const py::object &compile) {
  auto source = std::make_shared<PythonSource>(compile, place);
  auto kernel = loadHostCode(name, library, symbol, std::move(source));
  if (!kernel)
    fail(ErrorKind::Runtime, toString(kernel.takeError()));
  return std::make_shared<ExternCode>(std::move(*kernel));
}

static std::shared_ptr<ExternCode> makeHostFunction(const std::string &name,
                                                    const py::object &function,
                                                    py::handle tensors) {
  std::vector<HostTensor> known;
  for (py::handle item : py::reinterpret_borrow<py::iterable>(tensors)) {
    auto [dtype, rank] = item.cast<std::pair<py::object, size_t>>();
    known.push_back({toDType(dtype), rank});
  }
  return std::make_shared<ExternCode>(std::make_shared<const Kernel>(Kernel{
      nullptr, name, std::make_shared<HostLauncher>(function, std::move(known)),
      /*source=*/nullptr, /*isLocal=*/true}));
}

/// Returns where code of these inputs runs.
static Device &findDevice(llvm::ArrayRef<Node *> inputs) {
  for (Node *input : inputs)
    if (input->device)
      return *input->device;
  return getDevice();
}

static py::tuple callExtern(const std::shared_ptr<ExternCode> &code,
                            py::handle inputs, py::handle outputs,
                            int64_t parallel, bool isVectorized) {
  py::list owner;
  std::vector<const Var *> given = toVars(inputs, owner);
  ExternCall call;
  call.name = code->getName();
  for (py::handle item : py::reinterpret_borrow<py::iterable>(outputs)) {
    auto [shape, dtype] = item.cast<std::pair<py::object, py::object>>();
    call.outputs.push_back({toIntegers(shape, "shapes"), toDType(dtype)});
  }
  call.parallel = parallel;
  call.isVectorized = isVectorized;
  for (;;) {
    std::vector<Var> results;
    Device *device;
    {
      Entered session;
      llvm::SmallVector<Node *> nodes = session->getNodes(given);
      device = &findDevice(nodes);
      if (code->isKnownTo(*device))
        results = session->wrapResults(
            session->getRecorder().callExtern(call, nodes));
    }
    if (!results.empty())
      return py::tuple(toList(std::move(results)));
    // A trace is no place to add it.
    Entered session(getSession());
    code->addTo(*device);
  }
}

void metaops::python::bindExternCode(py::module_ &module) {
  py::class_<ExternCode, std::shared_ptr<ExternCode>> cls(
      module, "ExternCode", "Code of the user's own, which may be called.");
  forbidConstruction(cls);
  define(
      module, "load_code(name, library, symbol, place, compile)", &loadCode,
      "A function of a shared library as code of this name. `compile` makes "
      "an\n"
      "object of it for a kind of processors, and `place` says where it is.");
  define(
      module, "make_host_function(name, function, tensors)", &makeHostFunction,
      "A Python function as code of this name: given arrays, and the shapes\n"
      "of its results, it returns a tuple of these. `tensors` are the dtype\n"
      "and rank of each argument, then of each result.");
  define(module, "call_extern(code, inputs, outputs, parallel, vectorized)",
         &callExtern,
         "The outputs of code, given the shape and dtype of each.");
}
