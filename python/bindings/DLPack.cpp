//===- DLPack.cpp - Tensors of other libraries ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor travels as a capsule that holds a struct of DLPack.h and, beside it,
// what keeps the memory alive. Whoever takes the struct renames the capsule and
// calls the struct's deleter in the end; a capsule that nobody took calls it
// itself.
//
// An exported tensor shares the buffer and is flagged as read-only. Consumers
// from before DLPack 1.0 know no flags and could write, so they get a copy.
//
//===----------------------------------------------------------------------===//

#include "DLPack.h"

#include "Exchange.h"
#include "Function.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace metaops;
using namespace metaops::python;
using namespace metaops::python::dlpack;

/// Python's BufferError, with the user's line as in all errors.
[[noreturn]] static void failBuffer(const llvm::Twine &message) {
  std::string line = currentLine();
  throw py::buffer_error(message.str() +
                         (line.empty() ? "" : " (" + line + ")"));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static ElementType toElement(DType dtype) {
  uint8_t bits = sizeOf(dtype) * 8;
  if (isBool(dtype))
    return {Bool, bits, 1};
  if (dtype == DType::BF16)
    return {BFloat, bits, 1};
  return {isFloat(dtype) ? Float : isUnsignedInt(dtype) ? UInt : Int, bits, 1};
}

static DType fromElement(ElementType given) {
  for (unsigned index = 0; index < numDTypes; ++index) {
    ElementType own = toElement(DType(index));
    if (own.code == given.code && own.bits == given.bits &&
        own.lanes == given.lanes)
      return DType(index);
  }
  failBuffer("from_dlpack: given elements of DLPack's type code " +
             llvm::Twine(unsigned(given.code)) + " with " +
             llvm::Twine(unsigned(given.bits)) + " bits and " +
             llvm::Twine(unsigned(given.lanes)) + " lanes, expected one of " +
             listDTypes());
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

namespace {
/// A struct that is given away, with what it points to.
template <typename Managed> struct Exported {
  Managed managed{};
  BufferRef buffer;
  std::vector<int64_t> shape, strides;

  static void destroy(Managed *managed) {
    delete static_cast<Exported *>(managed->context);
  }
};
} // namespace

template <typename Managed> static void destroyCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, Managed::name))
    return; // taken
  auto *managed =
      static_cast<Managed *>(PyCapsule_GetPointer(capsule, Managed::name));
  if (managed->deleter)
    managed->deleter(managed);
}

template <typename Managed>
static py::object exportTensor(TensorData data, uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->buffer = std::move(data.buffer);
  exported->shape = std::move(data.shape);
  exported->strides.resize(exported->shape.size());
  int64_t stride = 1;
  for (size_t dim = exported->shape.size(); dim-- > 0;) {
    exported->strides[dim] = stride;
    stride *= std::max<int64_t>(exported->shape[dim], 1);
  }

  Managed &managed = exported->managed;
  managed.context = exported.get();
  managed.deleter = &Exported<Managed>::destroy;
  if constexpr (std::is_same_v<Managed, VersionedTensor>) {
    managed.version = {majorVersion, minorVersion};
    managed.flags = flags;
  }
  managed.tensor.data = exported->buffer->data();
  managed.tensor.device = {CPU, 0};
  managed.tensor.rank = exported->shape.size();
  managed.tensor.dtype = toElement(data.dtype);
  managed.tensor.shape = exported->shape.data();
  managed.tensor.strides = exported->strides.data();

  PyObject *capsule =
      PyCapsule_New(&managed, Managed::name, &destroyCapsule<Managed>);
  if (!capsule)
    throw py::error_already_set();
  exported.release(); // the capsule's now
  return py::reinterpret_steal<py::object>(capsule);
}

static TensorData copyOf(const TensorData &data) {
  int64_t bytes = getNumBytes(data.shape, data.dtype);
  TensorData result;
  result.buffer = allocate(bytes);
  result.dtype = data.dtype;
  result.shape = data.shape;
  std::memcpy(result.buffer->data(), data.buffer->data(), bytes);
  return result;
}

/// The pair of numbers that a version or a device is.
static std::pair<int64_t, int64_t> toPair(py::handle object, const char *what) {
  std::vector<int64_t> numbers = toIntegers(object, what);
  if (numbers.size() != 2)
    fail(ErrorKind::Value, llvm::Twine(what) + ": given " +
                               formatShape(numbers) +
                               ", expected a pair of integers");
  return {numbers[0], numbers[1]};
}

static py::object toDLPack(const Var &self, py::handle stream,
                           py::handle maxVersion, py::handle device,
                           py::handle copy) {
  if (!stream.is_none())
    failBuffer("__dlpack__: given a stream, expected None: the CPU has no "
               "streams");
  if (!device.is_none() && toPair(device, "dl_device").first != CPU)
    failBuffer(
        "__dlpack__: given dl_device=" + py::repr(device).cast<std::string>() +
        ", expected (1, 0) or None: tensors are on the CPU");
  bool hasFlags = !maxVersion.is_none() &&
                  toPair(maxVersion, "max_version").first >= majorVersion;
  Sharing sharing = toSharing(copy, "__dlpack__");
  if (!hasFlags && sharing == Sharing::Required)
    failBuffer("__dlpack__: given copy=False, but shared memory may not be "
               "written, and only DLPack 1.0 can say so; expected "
               "max_version=(1, 0) or later");

  TensorData data = dataOf(self);
  if (!hasFlags)
    return exportTensor<ManagedTensor>(copyOf(data), 0);
  if (sharing == Sharing::Never)
    return exportTensor<VersionedTensor>(copyOf(data), IsCopied);
  data.buffer->markExported();
  return exportTensor<VersionedTensor>(std::move(data), ReadOnly);
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of somebody else, checked; its strides are in bytes.
struct Imported {
  DType dtype;
  std::vector<int64_t> shape, strides;
  int64_t bytes;
  void *begin;
};
} // namespace

static int64_t bytesOf(llvm::ArrayRef<int64_t> shape, DType dtype) {
  int64_t bytes = sizeOf(dtype);
  bool isEmpty = llvm::is_contained(shape, 0);
  for (int64_t extent : shape)
    if (extent < 0 || (!isEmpty && llvm::MulOverflow(bytes, extent, bytes)))
      failBuffer("from_dlpack: given a tensor of shape " + formatShape(shape) +
                 ", which no memory holds");
  return isEmpty ? 0 : bytes;
}

static bool isOfHost(int64_t device) {
  return device == CPU || device == CUDAHost || device == ROCmHost;
}

static Imported checkTensor(const Tensor &tensor) {
  if (!isOfHost(tensor.device.type))
    failBuffer("from_dlpack: given a tensor on device (" +
               llvm::Twine(tensor.device.type) + ", " +
               llvm::Twine(tensor.device.id) +
               "), expected one on the CPU, which is (1, 0)");
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.shape))
    failBuffer("from_dlpack: given a tensor without a shape");
  Imported result;
  result.dtype = fromElement(tensor.dtype);
  result.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  result.bytes = bytesOf(result.shape, result.dtype);
  if (result.bytes > 0 && !tensor.data)
    failBuffer("from_dlpack: given a tensor of shape " +
               formatShape(result.shape) + " without memory");
  int64_t stride = sizeOf(result.dtype);
  result.strides.resize(tensor.rank);
  for (int32_t dim = tensor.rank; dim-- > 0;) {
    result.strides[dim] =
        tensor.strides ? tensor.strides[dim] * sizeOf(result.dtype) : stride;
    stride *= std::max<int64_t>(result.shape[dim], 1);
  }
  result.begin = static_cast<char *>(tensor.data) + tensor.byteOffset;
  return result;
}

template <typename Managed>
static TensorData importTensor(py::handle capsule, Sharing sharing) {
  auto *managed = static_cast<Managed *>(
      PyCapsule_GetPointer(capsule.ptr(), Managed::name));
  if (!managed)
    throw py::error_already_set();
  bool isCopied = false;
  if constexpr (std::is_same_v<Managed, VersionedTensor>) {
    if (managed->version.major != majorVersion)
      failBuffer("from_dlpack: given a tensor of DLPack " +
                 llvm::Twine(managed->version.major) + "." +
                 llvm::Twine(managed->version.minor) + ", expected 1.x");
    isCopied = managed->flags & IsCopied;
  }
  Imported tensor = checkTensor(managed->tensor);
  TensorData result;
  result.dtype = tensor.dtype;
  result.shape = tensor.shape;
  std::string reason =
      explainLayout(tensor.begin, tensor.shape, tensor.strides, tensor.dtype);
  if (!reason.empty() && sharing == Sharing::Required)
    failBuffer("from_dlpack: given copy=False, but " + reason);

  // From a capsule that nobody has taken the tensor goes with the capsule.
  if (!reason.empty() || tensor.bytes == 0 ||
      (sharing == Sharing::Never && !isCopied)) {
    result.buffer =
        copyElements(tensor.begin, tensor.shape, tensor.strides, tensor.dtype);
    return result;
  }
  result.buffer = wrapForeign(tensor.begin, tensor.bytes, [managed] {
    if (managed->deleter)
      managed->deleter(managed);
  });
  PyCapsule_SetName(capsule.ptr(), Managed::usedName);
  return result;
}

/// Asks the object for its capsule in the way of DLPack 1.0, or, if it does not
/// know that, in the old one.
static py::object askForCapsule(py::handle object, py::handle copy,
                                bool toCPU) {
  py::object device = object.attr("__dlpack_device__")();
  if (!toCPU && !isOfHost(toPair(device, "__dlpack_device__").first))
    failBuffer("from_dlpack: given a tensor on device " +
               py::str(device).cast<std::string>() +
               ", expected one on the CPU, which is (1, 0); device=\"cpu\" "
               "asks its library for a copy there");
  py::object method = object.attr("__dlpack__");
  py::dict arguments;
  arguments["max_version"] = py::make_tuple(majorVersion, minorVersion);
  if (!copy.is_none())
    arguments["copy"] = copy;
  if (toCPU)
    arguments["dl_device"] = py::make_tuple(int(CPU), 0);
  try {
    return method(**arguments);
  } catch (py::error_already_set &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return method();
}

static bool isCPU(py::handle device) {
  if (device.is_none())
    return false;
  if (py::isinstance<py::str>(device)) {
    if (device.cast<std::string>() == "cpu")
      return true;
  } else if (toPair(device, "device").first == CPU) {
    return true;
  }
  fail(ErrorKind::Value,
       "from_dlpack: given device=" + py::repr(device).cast<std::string>() +
           ", expected \"cpu\" or None");
}

static Var fromDLPack(py::handle object, py::handle device, py::handle copy) {
  Sharing sharing = toSharing(copy, "from_dlpack");
  bool toCPU = isCPU(device);
  py::object capsule = py::reinterpret_borrow<py::object>(object);
  if (!PyCapsule_CheckExact(object.ptr())) {
    if (!py::hasattr(object, "__dlpack__") ||
        !py::hasattr(object, "__dlpack_device__"))
      fail(ErrorKind::Type, llvm::Twine("from_dlpack: given a ") +
                                Py_TYPE(object.ptr())->tp_name +
                                ", expected a tensor with __dlpack__ and "
                                "__dlpack_device__");
    capsule = askForCapsule(object, copy, toCPU);
  }
  TensorData data;
  if (PyCapsule_IsValid(capsule.ptr(), VersionedTensor::name))
    data = importTensor<VersionedTensor>(capsule, sharing);
  else if (PyCapsule_IsValid(capsule.ptr(), ManagedTensor::name))
    data = importTensor<ManagedTensor>(capsule, sharing);
  else
    failBuffer("from_dlpack: given " + py::repr(capsule).cast<std::string>() +
               ", expected a capsule with a tensor that nobody has taken");
  return Entered()->give(data.dtype, data.shape, std::move(data.buffer));
}

void metaops::python::bindDLPack(py::module_ &module, py::class_<Var> &cls) {
  define(cls,
         "__dlpack__(self, *, stream=None, max_version=None, dl_device=None, "
         "copy=None)",
         &toDLPack,
         "A capsule with the value, for from_dlpack of another library.");
  define(cls, "__dlpack_device__(self)",
         [](const Var &) { return py::make_tuple(int(CPU), 0); });
  define(module, "from_dlpack(obj, *, device=None, copy=None)", &fromDLPack);
}
