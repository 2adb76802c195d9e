//===- Exchange.h - Memory shared with others -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_EXCHANGE_H
#define METAOPS_PYTHON_BINDINGS_EXCHANGE_H

#include "Bindings.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace metaops::python {

/// Says if two tensors may, or have to, be in the same memory; Python's `copy=`
/// with True, None and False.
enum class Sharing { Never, Possible, Required };
Sharing toSharing(py::handle copy, const char *what);

/// Wraps memory of somebody else. `release` is called with the GIL held, at
/// some time after the last reference has gone, whichever thread that was on.
BufferRef wrapForeign(void *data, size_t bytes, std::function<void()> release);

/// Why memory of somebody else, with these byte strides, cannot be a tensor's:
/// not in row-major order, or not aligned as its elements are. Empty if it can.
std::string explainLayout(const void *data, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> strides, DType dtype);

/// A copy in row-major order of elements that lie at these byte strides.
BufferRef copyElements(const void *data, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> strides, DType dtype);

/// An object as a tensor: what NumPy makes of it, copied or shared.
TensorData toTensorData(py::handle object, std::optional<DType> dtype,
                        Sharing sharing);

/// Takes an array of uint16 for the bits of bfloat16, in its memory if that can
/// be shared.
TensorData fromBits(py::handle object);

/// The protocol of numpy.asarray.
py::object toArray(const TensorData &data, py::handle dtype, py::handle copy);

/// Adds __dlpack__ and __dlpack_device__ to Var, and the function from_dlpack.
void bindDLPack(py::module_ &module, py::class_<Var> &cls);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_EXCHANGE_H
