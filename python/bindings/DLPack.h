//===- DLPack.h - The layout of tensors that are exchanged ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DLPack is a binary interface: libraries that know nothing of each other read
// these structs from each other's memory. Order and types of the members are
// those of DLPack 1.0, which no later 1.x may change. They are declared here
// since the header that distributions package is older than 1.0, and has
// neither versions nor flags nor booleans.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_DLPACK_H
#define METAOPS_PYTHON_BINDINGS_DLPACK_H

#include <cstddef>
#include <cstdint>

namespace metaops::python::dlpack {

constexpr uint32_t majorVersion = 1, minorVersion = 0;

/// Devices whose memory the host reads and writes as its own.
enum DeviceType : int32_t { CPU = 1, CUDAHost = 3, ROCmHost = 11 };

enum TypeCode : uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  BFloat = 4,
  Bool = 6,
};

/// Bits of VersionedTensor::flags.
enum Flags : uint64_t { ReadOnly = 1, IsCopied = 2 };

struct Device {
  int32_t type;
  int32_t id;
};

struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  ElementType dtype;
  int64_t *shape;
  /// In elements; null for row-major order.
  int64_t *strides;
  uint64_t byteOffset;
};

struct ManagedTensor {
  /// Names of capsules with this struct, before and after a consumer took it.
  static constexpr const char *name = "dltensor";
  static constexpr const char *usedName = "used_dltensor";

  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct VersionedTensor {
  static constexpr const char *name = "dltensor_versioned";
  static constexpr const char *usedName = "used_dltensor_versioned";

  Version version;
  void *context;
  void (*deleter)(VersionedTensor *self);
  uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(void *) != 8 ||
                  (sizeof(Tensor) == 48 && offsetof(Tensor, rank) == 16 &&
                   offsetof(Tensor, shape) == 24 &&
                   sizeof(ManagedTensor) == 64 &&
                   offsetof(VersionedTensor, flags) == 24 &&
                   offsetof(VersionedTensor, tensor) == 32),
              "the structs have the layout that the interface demands");

} // namespace metaops::python::dlpack

#endif // METAOPS_PYTHON_BINDINGS_DLPACK_H
