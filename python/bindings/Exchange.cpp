//===- Exchange.cpp - NumPy arrays, and memory of others ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors go out as copies, or as read-only views that own a reference to the
// buffer, which is marked as exported and so never written again. They come in
// as copies, or as buffers that wrap the array's memory and own a reference to
// the array; such foreign buffers are never written either.
//
// The last reference to a foreign buffer may go anywhere: on a thread of the
// runtime, or under the session's lock, where Python must not be entered. So
// what has to be released is put on a list, which the interpreter empties
// between two of its instructions.
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"

#include <cstring>
#include <mutex>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Foreign memory
//===----------------------------------------------------------------------===//

namespace {
class ReleaseList {
public:
  /// From any thread, with or without the GIL.
  void add(std::function<void()> release) {
    std::lock_guard<std::mutex> lock(mutex);
    waiting.push_back(std::move(release));
    if (!isAnnounced && Py_IsInitialized())
      isAnnounced = Py_AddPendingCall(&emptyNow, this) == 0;
  }

  /// With the GIL held.
  void empty() {
    std::vector<std::function<void()>> taken;
    {
      std::lock_guard<std::mutex> lock(mutex);
      taken.swap(waiting);
    }
    for (std::function<void()> &release : taken)
      release();
  }

private:
  static int emptyNow(void *list) {
    auto *self = static_cast<ReleaseList *>(list);
    {
      std::lock_guard<std::mutex> lock(self->mutex);
      self->isAnnounced = false;
    }
    self->empty();
    return 0;
  }

  std::mutex mutex;
  std::vector<std::function<void()>> waiting;
  /// The interpreter has been told of what waits.
  bool isAnnounced = false;
};
} // namespace

/// Never destroyed, since buffers may die after the interpreter has begun to
/// shut down.
static ReleaseList &getReleaseList() {
  static auto *list = new ReleaseList;
  return *list;
}

BufferRef metaops::python::wrapForeign(void *data, size_t bytes,
                                       std::function<void()> release) {
  // If the interpreter could not be told, it is done now.
  getReleaseList().empty();
  return Buffer::wrap(data, bytes, [release = std::move(release)]() mutable {
    getReleaseList().add(std::move(release));
  });
}

Sharing metaops::python::toSharing(py::handle copy, const char *what) {
  if (copy.is_none())
    return Sharing::Possible;
  if (PyBool_Check(copy.ptr()))
    return copy.ptr() == Py_True ? Sharing::Never : Sharing::Required;
  fail(ErrorKind::Type, llvm::Twine(what) + ": copy is a " +
                            Py_TYPE(copy.ptr())->tp_name +
                            ", expected True, False or None");
}

std::string metaops::python::explainLayout(const void *data,
                                           llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> strides,
                                           DType dtype) {
  if (llvm::is_contained(shape, 0))
    return "";
  int64_t size = sizeOf(dtype), expected = size;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && strides[dim] != expected)
      return "its elements of shape " + formatShape(shape) +
             " are not in row-major order (strides in bytes: " +
             formatShape(strides) + ")";
    expected *= shape[dim];
  }
  // Compiled code counts on this much and no more.
  if (reinterpret_cast<uintptr_t>(data) % size != 0)
    return "its memory is not aligned to elements of " + std::to_string(size) +
           " bytes";
  return "";
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static py::module_ numpy() { return py::module_::import("numpy"); }

/// NumPy has no bfloat16: such tensors come and go as float32.
static DType numpyDType(DType dtype) {
  return dtype == DType::BF16 ? DType::F32 : dtype;
}

static py::dtype toNumPyDType(DType dtype) {
  // Guarded by the GIL; never destroyed, as the interpreter may be gone by
  // then.
  static auto *known = new llvm::DenseMap<unsigned, py::dtype>;
  DType stored = numpyDType(dtype);
  auto found = known->find(unsigned(stored));
  if (found == known->end()) {
    py::dtype made(stored == DType::Bool ? std::string("bool")
                                         : nameOf(stored).str());
    found = known->try_emplace(unsigned(stored), std::move(made)).first;
  }
  return found->second;
}

/// The bits of a float32 as a bfloat16, rounded to nearest even.
static uint16_t roundToBFloat16(float value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static float fromBFloat16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

/// Returns the element type of one of NumPy's own types, of which NumPy would
/// make the name anew each time.
static std::optional<DType> lookUpElementType(const py::dtype &type) {
  // Numbers from here on are of types that others have added.
  constexpr int kFirstAdded = 256;
  if (type.num() >= kFirstAdded)
    return std::nullopt;
  if (type.kind() == 'b')
    return DType::Bool;
  llvm::StringRef name = type.kind() == 'f'   ? "float"
                         : type.kind() == 'i' ? "int"
                         : type.kind() == 'u' ? "uint"
                                              : "";
  return parseDType((name + llvm::Twine(8 * type.itemsize())).str());
}

static DType elementTypeOf(const py::array &source) {
  if (std::optional<DType> found = lookUpElementType(source.dtype()))
    return *found;
  std::string name = source.dtype().attr("name").cast<std::string>();
  if (std::optional<DType> found = parseDType(name))
    return *found;
  char kind = source.dtype().kind();
  if (kind == 'U' || kind == 'S')
    name = "strings";
  else if (kind == 'O')
    name = "Python objects";
  else
    name = "elements of dtype " + name;
  fail(ErrorKind::Type, "array: given " + name +
                            ", expected numbers, of one of the dtypes " +
                            listDTypes());
}

//===----------------------------------------------------------------------===//
// From NumPy
//===----------------------------------------------------------------------===//

static std::vector<int64_t> shapeOf(const py::array &array) {
  return {array.shape(), array.shape() + array.ndim()};
}

BufferRef metaops::python::copyElements(const void *data,
                                        llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> strides,
                                        DType dtype) {
  BufferRef buffer = allocate(getNumBytes(shape, dtype));
  // The bits of a bfloat16 are copied, not its value.
  py::dtype type =
      dtype == DType::BF16 ? py::dtype("uint16") : toNumPyDType(dtype);
  py::array source(type, shape.vec(), strides.vec(), data, py::none());
  py::array target(type, shape.vec(), buffer->data(), py::none());
  numpy().attr("copyto")(target, source);
  return buffer;
}

/// Returns whether NumPy shares the object's memory, which it only says if
/// asked. Where it does not, its array is nobody else's.
static bool sharesMemory(py::handle object) {
  if (py::isinstance<py::array>(object))
    return true;
  try {
    numpy().attr("asarray")(object, py::arg("copy") = false);
    return true;
  } catch (py::error_already_set &) {
    return false;
  }
}

/// Why a tensor of the type cannot be in the memory of the array; empty if it
/// can.
static std::string explainUnshared(const py::array &source, DType found,
                                   DType asked) {
  if (found != asked)
    return "its elements are " + nameOf(found).str() + ", not " +
           nameOf(asked).str();
  if (source.itemsize() != sizeOf(asked))
    return "its elements have " + std::to_string(source.itemsize()) +
           " bytes, not " + std::to_string(sizeOf(asked));
  if (!source.dtype().attr("isnative").cast<bool>())
    return "its elements are not in this machine's byte order";
  return explainLayout(
      source.data(), shapeOf(source),
      std::vector<int64_t>(source.strides(), source.strides() + source.ndim()),
      asked);
}

static BufferRef wrapArray(py::array source) {
  void *data = const_cast<void *>(source.data());
  size_t bytes = source.nbytes();
  PyObject *owner = source.release().ptr();
  return wrapForeign(data, bytes, [owner] { Py_DECREF(owner); });
}

/// Returns whether a list, or one in it, has an element that says its type.
static bool hasTypedNumber(py::handle object) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr()))
    return py::hasattr(object, "dtype");
  for (py::handle item : py::reinterpret_borrow<py::sequence>(object))
    if (!PyFloat_CheckExact(item.ptr()) && !PyLong_CheckExact(item.ptr()) &&
        hasTypedNumber(item))
      return true;
  return false;
}

/// Returns whether the bytes of an array are those of a tensor of its type.
static bool isPlain(const py::array &source) {
  char order = source.dtype().byteorder();
  return (source.flags() & py::array::c_style) &&
         (order == '=' || order == '|');
}

static PyTypeObject *getArrayType() {
  return py::detail::npy_api::get().PyArray_Type_;
}

TensorData metaops::python::toTensorData(py::handle object,
                                         std::optional<DType> dtype,
                                         Sharing sharing) {
  bool isArray = Py_TYPE(object.ptr()) == getArrayType();
  bool isTyped = isArray || py::hasattr(object, "dtype");
  py::array source = isArray ? py::reinterpret_borrow<py::array>(object)
                             : py::array(numpy().attr("asarray")(object));
  DType found = elementTypeOf(source);
  // Python's own floats are of the default type.
  bool isDefault = !isTyped && found == DType::F64 && !hasTypedNumber(object);
  DType natural = isDefault ? DType::F32 : found;

  TensorData result;
  result.dtype = dtype.value_or(natural);
  result.shape = shapeOf(source);
  if (sharing != Sharing::Never) {
    std::string reason = explainUnshared(source, found, result.dtype);
    if (sharing == Sharing::Required && !sharesMemory(object))
      reason = std::string("a ") + Py_TYPE(object.ptr())->tp_name +
               " has no memory that can be shared";
    if (reason.empty()) {
      result.buffer = wrapArray(std::move(source));
      return result;
    }
    if (sharing == Sharing::Required)
      fail(ErrorKind::Value, "array: given copy=False, but " + reason);
  }

  DType stored = numpyDType(result.dtype);
  size_t bytes = getNumBytes(result.shape, stored);
  result.buffer = allocate(bytes);
  if (found == result.dtype && found == stored && isPlain(source)) {
    if (bytes != 0)
      std::memcpy(result.buffer->data(), source.data(), bytes);
    return result;
  }
  // An array over the buffer takes the elements, whatever the source's strides,
  // byte order and type are.
  py::array target(toNumPyDType(stored), result.shape, result.buffer->data(),
                   /*base=*/py::none());
  numpy().attr("copyto")(target, source, py::arg("casting") = "unsafe");
  if (stored == result.dtype)
    return result;

  size_t elements = source.size();
  BufferRef rounded = allocate(getNumBytes(result.shape, result.dtype));
  auto *from = static_cast<const float *>(result.buffer->data());
  auto *to = static_cast<uint16_t *>(rounded->data());
  for (size_t i = 0; i < elements; ++i)
    to[i] = roundToBFloat16(from[i]);
  result.buffer = std::move(rounded);
  return result;
}

TensorData metaops::python::fromBits(py::handle object) {
  if (!py::isinstance<py::array>(object))
    fail(ErrorKind::Type, "bfloat16_from_bits: given no array");
  auto source = py::reinterpret_borrow<py::array>(object);
  if (elementTypeOf(source) != DType::U16 ||
      !source.dtype().attr("isnative").cast<bool>())
    fail(ErrorKind::Type, "bfloat16_from_bits: given elements that are not "
                          "uint16 in this machine's byte order");
  TensorData result;
  result.dtype = DType::BF16;
  result.shape = shapeOf(source);
  if (explainUnshared(source, DType::U16, DType::U16).empty()) {
    result.buffer = wrapArray(std::move(source));
    return result;
  }
  std::vector<int64_t> strides(source.strides(),
                               source.strides() + source.ndim());
  result.buffer =
      copyElements(source.data(), result.shape, strides, DType::BF16);
  return result;
}

//===----------------------------------------------------------------------===//
// To NumPy
//===----------------------------------------------------------------------===//

py::array metaops::python::toNumPy(const TensorData &data, bool copy) {
  py::dtype dtype = toNumPyDType(data.dtype);
  if (data.dtype == DType::BF16) {
    if (!copy)
      fail(ErrorKind::Value, "given copy=False, but NumPy has no bfloat16; "
                             "such tensors come as copies in float32");
    py::array result(dtype, data.shape);
    auto *from = static_cast<const uint16_t *>(data.buffer->data());
    auto *to = static_cast<float *>(result.mutable_data());
    for (int64_t i = 0, e = getNumElements(data.shape); i < e; ++i)
      to[i] = fromBFloat16(from[i]);
    return result;
  }
  if (copy) {
    py::array result(dtype, data.shape);
    if (result.nbytes() > 0)
      std::memcpy(result.mutable_data(), data.buffer->data(), result.nbytes());
    return result;
  }
  data.buffer->markExported();
  py::capsule owner(new BufferRef(data.buffer), [](void *reference) {
    delete static_cast<BufferRef *>(reference);
  });
  py::array result(dtype, data.shape, data.buffer->data(), owner);
  result.attr("setflags")(py::arg("write") = false);
  return result;
}

py::object metaops::python::toArray(const TensorData &data, py::handle dtype,
                                    py::handle copy) {
  Sharing sharing = toSharing(copy, "__array__");
  py::dtype natural = toNumPyDType(data.dtype);
  py::object asked =
      dtype.is_none() ? py::object(natural) : numpy().attr("dtype")(dtype);
  bool isConverted = !asked.equal(natural);
  if (isConverted && sharing == Sharing::Required)
    fail(ErrorKind::Value, "given copy=False, but the elements are " +
                               nameOf(data.dtype) + ", not " +
                               py::str(asked).cast<std::string>());
  bool mayShare = sharing != Sharing::Never && !isConverted;
  if (data.dtype == DType::BF16 && sharing == Sharing::Possible)
    mayShare = false;
  py::array array = toNumPy(data, /*copy=*/!mayShare);
  return isConverted ? array.attr("astype")(asked) : py::object(array);
}

py::object metaops::python::toScalar(const TensorData &data) {
  return toNumPy(data, /*copy=*/true).attr("item")();
}
