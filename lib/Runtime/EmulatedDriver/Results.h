//===- Results.h - Numbers of cuda.h ----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATEDDRIVER_RESULTS_H
#define METAOPS_LIB_RUNTIME_EMULATEDDRIVER_RESULTS_H

namespace metaops::emulated {

// number, CUresult without its CUDA_, what cuGetErrorString says
#define METAOPS_DRIVER_RESULTS(RESULT)                                         \
  RESULT(0, SUCCESS, "no error")                                               \
  RESULT(1, ERROR_INVALID_VALUE, "invalid argument")                           \
  RESULT(2, ERROR_OUT_OF_MEMORY, "out of memory")                              \
  RESULT(3, ERROR_NOT_INITIALIZED, "initialization error")                     \
  RESULT(100, ERROR_NO_DEVICE, "no CUDA-capable device is detected")           \
  RESULT(101, ERROR_INVALID_DEVICE, "invalid device ordinal")                  \
  RESULT(200, ERROR_INVALID_IMAGE, "device kernel image is invalid")           \
  RESULT(201, ERROR_INVALID_CONTEXT, "invalid device context")                 \
  RESULT(400, ERROR_INVALID_HANDLE, "invalid resource handle")                 \
  RESULT(500, ERROR_NOT_FOUND, "named symbol not found")                       \
  RESULT(600, ERROR_NOT_READY, "device not ready")                             \
  RESULT(719, ERROR_LAUNCH_FAILED, "unspecified launch failure")               \
  RESULT(801, ERROR_NOT_SUPPORTED, "operation not supported")                  \
  RESULT(912, ERROR_INVALID_CLUSTER_SIZE, "invalid cluster size")

/// CUresult.
enum Result : int {
#define METAOPS_NUMBER(number, name, text) name = (number),
  METAOPS_DRIVER_RESULTS(METAOPS_NUMBER)
#undef METAOPS_NUMBER
};

/// CUdevice_attribute.
enum DeviceAttribute : int {
  MULTIPROCESSORS = 16,
  CAPABILITY_MAJOR = 75,
  CAPABILITY_MINOR = 76,
  SHARED_BYTES_OF_BLOCK = 97
};

/// CUfunction_attribute.
enum FunctionAttribute : int { DYNAMIC_SHARED_BYTES = 8, LARGE_CLUSTERS = 14 };

/// CUstream_flags and the handle of the stream that there always is.
constexpr unsigned kNonBlocking = 1;
constexpr unsigned long kLegacyStream = 1;

} // namespace metaops::emulated

#endif // METAOPS_LIB_RUNTIME_EMULATEDDRIVER_RESULTS_H
